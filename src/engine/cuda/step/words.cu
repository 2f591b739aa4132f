/* Lists the distinct words of a batch, each with the rows in which it occurs, so that the optimiser can
 * update their trained vectors. Where ranks share a batch, each writes its own words and gradients into
 * zeros, and the all-reduce gives every rank those of all. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>

#include "engine/cuda/step/step.cuh"

/* Sorts by word, then by row; key: word << 32 | row. Returns the number of distinct words. */
static int list(const gpu *s, uint64_t *key, size_t rows, int32_t *first) {
    int32_t *row = first + s->room.items + 1, *id = row + s->room.items;
    int count = 0;
    std::sort(key, key + rows);
    for (size_t r = 0; r < rows; r++) {
        int32_t word = (int32_t)(key[r] >> 32);
        row[r] = (int32_t)(key[r] & 0xffffffff);
        if (!count || id[count - 1] != word) {
            id[count] = word;
            first[count++] = (int32_t)r;
        }
    }
    first[count] = (int32_t)rows;
    return count;
}

static uint64_t *keys_new(gpu *s, size_t rows) {
    uint64_t *key = (uint64_t *)malloc(rows * sizeof *key);
    if (!key) snprintf(s->failed, sizeof s->failed, "not enough memory");
    return key;
}

/* Calls each(set, first row of the set, row of item i within the set, word of item i) for all items of this
 * rank's batch. */
template <class F> static void each_item(const gpu *s, F each) {
    const onet_sets *sets = s->given.sets;
    for (int b = 0; b < s->base.B; b++) {
        size_t from = sets->start[s->send.index_host[b]];
        int n = s->ragged.mixed ? s->ragged.sorted.places[b].n : s->n,
            row0 = s->ragged.mixed ? s->ragged.sorted.places[b].row0 : b * n;
        const int32_t *slot = s->ragged.mixed && sets->context ? s->ragged.sorted.slot + row0 : nullptr;
        for (int i = 0; i < n; i++) each(b, row0, slot ? slot[i] : i, sets->word[from + (size_t)i]);
    }
}

int words_list(gpu *s, int32_t *first) {
    size_t rows = s->here.items;
    uint64_t *key = keys_new(s, rows);
    if (!key) return 0;
    each_item(s, [&](int, int row0, int i, int32_t word) {
        key[row0 + i] = (uint64_t)word << 32 | (uint64_t)(row0 + i);
    });
    int count = list(s, key, rows, first);
    free(key);
    return count;
}

int words_share(gpu *s, int32_t *first) {
    const net *t = &s->base;
    size_t rows = t->whole.items, here = s->here.items, d = (size_t)t->sh->s.width, row = d * sizeof(float);
    double *word = s->out.word;
    float *all = s->out.word_d;
    if (here)
        gpu_ok(s,
               cudaMemcpy2DAsync(s->out.here, row, s->step.dx, (size_t)s->D * sizeof(float), row, here,
                                 cudaMemcpyDeviceToHost, s->queue.stream),
               "copying from the device");
    bool there = gpu_ok(s, cudaStreamSynchronize(s->queue.stream), "waiting for the device");
    memset(word, 0, rows * sizeof *word);
    memset(all, 0, rows * row);
    each_item(s, [&](int set, int row0, int i, int32_t of) {
        size_t to =
            (t->row ? t->row[s->ragged.mixed ? s->ragged.sorted.from[set] : set] : (size_t)row0) + (size_t)i;
        word[to] = of;
        for (size_t c = 0; c < d; c++)
            all[to * d + c] = there ? s->out.here[(size_t)(row0 + i) * d + c] : NAN;
    });
    t->sum(t->sum_context, word, rows);
    t->sum_floats(t->sum_context, all, rows * d);
    gpu_ok(s, cudaMemcpyAsync(s->step.dx, all, rows * row, cudaMemcpyHostToDevice, s->queue.stream),
           "copying to the device");
    uint64_t *key = keys_new(s, rows);
    if (!key) return 0;
    for (size_t r = 0; r < rows; r++) key[r] = (uint64_t)word[r] << 32 | (uint64_t)r;
    int count = list(s, key, rows, first);
    free(key);
    return count;
}
