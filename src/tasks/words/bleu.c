/* BLEU of lines put back in order, with an interval by the bootstrap. */
#include "tasks/words/bleu.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/rng.h"

enum { DRAWS = 400 };

bleu_counts bleu_count(const int32_t *right, const int32_t *answer, int n) {
    bleu_counts c = {{0}, {0}};
    for (int length = 1; length <= BLEU_LONGEST && length <= n; length++) {
        int runs = n - length + 1;
        c.all[length - 1] = (uint32_t)runs;
        for (int i = 0; i < runs; i++) {
            /* A run counts as often as the right line has it: the k-th in the answer needs a k-th there. */
            int before = 0, there = 0;
            size_t bytes = (size_t)length * sizeof *answer;
            for (int j = 0; j < i; j++) before += !memcmp(answer + j, answer + i, bytes);
            for (int j = 0; j < runs; j++) there += !memcmp(right + j, answer + i, bytes);
            c.shared[length - 1] += before < there;
        }
    }
    return c;
}

typedef struct bleu_sum {
    double shared[BLEU_LONGEST], all[BLEU_LONGEST];
} bleu_sum;

static void add(bleu_sum *sum, const bleu_counts *c) {
    for (int k = 0; k < BLEU_LONGEST; k++) {
        sum->shared[k] += c->shared[k];
        sum->all[k] += c->all[k];
    }
}

static double value(const bleu_sum *sum) {
    double logs = 0;
    int lengths = 0;
    for (int k = 0; k < BLEU_LONGEST && sum->all[k] > 0; k++, lengths++) {
        if (!(sum->shared[k] > 0)) return 0;
        logs += log(sum->shared[k] / sum->all[k]);
    }
    return lengths ? exp(logs / lengths) : NAN;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

onet_measure bleu_measure(const bleu_counts *each, const size_t *which, size_t count) {
    bleu_sum all = {{0}, {0}};
    for (size_t k = 0; k < count; k++) add(&all, &each[which[k]]);
    double drawn[DRAWS];
    for (int d = 0; d < DRAWS && count; d++) {
        bleu_sum sum = {{0}, {0}};
        rng r;
        rng_seed(&r, 1, (uint64_t)d);
        for (size_t k = 0; k < count; k++) add(&sum, &each[which[rng_below(&r, count)]]);
        drawn[d] = value(&sum);
    }
    if (!count) return (onet_measure){NAN, NAN, NAN};
    qsort(drawn, DRAWS, sizeof *drawn, by_value);
    return (onet_measure){value(&all), drawn[DRAWS / 40], drawn[DRAWS - 1 - DRAWS / 40]};
}
