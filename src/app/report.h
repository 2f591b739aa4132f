/* Prints the measures of an onet_report (share of exactly right orders, Kendall's tau and so on) as text or
 * JSON, under the same names in all commands. */
#ifndef APP_REPORT_H
#define APP_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "app/json_report.h"
#include "ordernet_measure.h"

typedef struct report_measure {
    const char *name, *key; /* for people, for JSON */
    size_t field;           /* offset in onet_report */
    bool share;             /* shown as a percentage */
} report_measure;

enum { REPORT_MEASURES = 9 };
extern const report_measure report_measures[REPORT_MEASURES];

const onet_measure *report_measure_of(const onet_report *report, const report_measure *m);

/* Writes "97.50 [96.01, 98.44]", as a percentage for a share; "-" if the measure is not defined. */
void report_text(const onet_measure *m, bool share, char text[64]);
enum { REPORT_COLUMN = 26 }; /* width of such texts in a table */

json_t *report_json(const onet_measure *m);

/* Prints a line for each measure, with its 95% interval. */
void report_print(const onet_report *report);

#endif
