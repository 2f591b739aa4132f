/* Transforms features before the network standardises them: centres them, or replaces them by quantiles of
 * the training data, and adds ranks within the set. It works in double on the CPU, before the items are
 * rounded to float32, so that every kernel and device sees the same numbers. */
#ifndef DATA_SCALING_H
#define DATA_SCALING_H

#include <stdbool.h>

#include "engine/base/sha256.h"
#include "engine/data/doubles.h"
#include "engine/data/safetensors.h"
#include "ordernet.h"
#include "ordernet_train.h"

/* What is done with the value x of a feature. */
typedef enum scaling_kind {
    SCALING_PLAIN = 0, /* x, rounded to float32 */
    SCALING_CENTRED,   /* x - centre: values that rounding to float32 would blur */
    SCALING_QUANTILE,  /* the share of the training data's values that are smaller, from 0 to 1 */
    SCALING_KINDS
} scaling_kind;

typedef struct scaling {
    int width;       /* features in sets */
    int inputs;      /* features for the net: width, and behind them a rank within the set for some */
    uint8_t *kind;   /* [width] */
    uint8_t *within; /* [width]: 1: the rank of the value within its set is a feature too */
    uint8_t *exact;  /* [width]: 1: of the value in double; 0: of that rounded to float32 */
    double *centre;  /* [width] */
    int32_t *count;  /* [width]: knots of QUANTILE, 0 for the others */
    size_t knots;    /* of all features */
    double *knot;    /* [knots]: values, ascending within a feature */
    double *level;   /* [knots]: their quantiles */
} scaling;

/* A number of an item, to be ranked. */
typedef struct scaling_place {
    double value;
    size_t item;
} scaling_place;

/* The ranks of at [n] within the set, from 0 to 1, equal values alike: that of item i to to[i * step]. Sorts
 * at. */
void scaling_ranks(scaling_place *at, size_t n, float *to, size_t step);

/* What a text such as "auto", "quantile" or "quantile:price,standard:x" asks for each feature: wish [width].
 * columns: their names, or NULL, then they are numbers from 1 on. relations: the names of relations, one per
 * line, or NULL; what is said of them is passed over. ONET_USAGE for another text. */
onet_status scaling_parse(const char *text, int width, const onet_columns *columns, const char *relations,
                          onet_scale *wish, onet_error *err);
/* The same for the relations: wish [their number]. */
onet_status scaling_parse_relations(const char *text, const char *relations, onet_scale *wish,
                                    onet_error *err);
/* The same without the features: whether the text can be right. */
onet_status scaling_check_text(const char *text, onet_error *err);

/* What is to be learned of features. */
typedef struct scaling_wish {
    const char *text;      /* as scaling_parse has it */
    const char *relations; /* the names of relations, one per line; NULL: there are none */
    bool within;
    bool standardise; /* as in onet_train_options */
    bool keep_exact;  /* relations are made from features: which of them are taken in double must be known */
} scaling_wish;

/* Learns it from sets to train on. *result is NULL where all features are plain ones: the net then sees the
 * items as they are. feature [width], or NULL: what was chosen. */
onet_status scaling_learn(scaling **result, const onet_sets *sets, const scaling_wish *wish,
                          onet_feature *feature, onet_error *err);
/* The same for the relations of sets: quantiles where wish [relations] says so. *result is NULL where it does
 * not. */
onet_status scaling_learn_relations(scaling **result, const onet_sets *sets, const onet_scale *wish,
                                    onet_error *err);
/* Scales one value of each: x [width], in place. */
void scaling_values(const scaling *s, float *x);
/* Room for one, all zero; NULL when memory is short. */
scaling *scaling_room(int width, size_t knots);
onet_status scaling_copy(scaling **copy, const scaling *from, onet_error *err);
bool scaling_same(const scaling *a, const scaling *b);
/* Whether both do the same with the features of sets; ranks within the set are not compared. */
bool scaling_agrees(const scaling *a, const scaling *b);
void scaling_free(scaling *s);

/* The sets as the net sees them: a view of `sets`, whose items are its own, to be freed. */
onet_status scaling_apply(const scaling *s, const onet_sets *sets, onet_sets *view, onet_error *err);

/* The value of feature j of item i, over all sets. Features that float32 does not blur are those of float32,
 * whatever else is known of them: sets that came in double and in float32 are ordered alike. */
static inline double scaling_value(const scaling *s, const onet_sets *sets, size_t i, int j) {
    if (s->exact[j]) return sets_value(sets, i, (size_t)j);
    return (double)sets->items[i * (size_t)sets->width + (size_t)j];
}

/* ---- In a model's file: scaling.kind, scaling.within, scaling.exact, scaling.centre, scaling.count,
 * scaling.knots and scaling.levels; of relations, relations.kind and so on ---- */

enum { SCALING_TENSORS = 7 };
typedef enum scaling_of { SCALING_OF_FEATURES, SCALING_OF_RELATIONS } scaling_of;
/* The tensors, to be written: they live as long as the scaling. Returns how many. */
size_t scaling_tensors(const scaling *s, scaling_of of, st_tensor tensor[SCALING_TENSORS]);
/* *s is NULL where the file has none. inputs: what it must come to. */
onet_status scaling_read(scaling **s, const safetensors *file, scaling_of of, int inputs, onet_error *err);
void scaling_sum(sha256 *sum, const scaling *s);

#endif
