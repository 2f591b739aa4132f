/* Writes JSON Lines: an answer into the line as it was read, or a new line from a set of another format. */
#include <math.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/base/number.h"
#include "engine/data/constraints.h"
#include "engine/data/csv.h"
#include "engine/data/format.h"
#include "engine/data/json_array.h"
#include "engine/data/jsonl.h"

static onet_status put(output *out, const char *text, onet_error *err) {
    return output_write(out, text, strlen(text), err);
}

/* Writes text as a JSON string. */
static onet_status write_string(output *out, const char *text, size_t length, onet_error *err) {
    onet_status status = put(out, "\"", err);
    size_t from = 0;
    for (size_t i = 0; i < length && !status; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c >= 0x20 && c != '"' && c != '\\') continue;
        status = output_write(out, text + from, i - from, err);
        if (!status) status = output_printf(out, err, c < 0x20 ? "\\u%04x" : "\\%c", c);
        from = i + 1;
    }
    if (!status) status = output_write(out, text + from, length - from, err);
    return status ? status : put(out, "\"", err);
}

static onet_status write_order(output *out, const int32_t *order, int length, onet_error *err) {
    onet_status status = put(out, "[", err);
    for (int t = 0; t < length && !status; t++) {
        char text[NUMBER_TEXT];
        if (t) status = put(out, ", ", err);
        if (!status) status = output_write(out, text, number_text_int(text, order[t]), err);
    }
    return status ? status : put(out, "]", err);
}

/* null for what JSON has no number for. */
static onet_status write_number(output *out, double value, onet_error *err) {
    char text[NUMBER_TEXT];
    if (!isfinite(value)) return put(out, "null", err);
    return output_write(out, text, number_text_double(text, value), err);
}

static onet_status write_numbers(output *out, const double *value, int length, onet_error *err) {
    onet_status status = put(out, "[", err);
    for (int t = 0; t < length && !status; t++) {
        if (t) status = put(out, ", ", err);
        if (!status) status = write_number(out, value[t], err);
    }
    return status ? status : put(out, "]", err);
}

static onet_status write_steps(output *out, const float *step, int length, onet_error *err) {
    onet_status status = put(out, "[", err);
    for (int t = 0; t < length && !status; t++) {
        if (t) status = put(out, ", ", err);
        char text[NUMBER_TEXT];
        if (!status) status = output_write(out, text, number_text_float(text, step[t]), err);
    }
    return status ? status : put(out, "]", err);
}

static onet_status write_top(output *out, const onet_answer *a, const onet_write_options *parts,
                             const record *r, onet_error *err) {
    int placed = record_placed(r);
    onet_status status = put(out, "[", err);
    for (int k = 0; k < a->found && k < parts->top && !status; k++) {
        size_t at = (size_t)k * (size_t)r->n;
        status = put(out, k ? ", {\"order\": " : "{\"order\": ", err);
        if (!status) status = write_order(out, a->order + at, placed, err);
        if (!status) status = put(out, ", \"logprob\": ", err);
        if (!status) status = write_number(out, a->logprob[k], err);
        if (!status && parts->steps && a->step) {
            status = put(out, ", \"steps\": ", err);
            if (!status) status = write_steps(out, a->step + at, placed, err);
        }
        if (!status) status = put(out, "}", err);
    }
    return status ? status : put(out, "]", err);
}

/* ---- The members that a writer sets ------------------------------------------------------------------ */

enum { ORDER, LOGPROB, STEPS, STEP_LOGPROB, TOP, MADE, PARTS };
static const char *const part_name[PARTS] = {"order", "logprob", "steps", "step_logprob", "top", "made"};

static bool has_part(int part, const record *r, const onet_answer *a, const onet_write_options *parts) {
    switch (part) {
    case ORDER:
        /* One that is only scored stays as it was written. */
        return a ? !parts->score || r->format != ONET_FORMAT_JSONL : r->order != NULL;
    case LOGPROB:
        return a && parts->logprob && a->logprob;
    case STEPS:
        return a && parts->steps && a->step;
    case STEP_LOGPROB:
        return a && parts->score && a->step_logprob;
    case MADE:
        return parts->made != NULL;
    default:
        return a && parts->top > 1;
    }
}

static onet_status write_part(output *out, int part, const record *r, const onet_answer *a,
                              const onet_write_options *parts, onet_error *err) {
    switch (part) {
    case ORDER:
        return write_order(out, a ? a->order : r->order, record_placed(r), err);
    case LOGPROB:
        return write_number(out, a->logprob[0], err);
    case STEPS:
        return write_steps(out, a->step, record_placed(r), err);
    case STEP_LOGPROB:
        return write_numbers(out, a->step_logprob, record_placed(r), err);
    case MADE:
        return write_string(out, parts->made, strlen(parts->made), err);
    default:
        return write_top(out, a, parts, r, err);
    }
}

/* The members of `want` behind those that were written. */
static onet_status append_parts(output *out, const bool *want, const record *r, const onet_answer *a,
                                const onet_write_options *parts, onet_error *err) {
    onet_status status = ONET_OK;
    for (int part = 0; part < PARTS && !status; part++) {
        if (!want[part]) continue;
        status = output_printf(out, err, ", \"%s\": ", part_name[part]);
        if (!status) status = write_part(out, part, r, a, parts, err);
    }
    return status;
}

/* Whether a member is part of an earlier answer to the same set, which no longer holds. */
static bool is_stale(const record *r, const member *m) {
    const char *value = r->text + m->value;
    if (jsonl_is(r, m, "logprob")) return strchr("-0123456789n", *value);
    if (jsonl_is(r, m, "steps") || jsonl_is(r, m, "step_logprob")) return *value == '[';
    return jsonl_is(r, m, "top") && *value == '[' && value[1 + strspn(value + 1, " \t")] == '{';
}

/* The line as it stood, with the values of the answer's members put in their places or behind the last. */
static onet_status write_own(output *out, const record *r, const onet_answer *a,
                             const onet_write_options *parts, bool *want, onet_error *err) {
    size_t from = 0;
    bool first = true;
    onet_status status = ONET_OK;
    for (int k = 0; k < r->members && !status; k++) {
        const member *m = &r->member[k];
        int part = 0;
        while (part < PARTS && (!want[part] || !jsonl_is(r, m, part_name[part]))) part++;
        if (part == PARTS && a && is_stale(r, m)) {
            from = m->value_end;
            continue;
        }
        if (first && k) { /* those before it were left out, and its comma is with them */
            status = output_write(out, r->text, strcspn(r->text, "{") + 1, err);
            from += strcspn(r->text + from, "\"");
            if (status) break;
        }
        first = false;
        if (part < PARTS) {
            status = output_write(out, r->text + from, m->value - from, err);
            if (!status) status = write_part(out, part, r, a, parts, err);
            want[part] = false;
        } else {
            status = output_write(out, r->text + from, m->value_end - from, err);
        }
        from = m->value_end;
    }
    if (!status) status = append_parts(out, want, r, a, parts, err);
    return status ? status : output_write(out, r->text + from, r->length - from, err);
}

/* ---- Lines made from other formats ------------------------------------------------------------------- */

static onet_status write_features(output *out, const record *r, int item, onet_error *err) {
    onet_status status = put(out, "[", err);
    for (int j = 0; j < r->width && !status; j++) {
        size_t at = (size_t)item * (size_t)r->width + (size_t)j;
        char text[2 + NUMBER_TEXT] = ", ";
        size_t length = isnan(r->items[at]) ? 4 : record_number(r, at, text + 2);
        if (isnan(r->items[at])) memcpy(text + 2, "null", 4);
        status = j ? output_write(out, text, length + 2, err) : output_write(out, text + 2, length, err);
    }
    return status ? status : put(out, "]", err);
}

static onet_status write_items(output *out, const record *r, onet_error *err) {
    onet_status status = put(out, "\"items\": [", err);
    for (int i = 0; i < r->n && !status; i++) {
        if (i) status = put(out, ", ", err);
        if (!status)
            status = r->word ? write_string(out, r->word[i], strlen(r->word[i]), err)
                             : write_features(out, r, i, err);
    }
    return status ? status : put(out, "]", err);
}

static onet_status write_context(output *out, const record *r, onet_error *err) {
    onet_status status = put(out, ", \"context\": [", err);
    for (int i = 0, written = 0; i < r->n && !status; i++)
        if (r->context[i]) status = output_printf(out, err, written++ ? ", %d" : "%d", i);
    return status ? status : put(out, "]", err);
}

static onet_status write_pairs(output *out, const record *r, const char *key, onet_constraint_kind kind,
                               onet_error *err) {
    size_t pairs = 0;
    onet_status status = ONET_OK;
    for (size_t k = 0; k < r->constraint_count && !status; k++) {
        const onet_constraint *c = &r->constraints[k];
        if (c->kind != kind) continue;
        status = pairs++ ? put(out, ", ", err) : output_printf(out, err, ", \"%s\": [", key);
        if (!status) status = output_printf(out, err, "[%zu, %zu]", c->item, c->other);
    }
    return status || !pairs ? status : put(out, "]", err);
}

static onet_status write_constraints(output *out, const record *r, onet_error *err) {
    constraint_graph g;
    onet_status status =
        constraint_graph_make(&g, r->constraints, r->constraint_count, 0, r->n, r->context, err);
    if (status) return status;
    if (g.fixed_count) {
        status = put(out, ", \"prefix\": ", err);
        if (!status) status = write_order(out, g.fixed, g.fixed_count, err);
    }
    if (!status && g.last >= 0) status = output_printf(out, err, ", \"last\": %d", g.last);
    if (!status) status = write_pairs(out, r, "before", ONET_BEFORE, err);
    if (!status) status = write_pairs(out, r, "next", ONET_NEXT, err);
    constraint_graph_free(&g);
    return status;
}

/* A text column of CSV: an array with the value of each item. */
static onet_status write_column(output *out, const record *r, size_t column, csv_rows *rows,
                                onet_error *err) {
    const csv_table *t = r->table;
    onet_status status = put(out, ", ", err);
    if (!status) status = write_string(out, t->column[column].name, strlen(t->column[column].name), err);
    if (!status) status = put(out, ": [", err);
    for (size_t k = t->start[r->set]; k < t->start[r->set + 1] && !status; k++) {
        const char *text;
        size_t length;
        double value;
        if (k > t->start[r->set]) status = put(out, ", ", err);
        if (!status) status = csv_kept_row(t, k, rows, err);
        if (!status) status = csv_plain(rows, column, &text, &length, err);
        if (status) break;
        bool quoted = rows->text[rows->field[column].at] == '"';
        if (length && !quoted && number_scan(text, text + length, NUMBER_JSON, &value) == text + length)
            status = output_write(out, text, length, err);
        else
            status = write_string(out, text, length, err);
    }
    return status ? status : put(out, "]", err);
}

static onet_status write_columns(output *out, const record *r, onet_error *err) {
    static const char *const own[] = {"items", "order", "logprob", "steps",  "top",  "step_logprob", "set",
                                      "first", "last",  "prefix",  "before", "next", "context"};
    csv_rows rows = {0};
    onet_status status = ONET_OK;
    for (size_t k = 0; k < r->table->columns && !status; k++) {
        bool pass = r->table->column[k].kind == CSV_TEXT;
        for (size_t i = 0; i < sizeof own / sizeof *own; i++)
            pass &= strcmp(r->table->column[k].name, own[i]) != 0;
        if (pass) status = write_column(out, r, k, &rows, err);
    }
    csv_rows_free(&rows);
    return status;
}

static onet_status write_made(output *out, const record *r, const onet_answer *a,
                              const onet_write_options *parts, const bool *want, onet_error *err) {
    onet_status status = put(out, "{", err);
    if (r->table && !r->table->one_set) {
        const names *sets = &r->table->names;
        if (!status) status = put(out, "\"set\": ", err);
        if (!status)
            status = write_string(out, sets->text + sets->at[r->set], sets->at[r->set + 1] - sets->at[r->set],
                                  err);
        if (!status) status = put(out, ", ", err);
    }
    if (!status) status = write_items(out, r, err);
    if (!status && r->context) status = write_context(out, r, err);
    if (!status && r->constraint_count) status = write_constraints(out, r, err);
    if (!status) status = append_parts(out, want, r, a, parts, err);
    if (!status && r->table && r->table->kept) status = write_columns(out, r, err);
    return status ? status : put(out, "}", err);
}

onet_status jsonl_write(output *out, const record *r, const onet_answer *a, const onet_write_options *parts,
                        onet_error *err) {
    bool want[PARTS];
    for (int part = 0; part < PARTS; part++) want[part] = has_part(part, r, a, parts);
    onet_status status = r->format == ONET_FORMAT_JSONL ? write_own(out, r, a, parts, want, err)
                                                        : write_made(out, r, a, parts, want, err);
    return status ? status : put(out, "\n", err);
}

onet_status jsonl_write_error(output *out, const record *r, const char *error, onet_error *err) {
    onet_status status = put(out, "{", err);
    for (int k = 0; k < r->members && !status; k++) {
        const member *m = &r->member[k];
        if (!jsonl_is(r, m, "id")) continue;
        status = put(out, "\"id\": ", err);
        if (!status) status = output_write(out, r->text + m->value, m->value_end - m->value, err);
        if (!status) status = put(out, ", ", err);
    }
    if (!status && r->line > 0) status = output_printf(out, err, "\"line\": %ld, ", r->line);
    if (!status) status = put(out, "\"error\": ", err);
    if (!status) status = write_string(out, error, strlen(error), err);
    return status ? status : put(out, "}\n", err);
}

/* ---- The format -------------------------------------------------------------------------------------- */

static bool recognise(const char *data, size_t size) {
    const char *line, *end;
    bool whole;
    return format_first_line(data, size, &line, &end, &whole) &&
           (*line == '{' || json_array_begins(line, (size_t)(end - line)));
}

static onet_status parse(record *r, const onet_read_options *options, const char *name, onet_error *err) {
    return jsonl_parse(r, options, name, err);
}

static onet_status put_set(output *out, void **state, const record *r, const onet_answer *answer,
                           const onet_write_options *options, onet_error *err) {
    onet_write_options parts = *options;
    parts.logprob = 1;
    if (*state) parts.made = NULL; /* the first set has it */
    *state = (void *)options;
    return jsonl_write(out, r, answer, &parts, err);
}

const data_format jsonl_format = {
    .format = ONET_FORMAT_JSONL,
    .name = "jsonl",
    .help = "JSON Lines",
    .endings = {".jsonl", ".ndjson", ".json"},
    .holds = HOLDS_NUMBERS | HOLDS_WORDS | HOLDS_CONTEXT | HOLDS_CONSTRAINTS | HOLDS_SIZES | HOLDS_STEPS |
             HOLDS_SEVERAL | HOLDS_SCORE | HOLDS_ERRORS | HOLDS_MISSING,
    .recognise = recognise,
    .parse = parse,
    .put = put_set,
};
