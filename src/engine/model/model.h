/* Defines a model in memory: the net's parameters, the batch norms' statistics for each set size, all that
 * turns a user's items into the net's input (columns, words, scaling, relations), and the training record;
 * with its checksum, and checks of relations. */
#ifndef MODEL_MODEL_H
#define MODEL_MODEL_H

#include "engine/data/columns.h"
#include "engine/data/relating.h"
#include "engine/data/scaling.h"
#include "engine/model/net_shape.h"
#include "engine/words/words.h"

typedef struct training_entry {
    char *key, *value;
} training_entry;

struct onet_model {
    net_shape sh;
    float *theta; /* [sh.total], laid out by sh */
    /* The norms' statistics for sets of n items (docs/model.md): theta has them at 1/n = inverse_size, slope
     * [sh.total - sh.trained] how they change with 1/n. Sets of fewer than smallest_size items have those of
     * that size. Sizes that were measured on enough sets have rows of their own instead. Not sized: the same
     * for all n. */
    bool sized;
    float *slope, inverse_size, smallest_size;
    size_t rows;
    float *row_size;       /* [rows], ascending */
    float *row;            /* [rows][sh.total - sh.trained] */
    bool half;             /* files have the weight matrices in half precision (half.c) */
    float *mean, *scale;   /* [width + R]: the net sees (x - mean) * scale; 0 and 1: standardisation is off */
    onet_words *words;     /* NULL when items are numbers; owned by the model */
    onet_columns *columns; /* of the data that it was trained on; NULL: not known. Owned by the model */
    scaling *scaling;      /* of the features, before mean and scale; NULL: they are as in the sets */
    relating *relating;    /* relations made from features, and quantiles of relations; NULL: they are as in
                            * the sets */
    char *relations;       /* names of those of the sets, one per line; NULL: they have none */
    float *relation_fill;  /* [relations of the sets]: replaces missing ones; NULL: none may be missing */
    training_entry *entry; /* [entries]: the training record, in the order in which it was set */
    size_t entries, entry_room;
};

/* Makes a model with parameters 0, mean 0, scale 1, no words and an empty training record. */
onet_status model_new(onet_model **model, const onet_settings *settings, onet_error *err);

/* Whether the net has no blocks: the logit of an item is then a weighted sum of its own features. */
static inline bool model_is_ranker(const onet_model *model) {
    return !model->sh.s.encoder_blocks && !model->sh.s.decoder_blocks;
}

/* Returns the tensor that says how a statistic of the norms changes with 1/n: .mean_slope for .running_mean.
 */
tensor model_slope_tensor(const tensor *statistic);
/* Frees the rows of statistics and makes room for others; returns false when memory is short. */
bool model_make_rows(onet_model *model, size_t rows);
/* Computes the statistics of the norms for sets of n items: [sh.total - sh.trained]. */
void model_statistics(const onet_model *model, int n, float *statistics);

/* Whether the file has this tensor in half precision: only if all its numbers were rounded, so that nothing
 * is lost. */
bool model_tensor_is_half(const onet_model *model, const tensor *t);

/* Returns the number of features in the sets that the model orders; sh.s.width counts those for the net. */
static inline int model_width(const onet_model *m) {
    return m->scaling ? m->scaling->width : m->sh.s.width;
}

/* Returns the number of relations in the sets that the model orders; sh.s.relations counts those for the net.
 */
static inline int model_given_relations(const onet_model *m) {
    return m->relating ? m->relating->given : m->sh.s.relations;
}

/* Returns how many numbers mean and scale have. */
static inline size_t model_inputs(const onet_model *m) {
    return (size_t)(m->sh.s.width + m->sh.s.relations);
}

/* Copies fill [given relations], the values that replace missing relations; NULL: does nothing. */
onet_status model_fill_relations(onet_model *model, const float *fill, onet_error *err);

/* Checks that sets have the relations that the model was trained on. */
onet_status model_check_relations(const onet_model *model, const onet_sets *sets, onet_error *err);

/* Sets or replaces an entry of the training record; key and value are copied. */
onet_status model_set_entry(onet_model *model, const char *key, const char *value, onet_error *err);

/* Computes the SHA-256 over all that decides an answer: settings, parameters and statistics, standardisation,
 * words, columns, scaling, relations. The same before saving and after loading. */
void model_checksum(const onet_model *model, char hex[65]);

#endif
