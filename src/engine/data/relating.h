/* Turns the relations of sets into those that the network sees: adds relations computed from features, and
 * replaces values by quantiles of the training data. seen_make does this together with the scaling of
 * features. Both work in double on the CPU, so that every kernel and device sees the same numbers. */
#ifndef DATA_RELATING_H
#define DATA_RELATING_H

#include "engine/data/scaling.h"
#include "engine/data/sets.h"
#include "ordernet_train.h"

/* A relation made from the features numbered feature[first] .. feature[first + count - 1]. */
typedef struct made_relation {
    onet_relate kind;
    int first, count;
} made_relation;

typedef struct relating {
    int given, made; /* relations of the sets, and behind them those made from features */
    made_relation relation[MAX_RELATIONS]; /* [made] */
    int32_t *feature;                      /* [features] */
    int features;
    char *text;     /* the text that asked for those made from features; NULL: there are none */
    char *names;    /* of all, one per line: those without a name are "relation 1" and so on */
    scaling *scale; /* of all; NULL: no values are replaced by quantiles */
} relating;

/* Checks a text such as "distance:x+y,difference:age" as far as possible without the features. */
onet_status relating_check_text(const char *text, onet_error *err);

/* Makes the relations: the `given` ones of the sets, with these names (may be NULL), and those that `text`
 * (may be NULL) asks for. columns: the names of the `width` features; NULL: they go by number from 1. *result
 * is NULL if there are no relations. ONET_USAGE if the text is wrong. */
onet_status relating_new(relating **result, const char *text, int given, const char *names, int width,
                         const onet_columns *columns, onet_error *err);
void relating_free(relating *r);
onet_status relating_copy(relating **copy, const relating *from, onet_error *err);
bool relating_same(const relating *a, const relating *b);

/* Makes the sets as the net sees them: a view of `sets`, whose items and pairs are its own if scale or r
 * (either may be NULL) change them. before: how many sets came before these, for the number of a set in a
 * message. ONET_BAD if a relation is out of range. */
onet_status seen_make(onet_sets *view, const scaling *scale, const relating *r, const onet_sets *sets,
                      size_t before, onet_error *err);
void seen_free(onet_sets *view, const onet_sets *sets);

/* For the relations that `text` scales by quantiles: learns the quantiles from a view that seen_make made
 * while r->scale was NULL, and applies them to the view. */
onet_status relating_learn(relating *r, const char *text, onet_sets *view, onet_error *err);
/* Sets *wants if the net sees other relations than the sets have: some made from features, or quantiles. */
onet_status relating_wants(const relating *r, const char *text, bool *wants, onet_error *err);

#endif
