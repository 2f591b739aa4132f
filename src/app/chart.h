/* A line chart: axes with round ticks, several series with their intervals, a legend at the right. */
#ifndef SHOW_CHART_H
#define SHOW_CHART_H

#include <stdbool.h>

#include "ordernet.h"

typedef enum chart_line { LINE_SOLID, LINE_DASHED, LINE_DOTTED } chart_line;

typedef struct chart_series {
    const char *name;
    int count;
    const double *x, *y;      /* [count] */
    const double *low, *high; /* [count] or NULL: the interval, a pale band */
    int colour;               /* of the palette */
    chart_line line;
} chart_series;

typedef struct chart_axis {
    const char *title;
    bool log;
    double low, high; /* both 0: from the data */
    const char *unit; /* written after each number; NULL: none */
} chart_axis;

typedef struct chart {
    const char *title;
    chart_axis x, y;
    int count;
    const chart_series *series; /* [count], legend from top to bottom */
} chart;

/* Writes path (.svg or .png), or PATH.svg and PATH.png. Points that are not finite, or not positive on a
 * logarithmic axis, are left out; those beyond the axes are cut off. */
onet_status chart_write(const chart *c, const char *path, onet_error *err);
/* Several charts on one page, row by row, `columns` per row. */
onet_status charts_write(const chart *c, int count, int columns, const char *path, onet_error *err);

#endif
