/* ordernet draw: draws how exact match on the validation sets, the loss or the log-likelihood changed over
 * the epochs of trainings: one line for each log file. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/chart.h"
#include "app/command.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/number.h"

enum { MOST_LOGS = 7, MOST_POINTS = 1000 };

typedef enum curve_what { CURVE_VALID, CURVE_LOSS, CURVE_LOGLIK } curve_what;

/* A column of the log, and how it is drawn. */
static const struct {
    const char *column, *title, *unit;
    double times;
} kinds[] = {
    [CURVE_VALID] = {"valid_exact", "validation sets exactly right", "%", 100},
    [CURVE_LOSS] = {"loss", "loss per step of an order", NULL, 1},
    [CURVE_LOGLIK] = {"valid_loglik", "log-likelihood of validation sets, per step", NULL, 1},
};

static const onet_choice *curve_whats(void) {
    static const onet_choice list[] = {
        {"valid", "the share of validation sets put in exactly the right order", CURVE_VALID},
        {"loss", "the loss", CURVE_LOSS},
        {"loglik", "the log-likelihood of the validation sets", CURVE_LOGLIK},
        {0},
    };
    return list;
}

typedef struct curve_values {
    const char *out, *title;
    int what;
} curve_values;

/* The points drawn of one log. */
typedef struct curve {
    char name[128];
    double *step, *epoch, *y; /* [count] */
    size_t count, step_room, epoch_room, y_room;
} curve;

enum { STEP, EPOCH, Y, COLUMNS };

/* Reads the numbers of the wanted columns of a line, NaN for an empty field. False if a column is missing. */
static bool read_columns(const char *line, const int column[COLUMNS], double value[COLUMNS]) {
    int found = 0, at = 0;
    for (const char *p = line;; p++, at++) {
        const char *end = p + strcspn(p, ",");
        for (int c = 0; c < COLUMNS; c++)
            if (column[c] == at) {
                if (number_scan(p, end, NUMBER_LOOSE, &value[c]) == p) value[c] = NAN;
                found++;
            }
        p = end;
        if (!*p) return found == COLUMNS;
    }
}

/* Returns the index of a column in the header line, or -1. */
static int find_column(const char *line, const char *name) {
    int at = 0;
    for (const char *p = line;; p++, at++) {
        size_t length = strcspn(p, ",");
        if (length == strlen(name) && !memcmp(p, name, length)) return at;
        p += length;
        if (!*p) return -1;
    }
}

static onet_status add_point(curve *c, const double value[COLUMNS], onet_error *err) {
    if (!array_reserve(&c->step, &c->step_room, c->count + 1, sizeof *c->step) ||
        !array_reserve(&c->epoch, &c->epoch_room, c->count + 1, sizeof *c->epoch) ||
        !array_reserve(&c->y, &c->y_room, c->count + 1, sizeof *c->y))
        return fail_memory(err, "the curve");
    c->step[c->count] = value[STEP];
    c->epoch[c->count] = value[EPOCH];
    c->y[c->count++] = value[Y];
    return ONET_OK;
}

static onet_status read_lines(curve *c, input *in, curve_what what, onet_error *err) {
    const char *name = kinds[what].column;
    char *line;
    long number;
    int column[COLUMNS] = {0};
    onet_status status;
    while (!(status = input_line(in, &line, NULL, &number, err)) && line) {
        if (number == 1) {
            column[STEP] = find_column(line, "step");
            column[EPOCH] = find_column(line, "epoch");
            column[Y] = find_column(line, name);
            if (column[STEP] < 0 || column[EPOCH] < 0 || column[Y] < 0)
                return fail(err, ONET_BAD, "%s:1: no columns step, epoch and %s: this is not a training log",
                            input_name(in), name);
            continue;
        }
        double value[COLUMNS];
        if (!read_columns(line, column, value))
            return fail(err, ONET_BAD, "%s:%ld: it has fewer columns than the first line", input_name(in),
                        number);
        if (!isnan(value[Y])) status = add_point(c, value, err);
        if (status) return status;
    }
    return status;
}

/* Turns steps into epochs, which runs with other batches share, and thins the points out to what a picture
 * can show. */
static void finish(curve *c, curve_what what) {
    if (!c->count) return;
    double a_epoch = c->step[c->count - 1] / c->epoch[c->count - 1];
    for (size_t i = 1; i < c->count; i++) /* exact, from the start of the last epoch */
        if (c->epoch[i] > c->epoch[i - 1]) a_epoch = c->step[i - 1] / (c->epoch[i] - 1);
    size_t kept = 0, stride = (c->count + MOST_POINTS - 1) / MOST_POINTS;
    for (size_t i = 0; i < c->count; i++) {
        if ((c->count - 1 - i) % stride > 0) continue;
        c->step[kept] = c->step[i] / a_epoch;
        c->y[kept++] = kinds[what].times * c->y[i];
    }
    c->count = kept;
}

static onet_status read_log(curve *c, const char *path, curve_what what, onet_error *err) {
    const char *slash = strrchr(path, '/');
    snprintf(c->name, sizeof c->name, "%s", slash ? slash + 1 : path);
    char *ending = strstr(c->name, ".log.csv");
    if (ending) *ending = '\0';
    input *in;
    onet_status status = input_open(&in, path, err);
    if (status) return status;
    status = read_lines(c, in, what, err);
    input_close(in);
    if (!status && !c->count) status = fail(err, ONET_BAD, "%s: the log has no values to draw yet", path);
    finish(c, what);
    return status;
}

static onet_status run(void *values, int count, char **operands, onet_error *err) {
    const curve_values *v = values;
    curve curves[MOST_LOGS] = {{.count = 0}};
    chart_series series[MOST_LOGS];
    onet_status status = ONET_OK;
    for (int i = 0; i < count && !status; i++) {
        curve *c = &curves[i];
        status = read_log(c, operands[i], (curve_what)v->what, err);
        series[i] =
            (chart_series){.name = c->name, .count = (int)c->count, .x = c->step, .y = c->y, .colour = i};
    }
    if (!status) {
        chart picture = {.title = v->title,
                         .x = {.title = "epochs"},
                         .y = {.title = kinds[v->what].title, .unit = kinds[v->what].unit},
                         .count = count,
                         .series = series};
        status = chart_write(&picture, v->out, err);
    }
    for (int i = 0; i < count; i++) {
        free(curves[i].step);
        free(curves[i].epoch);
        free(curves[i].y);
    }
    return status;
}

static void defaults(void *values) {
    curve_values *v = values;
    v->title = "Learning";
}

static const option options[] = {
    OPTION(STRING, "out", offsetof(curve_values, out), .required = true, .argument = "FILE",
           .help = "The picture, .svg or .png; without such an ending both are written."),
    OPTION(CHOICE, "what", offsetof(curve_values, what), .argument = "WHAT", .choices = curve_whats,
           .help = "What to draw."),
    OPTION(STRING, "title", offsetof(curve_values, title), .argument = "TEXT",
           .help = "Title of the picture."),
    {0},
};

const command cmd_draw = {
    .name = "draw",
    .old_name = "curve",
    .summary = "Draw learning curves",
    .operands = "LOG ...",
    .least = 1,
    .most = MOST_LOGS,
    .about = "Draws a line for each of the logs that 'ordernet train' writes beside its models "
             "(MODEL.log.csv), over the epochs.",
    .examples = "ordernet draw --out learning first.log.csv second.log.csv",
    .options = options,
    .size = sizeof(curve_values),
    .defaults = defaults,
    .run = run,
};
