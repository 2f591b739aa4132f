/* Measures how time and memory grow with the size of a set, the width of the network and the batch, and draws
 * charts of them. Each point is a run of `./ordernet bench` in a process of its own, so that the peak memory
 * is that of the point alone. usage: growth [PICTURE] [LARGEST SET] */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "app/chart.h"

enum { POINTS = 12, PANELS = 4 };

typedef struct panel {
    const char *title, *axis, *letter; /* letter: of the fitted power law */
    const char *command;               /* with %d for the value */
    double from;                       /* the power is fitted from here on */
    int values[POINTS];                /* 0 ends them */
    const char *rate;                  /* key of the sets per second in the JSON output */
    double sets;                       /* per step; 0: the value itself */
    double scale;                      /* units of time per second */
    const char *unit;
    double low, high; /* ends of the time's axis */
} panel;

static const panel panels[PANELS] = {
    {"Training step against the size of the sets (TSP net, batch 128)",
     "items per set, n",
     "n",
     "--train --n %d --batch 128",
     20,
     {5, 7, 10, 14, 20, 28, 40, 56, 80},
     "train_examples_per_second",
     128,
     1e3,
     "ms",
     1,
     1000},
    {"Training step against the encoder's width (TSP net, n = 20, batch 128)",
     "hidden channels, H",
     "H",
     "--train --n 20 --batch 128 --hidden %d",
     128,
     {32, 64, 128, 256, 512},
     "train_examples_per_second",
     128,
     1e3,
     "ms",
     1,
     1000},
    {"Training step against the batch (TSP net, n = 20)",
     "sets per batch, B",
     "B",
     "--train --n 20 --batch %d",
     64,
     {8, 16, 32, 64, 128, 256, 512},
     "train_examples_per_second",
     0,
     1e3,
     "ms",
     1,
     1000},
    {"One large set, greedy (TSP net)",
     "items, n",
     "n",
     "--order --beam 1 --sets 1 --n %d",
     1000,
     {100, 200, 500, 1000, 2000, 5000, 10000},
     "order_examples_per_second",
     1,
     1,
     "s",
     0.001,
     50},
};

typedef struct measured {
    int count;
    double x[POINTS], time[POINTS], memory[POINTS];
} measured;

static int measure(const panel *p, int value, measured *m) {
    char arguments[160], command[256];
    snprintf(arguments, sizeof arguments, p->command, value);
    snprintf(command, sizeof command, "./ordernet bench --device cpu --seconds 0.6 --json %s", arguments);
    FILE *answer = popen(command, "r");
    if (!answer) return 0;
    json_t *row = json_loadf(answer, 0, NULL);
    int ok = pclose(answer) == 0 && row;
    if (ok) {
        int k = m->count++;
        double sets = p->sets > 0 ? p->sets : value;
        m->x[k] = value;
        m->time[k] = sets / json_number_value(json_object_get(row, p->rate)) * p->scale;
        m->memory[k] = json_number_value(json_object_get(row, "memory_mb"));
        printf("%-50s %6d %12.4g %-3s %8.0f MB\n", p->command, value, m->time[k], p->unit, m->memory[k]);
        fflush(stdout);
    }
    json_decref(row);
    return ok;
}

/* Fits log y = a + b log x by least squares over x >= from. */
static void fit(const measured *m, const double *y, double from, double *a, double *b) {
    double count = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
    for (int i = 0; i < m->count; i++) {
        if (m->x[i] < from) continue;
        double u = log(m->x[i]), v = log(y[i]);
        count++;
        sx += u, sy += v, sxx += u * u, sxy += u * v;
    }
    *b = (count * sxy - sx * sy) / (count * sxx - sx * sx);
    *a = (sy - *b * sx) / count;
}

typedef struct drawing {
    chart_series series[2];
    double x[2], y[2];
    char line[64], axis[64];
} drawing;

static chart draw(const panel *p, const measured *m, const double *y, const char *what, const char *unit,
                  double low, double high, drawing *d) {
    double a, b, last = m->x[m->count - 1];
    fit(m, y, p->from, &a, &b);
    d->x[0] = p->from, d->x[1] = last;
    for (int i = 0; i < 2; i++) d->y[i] = exp(a + b * log(d->x[i]));
    snprintf(d->line, sizeof d->line, "%s^%.2f, %g to %g", p->letter, b, p->from, last);
    snprintf(d->axis, sizeof d->axis, "%s, %s", what, unit);
    printf("%s: %s\n", d->axis, d->line);
    d->series[0] = (chart_series){.name = "measured", .count = m->count, .x = m->x, .y = y};
    d->series[1] =
        (chart_series){.name = d->line, .count = 2, .x = d->x, .y = d->y, .colour = 1, .line = LINE_DASHED};
    return (chart){.title = p->title,
                   .x = {.title = p->axis, .log = true},
                   .y = {.title = d->axis, .log = true, .low = low, .high = high},
                   .count = 2,
                   .series = d->series};
}

int main(int argc, char **argv) {
    const char *path = argc > 1 ? argv[1] : "build/growth.svg";
    int most = argc > 2 ? atoi(argv[2]) : 10000;
    static measured m[PANELS];
    static drawing d[2 * PANELS];
    chart page[2 * PANELS];
    onet_error err;
    for (int p = 0; p < PANELS; p++) {
        for (int i = 0; i < POINTS && panels[p].values[i]; i++)
            if (panels[p].values[i] <= most && !measure(&panels[p], panels[p].values[i], &m[p])) {
                fprintf(stderr, "./ordernet bench failed; is it built?\n");
                return 1;
            }
        page[2 * p] = draw(&panels[p], &m[p], m[p].time, "time", panels[p].unit, panels[p].low,
                           panels[p].high, &d[2 * p]);
        page[2 * p + 1] = draw(&panels[p], &m[p], m[p].memory, "peak memory", "MB", 5, 1000, &d[2 * p + 1]);
    }
    if (charts_write(page, 2 * PANELS, 2, path, &err)) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    return 0;
}
