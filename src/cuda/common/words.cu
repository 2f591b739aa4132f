/* Trained vectors of words: which rows of the batch each distinct word has, as the optimiser wants it. Where
 * processes share a batch, words and gradients of all of them, as in kernels/cpu.c: each writes its own rows
 * into zeros, and the sum over all has them all. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>

#include "cuda/common/words.cuh"

/* In order of the words and then of the rows; key: word << 32 | row. Gives back how many words there are. */
static int list(const gpu *s, uint64_t *key, int rows, int32_t *first) {
    int32_t *row = first + s->rows_max + 1, *id = row + s->rows_max;
    int count = 0;
    std::sort(key, key + rows);
    for (int r = 0; r < rows; r++) {
        int32_t word = (int32_t)(key[r] >> 32);
        row[r] = (int32_t)(key[r] & 0xffffffff);
        if (!count || id[count - 1] != word) {
            id[count] = word;
            first[count++] = r;
        }
    }
    first[count] = rows;
    return count;
}

static uint64_t *keys_new(gpu *s, int rows) {
    uint64_t *key = (uint64_t *)malloc((size_t)rows * sizeof *key);
    if (!key) snprintf(s->failed, sizeof s->failed, "not enough memory");
    return key;
}

static int32_t word_at(const gpu *s, int set, int item) {
    return s->sets->word[s->sets->start[s->index_host[set]] + (size_t)item];
}

int words_list(gpu *s, int32_t *first) {
    int n = s->n, rows = s->base.B * n;
    uint64_t *key = keys_new(s, rows);
    if (!key) return 0;
    for (int r = 0; r < rows; r++) key[r] = (uint64_t)word_at(s, r / n, r % n) << 32 | (uint64_t)r;
    int count = list(s, key, rows, first);
    free(key);
    return count;
}

int words_share(gpu *s, int32_t *first) {
    const net *t = &s->base;
    int n = s->n, rows = s->all * n, here = t->B * n;
    size_t d = (size_t)t->sh->s.width, row = d * sizeof(float);
    double *word = s->out.word;
    float *all = s->out.word_d;
    if (here)
        gpu_ok(s,
               cudaMemcpy2DAsync(s->out.here, row, s->dx, (size_t)s->D * sizeof(float), row, (size_t)here,
                                 cudaMemcpyDeviceToHost, s->stream),
               "copying from the device");
    bool there = gpu_ok(s, cudaStreamSynchronize(s->stream), "waiting for the device");
    memset(word, 0, (size_t)rows * sizeof *word);
    memset(all, 0, (size_t)rows * row);
    for (int r = 0; r < here; r++) {
        size_t to = (t->row ? t->row[r / n] : (size_t)(r / n) * n) + (size_t)(r % n);
        word[to] = word_at(s, r / n, r % n);
        for (size_t c = 0; c < d; c++) all[to * d + c] = there ? s->out.here[(size_t)r * d + c] : NAN;
    }
    t->sum(t->sum_context, word, (size_t)rows);
    t->sum_floats(t->sum_context, all, (size_t)rows * d);
    gpu_ok(s, cudaMemcpyAsync(s->dx, all, (size_t)rows * row, cudaMemcpyHostToDevice, s->stream),
           "copying to the device");
    uint64_t *key = keys_new(s, rows);
    if (!key) return 0;
    for (int r = 0; r < rows; r++) key[r] = (uint64_t)word[r] << 32 | (uint64_t)r;
    int count = list(s, key, rows, first);
    free(key);
    return count;
}
