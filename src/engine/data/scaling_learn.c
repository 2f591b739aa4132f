/* Parses the scales that a user asks for, and learns the scaling of features and relations from the training
 * data: selects a scale for each, as asked or by its values, and computes its parameters. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/choice.h"
#include "engine/base/error.h"
#include "engine/base/lines.h"
#include "engine/base/memory.h"
#include "engine/base/number.h"
#include "engine/data/columns.h"
#include "engine/data/doubles.h"
#include "engine/data/scaling.h"
#include "engine/data/sets.h"
#include "ordernet_train.h"

enum {
    MOST_KNOTS = 1024, /* of a feature */
    MOST_GAPS = 1 << 20,
    ENOUGH_GAPS = 20 /* fewer say nothing of a feature */
};

/* A feature is crowded if the lower quartile of the gaps between neighbouring distinct values of a set (times
 * n, in standard deviations) is below CLOSE and the standard deviation exceeds HEAVY interquartile ranges
 * (heavy tails), or if that quartile is below FAR (clusters far apart). For normal and uniform values the
 * quartile is 1, for exponential ones 0.6, for log-normal ones 0.4 (sigma 1) or 0.03 (sigma 2). */
#define CLOSE 0.05
#define HEAVY 3
#define FAR   0.001

const onet_choice *onet_scales(void) {
    static const onet_choice list[] = {
        {"auto", "standard; for heavy tails and far clusters quantile, with the rank within the set",
         ONET_SCALE_AUTO},
        {"standard", "mean 0 and deviation 1", ONET_SCALE_STANDARD},
        {"quantile", "the share of the training data that is smaller", ONET_SCALE_QUANTILE},
        {"none", "as they are", ONET_SCALE_NONE},
        {0},
    };
    return list;
}

/* ---- What is asked for ------------------------------------------------------------------------------- */

/* An entry of the list, its scale and its feature's name; NULL: it has none. */
typedef struct entry {
    onet_scale scale;
    const char *name;
    size_t length;
} entry;

/* Parses the entry at *text, and moves *text behind it. */
static onet_status parse_entry(const char **text, entry *e, onet_error *err) {
    size_t length = strcspn(*text, ","), kind = strcspn(*text, ":,");
    const onet_choice *found = choice_named(onet_scales(), *text, kind);
    char names[128];
    if (!found)
        return fail_field(err, ONET_USAGE, "onet_train_options.scale",
                          "scale \"%.*s\": expected %s, or a list such as quantile:price,standard:x",
                          length > 60 ? 60 : (int)length, *text,
                          choice_names(onet_scales(), " or ", names, sizeof names));
    *e = (entry){(onet_scale)found->value, NULL, 0};
    if (kind < length) {
        e->name = *text + kind + 1;
        e->length = length - kind - 1;
    }
    *text += length + ((*text)[length] == ',');
    return ONET_OK;
}

/* Whether one of the entries from `text` to `end` is for the same feature, or for all others like this one.
 */
static bool is_twice(const char *text, const char *end, const entry *e) {
    entry other;
    onet_error unused;
    while (text < end && !parse_entry(&text, &other, &unused))
        if (!other.name == !e->name && other.length == e->length &&
            (!e->name || !memcmp(other.name, e->name, e->length)))
            return true;
    return false;
}

onet_status scaling_check_text(const char *text, onet_error *err) {
    const char *at = text;
    entry e;
    onet_status status = ONET_OK;
    if (text && !*text) return parse_entry(&at, &e, err);
    while (at && *at && !status) {
        const char *before = at;
        status = parse_entry(&at, &e, err);
        if (!status && is_twice(text, before, &e))
            status = fail_field(
                err, ONET_USAGE, "onet_train_options.scale", "scale: %s%.*s%s named twice: name one scale",
                e.name ? "`" : "the scale of all other features", e.length > 100 ? 100 : (int)e.length,
                e.name ? e.name : "", e.name ? "` is" : " is");
    }
    return status;
}

/* Returns the feature of that name or, if they have no names, of that number from 1; -1: there is none. */
static int find(const entry *e, int width, const onet_columns *columns) {
    for (int j = 0; columns && columns->name && j < width; j++)
        if (strlen(columns->name[j]) == e->length && !memcmp(columns->name[j], e->name, e->length)) return j;
    if (columns && columns->name) return -1;
    long number = 0;
    for (size_t i = 0; i < e->length; i++) {
        if (e->name[i] < '0' || e->name[i] > '9' || number > width) return -1;
        number = 10 * number + (e->name[i] - '0');
    }
    return number >= 1 && number <= width ? (int)number - 1 : -1;
}

/* Returns the relation of that name; -1: there is none. */
static int find_relation(const entry *e, const char *relations) {
    const char *name;
    for (int r = 0; relations && r < lines_count(relations); r++)
        if (lines_find(relations, r, &name) == e->length && !memcmp(name, e->name, e->length)) return r;
    return -1;
}

/* Finds the scale of all features and relations that are not named. */
static onet_status find_others(const char *text, onet_scale *others, onet_error *err) {
    *others = ONET_SCALE_AUTO;
    onet_status status = scaling_check_text(text, err);
    for (const char *at = text; !status && at && *at;) {
        entry e;
        if (!(status = parse_entry(&at, &e, err)) && !e.name) *others = e.scale;
    }
    return status;
}

onet_status scaling_parse_relations(const char *text, const char *relations, onet_scale *wish,
                                    onet_error *err) {
    onet_scale others;
    onet_status status = find_others(text, &others, err);
    for (int r = 0; r < lines_count(relations); r++) wish[r] = others;
    for (const char *at = text; !status && at && *at;) {
        entry e;
        if ((status = parse_entry(&at, &e, err)) || !e.name) continue;
        int r = find_relation(&e, relations);
        if (r >= 0) wish[r] = e.scale;
    }
    return status;
}

onet_status scaling_parse(const char *text, int width, const onet_columns *columns, const char *relations,
                          onet_scale *wish, onet_error *err) {
    onet_scale others;
    onet_status status = find_others(text, &others, err);
    for (int j = 0; j < width; j++) wish[j] = others;
    for (const char *at = text; !status && at && *at;) {
        entry e;
        if ((status = parse_entry(&at, &e, err)) || !e.name) continue;
        int j = find(&e, width, columns);
        if (j < 0 && find_relation(&e, relations) >= 0) continue;
        if (j < 0)
            return fail_field(err, ONET_USAGE, "onet_train_options.scale",
                              "scale: there is no feature%s `%.*s`%s", relations ? " or relation" : "",
                              e.length > 100 ? 100 : (int)e.length, e.name,
                              columns && columns->name ? ""
                              : relations ? "; without names, features go by number from 1, and relations as "
                                            "`relation 1`"
                                          : "; they have no names, and go by number from 1");
        wish[j] = e.scale;
    }
    return status;
}

/* ---- A look at a feature ----------------------------------------------------------------------------- */

/* Computes the mean and deviation of feature j. */
static void moments(const scaling *s, const onet_sets *sets, int j, double *mean, double *deviation) {
    size_t first = sets->start[0], end = sets->start[sets->count];
    double sum = 0, square = 0, items = (double)(end - first);
    for (size_t i = first; i < end; i++) sum += scaling_value(s, sets, i, j);
    *mean = sum / items;
    for (size_t i = first; i < end; i++) {
        double off = scaling_value(s, sets, i, j) - *mean;
        square += off * off;
    }
    *deviation = sqrt(square / items);
}

/* Whether feature j is crowded. Small gaps alone are not enough: positions in the columns of a page are close
 * too, but their differences are noise, which quantiles would amplify. gap [MOST_GAPS], value [largest set]
 * are scratch. */
static bool crowded(const scaling *s, const onet_sets *sets, int j, double deviation, double *gap,
                    double *value) {
    size_t gaps = 0, items = sets->start[sets->count] - sets->start[0], step = 1 + items / MOST_GAPS;
    for (size_t k = 0; k < sets->count; k += step) {
        size_t from = sets->start[k], n = sets_size(sets, k);
        if (gaps + n > MOST_GAPS) break;
        for (size_t i = 0; i < n; i++) value[i] = scaling_value(s, sets, from + i, j);
        qsort(value, n, sizeof *value, number_ascending);
        for (size_t i = 1; i < n; i++)
            if (value[i] > value[i - 1]) gap[gaps++] = (value[i] - value[i - 1]) * (double)n;
    }
    if (gaps < ENOUGH_GAPS) return false;
    qsort(gap, gaps, sizeof *gap, number_ascending);
    double close = gap[gaps / 4];
    if (close < FAR * deviation || close >= CLOSE * deviation) return close < FAR * deviation;
    size_t values = 0;
    for (size_t i = 0; i < items && values < MOST_GAPS; i += step)
        gap[values++] = scaling_value(s, sets, sets->start[0] + i, j);
    qsort(gap, values, sizeof *gap, number_ascending);
    return deviation > HEAVY * (gap[values * 3 / 4] - gap[values / 4]);
}

/* ---- Quantiles --------------------------------------------------------------------------------------- */

/* Makes knot and level [MOST_KNOTS] from value [items], which is sorted; returns the number of knots. */
static int32_t make_knots(const double *value, size_t items, double *knot, double *level) {
    int32_t count = 0;
    size_t distinct = 1;
    for (size_t i = 1; i < items; i++) distinct += value[i] != value[i - 1];
    bool all = distinct <= MOST_KNOTS;
    size_t steps = all ? items : MOST_KNOTS, below = 0, end = 0;
    for (size_t k = 0; k < steps; k++) {
        /* Exact for up to 2^53 items. */
        double x = value[all ? k : (size_t)((double)k * (double)(items - 1) / (double)(MOST_KNOTS - 1))];
        if (count && x == knot[count - 1]) continue;
        while (value[below] < x) below++;
        if (end < below) end = below;
        while (end < items && value[end] <= x) end++;
        knot[count] = x;
        level[count++] = (double)(below + end) / 2 / (double)items;
    }
    return count;
}

/* ---- All together ------------------------------------------------------------------------------------ */

typedef struct scratch {
    onet_scale *wish; /* [width] */
    double *value;    /* [items] */
    double *gap;      /* [MOST_GAPS or items] */
} scratch;

/* Chooses how each feature is scaled. */
static void choose(scaling *s, const onet_sets *sets, const scratch *x, bool within, bool standardise,
                   onet_feature *feature) {
    for (int j = 0; j < s->width; j++) {
        onet_scale scale = x->wish[j];
        double mean, deviation;
        bool blurred = float_blurs(sets, (size_t)j);
        s->exact[j] = blurred || float_collides(sets, (size_t)j, x->value);
        moments(s, sets, j, &mean, &deviation);
        s->within[j] = within;
        if (!standardise && (scale == ONET_SCALE_AUTO || scale == ONET_SCALE_STANDARD))
            scale = ONET_SCALE_NONE;
        bool crowd = crowded(s, sets, j, deviation, x->gap, x->value);
        if (scale == ONET_SCALE_AUTO && crowd) {
            scale = ONET_SCALE_QUANTILE;
            s->within[j] = 1;
        }
        if (scale == ONET_SCALE_AUTO) scale = ONET_SCALE_STANDARD;
        s->kind[j] = scale == ONET_SCALE_QUANTILE              ? SCALING_QUANTILE
                     : scale == ONET_SCALE_STANDARD && blurred ? SCALING_CENTRED
                                                               : SCALING_PLAIN;
        s->centre[j] = s->kind[j] == SCALING_CENTRED ? mean : 0;
        s->inputs += s->within[j];
        if (feature)
            feature[j] = (onet_feature){.scale = scale,
                                        .within = s->within[j],
                                        .centred = s->kind[j] == SCALING_CENTRED,
                                        .crowded = crowd,
                                        .exact = s->exact[j]};
    }
}

/* Learns the knots of all features. */
static bool learn_knots(scaling *s, const onet_sets *sets, double *value) {
    size_t first = sets->start[0], items = sets->start[sets->count] - first, knot_room = 0, level_room = 0;
    free(s->knot);
    free(s->level);
    s->knot = s->level = NULL;
    if (!array_reserve(&s->knot, &knot_room, 1, sizeof *s->knot) ||
        !array_reserve(&s->level, &level_room, 1, sizeof *s->level))
        return false;
    for (int j = 0; j < s->width; j++) {
        if (s->kind[j] != SCALING_QUANTILE) continue;
        if (!array_reserve(&s->knot, &knot_room, s->knots + MOST_KNOTS, sizeof *s->knot) ||
            !array_reserve(&s->level, &level_room, s->knots + MOST_KNOTS, sizeof *s->level))
            return false;
        for (size_t i = 0; i < items; i++) value[i] = scaling_value(s, sets, first + i, j);
        qsort(value, items, sizeof *value, number_ascending);
        s->count[j] = make_knots(value, items, s->knot + s->knots, s->level + s->knots);
        s->knots += (size_t)s->count[j];
    }
    return true;
}

onet_status scaling_learn(scaling **result, const onet_sets *sets, const scaling_wish *wish,
                          onet_feature *feature, onet_error *err) {
    *result = NULL;
    if (sets->word) {
        if (wish->within)
            return fail(err, ONET_USAGE, "ranks within the set need numeric features; these items are words");
        return scaling_check_text(wish->text, err);
    }
    size_t items = sets->start[sets->count] - sets->start[0], width = (size_t)sets->width;
    scratch x = {.wish = array_new(width, sizeof *x.wish),
                 .value = malloc(items * sizeof *x.value),
                 .gap = malloc((items < MOST_GAPS ? items : MOST_GAPS) * sizeof *x.gap)};
    scaling *s = scaling_room(sets->width, 0);
    onet_status status =
        x.wish && x.value && x.gap && s ? ONET_OK : fail_memory(err, "the scaling of the features");
    if (!status) status = scaling_parse(wish->text, sets->width, sets->columns, wish->relations, x.wish, err);
    if (!status) {
        s->inputs = s->width;
        choose(s, sets, &x, wish->within, wish->standardise, feature);
        if (!learn_knots(s, sets, x.value)) status = fail_memory(err, "the scaling of the features");
    }
    if (!status && s->inputs > MAX_WIDTH)
        status = fail(err, ONET_USAGE, "%d features with the ranks within the set; at most %d are possible",
                      s->inputs, MAX_WIDTH);
    bool plain = !status && s->inputs == s->width;
    for (int j = 0; plain && j < s->width; j++)
        plain = s->kind[j] == SCALING_PLAIN && !(wish->keep_exact && s->exact[j]);
    if (status || plain)
        scaling_free(s);
    else
        *result = s;
    free(x.wish);
    free(x.value);
    free(x.gap);
    return status;
}

/* ---- Relations --------------------------------------------------------------------------------------- */

/* Copies every step-th value of relation r between different items, up to `most`; returns how many. */
static size_t some_values(const onet_sets *sets, int r, size_t step, double *value, size_t most) {
    size_t count = 0, seen = 0, R = (size_t)sets->pairs->width;
    for (size_t s = 0; s < sets->count; s++)
        for (size_t i = 0, n = sets_size(sets, s); i < n; i++) {
            const float *e = sets_pairs(sets, sets->start[s] + i) + r;
            for (size_t j = 0; j < n; j++) {
                if (i == j || seen++ % step) continue;
                if (count == most) return count;
                value[count++] = (double)e[j * R];
            }
        }
    return count;
}

onet_status scaling_learn_relations(scaling **result, const onet_sets *sets, const onet_scale *wish,
                                    onet_error *err) {
    size_t pairs = 0, wanted = 0, R = (size_t)sets->pairs->width, at = 0;
    *result = NULL;
    for (size_t s = 0; s < sets->count; s++) pairs += sets_size(sets, s) * (sets_size(sets, s) - 1);
    for (size_t r = 0; r < R; r++) wanted += wish[r] == ONET_SCALE_QUANTILE;
    if (!wanted || !pairs) return ONET_OK;
    size_t step = 1 + pairs / MOST_GAPS, most = pairs / step + 1;
    double *value = malloc(most * sizeof *value);
    scaling *s = scaling_room((int)R, wanted * MOST_KNOTS);
    if (!value || !s) {
        free(value);
        scaling_free(s);
        return fail_memory(err, "the scaling of the relations");
    }
    s->inputs = s->width;
    for (size_t r = 0; r < R; r++) {
        if (wish[r] != ONET_SCALE_QUANTILE) continue;
        size_t count = some_values(sets, (int)r, step, value, most);
        qsort(value, count, sizeof *value, number_ascending);
        s->kind[r] = SCALING_QUANTILE;
        s->count[r] = make_knots(value, count, s->knot + at, s->level + at);
        at += (size_t)s->count[r];
    }
    s->knots = at;
    free(value);
    *result = s;
    return ONET_OK;
}
