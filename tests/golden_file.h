/* Reads tests/golden.safetensors: what the PyTorch reference implementation (reference/twin.py) computes in
 * double for generated parameters and batches (reference/README.md describes each entry, model/generated.h
 * makes the inputs), as tensors called CASE/ENTRY. Also makes records of computed gradients, and measures how
 * far they are from the file's. Reading needs no part of the library, since the GPU tests link little of it.
 */
#ifndef TESTS_GOLDEN_FILE_H
#define TESTS_GOLDEN_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/model/net_shape.h"

enum { GOLDEN_FULL = 1280, GOLDEN_SAMPLES = 64, GOLDEN_PROJECTIONS = 4, GOLDEN_STEPS = 10 };

typedef struct golden {
    char name[64]; /* CASE, as in the names of the tensors */
    onet_settings settings;
    int B, n;                /* n is 0 where the sets have different sizes */
    const double *sizes;     /* [B, 2]: items and placed items of each set; NULL if n is not 0 */
    unsigned long long seed; /* for generated_theta() and generated_batch() */
    double lr;               /* of the Adam trajectory; betas 0.9 and 0.999, eps 1e-8 */
    char *header;            /* JSON, NUL-terminated */
    const double *numbers;   /* the data that follow the header */
    void *bytes;             /* allocation that holds header and numbers */
} golden;

/* The expected float32 error of each entry, in the order of the entry "noise". */
typedef struct golden_noise {
    double logits, loss, gradients, running, eval_logits, eval_loss, adam_loss, adam_change;
} golden_noise;

/* The names of all cases with sets of one size, sorted: a NULL-ended array to be freed with
 * golden_names_free(). */
char **golden_names(void);
/* The names of all cases with sets of different sizes, some with context items; freed in the same way. */
char **golden_mixed_names(void);
void golden_names_free(char **names);

/* Loads a case of the file, found from the repository's root; aborts with a message when it cannot. */
void golden_load(golden *g, const char *name);
void golden_free(golden *g);

/* Return the number of items, and of placed items, of set b. */
int golden_items(const golden *g, int b);
int golden_placed(const golden *g, int b);

/* Returns an entry's numbers, NULL where the case has none of that name; *count: how many. count may be NULL.
 */
const double *golden_get(const golden *g, const char *entry, size_t *count);
golden_noise golden_expected(const golden *g);

/* The record of tensor `index` with the given values, as in the entries "gradients" and "adam_change": the
 * values themselves up to GOLDEN_FULL of them; else samples, sum, projections on random signs, Euclidean
 * norm. out: [golden_record_size(size)]; returns that size. */
size_t golden_record_size(size_t size);
size_t golden_record(int index, const double *values, size_t size, double *out);

/* Returns whether the exact gradient of this parameter is 0, since it adds the same to every item's logit. A
 * computed gradient is rounding noise then, and so are Adam's steps. */
bool golden_null(const net_shape *sh, int index, size_t element);

/* The largest error of any tensor in a concatenation of records, relative to the largest number of that
 * tensor's record plus a hundredth of the largest of all. Where large tensors have sums and projections,
 * these are measured against the Euclidean norm instead. The first `tensors` tensors of the shape are in it;
 * worst (may be NULL) gets the index of the tensor. */
double golden_records_error(const net_shape *sh, int tensors, const double *got, const double *want,
                            int *worst);

/* ||got - want|| / ||want|| over the records of the first `tensors` tensors, null parameters left out; of
 * large tensors the samples count. */
double golden_records_distance(const net_shape *sh, int tensors, const double *got, const double *want);

#endif
