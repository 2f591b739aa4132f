/* Allocates the memory of the CPU backend in three arenas, for what lives as long as the net, for a batch,
 * and for the vectors of words; takes the training sets and their standardisation; copies parameters,
 * gradients and moments in and out. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/kernels/cpu.h"

/* Many arrays in one block of memory. A layout is a function that places array after array; it runs twice:
 * first without memory, to add up the sizes, then to set the pointers. */

typedef struct arena {
    unsigned char *base; /* NULL: sizes are only added up */
    size_t used;
    bool overflow; /* the sizes are more than size_t can hold */
} arena;

#define ARENA_PLACE(a, pointer, count) arena_place(a, &(pointer), count, sizeof *(pointer))

enum { LINE = 64 };

/* Places count elements of `size` bytes on a 64-byte line, and writes their address to *pointer (any object
 * pointer); NULL while sizes are only added up. */
static void arena_place(arena *a, void *pointer, size_t count, size_t size) {
    size_t bytes;
    void *p = a->base ? a->base + a->used : NULL;
    memcpy(pointer, &p, sizeof p);
    if (!size_mul(count, size, &bytes) || bytes > SIZE_MAX / 2 - a->used - LINE) {
        a->overflow = true;
        return;
    }
    a->used += (bytes + LINE - 1) / LINE * LINE;
}

/* Runs the layout twice, with zeroed memory in between. Returns the memory, for free(), or NULL (and all
 * pointers NULL) if there is not enough. */
static void *arena_make(void (*layout)(void *context, arena *a), void *context) {
    arena a = {0};
    layout(context, &a);
    void *memory = a.overflow ? NULL : array_new(a.used, 1);
    if (!memory) return NULL;
    a = (arena){.base = memory};
    layout(context, &a);
    return memory;
}

static size_t largest(size_t a, size_t b) {
    return a > b ? a : b;
}

/* ---- the net ---- */

static void place_norm(arena *a, norm *b, size_t width) {
    ARENA_PLACE(a, b->mean, width);
    ARENA_PLACE(a, b->inv, width);
    ARENA_PLACE(a, b->g, width);
    ARENA_PLACE(a, b->e, width);
}

static void layout_fixed(void *context, arena *a) {
    cpu *s = context;
    const net_shape *sh = s->base.sh;
    size_t H = (size_t)s->w.H, O = (size_t)s->w.O, C = (size_t)s->w.C, D = (size_t)s->w.D, Q = (size_t)s->w.Q;
    size_t N = (size_t)sh->s.decoder_blocks, width = (size_t)sh->s.width, E = (size_t)s->w.E;
    size_t related = 2 * (size_t)sh->s.relations * H;
    for (int k = 0; k < sh->s.encoder_blocks; k++) {
        encoder_state *e = &s->enc[k];
        place_norm(a, &e->norm1, H);
        place_norm(a, &e->norm2, O);
        ARENA_PLACE(a, e->wf, H * O);
        ARENA_PLACE(a, e->wf_t, H * O);
        ARENA_PLACE(a, e->bf, O);
    }
    for (size_t m = 0; m < N; m++) {
        decoder_state *d = &s->dec[m];
        place_norm(a, &d->norm, C);
        ARENA_PLACE(a, d->wf, 3 * (E + m) * C * C);
        ARENA_PLACE(a, d->bias, 3 * C);
    }
    size_t widest = largest(H, largest(O, C)), head = (N + E) * C + D;
    s->sums_width = 2 * widest;
    s->gpart_width = largest(largest((H + 1) * O + related, 3 * (E + N) * C * C + 3 * C), head);
    size_t wide = largest(2 * H * D, largest(Q * D, 6 * (E + N) * C * C));
    ARENA_PLACE(a, s->theta, sh->total);
    ARENA_PLACE(a, s->grad, sh->total);
    ARENA_PLACE(a, s->m, sh->total);
    ARENA_PLACE(a, s->v, sh->total);
    ARENA_PLACE(a, s->average, sh->total);
    ARENA_PLACE(a, s->mean, width + MAX_RELATIONS);
    ARENA_PLACE(a, s->scale, width + MAX_RELATIONS);
    ARENA_PLACE(a, s->sums, (CHUNKS + 2) * s->sums_width);
    ARENA_PLACE(a, s->gpart, 2 * CHUNKS * s->gpart_width);
    ARENA_PLACE(a, s->start_part, CHUNKS * largest(Q, C));
    ARENA_PLACE(a, s->gwide, largest(largest(wide, head), width));
    ARENA_PLACE(a, s->chunk_loss, CHUNKS);
    ARENA_PLACE(a, s->norm_part, sh->total / SLICE + 2);
    ARENA_PLACE(a, s->k0, widest);
    ARENA_PLACE(a, s->k1, widest);
    ARENA_PLACE(a, s->c0, widest);
    ARENA_PLACE(a, s->c1, widest);
}

bool cpu_memory_open(cpu *s) {
    return weights_new(&s->w, s->base.sh, true) && (s->fixed_memory = arena_make(layout_fixed, s));
}

void cpu_memory_close(cpu *s) {
    weights_free(&s->w);
    free(s->fixed_memory);
    free(s->batch_memory);
    free(s->vector_memory);
}

/* ---- the batch ---- */

static void layout_batch(void *context, arena *a) {
    cpu *s = context;
    const net_shape *sh = s->base.sh;
    const batch_size *room = &s->room;
    size_t H = (size_t)s->w.H, O = (size_t)s->w.O, C = (size_t)s->w.C, D = (size_t)s->w.D, Q = (size_t)s->w.Q;
    size_t N = (size_t)sh->s.decoder_blocks, sets = (size_t)room->sets, rows = room->items;
    /* Two steps of zeros before each set, and two after the last that products may read. */
    size_t steps = s->steps = room->steps + 2 * sets + 2;
    size_t plane = room->step_cells + 2 * room->steps + 2 * (size_t)room->largest;
    for (int k = 0; k < sh->s.encoder_blocks; k++) {
        encoder_state *e = &s->enc[k];
        ARENA_PLACE(a, e->ac, rows * 2 * H);
        ARENA_PLACE(a, e->u, room->pairs * O);
        ARENA_PLACE(a, e->best, rows * O);
        ARENA_PLACE(a, e->arg, rows * O);
    }
    for (size_t m = 0; m < N; m++) {
        decoder_state *d = &s->dec[m];
        ARENA_PLACE(a, d->r, plane * C);
        ARENA_PLACE(a, d->d, plane * C);
        ARENA_PLACE(a, d->arg, rows * C);
    }
    s->related_width = relations_room(sh->s.relations, s->w.H, room->largest);
    ARENA_PLACE(a, s->related, CHUNKS * s->related_width);
    ARENA_PLACE(a, s->last, s->w.E ? plane * C : 0);
    ARENA_PLACE(a, s->at, sets + 1);
    ARENA_PLACE(a, s->by_word, rows);
    ARENA_PLACE(a, s->word, rows);
    ARENA_PLACE(a, s->word_d, rows * (size_t)sh->s.width);
    ARENA_PLACE(a, s->item, rows);
    ARENA_PLACE(a, s->row_of, rows);
    ARENA_PLACE(a, s->pos, rows);
    ARENA_PLACE(a, s->order, rows);
    ARENA_PLACE(a, s->right, rows);
    ARENA_PLACE(a, s->x, (rows + 1) * D);
    ARENA_PLACE(a, s->dx, (rows + 1) * D);
    ARENA_PLACE(a, s->q, (rows + 1) * Q);
    ARENA_PLACE(a, s->dq, (rows + 1) * Q);
    ARENA_PLACE(a, s->p, steps * N * C);
    ARENA_PLACE(a, s->dp, steps * N * C);
    ARENA_PLACE(a, s->step, steps * C);
    ARENA_PLACE(a, s->dstep, 2 * steps * C);
    ARENA_PLACE(a, s->dac, rows * 2 * H);
    ARENA_PLACE(a, s->gd, rows * O);
    ARENA_PLACE(a, s->logit, room->step_cells);
    ARENA_PLACE(a, s->dlogit, room->step_cells);
    ARENA_PLACE(a, s->item_d, rows);
    ARENA_PLACE(a, s->y, steps);
    ARENA_PLACE(a, s->dy, steps);
}

onet_status cpu_memory_reserve(net *t, batch_size size, onet_error *err) {
    cpu *s = (cpu *)t;
    if (size.sets < 1 || size.items < 1)
        return fail(err, ONET_USAGE, "a batch needs at least one set of one item");
    if (batch_size_fits(size, s->room)) return ONET_OK;
    free(s->batch_memory);
    batch_size room = s->room = batch_size_most(size, s->room);
    /* More than any machine has; sizes below it can be multiplied without overflow. */
    double most = ((double)room.pairs + 3.0 * (double)room.step_cells) *
                  (double)largest((size_t)s->w.O, (size_t)s->w.C) * sizeof(real);
    s->batch_memory = most > 1e12 ? NULL : arena_make(layout_batch, s);
    if (s->batch_memory) return ONET_OK;
    s->room = (batch_size){0};
    return fail(err, ONET_MEMORY,
                "not enough memory for a batch of %d sets with %zu items in all, %d in the largest: try a "
                "smaller batch",
                size.sets, size.items, size.largest);
}

/* ---- the sets ---- */

size_t cpu_vector_numbers(const cpu *s) {
    return s->vector_memory ? (size_t)s->sets->words->count * (size_t)s->base.sh->s.width : 0;
}

static void layout_vectors(void *context, arena *a) {
    cpu *s = context;
    size_t count = (size_t)s->sets->words->count * (size_t)s->base.sh->s.width;
    ARENA_PLACE(a, s->vectors, count);
    ARENA_PLACE(a, s->vectors_m, count);
    ARENA_PLACE(a, s->vectors_v, count);
    ARENA_PLACE(a, s->vectors_average, count);
}

onet_status cpu_memory_data(net *t, const onet_sets *sets, const float *mean, const float *scale,
                            int train_vectors, onet_error *err) {
    cpu *s = (cpu *)t;
    int d = t->sh->s.width, R = t->sh->s.relations;
    if (sets_relations(sets) != R)
        return fail(err, ONET_BAD, "the sets have %d relations, the net takes %d", sets_relations(sets), R);
    s->sets = sets;
    for (int c = 0; c < d + R; c++) {
        s->mean[c] = mean ? (real)mean[c] : 0;
        s->scale[c] = scale ? (real)scale[c] : 1;
    }
    s->train_vectors = train_vectors && sets->word;
    if (!s->train_vectors || s->vector_memory) return ONET_OK;
    if (!(s->vector_memory = arena_make(layout_vectors, s)))
        return fail_memory(err, "the vectors of the words");
    for (size_t i = 0; i < cpu_vector_numbers(s); i++) s->vectors[i] = (real)sets->words->vectors[i];
    return ONET_OK;
}

/* ---- blocks in and out ---- */

static real *block_of(cpu *s, net_block what, size_t *count) {
    real *const block[] = {[NET_THETA] = s->theta,
                           [NET_GRAD] = s->grad,
                           [NET_M] = s->m,
                           [NET_V] = s->v,
                           [NET_AVERAGE] = s->average,
                           [NET_VECTORS] = s->vectors,
                           [NET_VECTORS_M] = s->vectors_m,
                           [NET_VECTORS_V] = s->vectors_v,
                           [NET_VECTORS_AVERAGE] = s->vectors_average};
    *count = what >= NET_VECTORS ? cpu_vector_numbers(s) : s->base.sh->total;
    return block[what];
}

onet_status cpu_put(net *t, net_block what, const float *from, onet_error *err) {
    (void)err;
    size_t count;
    real *to = block_of((cpu *)t, what, &count);
    for (size_t i = 0; i < count; i++) to[i] = (real)from[i];
    return ONET_OK;
}

onet_status cpu_get(net *t, net_block what, float *to, onet_error *err) {
    (void)err;
    size_t count;
    const real *from = block_of((cpu *)t, what, &count);
    for (size_t i = 0; i < count; i++) to[i] = (float)from[i];
    return ONET_OK;
}
