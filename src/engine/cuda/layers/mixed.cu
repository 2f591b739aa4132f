/* Builds the tables of a batch whose sets have several sizes. The host sorts the sets, largest first, so that
 * the thread blocks with most work start first, divides the batch into tiles for each kernel over cells, and
 * sends the tables before the step. */
#include <stdio.h>
#include <stdlib.h>

#include <algorithm>

#include "engine/cuda/layers/layers.cuh"

extern "C" {
#include "engine/data/sets.h"
}

/* Returns the bytes that the tables of a batch take at most. */
static size_t tables_size(const gpu *s, batch_size b) {
    size_t B = (size_t)b.sets, back = (size_t)back_tiles_most(s, b.sets),
           weights = b.steps + b.step_cells / 48 + B, pools = b.steps / 64 + B;
    return B * (sizeof(set_place) + sizeof(int2)) + back * sizeof(back_tile) +
           b.items * (sizeof(pair_tile) + sizeof(int32_t)) + b.steps * sizeof(conv_span) +
           (weights + pools) * sizeof(weight_tile) + 16 * 9;
}

static void tables_free(gpu *s) {
    for (slot &k : s->send.slots) {
        if (k.tables) cudaFreeHost(k.tables);
        k.tables = nullptr;
    }
    drop((void **)&s->ragged.tables);
    s->ragged.table_room = 0;
}

/* Allocated here, not with the memory of batches: training on batches of one size needs none of it. */
static bool tables_reserve(gpu *s, size_t bytes) {
    if (bytes <= s->ragged.table_room) return true;
    if (!gpu_ok(s, cudaStreamSynchronize(s->queue.stream), "waiting for the device")) return false;
    tables_free(s);
    bytes += bytes / 4; /* some of the next batches will be larger */
    bool ok = allocate((void **)&s->ragged.tables, bytes);
    for (int i = 0; i < SLOTS && ok; i++)
        ok = cudaMallocHost((void **)&s->send.slots[i].tables, bytes) == cudaSuccess;
    if (ok)
        s->ragged.table_room = bytes;
    else {
        cudaGetLastError();
        tables_free(s);
    }
    return ok;
}

static void sorted_free(sorted_sets *k) {
    free(k->index);
    free(k->from);
    free(k->places);
    free(k->runs);
    free(k->slot);
    *k = {};
}

bool mixed_reserve(gpu *s, batch_size most) {
    sorted_sets *k = &s->ragged.sorted;
    size_t B = (size_t)most.sets;
    sorted_free(k);
    k->index = (uint32_t *)calloc(B, sizeof *k->index);
    k->from = (int *)calloc(B, sizeof *k->from);
    k->places = (set_place *)calloc(B, sizeof *k->places);
    k->runs = (set_run *)calloc(B + 1, sizeof *k->runs);
    k->slot = (int32_t *)calloc(most.items, sizeof *k->slot);
    return k->index && k->from && k->places && k->runs && k->slot;
}

void mixed_close(gpu *s) {
    tables_free(s);
    sorted_free(&s->ragged.sorted);
}

/* Sorts the sets, and finds where each begins; returns the number of runs of sets of one size. */
static int sort_sets(gpu *s, const uint32_t *index, int B) {
    const onet_sets *sets = s->given.sets;
    sorted_sets *k = &s->ragged.sorted;
    for (int b = 0; b < B; b++) {
        k->from[b] = b;
        k->places[b].n = (int)sets_size(sets, index[b]);
        k->places[b].m = (int)sets_placed(sets, index[b]);
    }
    std::stable_sort(k->from, k->from + B, [&](int a, int b) {
        const set_place &x = k->places[a], &y = k->places[b];
        return x.n != y.n ? x.n > y.n : x.m > y.m;
    });
    set_run end = {};
    int runs = 0;
    for (int b = 0; b < B; b++) {
        size_t set = k->index[b] = index[k->from[b]];
        int n = (int)sets_size(sets, set), m = (int)sets_placed(sets, set);
        if (!runs || k->runs[runs - 1].n != n || k->runs[runs - 1].m != m) {
            k->runs[runs] = end;
            k->runs[runs].n = n;
            k->runs[runs].m = m;
            k->runs[runs++].sets = 0;
        }
        k->runs[runs - 1].sets++;
        end.sets++;
        end.row0 += n;
        end.pair0 += n * n;
        end.step0 += m;
        end.cell0 += m * m;
    }
    k->runs[runs] = end;
    int b = 0;
    for (int r = 0; r < runs; r++)
        for (int i = 0; i < k->runs[r].sets; i++, b++) {
            const set_run &u = k->runs[r];
            k->places[b] = {.n = u.n,
                            .row0 = u.row0 + i * u.n,
                            .pair0 = u.pair0 + i * u.n * u.n,
                            .m = u.m,
                            .step0 = u.step0 + i * u.m,
                            .cell0 = u.cell0 + i * u.m * u.m,
                            .parts = 1};
        }
    return runs;
}

/* Fills `slot`: the rows of a set are first the items that are placed, then its context items. */
static void make_slots(gpu *s, int B) {
    for (int b = 0; b < B; b++) {
        const set_place &at = s->ragged.sorted.places[b];
        const uint8_t *context = s->given.sets->context + s->given.sets->start[s->ragged.sorted.index[b]];
        for (int i = 0, placed = 0, seen = at.m; i < at.n; i++)
            s->ragged.sorted.slot[at.row0 + i] = context[i] ? seen++ : placed++;
    }
}

/* Puts tables one after the other into pinned memory; `end` returns the address that a table will have on the
 * device. */
struct table_writer {
    unsigned char *host, *device;
    size_t used;
    template <class T> T *next() { return (T *)(host + used); }
    template <class T> const T *end(int count) {
        const T *there = (const T *)(device + used);
        used += ((size_t)count * sizeof(T) + 15) / 16 * 16;
        return there;
    }
};

/* Makes tiles of whole sets, ROW_TILE rows at most; returns their number, 0 where pair_sums computes the
 * sums. */
static int row_tiles_make(const gpu *s, const set_run *runs, int count, int2 *out) {
    enum { ROW_TILE = 64 };
    int tiles = 0;
    if (runs[0].n > ROW_TILE || s->base.sh->s.relations || precision_of(s) == ONET_BF16) return 0;
    for (int k = 0; k < count; k++)
        for (int set = 0; set < runs[k].sets; set++) {
            if (!tiles || out[tiles - 1].y + runs[k].n > ROW_TILE)
                out[tiles++] = {runs[k].row0 + set * runs[k].n, 0};
            out[tiles - 1].y += runs[k].n;
        }
    return tiles;
}

bool mixed_make(gpu *s, const uint32_t *index, int B) {
    mixed_batch *x = &s->ragged.mixed_now;
    if (!tables_reserve(s, tables_size(s, s->here))) return false;
    int runs = sort_sets(s, index, B);
    const set_run *r = s->ragged.sorted.runs;
    table_writer w = {.host = s->send.slots[s->send.slot_now].tables, .device = s->ragged.tables, .used = 0};
    bool fits = back_tiles_make(s, r, runs, s->ragged.sorted.places, &x->back, w.next<back_tile>());
    x->back_tiles = w.end<back_tile>(x->back.tiles);
    std::copy_n(s->ragged.sorted.places, B, w.next<set_place>());
    x->places = w.end<set_place>(B);
    x->slot = nullptr;
    if (s->given.sets->context) {
        make_slots(s, B);
        std::copy_n(s->ragged.sorted.slot, r[runs].row0, w.next<int32_t>());
        x->slot = w.end<int32_t>(r[runs].row0);
    }
    x->row_tile_count = row_tiles_make(s, r, runs, w.next<int2>());
    x->row_tiles = w.end<int2>(x->row_tile_count);
    fits = fits && pair_tiles_make(s, r, runs, &x->pair, w.next<pair_tile>());
    x->pair_tiles = w.end<pair_tile>(x->pair.tiles);
    fits = fits && conv_tiles_make(s, r, runs, &x->conv, w.next<conv_span>());
    x->conv_tiles = w.end<conv_span>(x->conv.tiles);
    for (int pools = 0; pools < 2 && fits; pools++) {
        weight_tiles_make(r, runs, pools, &x->weights[pools], w.next<weight_tile>());
        x->weights[pools].tiles = w.end<weight_tile>(x->weights[pools].count);
    }
    x->largest = r[0].n;
    x->row_at = s->ragged.row_at;
    x->step_set = s->ragged.step_set;
    s->ragged.table_bytes = w.used;
    return fits;
}
