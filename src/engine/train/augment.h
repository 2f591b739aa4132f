/* Augments the training sets against overfitting: words become unknown, items are dropped, large sets
 * cropped, noise is added to features, and the order given to the decoder has wrong items, all sampled anew
 * in each epoch. A sample depends on the seed, the epoch and the number of the set alone: it is the same for
 * any number of threads or ranks, and after a resume. Ranks within the set are those among the items that are
 * kept; features relative to the set stay those of the whole set. */
#ifndef TRAIN_AUGMENT_H
#define TRAIN_AUGMENT_H

#include <stdbool.h>

#include "engine/data/scaling.h"
#include "ordernet.h"

typedef struct augment {
    const onet_train_options *o;
    const onet_sets *all, *own; /* as given: all sets, and those of this rank */
    uint64_t first, stride;     /* set s of `own` is number first + s*stride of all sets */
    int32_t *unknown;           /* [words]: the row that replaces a forgotten word */
    int32_t unk;                /* the row of <unk>; -1 when there is none */
    float *spread;              /* [width]: deviation of each feature; 0: it gets no noise */
    uint8_t *keep;              /* [largest set]: by the place in the order */
    int32_t *moved;             /* [largest set]: an item's index among those that are kept; -1: left out */
    float *whole;               /* [items of own, width]: features relative to the sets as given; NULL: not
                                 * wanted */
    float *relative;            /* [items of own, width]: those of the items of the epoch */
    size_t first_rank;          /* the features from this one on are ranks within the set */
    scaling_place *place;       /* [largest set]: to rank what is kept; NULL: there are no ranks */
    int32_t *right;             /* [largest set]: the right order of a set that strays */
    int32_t *target;            /* [items of own]: as in backend.h; NULL: nothing strays */
    onet_sets sizes;            /* all sets of the epoch: their sizes only */
    onet_sets sets;             /* this rank's sets of the epoch */
} augment;

/* Whether sets of an epoch may lack items. */
static inline bool augment_drops(const onet_train_options *o) {
    return o->drop > 0 || o->crop > 0;
}

/* Makes the augmentation that `o` asks for: forget, drop, crop, jitter, stray, and the seed. *a is NULL if it
 * asks for none of them. All arguments must live as long as this does; except in rank 0, `all` has sizes
 * only. ONET_USAGE if an option does not suit the kind of items. */
onet_status augment_new(augment **a, const onet_sets *all, const onet_sets *own, const onet_train_options *o,
                        int rank, int ranks, onet_error *err);
void augment_free(augment *a);

/* Computes features relative to the sets as given, for nets that take them; they do not change with dropped
 * items or noise. mean, scale: the standardisation. Call it once, before the first sample. */
onet_status augment_relative(augment *a, const float *mean, const float *scale, onet_error *err);

/* Notes that the features from first_rank on are ranks within the set: if items are left out, the kept ones
 * are ranked among themselves, as in a smaller set. Call it before the first sample. */
onet_status augment_rank(augment *a, size_t first_rank, onet_error *err);

/* Samples the sets of an epoch; `whole`: as sets are ordered, with all items, without noise and straying;
 * words are still forgotten. */
void augment_sample(augment *a, uint64_t epoch, bool whole);
/* Samples the sizes of the sets of an epoch alone. */
void augment_sizes(augment *a, uint64_t epoch);

#endif
