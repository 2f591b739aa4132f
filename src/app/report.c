/* Lists the measures of an onet_report with their names, and prints them as text with 95% intervals or
 * converts them to JSON. */
#include "app/report.h"

#include <math.h>
#include <stdio.h>

const report_measure report_measures[REPORT_MEASURES] = {
    {"exact match", "exact", offsetof(onet_report, exact), true},
    {"position accuracy", "position", offsetof(onet_report, position), true},
    {"Kendall's tau", "tau", offsetof(onet_report, tau), false},
    {"right neighbours", "neighbours", offsetof(onet_report, neighbours), true},
    {"log-likelihood per step", "loglik", offsetof(onet_report, loglik), false},
    {"log-likelihood, all steps", "loglik_all", offsetof(onet_report, loglik_all), false},
    {"probability of answers", "probability", offsetof(onet_report, probability), true},
    {"calibration error", "calibration", offsetof(onet_report, calibration), true},
    {"calibration by chance", "calibration_chance", offsetof(onet_report, calibration_chance), true},
};

const onet_measure *report_measure_of(const onet_report *report, const report_measure *m) {
    return (const onet_measure *)(const void *)((const char *)report + m->field);
}

void report_text(const onet_measure *m, bool share, char text[64]) {
    double scale = share ? 100 : 1;
    int digits = share ? 2 : 4;
    if (isnan(m->mean))
        snprintf(text, 64, "-");
    else
        snprintf(text, 64, "%.*f [%.*f, %.*f]", digits, scale * m->mean, digits, scale * m->low, digits,
                 scale * m->high);
}

static json_t *json_number(double value) {
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *report_json(const onet_measure *m) {
    return json_pack("{s:o, s:o, s:o}", "mean", json_number(m->mean), "low", json_number(m->low), "high",
                     json_number(m->high));
}

void report_print(const onet_report *report) {
    printf("%-26s %zu\n", "sets", report->sets);
    for (int k = 0; k < REPORT_MEASURES; k++) {
        const onet_measure *m = report_measure_of(report, &report_measures[k]);
        double scale = report_measures[k].share ? 100 : 1;
        int digits = report_measures[k].share ? 2 : 4;
        const char *unit = report_measures[k].share ? "%" : "";
        if (isnan(m->mean)) continue; /* not defined: tau without a set of two items */
        printf("%-26s %8.*f%-1s   95%%: %.*f%s to %.*f%s\n", report_measures[k].name, digits, scale * m->mean,
               unit, digits, scale * m->low, unit, digits, scale * m->high, unit);
    }
}
