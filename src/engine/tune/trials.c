/* Stores the trials of a tuning search as CSV, one row each, and reads them back; tells whether a score is
 * about as good as the best, or settings clearly lead others on several parts. */
#include "engine/tune/space.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/number.h"

static const char *const kinds[] = {"first", "short", "whole"};
static const char *const ends[] = {"ended", "slow", "hopeless", "failed", "stopped"};
enum { KINDS = sizeof kinds / sizeof *kinds, ENDS = sizeof ends / sizeof *ends };
enum { COLUMNS = 13 + GLANCES + TUNED_SETTINGS, ROW = 1024 };

onet_status trials_add(trials *t, const trial *row, onet_error *err) {
    if (!array_reserve(&t->row, &t->room, t->count + 1, sizeof *t->row))
        return fail_memory(err, "the trials");
    t->row[t->count++] = *row;
    return ONET_OK;
}

/* A smaller lead makes no difference to a user, and may be gone when models are trained again. */
static const double LEAST_LEAD = 0.01;

bool is_as_good(double score, double best) {
    return score > best - LEAST_LEAD;
}

bool is_clear_lead(const double *lead, int parts) {
    double mean = 0, squares = 0;
    for (int p = 0; p < parts; p++) mean += lead[p] / parts;
    for (int p = 0; p < parts; p++) squares += (lead[p] - mean) * (lead[p] - mean);
    return mean > LEAST_LEAD && mean > 2 * sqrt(squares / (parts - 1) / parts);
}

void trials_free(trials *t) {
    free(t->row);
    *t = (trials){0};
}

static void write_head(output *out) {
    output_put(out, "search,trial,generation,kind,part,ended");
    for (int s = 0; s < TUNED_SETTINGS; s++) output_printf(out, ",%s", tuned_settings[s].name);
    output_put(
        out,
        ",trained_epochs,exact,neighbours,tau,loglik,quarter,half,three_quarters,seconds,search_seconds\n");
}

static void write_row(output *out, const trials *t, size_t i) {
    const trial *r = &t->row[i];
    output_printf(out, "%s,%zu,%d,%s,%d,%s", t->search, i + 1, r->generation, kinds[r->kind], r->part,
                  ends[r->end]);
    for (int s = 0; s < TUNED_SETTINGS; s++) {
        char value[32];
        space_value_text(value, s, r->made.value[s]);
        output_printf(out, ",%s", value);
    }
    output_printf(out, ",%d", r->epochs);
    const double measures[] = {r->exact,     r->neighbours, r->tau,      r->loglik,
                               r->glance[0], r->glance[1],  r->glance[2]};
    for (size_t m = 0; m < sizeof measures / sizeof *measures; m++) {
        char text[NUMBER_TEXT] = "";
        if (!isnan(measures[m])) number_print(text, sizeof text, "%.17g", measures[m]);
        output_printf(out, ",%s", text);
    }
    char seconds[NUMBER_TEXT], at[NUMBER_TEXT];
    number_print(seconds, sizeof seconds, "%.3f", r->seconds);
    number_print(at, sizeof at, "%.3f", r->at);
    output_printf(out, ",%s,%s\n", seconds, at);
}

onet_status trials_write(const trials *t, const char *path, onet_error *err) {
    output *out = NULL;
    onet_status status = output_open(&out, path, err);
    if (status) return status;
    write_head(out);
    for (size_t i = 0; i < t->count; i++) write_row(out, t, i);
    return output_commit(out, err);
}

static int name_of(const char *const *names, int count, const char *text) {
    for (int i = 0; i < count; i++)
        if (!strcmp(names[i], text)) return i;
    return -1;
}

/* Reads a number of the file from low to high; empty is NaN. Returns false for other text. */
static bool parse(const char *text, double low, double high, double *value) {
    char *end;
    *value = NAN;
    if (!*text) return true;
    *value = number_parse(text, &end);
    return end != text && !*end && *value >= low && *value <= high;
}

static bool parse_row(trial *r, char *const field[COLUMNS]) {
    double generation, part, epochs;
    int kind = name_of(kinds, KINDS, field[3]), end = name_of(ends, ENDS, field[5]);
    char *const *after = field + 6 + TUNED_SETTINGS;
    bool good = kind >= 0 && end >= 0 && parse(field[2], 0, 1e9, &generation) && !isnan(generation) &&
                parse(field[4], 0, 1e9, &part) && !isnan(part);
    for (int s = 0; s < TUNED_SETTINGS && good; s++)
        good = space_value_parse(&r->made.value[s], s, field[6 + s]);
    good = good && parse(after[0], 0, 1e9, &epochs) && !isnan(epochs) && parse(after[1], 0, 1, &r->exact) &&
           parse(after[2], 0, 1, &r->neighbours) && parse(after[3], -1, 1, &r->tau) &&
           parse(after[4], -1e9, 0, &r->loglik);
    for (int i = 0; i < GLANCES && good; i++) good = parse(after[5 + i], 0, 1, &r->glance[i]);
    good =
        good && parse(after[5 + GLANCES], 0, 1e12, &r->seconds) && parse(after[6 + GLANCES], 0, 1e12, &r->at);
    if (!good || isnan(r->seconds) || isnan(r->at)) return false;
    r->kind = (trial_kind)kind;
    r->end = (trial_end)end;
    r->generation = (int)generation;
    r->part = (int)part;
    r->epochs = (int)epochs;
    return r->end != TRIAL_ENDED ||
           !(isnan(r->exact) || isnan(r->neighbours) || isnan(r->tau) || isnan(r->loglik));
}

static onet_status read_row(trials *t, char *line, const char *path, long number, onet_error *err) {
    char *field[COLUMNS];
    int fields = 0;
    for (char *next = line; next; fields++) {
        char *comma = strchr(next, ',');
        if (comma) *comma = '\0';
        if (fields < COLUMNS) field[fields] = next;
        next = comma ? comma + 1 : NULL;
    }
    trial row = {0};
    if (fields != COLUMNS || (number > 1 && !parse_row(&row, field)) ||
        (number == 1 && strcmp(field[0], "search")))
        return fail(err, ONET_BAD, "%s:%ld: not a row of a search's trials; remove the file to begin anew",
                    path, number);
    if (number == 1) return ONET_OK;
    if (strcmp(field[0], t->search))
        return fail(
            err, ONET_BAD,
            "%s:%ld: the trials are of another search, with other data, seed or options: resume with the "
            "same, or remove the file to begin anew",
            path, number);
    return trials_add(t, &row, err);
}

onet_status trials_read(trials *t, const char *path, onet_error *err) {
    if (access(path, F_OK)) return ONET_OK;
    input *in = NULL;
    onet_status status = input_open(&in, path, err);
    if (status) return status;
    input_line_limit(in, ROW);
    for (;;) {
        char *line;
        long number;
        status = input_line(in, &line, NULL, &number, err);
        if (status || !line) break;
        if ((status = read_row(t, line, path, number, err))) break;
    }
    input_close(in);
    return status;
}

const trial *trials_find(const trials *t, const choice_made *made, trial_kind kind, int part) {
    for (size_t i = 0; i < t->count; i++) {
        const trial *r = &t->row[i];
        if (r->kind == kind && r->part == part && r->end != TRIAL_STOPPED && space_same(&r->made, made))
            return r;
    }
    return NULL;
}
