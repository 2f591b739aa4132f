/* Declares the scaling of features and relations, which comes before the network's standardisation: features
 * are centred, or replaced by quantiles of the training data, and ranks within the set added. It is parsed
 * from an option, learned, applied, and kept in the model's file. It works in double on the CPU, so that
 * every kernel and device sees the same numbers. */
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
    uint8_t *exact;  /* [width]: 1: the value is taken in double; 0: rounded to float32 */
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

/* Writes the ranks of at [n] within the set, from 0 to 1, the same for equal values: that of item i to to[i *
 * step]. Sorts at. */
void scaling_ranks(scaling_place *at, size_t n, float *to, size_t step);

/* Parses a text such as "auto", "quantile" or "quantile:price,standard:x": wish [width], the scale of each
 * feature. columns: their names; NULL: they go by number from 1. relations: the names of relations, one per
 * line, or NULL; entries for them are skipped. ONET_USAGE if the text is wrong. */
onet_status scaling_parse(const char *text, int width, const onet_columns *columns, const char *relations,
                          onet_scale *wish, onet_error *err);
/* Parses the entries for the relations instead: wish [number of relations]. */
onet_status scaling_parse_relations(const char *text, const char *relations, onet_scale *wish,
                                    onet_error *err);
/* Checks the text as far as possible without the features. */
onet_status scaling_check_text(const char *text, onet_error *err);

/* What scaling_learn is asked for. */
typedef struct scaling_wish {
    const char *text;      /* as scaling_parse has it */
    const char *relations; /* the names of relations, one per line; NULL: there are none */
    bool within;
    bool standardise; /* as in onet_train_options */
    bool keep_exact;  /* relations are made from features: which of them are taken in double must be known */
} scaling_wish;

/* Learns the scaling from sets to train on. *result is NULL if all features are plain: the net then sees the
 * items as they are. feature [width] (may be NULL): receives what was chosen. */
onet_status scaling_learn(scaling **result, const onet_sets *sets, const scaling_wish *wish,
                          onet_feature *feature, onet_error *err);
/* Learns quantiles of the relations for which wish [relations] asks; *result is NULL if it asks for none. */
onet_status scaling_learn_relations(scaling **result, const onet_sets *sets, const onet_scale *wish,
                                    onet_error *err);
/* Scales x [width], one value of each feature, in place. */
void scaling_values(const scaling *s, float *x);
/* Allocates a scaling of zeros; returns NULL when memory is short. */
scaling *scaling_room(int width, size_t knots);
onet_status scaling_copy(scaling **copy, const scaling *from, onet_error *err);
bool scaling_same(const scaling *a, const scaling *b);
/* Whether both scale features in the same way; ranks within the set are not compared. */
bool scaling_agrees(const scaling *a, const scaling *b);
void scaling_free(scaling *s);

/* Makes view: `sets` with scaled features. Its items are its own, for the caller to free; the rest stays the
 * sets'. */
onet_status scaling_apply(const scaling *s, const onet_sets *sets, onet_sets *view, onet_error *err);

/* Returns the value of feature j of item i, counted over all sets. A feature that float32 does not blur is
 * taken in float32 even if doubles are known: sets read in double and in float32 are then ordered alike. */
static inline double scaling_value(const scaling *s, const onet_sets *sets, size_t i, int j) {
    if (s->exact[j]) return sets_value(sets, i, (size_t)j);
    return (double)sets->items[i * (size_t)sets->width + (size_t)j];
}

/* ---- In a model's file: scaling.kind, scaling.within, scaling.exact, scaling.centre, scaling.count,
 * scaling.knots and scaling.levels; of relations, relations.kind and so on ---- */

enum { SCALING_TENSORS = 7 };
typedef enum scaling_of { SCALING_OF_FEATURES, SCALING_OF_RELATIONS } scaling_of;
/* Makes the tensors to write, valid as long as the scaling; returns how many. */
size_t scaling_tensors(const scaling *s, scaling_of of, st_tensor tensor[SCALING_TENSORS]);
/* Reads a scaling; *s is NULL if the file has none. inputs: the number of inputs that it must have. */
onet_status scaling_read(scaling **s, const safetensors *file, scaling_of of, int inputs, onet_error *err);
/* Adds the scaling to a hash. */
void scaling_sum(sha256 *sum, const scaling *s);

#endif
