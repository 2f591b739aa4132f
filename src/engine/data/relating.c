/* Parses which relations are to be computed from features, computes them, learns and applies their quantiles,
 * and makes the sets as the network sees them. */
#include "engine/data/relating.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/choice.h"
#include "engine/base/error.h"
#include "engine/base/lines.h"
#include "engine/base/memory.h"
#include "engine/data/columns.h"
#include "engine/data/lost.h"

#define FIELD "onet_train_options.relate"

/* The most relations of all sets together: 8 GB. */
#define MOST_NUMBERS 2147483648.0

const onet_choice *onet_relates(void) {
    static const onet_choice list[] = {
        {"distance", "the Euclidean distance of all its columns together", ONET_RELATE_DISTANCE},
        {"difference", "the value of the second item less that of the first, for each column",
         ONET_RELATE_DIFFERENCE},
        {"product", "the products of the two values, summed over its columns", ONET_RELATE_PRODUCT},
        {"equal", "1 where the two are equal in all its columns, else 0", ONET_RELATE_EQUAL},
        {0},
    };
    return list;
}

/* ---- What is asked for ------------------------------------------------------------------------------- */

/* An entry of the list: kind, and the columns behind a colon; NULL: all of them. */
typedef struct entry {
    onet_relate kind;
    const char *columns;
    size_t length;
} entry;

/* Returns how many bytes of a text an error message shows. */
static int shown_length(size_t length) {
    return length > 100 ? 100 : (int)length;
}

static onet_status parse_entry(const char **text, entry *e, onet_error *err) {
    size_t length = strcspn(*text, ","), kind = strcspn(*text, ":,");
    const onet_choice *found = choice_named(onet_relates(), *text, kind);
    char names[128];
    if (!found || kind + 1 == length)
        return fail_field(err, ONET_USAGE, FIELD,
                          "relation \"%.*s\": expected %s, alone or with columns as in distance:x+y",
                          shown_length(length), *text,
                          choice_names(onet_relates(), " or ", names, sizeof names));
    *e = (entry){(onet_relate)found->value, NULL, 0};
    if (kind < length) {
        e->columns = *text + kind + 1;
        e->length = length - kind - 1;
    }
    *text += length + ((*text)[length] == ',');
    return ONET_OK;
}

onet_status relating_check_text(const char *text, onet_error *err) {
    entry e;
    onet_status status = ONET_OK;
    if (text && !*text) return parse_entry(&text, &e, err);
    while (text && *text && !status) status = parse_entry(&text, &e, err);
    return status;
}

/* The features of one column: `span` from `first` on. */
typedef struct column {
    int first, span;
    size_t length; /* of its name in the text */
} column;

static bool begins(const char *text, size_t left, const char *name, size_t length) {
    return length <= left && !memcmp(text, name, length) && (length == left || text[length] == '+');
}

/* Finds the column that the text begins with: the longest name, since names may have a plus, or a number from
 * 1. */
static bool find_column(const char *text, size_t left, int width, const onet_columns *columns, column *c) {
    *c = (column){.first = -1};
    for (int j = 0; columns && columns->name && j < width; j++) {
        const char *name = columns->name[j];
        int span = onet_columns_span(columns, j);
        size_t whole = strlen(name), base = strcspn(name, "="); /* of a category: colour=red */
        bool first = !j || strncmp(columns->name[j - 1], name, base + 1) != 0;
        if (base > c->length && first && begins(text, left, name, base)) *c = (column){j, span, base};
        if (whole > c->length && begins(text, left, name, whole)) *c = (column){j, 1, whole};
    }
    if (c->first >= 0) return true;
    size_t length = 0;
    long number = 0;
    for (; length < left && text[length] >= '0' && text[length] <= '9' && number <= width; length++)
        number = 10 * number + (text[length] - '0');
    *c = (column){(int)number - 1, 1, length};
    return length && (length == left || text[length] == '+') && number >= 1 && number <= width;
}

static onet_status add_feature(relating *r, int32_t feature, size_t *room, onet_error *err) {
    if (!array_reserve(&r->feature, room, (size_t)r->features + 1, sizeof *r->feature))
        return fail_memory(err, "the relations");
    r->feature[r->features++] = feature;
    return ONET_OK;
}

/* Adds the features of an entry. */
static onet_status add_features(relating *r, const entry *e, int width, const onet_columns *columns,
                                size_t *room, onet_error *err) {
    onet_status status = ONET_OK;
    int all = columns ? columns->width : width; /* not the indicators of missing values */
    if (!width)
        return fail_field(err, ONET_USAGE, FIELD,
                          "relations are made from features, and the items have none: leave them out");
    for (int j = 0; !e->columns && j < all && !status; j++) status = add_feature(r, j, room, err);
    const char *at = e->columns, *end = e->columns ? at + e->length : NULL;
    while (at < end && !status) {
        column c;
        if (!find_column(at, (size_t)(end - at), width, columns, &c))
            return fail_field(err, ONET_USAGE, FIELD, "relation: there is no feature `%.*s`; %s",
                              shown_length(strcspn(at, "+,")), at,
                              columns && columns->name ? "name one of the data, or its number from 1"
                                                       : "they have no names, and go by number from 1");
        for (int k = 0; k < c.span && !status; k++) status = add_feature(r, c.first + k, room, err);
        at += c.length + 1;
        if (at == end && !status) /* a plus at the end */
            return fail_field(err, ONET_USAGE, FIELD, "relation: a column is expected behind `%.*s`",
                              shown_length(e->length), e->columns);
    }
    return status;
}

static onet_status add_name(char **names, const char *name, size_t length, onet_error *err) {
    char *all;
    const char *other;
    for (int k = 0; *names && k < lines_count(*names); k++)
        if (lines_find(*names, k, &other) == length && !memcmp(name, other, length))
            return fail_field(err, ONET_USAGE, FIELD, "relation `%.*s` is there twice: leave one out",
                              shown_length(length), name);
    if (asprintf(&all, "%s%s%.*s", *names ? *names : "", *names ? "\n" : "", (int)length, name) < 0)
        return fail_memory(err, "the relations");
    free(*names);
    *names = all;
    return ONET_OK;
}

static onet_status add_relation(relating *r, made_relation made, const char *name, size_t length,
                                onet_error *err) {
    if (r->given + r->made == MAX_RELATIONS)
        return fail_field(err, ONET_USAGE, FIELD,
                          "more than %d relations between two items: name fewer columns", MAX_RELATIONS);
    r->relation[r->made++] = made;
    return add_name(&r->names, name, length, err);
}

/* Adds the relations of an entry: one for all of its features, of differences one for each. */
static onet_status add_entry(relating *r, const char *text, const entry *e, int first, int width,
                             const onet_columns *columns, onet_error *err) {
    size_t length = strcspn(text, ",");
    int count = r->features - first;
    if (e->kind != ONET_RELATE_DIFFERENCE || count == 1)
        return add_relation(r, (made_relation){e->kind, first, count}, text, length, err);
    onet_status status = ONET_OK;
    for (int k = first; k < r->features && !status; k++) {
        int j = r->feature[k];
        char *name;
        int made = columns && columns->name && j < width ? asprintf(&name, "difference:%s", columns->name[j])
                                                         : asprintf(&name, "difference:%d", j + 1);
        if (made < 0) return fail_memory(err, "the relations");
        status = add_relation(r, (made_relation){e->kind, k, 1}, name, strlen(name), err);
        free(name);
    }
    return status;
}

onet_status relating_new(relating **result, const char *text, int given, const char *names, int width,
                         const onet_columns *columns, onet_error *err) {
    *result = NULL;
    if (!given && !text) return ONET_OK;
    size_t room = 0;
    onet_status status = relating_check_text(text, err);
    if (status) return status;
    relating *r = calloc(1, sizeof *r);
    if (!r || (text && !(r->text = strdup(text)))) status = fail_memory(err, "the relations");
    for (int k = 0; k < given && !status; k++) {
        char number[32];
        const char *name = number;
        size_t length = (size_t)snprintf(number, sizeof number, "relation %d", k + 1);
        if (names) length = lines_find(names, k, &name);
        status = add_name(&r->names, name, length, err);
    }
    if (!status) r->given = given;
    for (const char *at = text; !status && at && *at;) {
        const char *own = at;
        int first = r->features;
        entry e;
        if (!(status = parse_entry(&at, &e, err)) &&
            !(status = add_features(r, &e, width, columns, &room, err)))
            status = add_entry(r, own, &e, first, width, columns, err);
    }
    if (status)
        relating_free(r);
    else
        *result = r;
    return status;
}

void relating_free(relating *r) {
    if (!r) return;
    free(r->feature);
    free(r->text);
    free(r->names);
    scaling_free(r->scale);
    free(r);
}

onet_status relating_copy(relating **copy, const relating *from, onet_error *err) {
    *copy = NULL;
    if (!from) return ONET_OK;
    relating *r = calloc(1, sizeof *r);
    if (!r) return fail_memory(err, "the relations");
    *r = *from;
    r->scale = NULL;
    size_t bytes = (size_t)from->features * sizeof *r->feature;
    r->feature = bytes ? malloc(bytes) : NULL;
    r->text = from->text ? strdup(from->text) : NULL;
    r->names = strdup(from->names);
    onet_status status = (bytes && !r->feature) || (from->text && !r->text) || !r->names
                             ? fail_memory(err, "the relations")
                             : scaling_copy(&r->scale, from->scale, err);
    if (!status && bytes) memcpy(r->feature, from->feature, bytes);
    if (status)
        relating_free(r);
    else
        *copy = r;
    return status;
}

bool relating_same(const relating *a, const relating *b) {
    if (!a || !b) return a == b;
    return a->given == b->given && a->made == b->made && !a->text == !b->text &&
           (!a->text || !strcmp(a->text, b->text)) && scaling_same(a->scale, b->scale);
}

/* ---- Use --------------------------------------------------------------------------------------------- */

/* Whether the relation uses all features first .. first + span - 1, those of a column in lost. */
static bool has_column(const relating *r, const made_relation *m, int first, int span) {
    int found = 0;
    for (int k = m->first; k < m->first + m->count; k++)
        found += r->feature[k] >= first && r->feature[k] < first + span;
    return found == span;
}

/* Whether items i and j are also equal in what the features do not distinguish (lost.h). A missing value
 * equals nothing. */
static bool lost_equal(const relating *r, const made_relation *m, const onet_lost *lost, size_t i, size_t j) {
    for (int k = 0; lost && k < lost->width; k++) {
        size_t width = (size_t)lost->width, at = (size_t)k;
        uint64_t a = lost->hash[i * width + at], b = lost->hash[j * width + at];
        if ((a != b || a == LOST_MISSING) && has_column(r, m, lost->feature[k], lost->span[k])) return false;
    }
    return true;
}

/* Returns one relation computed from features, from item i to item j, both counted over all sets.
 * scaling_value reads the features: data in double and in float32 then give the same relation. */
static double made_value(const relating *r, const made_relation *m, const scaling *scale,
                         const onet_sets *sets, size_t i, size_t j) {
    double sum = 0;
    bool equal = true;
    for (int k = m->first; k < m->first + m->count; k++) {
        int c = r->feature[k];
        size_t width = (size_t)sets->width;
        double a = scale ? scaling_value(scale, sets, i, c) : (double)sets->items[i * width + (size_t)c];
        double b = scale ? scaling_value(scale, sets, j, c) : (double)sets->items[j * width + (size_t)c];
        switch (m->kind) {
        case ONET_RELATE_DISTANCE:
            sum += (b - a) * (b - a);
            break;
        case ONET_RELATE_DIFFERENCE:
            sum = b - a;
            break;
        case ONET_RELATE_PRODUCT:
            sum += a * b;
            break;
        case ONET_RELATE_EQUAL:
            equal = equal && a == b;
            break;
        }
    }
    if (m->kind == ONET_RELATE_EQUAL) return equal && lost_equal(r, m, sets->lost, i, j);
    return m->kind == ONET_RELATE_DISTANCE ? sqrt(sum) : sum;
}

/* Writes all relations from item i of set s to the others to `to` [n, R]. */
static onet_status relate_item(const relating *r, const scaling *scale, const onet_sets *sets, size_t s,
                               size_t i, float *to, size_t before, onet_error *err) {
    size_t from = sets->start[s], n = sets_size(sets, s), given = (size_t)r->given;
    const float *own = given ? sets_pairs(sets, from + i) : NULL;
    for (size_t j = 0; j < n; j++, to += r->given + r->made) {
        if (given) memcpy(to, own + j * given, given * sizeof *to);
        for (int k = 0; k < r->made; k++) {
            float *value = to + r->given + k;
            *value = i == j ? 0 : (float)made_value(r, &r->relation[k], scale, sets, from + i, from + j);
            if (isfinite(*value)) continue;
            const char *name;
            size_t length = lines_find(r->names, r->given + k, &name);
            return fail(err, ONET_BAD,
                        "set %zu: relation `%.*s` from item %zu to item %zu is out of range: at most 3.4e38 "
                        "in size is possible; bring its columns to a smaller scale",
                        before + s + 1, shown_length(length), name, i, j);
        }
    }
    return ONET_OK;
}

/* Replaces the values of set s by their quantiles. */
static void rescale(const relating *r, size_t n, float *value) {
    size_t R = (size_t)(r->given + r->made);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            if (i != j) scaling_values(r->scale, value + (i * n + j) * R);
}

static onet_status relate(const relating *r, const scaling *scale, const onet_sets *sets, onet_sets *view,
                          size_t before, onet_error *err) {
    size_t numbers = 0, end = sets->start[sets->count], at = 0, bytes;
    int R = r->given + r->made;
    view->pairs = NULL;
    for (size_t s = 0; s < sets->count; s++) {
        size_t own;
        if (!size_mul(sets_size(sets, s), sets_size(sets, s), &own) || own > SIZE_MAX / 2 - numbers)
            return fail_memory(err, "the relations");
        numbers += own;
    }
    if ((double)numbers * R > MOST_NUMBERS)
        return fail(err, ONET_BAD,
                    "%zu pairs of items are too many to compute %d relation%s for each: split the sets, or "
                    "take fewer",
                    numbers, R, R == 1 ? "" : "s");
    onet_pairs *p = calloc(1, sizeof *p);
    if (!p || !size_mul(numbers, (size_t)R * sizeof *p->value, &bytes) ||
        !(p->value = malloc(bytes ? bytes : 1)) || !(p->row = array_new(end, sizeof *p->row))) {
        if (p) free(p->value);
        free(p);
        return fail_memory(err, "the relations");
    }
    view->pairs = p;
    p->width = R;
    p->names = r->names; /* lent */
    for (size_t s = 0; s < sets->count; s++) {
        size_t from = sets->start[s], n = sets_size(sets, s);
        float *value = p->value + at * (size_t)R;
        for (size_t i = 0; i < n; i++, at += n) {
            p->row[from + i] = at;
            onet_status status = relate_item(r, scale, sets, s, i, p->value + at * (size_t)R, before, err);
            if (status) return status;
        }
        if (r->scale) rescale(r, n, value);
    }
    return ONET_OK;
}

void seen_free(onet_sets *view, const onet_sets *sets) {
    if (view->items != sets->items) free(view->items);
    view->items = NULL;
    if (!view->pairs || view->pairs == sets->pairs) return;
    free(view->pairs->row);
    free(view->pairs->value);
    free(view->pairs);
    view->pairs = NULL;
}

onet_status seen_make(onet_sets *view, const scaling *scale, const relating *r, const onet_sets *sets,
                      size_t before, onet_error *err) {
    *view = *sets;
    onet_status status = scale ? scaling_apply(scale, sets, view, err) : ONET_OK;
    if (!status && r) status = relate(r, scale, sets, view, before, err);
    if (status) seen_free(view, sets);
    return status;
}

/* ---- Quantiles --------------------------------------------------------------------------------------- */

onet_status relating_wants(const relating *r, const char *text, bool *wants, onet_error *err) {
    onet_scale wish[MAX_RELATIONS];
    *wants = r->made > 0;
    onet_status status = scaling_parse_relations(text, r->names, wish, err);
    for (int k = 0; k < r->given + r->made && !status; k++) *wants |= wish[k] == ONET_SCALE_QUANTILE;
    return status;
}

onet_status relating_learn(relating *r, const char *text, onet_sets *view, onet_error *err) {
    onet_scale wish[MAX_RELATIONS];
    onet_status status = scaling_parse_relations(text, r->names, wish, err);
    if (!status) status = scaling_learn_relations(&r->scale, view, wish, err);
    for (size_t s = 0; s < view->count && !status && r->scale; s++) {
        size_t R = (size_t)view->pairs->width;
        rescale(r, sets_size(view, s), view->pairs->value + view->pairs->row[view->start[s]] * R);
    }
    return status;
}
