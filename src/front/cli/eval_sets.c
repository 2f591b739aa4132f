/* Reads the sets that `ordernet eval` measures, with line, name and group of each; averages their
 * measures by size and group; measures the importance of features; and writes the measures of each set. */
#include "front/cli/eval_sets.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/json_report.h"
#include "app/progress.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/lines.h"
#include "engine/base/memory.h"
#include "engine/base/number.h"
#include "ordernet_io.h"

void eval_sets_free(eval_sets *e) {
    size_t count = e->sets ? e->sets->count : 0;
    for (size_t s = 0; s < count; s++) {
        if (e->id) free(e->id[s]);
        if (e->group) free(e->group[s]);
    }
    for (int j = 0; j < e->features; j++) free(e->feature[j]);
    free(e->unknown);
    free(e->line);
    free(e->id);
    free(e->group);
    free(e->feature);
    onet_sets_free(e->sets);
    *e = (eval_sets){0};
}

/* ---- Reading ----------------------------------------------------------------------------------------- */

/* Copies the text that the record has under the key; *copy is NULL if it has none. */
static onet_status copy_text(onet_record *r, const char *key, char **copy, onet_error *err) {
    const char *text;
    onet_status status = onet_record_text(r, key, &text, err);
    *copy = NULL;
    if (!status && text && !(*copy = strdup(text))) status = fail_memory(err, "the names of the sets");
    return status;
}

static onet_status read_features(eval_sets *e, const onet_record *r, onet_error *err) {
    const onet_columns *columns = e->sets->columns;
    int width = columns ? onet_columns_inputs(columns) : onet_record_width(r);
    if (columns ? !onet_columns_name(columns, 0) : !onet_record_feature(r, 0)) return ONET_OK;
    if (!(e->feature = array_new((size_t)width, sizeof *e->feature)))
        return fail_memory(err, "the names of the features");
    for (e->features = 0; e->features < width; e->features++)
        if (!(e->feature[e->features] = strdup(columns ? onet_columns_name(columns, e->features)
                                                       : onet_record_feature(r, e->features))))
            return fail_memory(err, "the names of the features");
    return ONET_OK;
}

static const char *set_column(const onet_read_options *o) {
    const char *own = o->columns ? onet_columns_set(o->columns) : NULL;
    return o->set_column ? o->set_column : own ? own : "set";
}

/* Appends the record as a set with its line, name and group; a failure appends nothing. */
static onet_status append(eval_sets *e, onet_record *r, const onet_reader *in,
                          const onet_read_options *options, const char *group, onet_error *err) {
    size_t s = e->sets->count;
    char *id = NULL, *name = NULL;
    if (!array_reserve(&e->line, &e->line_room, s + 1, sizeof *e->line) ||
        !array_reserve(&e->id, &e->id_room, s + 1, sizeof *e->id) ||
        !array_reserve(&e->group, &e->group_room, s + 1, sizeof *e->group))
        return fail_memory(err, "the names of the sets");
    onet_status status = s ? ONET_OK : read_features(e, r, err);
    if (!status) status = copy_text(r, "id", &id, err);
    if (status == ONET_BAD && onet_record_format(r) != ONET_FORMAT_JSONL) status = ONET_OK; /* ids of items */
    if (!status && !id && onet_record_format(r) != ONET_FORMAT_JSONL) /* a table names its sets */
        status = copy_text(r, set_column(options), &id, err);
    if (!status && group) status = copy_text(r, group, &name, err);
    if (!status) {
        status = onet_sets_append_record(e->sets, r, options->words, 1, err);
        if (status == ONET_BAD) error_prefix(err, "%s:%ld", onet_reader_name(in), onet_record_line(r));
    }
    if (status) {
        free(id);
        free(name);
        return status;
    }
    e->line[s] = onet_record_line(r);
    e->id[s] = id;
    e->group[s] = name;
    return ONET_OK;
}

static onet_status read_records(eval_sets *e, onet_reader *in, const onet_read_options *options,
                                const char *group, onet_error *err) {
    onet_record *r = NULL;
    int end = 0;
    onet_status status = onet_record_new(&r, err);
    if (!status) status = onet_sets_new(&e->sets, 0, err);
    if (!status && options->columns) status = onet_sets_set_columns(e->sets, options->columns, err);
    while (!status && !(status = onet_reader_next(in, r, &end, err)) && !end)
        status = append(e, r, in, options, group, err);
    onet_record_free(r);
    if (e->sets && e->sets->word) onet_sets_lend_words(e->sets, options->words); /* the model's */
    return status;
}

onet_status eval_sets_read(eval_sets *e, const char *path, const onet_read_options *options, bool labels,
                           const char *group, onet_error *err) {
    *e = (eval_sets){0};
    if (!labels) {
        onet_status read = onet_sets_read(&e->sets, path, options, err);
        const char *said = read ? NULL : onet_columns_unknown(e->sets->columns);
        if (said && !(e->unknown = strdup(said))) read = fail_memory(err, "the texts of a column");
        return read;
    }
    onet_reader *in;
    onet_status status = onet_reader_open(&in, path, options, err);
    if (!status) status = read_records(e, in, options, group, err);
    if (!status) onet_reader_hash(in, e->sets->hash);
    const char *unknown = status ? NULL : onet_reader_unknown(in);
    if (unknown && !(e->unknown = strdup(unknown))) status = fail_memory(err, "the texts of a column");
    onet_reader_close(in);
    bool named = !group;
    for (size_t s = 0; !status && !named && s < e->sets->count; s++) named = e->group[s] != NULL;
    if (!status && !named)
        status = fail(err, ONET_BAD, "%s: no set has a key or column `%s` to group by; check --group", path,
                      group);
    return status;
}

/* ---- By size and by group ------------------------------------------------------------------------------ */

void eval_table_free(eval_table *t) {
    for (size_t i = 0; t->rows && i < t->count; i++) free(t->rows[i].name);
    free(t->rows);
    *t = (eval_table){0};
}

static onet_status table_new(eval_table *t, size_t parts, onet_error *err) {
    t->count = parts + 1;
    t->rows = array_new(t->count, sizeof *t->rows);
    return t->rows ? ONET_OK : fail_memory(err, "the report");
}

static int compare_groups(const void *a, const void *b, void *context) {
    const eval_sets *e = context;
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    const char *p = e->group[x], *q = e->group[y];
    int order = !p - !q;
    if (!order && p) order = strcmp(p, q);
    return order ? order : (x > y) - (x < y);
}

/* Sorts the sets by the name of their group, those without one last: group k has the sets which[start[k]] ..
 * which[start[k + 1] - 1], all with its name. The caller frees *which and *start. */
static onet_status groups(const eval_sets *e, size_t **which, size_t **start, size_t *count,
                          onet_error *err) {
    size_t sets = e->sets->count, *place = array_new(sets, sizeof *place);
    size_t *first = array_new(sets + 1, sizeof *first);
    *which = place;
    *start = first;
    *count = 0;
    if (!place || !first) return fail_memory(err, "the groups");
    for (size_t s = 0; s < sets; s++) place[s] = s;
    qsort_r(place, sets, sizeof *place, compare_groups, (void *)(uintptr_t)e);
    for (size_t k = 0; k < sets; k++) {
        const char *name = e->group[place[k]], *before = k ? e->group[place[k - 1]] : NULL;
        if (!k || !name != !before || (name && strcmp(name, before) != 0)) first[(*count)++] = k;
    }
    first[*count] = sets;
    return ONET_OK;
}

static int compare_sizes(const void *a, const void *b) {
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

onet_status eval_by_size(eval_table *t, const onet_set_measure *each, size_t sets, onet_error *err) {
    size_t *size = array_new(sets, sizeof *size), *which = array_new(sets, sizeof *which), sizes = 0;
    onet_status status = size && which ? ONET_OK : fail_memory(err, "the sizes of the sets");
    for (size_t s = 0; s < sets && !status; s++) size[s] = each[s].n;
    if (!status) qsort(size, sets, sizeof *size, compare_sizes);
    for (size_t s = 0; s < sets && !status; s++)
        if (!s || size[s] != size[sizes - 1]) size[sizes++] = size[s];
    if (!status) status = table_new(t, sizes, err);
    for (size_t i = 0; i < sizes && !status; i++) {
        size_t count = 0;
        for (size_t s = 0; s < sets; s++)
            if (each[s].n == size[i]) which[count++] = s;
        onet_measure_mean(&t->rows[i].report, each, which, count);
        if (asprintf(&t->rows[i].name, "%zu", size[i]) < 0) {
            t->rows[i].name = NULL;
            status = fail_memory(err, "the report");
        }
    }
    if (!status) onet_measure_mean(&t->rows[sizes].report, each, NULL, sets);
    free(size);
    free(which);
    return status;
}

onet_status eval_by_group(eval_table *t, const eval_sets *e, const onet_set_measure *each, onet_error *err) {
    size_t *which = NULL, *start = NULL, count = 0;
    onet_status status = groups(e, &which, &start, &count, err);
    if (!status) status = table_new(t, count, err);
    for (size_t i = 0; i < count && !status; i++) {
        const char *name = e->group[which[start[i]]];
        onet_measure_mean(&t->rows[i].report, each, which + start[i], start[i + 1] - start[i]);
        if (!(t->rows[i].name = strdup(name ? name : "(none)"))) status = fail_memory(err, "the report");
    }
    if (!status) onet_measure_mean(&t->rows[count].report, each, NULL, e->sets->count);
    free(which);
    free(start);
    return status;
}

/* ---- Importance of the features ---------------------------------------------------------------------- */

void eval_importances_free(eval_importances *m) {
    free(m->name);
    free(m->text);
    free(m->of);
}

onet_status eval_importance(eval_importances *m, const onet_model *model, onet_orderer *orderer,
                            const eval_sets *e, const onet_set_measure *each, int repeats, uint64_t seed,
                            bool quiet, onet_error *err) {
    enum { NAME = 256 };
    int relations = onet_model_given_relations(model), all = e->sets->width + relations;
    size_t width = (size_t)all;
    const onet_columns *columns = onet_model_columns(model);
    m->name = array_new(width, sizeof *m->name);
    m->text = array_new(width, NAME);
    m->of = array_new(width, sizeof *m->of);
    if (!m->name || !m->text || !m->of) return fail_memory(err, "the importance of the features");
    progress line;
    onet_status status = ONET_OK;
    progress_start(&line, quiet);
    for (int j = e->sets->word ? e->sets->width : 0; j < all && !status; m->count++) { /* words: relations */
        char *text = m->text + (size_t)m->count * NAME;
        bool relation = j >= e->sets->width;
        int span = relation ? 1 : onet_columns_span(columns, j);
        snprintf(text, NAME, relation ? "relation %d" : "x%d", /* as convert names them */
                 relation ? j - e->sets->width + 1 : j + 1);
        m->name[m->count] = e->feature && !relation ? e->feature[j] : text;
        if (relation && onet_model_relations(model)) {
            const char *name;
            size_t length = lines_find(onet_model_relations(model), j - e->sets->width, &name);
            snprintf(text, NAME, "%.*s", (int)(length < NAME ? length : NAME - 1), name);
        }
        if (span > 1) {
            const char *name = onet_columns_name(columns, j);
            snprintf(text, NAME, "%.*s", (int)strcspn(name, "="), name);
            m->name[m->count] = text;
        }
        status = onet_measure_importance(&m->of[m->count], orderer, e->sets, each, j, repeats, seed, err);
        j += span;
        progress_count(&line, "importance", "features", j, all);
    }
    progress_end(&line);
    return status;
}

/* ---- A row for each set ------------------------------------------------------------------------------ */

static const struct {
    const char *name;
    size_t field;
} columns[] = {
    {"exact", offsetof(onet_set_measure, exact)},
    {"tau", offsetof(onet_set_measure, tau)},
    {"position", offsetof(onet_set_measure, position)},
    {"neighbours", offsetof(onet_set_measure, neighbours)},
    {"loglik", offsetof(onet_set_measure, loglik)},
    {"probability", offsetof(onet_set_measure, probability)},
};
enum { COLUMNS = sizeof columns / sizeof *columns };

static double value_of(const onet_set_measure *m, int column) {
    return *(const double *)(const void *)((const char *)m + columns[column].field);
}

static void csv_text(output *out, const char *text) {
    if (text) output_csv_field(out, ',', text, strlen(text));
}

static void csv_header(output *out, bool grouped) {
    output_printf(out, "line,id,%sn,placed", grouped ? "group," : "");
    for (int c = 0; c < COLUMNS; c++) output_printf(out, ",%s", columns[c].name);
    output_put(out, "\n");
}

static onet_status csv_row(output *out, const eval_sets *e, size_t s, bool grouped, const onet_set_measure *m,
                           onet_error *err) {
    output_printf(out, "%ld,", e->line[s]);
    csv_text(out, e->id[s]);
    if (grouped) output_put(out, ",");
    if (grouped) csv_text(out, e->group[s]);
    output_printf(out, ",%zu,%zu", m->n, m->placed);
    for (int c = 0; c < COLUMNS; c++) {
        char text[NUMBER_TEXT] = "";
        if (isfinite(value_of(m, c))) number_text_double(text, value_of(m, c));
        output_printf(out, ",%s", text);
    }
    output_put(out, "\n");
    return output_status(out, err);
}

static json_t *json_text(const char *text) {
    return text ? json_string(text) : json_null();
}

static onet_status json_row(output *out, const eval_sets *e, size_t s, bool grouped,
                            const onet_set_measure *m, onet_error *err) {
    json_t *object = json_pack("{s:I}", "line", (json_int_t)e->line[s]);
    if (e->id[s]) json_object_set_new(object, "id", json_text(e->id[s]));
    if (grouped) json_object_set_new(object, "group", json_text(e->group[s]));
    json_object_set_new(object, "n", json_integer((json_int_t)m->n));
    json_object_set_new(object, "placed", json_integer((json_int_t)m->placed));
    for (int c = 0; c < COLUMNS; c++) {
        double value = value_of(m, c);
        json_object_set_new(object, columns[c].name, isfinite(value) ? json_real(value) : json_null());
    }
    char *text;
    onet_status status = json_finish(&text, object, JSON_REAL_PRECISION(9), err);
    if (!status) output_printf(out, "%s\n", text);
    free(text);
    return status ? status : output_status(out, err);
}

onet_status eval_each_format(const char *path, bool *csv, onet_error *err) {
    onet_format format;
    if (onet_format_of_path(path, &format, NULL) ||
        (format != ONET_FORMAT_CSV && format != ONET_FORMAT_JSONL))
        return fail(err, ONET_USAGE, "--per-set %s: end the file's name in .csv or .jsonl", path);
    *csv = format == ONET_FORMAT_CSV;
    return ONET_OK;
}

onet_status eval_write_each(const char *path, const eval_sets *e, bool grouped, const onet_set_measure *each,
                            onet_error *err) {
    output *out;
    bool csv = false;
    onet_status status = eval_each_format(path, &csv, err);
    if (!status) status = output_open(&out, path, err);
    if (status) return status;
    if (csv) csv_header(out, grouped);
    for (size_t s = 0; s < e->sets->count && !status; s++)
        status = (csv ? csv_row : json_row)(out, e, s, grouped, &each[s], err);
    if (!status) return output_commit(out, err);
    output_abort(out);
    return status;
}
