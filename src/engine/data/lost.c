/* Stores hashes of the values that the features of items do not distinguish, and compares items by them
 * (lost.h). */
#include "engine/data/lost.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"

uint64_t lost_hash(const void *value, size_t bytes) {
    const unsigned char *at = value;
    uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a, then the finaliser of splitmix64 */
    for (size_t i = 0; i < bytes; i++) hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
    hash = (hash ^ hash >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    hash = (hash ^ hash >> 27) * UINT64_C(0x94d049bb133111eb);
    hash ^= hash >> 31;
    return hash > LOST_MISSING ? hash : hash + 2;
}

void lost_free(onet_lost *lost) {
    if (!lost) return;
    free(lost->feature);
    free(lost->span);
    free(lost->hash);
    free(lost);
}

void lost_clear(lost_rows *l) {
    l->rows = 0;
}

bool lost_extend(lost_rows *l, size_t rows) {
    if (!l->of || !l->of->width || rows <= l->rows) return true; /* no column: memory ran out before */
    size_t width = (size_t)l->of->width;
    if (!array_reserve(&l->of->hash, &l->room, rows, width * sizeof *l->of->hash)) return false;
    memset(l->of->hash + l->rows * width, 0, (rows - l->rows) * width * sizeof *l->of->hash);
    l->rows = rows;
    return true;
}

/* A column behind the others, in which nothing is lost yet. */
static bool add_column(lost_rows *l, int feature, int span) {
    if (!l->of && !(l->of = calloc(1, sizeof *l->of))) return false;
    size_t before = (size_t)l->of->width, width = before + 1, rows = l->rows ? l->rows : 1;
    int *features = realloc(l->of->feature, width * sizeof *features);
    if (features) l->of->feature = features;
    int *spans = features ? realloc(l->of->span, width * sizeof *spans) : NULL;
    if (spans) l->of->span = spans;
    uint64_t *hash = spans ? array_new(rows, width * sizeof *hash) : NULL;
    if (!hash) return false;
    for (size_t i = 0; before && i < l->rows; i++)
        memcpy(hash + i * width, l->of->hash + i * before, before * sizeof *hash);
    free(l->of->hash);
    l->of->hash = hash;
    l->of->feature[before] = feature;
    l->of->span[before] = span;
    l->of->width = (int)width;
    l->room = rows;
    return true;
}

bool lost_note(lost_rows *l, size_t item, int feature, int span, uint64_t hash) {
    if (hash == LOST_NOTHING) return true;
    int k = 0, width = l->of ? l->of->width : 0;
    while (k < width && l->of->feature[k] != feature) k++;
    if (k == width && !add_column(l, feature, span)) return false;
    if (!lost_extend(l, item + 1)) return false;
    l->of->hash[item * (size_t)l->of->width + (size_t)k] = hash;
    return true;
}

bool lost_same(const onet_lost *lost, size_t a, size_t b) {
    if (!lost) return true;
    size_t width = (size_t)lost->width;
    return !memcmp(lost->hash + a * width, lost->hash + b * width, width * sizeof *lost->hash);
}

void lost_take_features(onet_sets *sets, const int *from, int width) {
    onet_lost *l = sets->lost;
    if (!l) return;
    size_t before = (size_t)l->width, kept = 0, items = sets->start[sets->count];
    for (size_t k = 0; k < before; k++) {
        int j = 0;
        while (j < width && from[j] != l->feature[k]) j++;
        if (j == width) continue;
        /* Column k moves to the left in each row, which stays where it is until all columns have moved. */
        for (size_t i = 0; i < items; i++) l->hash[i * before + kept] = l->hash[i * before + k];
        l->feature[kept] = j;
        l->span[kept++] = l->span[k];
    }
    for (size_t i = 0; i < items; i++)
        memmove(l->hash + i * kept, l->hash + i * before, kept * sizeof *l->hash);
    l->width = (int)kept;
    if (kept) return;
    lost_free(l);
    sets->lost = NULL;
}
