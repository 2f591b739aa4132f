/* Writes JSON Lines: the predicted order into the line as it was read, a new line from a set of another
 * format, or an error in place of an answer. Also defines the format jsonl, which recognises and reads such
 * files through jsonl.c. */
#include <math.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/base/number.h"
#include "engine/data/constraints.h"
#include "engine/data/csv.h"
#include "engine/data/format.h"
#include "engine/data/json_array.h"
#include "engine/data/jsonl.h"

/* Writes text as a JSON string. */
static void write_string(output *out, const char *text, size_t length) {
    size_t from = 0;
    output_put(out, "\"");
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c >= 0x20 && c != '"' && c != '\\') continue;
        output_write(out, text + from, i - from);
        output_printf(out, c < 0x20 ? "\\u%04x" : "\\%c", c);
        from = i + 1;
    }
    output_write(out, text + from, length - from);
    output_put(out, "\"");
}

static void write_order(output *out, const int32_t *order, int length) {
    output_put(out, "[");
    for (int t = 0; t < length; t++) {
        char text[NUMBER_TEXT];
        if (t) output_put(out, ", ");
        output_write(out, text, number_text_int(text, order[t]));
    }
    output_put(out, "]");
}

/* null for what JSON has no number for. */
static void write_number(output *out, double value) {
    char text[NUMBER_TEXT] = "null";
    if (isfinite(value)) number_text_double(text, value);
    output_put(out, text);
}

static void write_numbers(output *out, const double *value, int length) {
    output_put(out, "[");
    for (int t = 0; t < length; t++) {
        if (t) output_put(out, ", ");
        write_number(out, value[t]);
    }
    output_put(out, "]");
}

static void write_steps(output *out, const float *step, int length) {
    output_put(out, "[");
    for (int t = 0; t < length; t++) {
        char text[NUMBER_TEXT];
        if (t) output_put(out, ", ");
        output_write(out, text, number_text_float(text, step[t]));
    }
    output_put(out, "]");
}

static void write_top(output *out, const onet_answer *a, const onet_write_options *parts, const record *r) {
    int placed = record_placed(r);
    output_put(out, "[");
    for (int k = 0; k < a->found && k < parts->top; k++) {
        size_t at = (size_t)k * (size_t)r->n;
        output_put(out, k ? ", {\"order\": " : "{\"order\": ");
        write_order(out, a->order + at, placed);
        output_put(out, ", \"logprob\": ");
        write_number(out, a->logprob[k]);
        if (parts->steps && a->step) {
            output_put(out, ", \"steps\": ");
            write_steps(out, a->step + at, placed);
        }
        output_put(out, "}");
    }
    output_put(out, "]");
}

/* ---- The members that a writer sets ------------------------------------------------------------------ */

enum { ORDER, LOGPROB, STEPS, STEP_LOGPROB, TOP, MADE, PARTS };
static const char *const part_name[PARTS] = {"order", "logprob", "steps", "step_logprob", "top", "made"};

static bool has_part(int part, const record *r, const onet_answer *a, const onet_write_options *parts) {
    switch (part) {
    case ORDER:
        /* Where orders are only scored, the set keeps its own, as it was written. */
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

static void write_part(output *out, int part, const record *r, const onet_answer *a,
                       const onet_write_options *parts) {
    switch (part) {
    case ORDER:
        write_order(out, a ? a->order : r->order, record_placed(r));
        break;
    case LOGPROB:
        write_number(out, a->logprob[0]);
        break;
    case STEPS:
        write_steps(out, a->step, record_placed(r));
        break;
    case STEP_LOGPROB:
        write_numbers(out, a->step_logprob, record_placed(r));
        break;
    case MADE:
        write_string(out, parts->made, strlen(parts->made));
        break;
    default:
        write_top(out, a, parts, r);
    }
}

/* Appends the members of `want`. */
static void append_parts(output *out, const bool *want, const record *r, const onet_answer *a,
                         const onet_write_options *parts) {
    for (int part = 0; part < PARTS; part++) {
        if (!want[part]) continue;
        output_printf(out, ", \"%s\": ", part_name[part]);
        write_part(out, part, r, a, parts);
    }
}

/* Whether a member is part of an earlier answer to the same set, which no longer holds. */
static bool is_stale(const record *r, const member *m) {
    const char *value = r->text + m->value;
    if (jsonl_is(r, m, "logprob")) return strchr("-0123456789n", *value);
    if (jsonl_is(r, m, "steps") || jsonl_is(r, m, "step_logprob")) return *value == '[';
    return jsonl_is(r, m, "top") && *value == '[' && value[1 + strspn(value + 1, " \t")] == '{';
}

/* Writes the line as it stood, with the values of the answer's members put in their places or behind the
 * last. */
static void write_own(output *out, const record *r, const onet_answer *a, const onet_write_options *parts,
                      bool *want) {
    size_t from = 0;
    bool first = true;
    for (int k = 0; k < r->members; k++) {
        const member *m = &r->member[k];
        int part = 0;
        while (part < PARTS && (!want[part] || !jsonl_is(r, m, part_name[part]))) part++;
        if (part == PARTS && a && is_stale(r, m)) {
            from = m->value_end;
            continue;
        }
        if (first && k) { /* those before it were left out, and its comma is with them */
            output_write(out, r->text, strcspn(r->text, "{") + 1);
            from += strcspn(r->text + from, "\"");
        }
        first = false;
        if (part < PARTS) {
            output_write(out, r->text + from, m->value - from);
            write_part(out, part, r, a, parts);
            want[part] = false;
        } else {
            output_write(out, r->text + from, m->value_end - from);
        }
        from = m->value_end;
    }
    append_parts(out, want, r, a, parts);
    output_write(out, r->text + from, r->length - from);
}

/* ---- Lines made from other formats ------------------------------------------------------------------- */

static void write_features(output *out, const record *r, int item) {
    output_put(out, "[");
    for (int j = 0; j < r->width; j++) {
        size_t at = (size_t)item * (size_t)r->width + (size_t)j;
        char text[2 + NUMBER_TEXT] = ", null";
        size_t length = isnan(r->items[at]) ? 4 : record_number(r, at, text + 2);
        output_write(out, j ? text : text + 2, j ? length + 2 : length);
    }
    output_put(out, "]");
}

static void write_items(output *out, const record *r) {
    output_put(out, "\"items\": [");
    for (int i = 0; i < r->n; i++) {
        if (i) output_put(out, ", ");
        if (r->word)
            write_string(out, r->word[i], strlen(r->word[i]));
        else
            write_features(out, r, i);
    }
    output_put(out, "]");
}

/* Writes the relations, behind the items if there are some. */
static void write_relations(output *out, const record *r) {
    const float *e = r->pairs;
    output_put(out, r->word || r->width ? ", \"pairs\": [" : "\"pairs\": [");
    for (int i = 0; i < r->n; i++)
        for (int j = 0; j < r->n; j++, e += r->relations) {
            output_put(out, j ? ", " : i ? ", [" : "[");
            for (int k = 0; k < r->relations && r->n == 1 && r->relations > 1; k++)
                output_put(out, k ? ", null" : "[null"); /* which tells how many there are */
            if (i == j) output_put(out, r->n == 1 && r->relations > 1 ? "]" : "null");
            if (i != j && r->relations > 1) output_put(out, "[");
            for (int k = 0; k < r->relations && i != j; k++) {
                char text[NUMBER_TEXT];
                if (k) output_put(out, ", ");
                /* In all digits where the shortest text may be a whole number that float rounds. */
                bool whole = fabsf(e[k]) >= 0x1p24F && fabsf(e[k]) <= 0x1p53F;
                output_write(out, text,
                             whole ? number_text_exact(text, (double)e[k]) : number_text_float(text, e[k]));
            }
            if (i != j && r->relations > 1) output_put(out, "]");
            if (j + 1 == r->n) output_put(out, "]");
        }
    output_put(out, "]");
}

static void write_context(output *out, const record *r) {
    output_put(out, ", \"context\": [");
    for (int i = 0, written = 0; i < r->n; i++)
        if (r->context[i]) output_printf(out, written++ ? ", %d" : "%d", i);
    output_put(out, "]");
}

static void write_pairs(output *out, const record *r, const char *key, onet_constraint_kind kind) {
    size_t pairs = 0;
    for (size_t k = 0; k < r->constraint_count; k++) {
        const onet_constraint *c = &r->constraints[k];
        if (c->kind != kind) continue;
        if (!pairs++)
            output_printf(out, ", \"%s\": [", key);
        else
            output_put(out, ", ");
        output_printf(out, "[%zu, %zu]", c->item, c->other);
    }
    if (pairs) output_put(out, "]");
}

static onet_status write_constraints(output *out, const record *r, onet_error *err) {
    constraint_graph g;
    onet_status status =
        constraint_graph_make(&g, r->constraints, r->constraint_count, 0, r->n, r->context, err);
    if (status) return status;
    if (g.fixed_count) {
        output_put(out, ", \"prefix\": ");
        write_order(out, g.fixed, g.fixed_count);
    }
    if (g.last >= 0) output_printf(out, ", \"last\": %d", g.last);
    write_pairs(out, r, "before", ONET_BEFORE);
    write_pairs(out, r, "next", ONET_NEXT);
    constraint_graph_free(&g);
    return ONET_OK;
}

/* Writes a text column of CSV: an array with the value of each item. */
static onet_status write_column(output *out, const record *r, size_t column, csv_rows *rows,
                                onet_error *err) {
    const csv_table *t = r->table;
    onet_status status = ONET_OK;
    output_put(out, ", ");
    write_string(out, t->column[column].name, strlen(t->column[column].name));
    output_put(out, ": [");
    for (size_t k = t->start[r->set]; k < t->start[r->set + 1]; k++) {
        const char *text;
        size_t length;
        double value;
        if (k > t->start[r->set]) output_put(out, ", ");
        if ((status = csv_kept_row(t, k, rows, err)) ||
            (status = csv_plain(rows, column, &text, &length, err)))
            return status;
        bool quoted = rows->text[rows->field[column].at] == '"';
        if (length && !quoted && number_scan(text, text + length, NUMBER_JSON, &value) == text + length)
            output_write(out, text, length);
        else
            write_string(out, text, length);
    }
    output_put(out, "]");
    return ONET_OK;
}

static onet_status write_columns(output *out, const record *r, onet_error *err) {
    static const char *const own[] = {"items", "pairs", "order", "logprob", "steps",  "top",  "step_logprob",
                                      "set",   "first", "last",  "prefix",  "before", "next", "context"};
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
    onet_status status = ONET_OK;
    output_put(out, "{");
    if (r->table && !r->table->one_set) {
        const names *sets = &r->table->names;
        output_put(out, "\"set\": ");
        write_string(out, sets->text + sets->at[r->set], sets->at[r->set + 1] - sets->at[r->set]);
        output_put(out, ", ");
    }
    if (r->word || r->width) write_items(out, r);
    if (r->pairs) write_relations(out, r);
    if (r->context) write_context(out, r);
    if (r->constraint_count) status = write_constraints(out, r, err);
    append_parts(out, want, r, a, parts);
    if (!status && r->table && r->table->kept) status = write_columns(out, r, err);
    output_put(out, "}");
    return status;
}

onet_status jsonl_write(output *out, const record *r, const onet_answer *a, const onet_write_options *parts,
                        onet_error *err) {
    bool want[PARTS];
    onet_status status = ONET_OK;
    for (int part = 0; part < PARTS; part++) want[part] = has_part(part, r, a, parts);
    if (r->format == ONET_FORMAT_JSONL)
        write_own(out, r, a, parts, want);
    else
        status = write_made(out, r, a, parts, want, err);
    output_put(out, "\n");
    return status ? status : output_status(out, err);
}

onet_status jsonl_write_error(output *out, const record *r, const char *error, onet_error *err) {
    output_put(out, "{");
    for (int k = 0; k < r->members; k++) {
        const member *m = &r->member[k];
        if (!jsonl_is(r, m, "id")) continue;
        output_put(out, "\"id\": ");
        output_write(out, r->text + m->value, m->value_end - m->value);
        output_put(out, ", ");
    }
    if (r->line > 0) output_printf(out, "\"line\": %ld, ", r->line);
    output_put(out, "\"error\": ");
    write_string(out, error, strlen(error));
    output_put(out, "}\n");
    return output_status(out, err);
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
             HOLDS_SEVERAL | HOLDS_SCORE | HOLDS_ERRORS | HOLDS_MISSING | HOLDS_PAIRS,
    .recognise = recognise,
    .parse = parse,
    .put = put_set,
};
