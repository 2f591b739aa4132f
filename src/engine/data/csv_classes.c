/* Decides which text columns are categories, and turns those of CSV into one-hot features (csv_classes.h):
 * collects the values, selects the most frequent ones, and recognises those that a model was trained with. */
#include "engine/data/csv_classes.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/base/number.h"
#include "engine/data/columns.h"
#include "engine/data/spelling.h"
#include "engine/data/text_value.h"

/* ---- By name: what a model knows --------------------------------------------------------------------- */

onet_status classes_name(csv_table *t, const char *name, size_t length, bool *found, onet_error *err) {
    *found = false;
    for (size_t k = 0; k < t->columns && !*found; k++) {
        csv_column *c = &t->column[k];
        size_t own = strlen(c->name);
        if (own >= length || name[own] != '=' || memcmp(name, c->name, own) != 0) continue;
        if (c->kind != CSV_TEXT) continue;
        if (!array_reserve(&t->class, &t->class_room, t->classes + 1, sizeof *t->class))
            return fail_memory(err, "the features of a CSV file");
        char *value = strndup(name + own + 1, length - own - 1);
        if (!value) return fail_memory(err, "the features of a CSV file");
        t->class[t->classes++] = (csv_class){k, t->width++, value};
        c->classes = *found = true;
        c->words |= !unknown_is_number(value, strlen(value));
    }
    return ONET_OK;
}

/* Returns the hash of a text that has no feature. */
static uint64_t text_hash(const char *text, size_t length) {
    return missing_text(text, length) ? LOST_MISSING : lost_hash(text, length);
}

bool classes_take(csv_table *t, size_t k, const char *text, size_t length) {
    int first = -1;
    bool known = false;
    for (size_t i = 0; i < t->classes; i++) {
        const csv_class *class = &t->class[i];
        if (class->column != k) continue;
        bool same = unknown_same(class->value, text, length, !t->column[k].words);
        t->items[t->rows * (size_t)t->width + (size_t) class->feature] = same;
        known |= same;
        if (first < 0) first = class->feature;
    }
    unknown_note(&t->unknown, first, known, text, length);
    return known || csv_lose(t, k, t->rows, text_hash(text, length));
}

/* ---- By value: data to train on ---------------------------------------------------------------------- */

onet_status classes_note(csv_table *t, csv_column *c, const char *text, size_t length, onet_error *err) {
    size_t number, row = t->rows;
    if (!names_add(&c->values, text, length, &number) ||
        !array_reserve(&c->code, &c->code_room, row + 1, sizeof *c->code))
        return fail_memory(err, "the texts of a column");
    if (c->values.count > MOST_VALUES)
        return fail_field(
            err, ONET_BAD, "onet_read_options.features",
            "%s:%ld: column `%.100s` has over %d different texts, too many for a category; name "
            "the features without it",
            t->file, t->line[row], c->name, MOST_VALUES);
    for (; c->coded < row; c->coded++) c->code[c->coded] = SIZE_MAX; /* missing */
    c->code[c->coded++] = number;
    return ONET_OK;
}

/* *found: some set has two different texts. */
static onet_status differ(bool *found, const size_t *code, const size_t *set_of, size_t items, size_t sets,
                          onet_error *err) {
    size_t *first = array_new(sets, sizeof *first); /* + 1; 0: none yet */
    if (!first) return fail_memory(err, "the texts of a column");
    *found = false;
    for (size_t i = 0; i < items && !*found; i++) {
        size_t *known = &first[set_of[i]];
        if (code[i] == SIZE_MAX) continue;
        *found = *known && *known != code[i] + 1;
        *known = code[i] + 1;
    }
    free(first);
    return ONET_OK;
}

onet_status classes_use(text_use *use, const names *values, const size_t *code, const size_t *set_of,
                        size_t items, size_t sets, bool missing, onet_error *err) {
    size_t there = 0;
    bool numbers = false, told = true, dashes = true, apart = false;
    unsigned seen = 0;
    *use = TEXT_UNUSED;
    for (size_t k = 0; k < values->count; k++) {
        const char *text = values->text + values->at[k];
        size_t length = values->at[k + 1] - values->at[k];
        double value;
        numbers |= number_scan(text, text + length, NUMBER_LOOSE, &value) == text + length;
        told &= text_value(text, length, &value);
        seen |= seen_text(text);
        dashes &= spelling_is_dash(text, length);
    }
    for (size_t i = 0; i < items; i++) there += code[i] != SIZE_MAX;
    told &= kind_of_seen(seen) != 0; /* dates and truth values together are text */
    if (!values->count || numbers || dashes || spelling_first(values, code, items) < SIZE_MAX) return ONET_OK;
    if (told ? there < items && !missing : 2 * values->count > there) return ONET_OK;
    onet_status status = differ(&apart, code, set_of, items, sets, err);
    if (!status && apart) *use = told ? TEXT_VALUES : TEXT_CATEGORY;
    return status;
}

static int by_times(const void *a, const void *b) {
    const class_value *x = a, *y = b;
    if (x->times != y->times) return x->times < y->times ? 1 : -1;
    return (x->number > y->number) - (x->number < y->number);
}

static int by_text(const void *a, const void *b) {
    const class_value *x = a, *y = b;
    size_t least = x->length < y->length ? x->length : y->length;
    int order = memcmp(x->text, y->text, least);
    return order ? order : (x->length > y->length) - (x->length < y->length);
}

class_value *classes_choose(const csv_column *c, size_t *count) {
    class_value *v = array_new(c->values.count, sizeof *v);
    if (!v) return NULL;
    for (size_t i = 0; i < c->values.count; i++)
        v[i] = (class_value){c->values.text + c->values.at[i], c->values.at[i + 1] - c->values.at[i], i, 0};
    for (size_t row = 0; row < c->coded; row++)
        if (c->code[row] != SIZE_MAX) v[c->code[row]].times++;
    *count = c->values.count < MOST_CLASSES ? c->values.count : MOST_CLASSES;
    qsort(v, c->values.count, sizeof *v, by_times);
    qsort(v, *count, sizeof *v, by_text);
    return v;
}

/* Adds the classes of column k, whose features are numbered from t->width on; codes become numbers of
 * classes. */
static onet_status add_classes(csv_table *t, size_t k, onet_error *err) {
    csv_column *c = &t->column[k];
    size_t count, *class_of = array_new(c->values.count, sizeof *class_of);
    class_value *v = classes_choose(c, &count);
    bool made = v && class_of &&
                array_reserve(&t->class, &t->class_room, t->classes + (v ? count : 0), sizeof *t->class);
    for (size_t i = 0; made && i < c->values.count; i++) class_of[i] = SIZE_MAX;
    for (size_t i = 0; made && i < count; i++) {
        char *text = strndup(v[i].text, v[i].length);
        if (!(made = text != NULL)) break;
        class_of[v[i].number] = (size_t)t->width;
        t->class[t->classes++] = (csv_class){k, t->width++, text};
    }
    for (size_t row = 0; made && row < t->rows; row++) {
        size_t number = row < c->coded ? c->code[row] : SIZE_MAX;
        if (number != SIZE_MAX) c->code[row] = class_of[number];
        if (number == SIZE_MAX)
            made = csv_lose(t, k, row, LOST_MISSING);
        else if (class_of[number] == SIZE_MAX)
            made = csv_lose(t, k, row,
                            lost_hash(c->values.text + c->values.at[number],
                                      c->values.at[number + 1] - c->values.at[number]));
    }
    free(v);
    free(class_of);
    return made ? ONET_OK : fail_memory(err, "the texts of a column");
}

onet_status classes_expand(csv_table *t, onet_error *err) {
    size_t before = (size_t)t->width, columns = 0;
    for (size_t k = 0; k < t->columns; k++) columns += t->column[k].category;
    if (!columns) return ONET_OK;
    int *from = array_new(before, sizeof *from); /* features that are numbers: the slots that they had */
    onet_status status = from ? ONET_OK : fail_memory(err, "the features of a CSV file");
    t->width = 0;
    for (size_t slot = 0; slot < before && !status; slot++)
        for (size_t k = 0; k < t->columns && !status; k++) {
            csv_column *c = &t->column[k];
            if (c->kind != CSV_FEATURE || c->feature != (int)slot || c->category) continue;
            from[t->width] = (int)slot;
            c->feature = t->width++;
            break;
        }
    size_t numbers = (size_t)t->width;
    for (size_t k = 0; k < t->columns && !status; k++)
        if (t->column[k].category) status = add_classes(t, k, err);
    size_t width = (size_t)t->width;
    double *items = status ? NULL : array_new(t->rows, width * sizeof *items);
    if (!status && !items) status = fail_memory(err, "the features of a CSV file");
    for (size_t row = 0; row < t->rows && !status; row++) {
        for (size_t j = 0; j < numbers; j++)
            items[row * width + j] = t->items[row * before + (size_t)from[j]];
        for (size_t k = 0; k < t->columns; k++) {
            const csv_column *c = &t->column[k];
            if (c->category && row < c->coded && c->code[row] != SIZE_MAX)
                items[row * width + c->code[row]] = 1;
        }
    }
    for (size_t k = 0; k < t->columns && !status; k++) {
        csv_column *c = &t->column[k];
        if (c->category) c->kind = CSV_TEXT;
    }
    if (!status) {
        free(t->items);
        t->items = items;
        t->item_room = t->rows * width;
    }
    free(from);
    return status;
}
