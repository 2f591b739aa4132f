/* Tests training on the GPU against the plain C kernels: each operation on fresh inputs and over poisoned
 * memory, whole steps and trajectories (also of several ranks), sets of several sizes, the golden cases,
 * TF32 and bfloat16, refusals, the same bits in every run; also benchmarks, and steps for a
 * profiler. Needs a GPU, or the library that emulates one. usage: test_cuda [LIBRARY [small|emulated|races|
 * ranks|bench [PART OF A NAME]|bench-ranks|profile [tsp|words|large [BATCH [ITEMS|FIRST-LAST [graph]
 * [tf32|bf16]]]]]] */
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/data/sets.h"
#include "engine/kernels/cpu.h"
#include "engine/kernels/gpu_library.h"
#include "engine/model/generated.h"
#include "engine/words/words.h"
#include "golden_file.h"

static cuda_open_fn *open_gpu;
static cuda_peek_fn *peek;
static cuda_stages_fn *stages_of; /* also makes a net launch kernel by kernel */
static int passed, failed, threads = 16;

static void die(const char *what) {
    fprintf(stderr, "test_cuda: %s\n", what);
    exit(1);
}

static void *need(void *p) {
    if (!p) die("out of memory");
    return p;
}

static void load(const char *path) {
    void *h = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!h) die(dlerror());
    void *a = dlsym(h, CUDA_OPEN), *b = dlsym(h, CUDA_PEEK), *c = dlsym(h, CUDA_STAGES);
    if (!a || !b || !c) die("the library lacks a function");
    memcpy(&open_gpu, &a, sizeof a);
    memcpy(&peek, &b, sizeof b);
    memcpy(&stages_of, &c, sizeof c);
}

static void must(onet_status status, const onet_error *err) {
    if (status) die(err->text);
}

/* ---- cases ---- */

typedef struct cases {
    const char *name;
    onet_settings s;
    int B, n;
    const int *sizes; /* where n is 0: items of the sets, again and again, up to a 0 */
    int context;      /* 1: about a third of the items are context */
    int given;        /* 1: the relative features are given, as where items were left out */
    int strays;       /* 1: the right item of a step is not always the one that is placed */
    float dropout;
} test_case;

#define CASE(NAME, SETTINGS, SETS, ITEMS)                                                                    \
    { .name = NAME, .s = SETTINGS, .B = SETS, .n = ITEMS }
#define MIXED(NAME, SETTINGS, SETS, SIZES)                                                                   \
    { .name = NAME, .s = SETTINGS, .B = SETS, .sizes = SIZES }
#define CONTEXT(NAME, SETTINGS, SETS, SIZES)                                                                 \
    { .name = NAME, .s = SETTINGS, .B = SETS, .sizes = SIZES, .context = 1 }

#define GIVEN(NAME, SETTINGS, SETS, SIZES)                                                                   \
    { .name = NAME, .s = SETTINGS, .B = SETS, .sizes = SIZES, .context = 1, .given = 1 }

static int size_of(const test_case *tc, int set) {
    int count = 0;
    while (tc->sizes && tc->sizes[count]) count++;
    return tc->n ? tc->n : tc->sizes[set % count];
}

static void name_case(char *to, size_t room, const test_case *tc) {
    if (tc->n)
        snprintf(to, room, "%s n=%d B=%d", tc->name, tc->n, tc->B);
    else
        snprintf(to, room, "%s n=%d,%d.. B=%d", tc->name, size_of(tc, 0), size_of(tc, 1), tc->B);
}

static const onet_settings tsp = {2, 4, 128, 16, ONET_POOL_MAX, 4, 16, 0, 0, {0}};
static const onet_settings words = {50, 8, 256, 32, ONET_POOL_MEAN, 8, 32, 0, 0, {0}};
static const onet_settings odd = {3, 2, 20, 5, ONET_POOL_MAX, 3, 7, 0, 0, {0}};
static const onet_settings odd_mean = {3, 3, 36, 18, ONET_POOL_MEAN, 2, 33, 0, 0, {0}};
static const onet_settings wide = {5, 2, 300, 40, ONET_POOL_MAX, 3, 48, 0, 0, {0}};
/* Little room in shared memory: */
static const onet_settings broad = {2, 1, 16, 16, ONET_POOL_MAX, 2, 64, 0, 0, {0}};
static const onet_settings narrow_mean = {3, 3, 40, 13, ONET_POOL_MEAN, 2, 15, 0, 0, {0}};
/* Channels in two parts: */
static const onet_settings pairs = {2, 1, 70, 40, ONET_POOL_MAX, 0, 16, 0, 0, {0}};
static const onet_settings flat = {4, 0, 16, 16, ONET_POOL_MAX, 2, 16, 0, 0, {0}};
static const onet_settings bare = {4, 2, 32, 16, ONET_POOL_MAX, 0, 16, 0, 0, {0}};
/* Every width of the kernels over pairs and cells: */
static const onet_settings pairs_16 = {3, 1, 32, 16, ONET_POOL_MAX, 2, 16, 0, 0, {0}};
static const onet_settings pairs_32 = {3, 2, 36, 32, ONET_POOL_MEAN, 2, 32, 0, 0, {0}};
static const onet_settings pairs_48 = {3, 1, 48, 48, ONET_POOL_MAX, 2, 48, 0, 0, {0}};
static const onet_settings pairs_64 = {3, 1, 64, 64, ONET_POOL_MEAN, 2, 64, 0, 0, {0}};
static const onet_settings deep_pairs = {3, 1, 512, 64, ONET_POOL_MEAN, 3, 64, 0, 0, {0}};
static const onet_settings large_words = {50, 8, 512, 64, ONET_POOL_MEAN, 8, 64, 0, 0, {0}};
/* Many features, few cells: */
static const onet_settings single = {60, 1, 16, 16, ONET_POOL_MAX, 1, 16, 0, 0, {0}};
/* Narrow except for its inputs: */
static const onet_settings relative = {3, 2, 40, 13, ONET_POOL_MAX, 2, 15, 1, 0, {0}};
/* Relations between items: one or two of them, the most, beside relative features, without features, without
 * an encoder, without a decoder. */
static const onet_settings related = {3, 2, 20, 5, ONET_POOL_MAX, 3, 7, 0, 1, {0}};
static const onet_settings related_mean = {2, 2, 36, 18, ONET_POOL_MEAN, 2, 33, 0, 2, {0}};
static const onet_settings related_most = {3, 1, 16, 8, ONET_POOL_MAX, 2, 7, 1, 16, {0}};
static const onet_settings related_alone = {0, 2, 20, 5, ONET_POOL_MAX, 2, 7, 0, 2, {0}};
static const onet_settings related_flat = {4, 0, 16, 16, ONET_POOL_MAX, 2, 16, 0, 2, {0}};
static const onet_settings related_bare = {4, 2, 32, 16, ONET_POOL_MEAN, 0, 16, 0, 1, {0}};
static const onet_settings related_small = {1, 1, 16, 5, ONET_POOL_MAX, 0, 16, 0, 1, {0}};
static const onet_settings related_tsp = {1, 4, 128, 16, ONET_POOL_MAX, 4, 16, 0, 1, {0}};

typedef struct sample {
    net_shape sh;
    onet_sets sets;
    onet_words words;
    onet_pairs pairs;
    float *theta;
    float *relative; /* [items, width], where they are given */
    int32_t *target; /* [items], where the orders stray */
    float dropout;
    uint32_t *index;
    int B;
    batch_size room; /* for all sets */
} sample;

static batch_size size_of_batch(const sample *k, const uint32_t *index, int B) {
    batch_size size = {0};
    for (int b = 0; b < B; b++) {
        batch_size_add(&size, (int)sets_size(&k->sets, index[b]), (int)sets_placed(&k->sets, index[b]));
    }
    return size;
}

/* Marks context items, and puts them at the end of each order, smallest index first. The first item of an
 * order stays placed. */
static void add_context(sample *k, uint64_t seed) {
    size_t items = k->sets.start[k->sets.count];
    k->sets.context = need(calloc(items, 1));
    for (size_t s = 0; s < k->sets.count; s++) {
        size_t from = k->sets.start[s];
        int n = (int)sets_size(&k->sets, s), placed = 1;
        int32_t *order = k->sets.order + from;
        for (int i = 0; i < n; i++)
            k->sets.context[from + i] = i != order[0] && generated_u64(seed, 79, from + i) % 3 == 0;
        for (int t = 1; t < n; t++)
            if (!k->sets.context[from + order[t]]) order[placed++] = order[t];
        for (int i = 0; i < n; i++)
            if (k->sets.context[from + i]) order[placed++] = i;
    }
}

/* Gives all sets R relations; where all have n items, those of the golden cases. */
static void add_pairs(onet_sets *sets, onet_pairs *p, size_t R, int n, uint64_t seed) {
    size_t at = 0;
    p->width = (int)R;
    p->row = need(calloc(sets->start[sets->count], sizeof *p->row));
    for (size_t s = 0; s < sets->count; s++)
        for (size_t i = sets->start[s]; i < sets->start[s + 1]; i++, at += sets_size(sets, s)) p->row[i] = at;
    p->value = need(calloc(at * R, sizeof *p->value));
    if (n) generated_pairs(seed, 0, (int)sets->count, n, (int)R, p->value);
    for (size_t s = 0; s < sets->count && !n; s++)
        generated_pairs(seed, (int)s, 1, (int)sets_size(sets, s), (int)R,
                        p->value + p->row[sets->start[s]] * R);
    sets->pairs = p;
}

/* Draws the right item of each step from the items that are left. */
static void add_targets(sample *k, uint64_t seed) {
    k->target = need(calloc(k->sets.start[k->sets.count], sizeof *k->target));
    for (size_t s = 0; s < k->sets.count; s++) {
        size_t from = k->sets.start[s], placed = sets_placed(&k->sets, s);
        for (size_t t = 0; t < placed; t++)
            k->target[from + t] = k->sets.order[from + t + generated_u64(seed, 81, from + t) % (placed - t)];
    }
}

/* Makes `count` sets; with vocabulary > 0 their items are words, some of them several times. */
static void sample_make(sample *k, const test_case *tc, int count, uint64_t seed, int vocabulary) {
    const onet_settings *s = &tc->s;
    onet_error err;
    memset(k, 0, sizeof *k);
    must(net_shape_make(&k->sh, s, &err), &err);
    size_t items = 0;
    for (int b = 0; b < count; b++) items += (size_t)size_of(tc, b);
    k->B = count;
    k->sets.count = (size_t)count;
    k->sets.width = s->width;
    k->sets.start = need(calloc((size_t)count + 1, sizeof(size_t)));
    k->sets.items = need(calloc(items * s->width, sizeof(float)));
    k->sets.order = need(calloc(items, sizeof(int32_t)));
    k->theta = need(calloc(k->sh.total, sizeof(float)));
    k->index = need(calloc((size_t)count, sizeof(uint32_t)));
    for (int b = 0; b < count; b++) {
        k->sets.start[b + 1] = k->sets.start[b] + (size_t)size_of(tc, b);
        k->index[b] = (uint32_t)b;
    }
    generated_theta(&k->sh, seed, k->theta);
    for (int b = 0; b < count && !tc->n; b++)
        generated_batch(seed, b, 1, size_of(tc, b), s->width, k->sets.items + k->sets.start[b] * s->width,
                        k->sets.order + k->sets.start[b]);
    if (tc->n) generated_batch(seed, 0, count, tc->n, s->width, k->sets.items, k->sets.order);
    if (tc->context) add_context(k, seed);
    if (s->relations) add_pairs(&k->sets, &k->pairs, (size_t)s->relations, tc->n, seed);
    if (tc->given) {
        k->relative = need(calloc(items * s->width, sizeof(float)));
        for (size_t i = 0; i < items * s->width; i++)
            k->relative[i] = (float)(2 * generated_uniform(seed, 80, i) - 1);
    }
    if (tc->strays) add_targets(k, seed);
    k->dropout = tc->dropout;
    k->room = size_of_batch(k, k->index, count);
    if (!vocabulary) return;
    k->words.count = vocabulary;
    k->words.width = s->width;
    k->words.vectors = need(calloc((size_t)vocabulary * s->width, sizeof(float)));
    for (size_t i = 0; i < (size_t)vocabulary * s->width; i++)
        k->words.vectors[i] = (float)(2 * generated_uniform(seed, 77, i) - 1);
    k->sets.words = &k->words;
    k->sets.word = need(calloc(items, sizeof(int32_t)));
    for (size_t i = 0; i < items; i++)
        k->sets.word[i] = (int32_t)(generated_u64(seed, 78, i) % (uint64_t)vocabulary);
    free(k->sets.items);
    k->sets.items = NULL;
}

static void sample_free(sample *k) {
    free(k->sets.start);
    free(k->sets.items);
    free(k->sets.order);
    free(k->sets.context);
    free(k->sets.word);
    free(k->words.vectors);
    free(k->pairs.row);
    free(k->pairs.value);
    free(k->theta);
    free(k->relative);
    free(k->target);
    free(k->index);
}

enum { PLAIN, GPU, FASTEST };

/* Ranks that share a batch, here threads of one program. All-reduce: each shows the others its values, and
 * all add them up in the same order. */
enum { RANKS = 3 };
typedef struct team {
    int size;
    pthread_barrier_t barrier;
    const void *shown[RANKS];
} team;

typedef struct member {
    team *team;
    int rank;
} member;

static void meet(const member *m, const void *values) {
    if (values) m->team->shown[m->rank] = values;
    pthread_barrier_wait(&m->team->barrier);
}

static void sum(void *context, double *values, size_t count) {
    const member *m = context;
    double *total = need(calloc(count + 1, sizeof *total));
    meet(m, values);
    for (int r = 0; r < m->team->size; r++)
        for (size_t i = 0; i < count; i++) total[i] += ((const double *)m->team->shown[r])[i];
    meet(m, NULL);
    memcpy(values, total, count * sizeof *total);
    free(total);
}

static void sum_floats(void *context, real *values, size_t count) {
    const member *m = context;
    real *total = need(calloc(count + 1, sizeof *total));
    meet(m, values);
    for (int r = 0; r < m->team->size; r++)
        for (size_t i = 0; i < count; i++) total[i] += ((const real *)m->team->shown[r])[i];
    meet(m, NULL);
    memcpy(values, total, count * sizeof *total);
    free(total);
}

static void join_team(net *t, member *m) {
    t->sum = sum;
    t->sum_floats = sum_floats;
    t->sum_context = m;
}

static net *open_shared(const sample *k, int which, int train_vectors, member *m) {
    onet_error err;
    net *t = NULL;
    must(which == GPU ? open_gpu(&t, &k->sh, (gpu_choice){.number = 0}, &err)
                      : cpu_open(&t, &k->sh, which == PLAIN ? "plain" : "auto", threads, &err),
         &err);
    if (m) join_team(t, m);
    float mean[80], scale[80];
    for (int c = 0; c < k->sh.s.width + k->sh.s.relations; c++) {
        mean[c] = 0.05f * (float)(c % 5);
        scale[c] = 1.0f + 0.1f * (float)(c % 3);
    }
    must(t->ops->reserve(t, k->room, &err), &err);
    t->relative = k->relative;
    t->target = k->target;
    t->dropout = k->dropout;
    t->dropout_seed = 5;
    must(t->ops->data(t, &k->sets, mean, scale, train_vectors, &err), &err);
    must(t->ops->put(t, NET_THETA, k->theta, &err), &err);
    return t;
}

static net *open_net(const sample *k, int which, int train_vectors) {
    return open_shared(k, which, train_vectors, NULL);
}

static float *fetch(net *t, net_block what, size_t count) {
    onet_error err;
    float *p = need(malloc((count + 1) * sizeof *p));
    must(t->ops->get(t, what, p, &err), &err);
    return p;
}

/* ---- comparing ---- */

static double distance(const float *got, const float *want, size_t count, double floor) {
    double d = 0, w = 0;
    for (size_t i = 0; i < count; i++) {
        double a = (double)got[i], b = (double)want[i];
        if (!isfinite(a)) return INFINITY;
        d += (a - b) * (a - b);
        w += b * b;
    }
    return sqrt(d) / (sqrt(w) + floor);
}

static void report(const char *where, const char *what, int block, double error, double limit) {
    if (error <= limit) {
        passed++;
        return;
    }
    failed++;
    if (block >= 0)
        printf("FAILED %s: %s of block %d is off by %.3g (limit %.1g)\n", where, what, block, error, limit);
    else
        printf("FAILED %s: %s is off by %.3g (limit %.1g)\n", where, what, error, limit);
}

enum { ROOM = 1 << 25 };
static float *room_got, *room_want;

/* Compares columns 0 .. width-1 of a matrix on the device with those of the CPU's. */
static void rows_equal(const char *where, const char *what, int block, net *g, cuda_array array,
                       const real *want, size_t rows, size_t ld, size_t width, double limit) {
    if (!peek(g, array, block, room_got, ROOM)) die("nothing to look at");
    size_t count = 0;
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < width; c++, count++) {
            room_want[count] = want[r * ld + c];
            room_got[count] = room_got[r * ld + c];
        }
    report(where, what, block, distance(room_got, room_want, count, 1e-12), limit);
}

/* rows_equal in the forward pass, after which the CPU goes on with the GPU's numbers. If each went on with
 * its own, rounding would decide here and there which of two items a pool takes, or whether a number is
 * above 0. One r of 819,200 on the other side of 0 moves dq by 0.0036, a weight's gradient by up to 0.02
 * (words, B = 128, seed 128, plain C against AVX2): a thousand times the effect of rounding elsewhere, and
 * more than that of many a bug. */
static void rows_agree(const char *where, const char *what, int block, net *g, cuda_array array, real *own,
                       size_t rows, size_t ld, size_t width, double limit) {
    rows_equal(where, what, block, g, array, own, rows, ld, width, limit);
    for (size_t r = 0; r < rows; r++) memcpy(own + r * ld, room_got + r * width, width * sizeof *own);
}

/* Returns which of n items, `ld` numbers apart, a pool takes, item `skip` left out. */
static int taken(const real *v, int n, size_t ld, real sign, int skip) {
    int best = -1;
    for (int i = 0; i < n; i++)
        if (i != skip && (best < 0 || sign * v[(size_t)i * ld] > sign * v[(size_t)best * ld])) best = i;
    return best;
}

static void encoder_agrees(const char *where, int block, net *g, const cpu *c, double limit) {
    const set_at *end = &c->at[g->B];
    size_t H = (size_t)c->w.H, O = (size_t)c->w.O;
    const encoder_state *e = &c->enc[block];
    rows_agree(where, "a and c", block, g, CUDA_AC, e->ac, end->row, 2 * H, 2 * H, limit);
    rows_agree(where, "u", block, g, CUDA_U, e->u, end->pair, O, O, limit);
    rows_agree(where, "best", block, g, CUDA_BEST, e->best, end->row, O, O, limit);
    for (const set_at *at = c->at; at < end && g->sh->s.pool == ONET_POOL_MAX; at++)
        for (size_t i = 0; i < at->n * O; i++)
            e->arg[at->row * O + i] = taken(e->u + (at->pair + i / O * at->n) * O + i % O, at->n, O,
                                            c->w.enc[block].sign[i % O], (int)(i / O));
}

/* Compares a plane of the decoder; the CPU's has two steps of zeros before each set's first, and so have its
 * pools. Returns how far it was off. */
static double decoder_agrees(const char *where, int block, net *g, const cpu *c, double limit) {
    int N = g->sh->s.decoder_blocks;
    size_t C = (size_t)c->w.C;
    const decoder_state *d = &c->dec[block];
    const set_at *end = &c->at[g->B];
    /* The norm of a single cell multiplies the difference of the cell from its mean by 300 and more. The
     * mean is that of the CPU's own number, which is therefore kept. */
    int alone = end->cell == 1;
    if (!peek(g, CUDA_R, block, room_got, ROOM)) die("nothing to look at");
    for (const set_at *at = c->at; at < end; at++) {
        int m = at->m;
        size_t count = (size_t)m * m * C;
        real *own = d->r + (at->plane + 2 * (size_t)m) * C;
        memcpy(room_want + at->cell * C, own, count * sizeof *own);
        if (!alone) memcpy(own, room_got + at->cell * C, count * sizeof *own);
        for (size_t i = 0; i < m * C; i++) {
            const real *step = own + i / C * m * C + i % C;
            int best = taken(step, m, C, c->w.dec[block].sign[i % C], -1);
            d->arg[at->row * C + i] = best;
            c->p[((at->step + 2 + i / C) * N + block) * C + i % C] = step[(size_t)best * C];
        }
    }
    double apart = distance(room_got, room_want, end->cell * C, 1e-12);
    report(where, "r", block, apart, limit);
    return apart;
}

static void gradients_equal(const char *where, const sample *k, const float *got, const float *want,
                            double limit) {
    double all = 0;
    for (size_t i = 0; i < k->sh.trained; i++) all += (double)want[i] * (double)want[i];
    for (int t = 0; t < k->sh.tensors; t++) {
        const tensor *x = &k->sh.tensor[t];
        if (!x->trained) continue;
        char what[80];
        snprintf(what, sizeof what, "gradient of %s", x->name);
        report(where, what, -1, distance(got + x->offset, want + x->offset, x->size, 1e-3 * sqrt(all)),
               limit);
    }
}

static void running_equal(const char *where, const sample *k, const float *got, const float *want,
                          double limit) {
    report(where, "running statistics", -1,
           distance(got + k->sh.trained, want + k->sh.trained, k->sh.total - k->sh.trained, 1e-12), limit);
}

/* Returns how far a gradient may be off where rounding decides which of two equal items a pool takes: the
 * largest distance of any tensor between the plain kernels and the fastest of this CPU. */
static double yardstick(const sample *k) {
    float *grad[2];
    for (int i = 0; i < 2; i++) {
        net *t = open_net(k, i ? FASTEST : PLAIN, 0);
        t->ops->start_step(t, k->index, k->B);
        t->ops->forward(t);
        t->ops->backward(t);
        grad[i] = fetch(t, NET_GRAD, k->sh.total);
        t->ops->close(t);
    }
    double all = 0, worst = 0;
    for (size_t i = 0; i < k->sh.trained; i++) all += (double)grad[0][i] * (double)grad[0][i];
    for (int t = 0; t < k->sh.tensors; t++) {
        const tensor *x = &k->sh.tensor[t];
        if (!x->trained) continue;
        double d = distance(grad[1] + x->offset, grad[0] + x->offset, x->size, 1e-3 * sqrt(all));
        if (d > worst) worst = d;
    }
    free(grad[0]);
    free(grad[1]);
    return worst;
}

/* ---- every operation ---- */

static const char *const precision_names[] = {"", ", TF32", ", bfloat16"};

/* Returns whether set a comes before set b in a batch of several sizes, as the GPU sorts it: the larger
 * first, of equal sizes the one with more placed items. */
static int comes_before(const sample *k, uint32_t a, uint32_t b) {
    size_t x = sets_size(&k->sets, a), y = sets_size(&k->sets, b);
    return x != y ? x > y : sets_placed(&k->sets, a) > sets_placed(&k->sets, b);
}

static void sort_index(sample *k) {
    for (int i = 1; i < k->B; i++)
        for (int j = i; j > 0 && comes_before(k, k->index[j], k->index[j - 1]); j--) {
            uint32_t swap = k->index[j];
            k->index[j] = k->index[j - 1];
            k->index[j - 1] = swap;
        }
}

/* Compares each operation with the plain kernels. With a precision below float32, results must be as near as
 * factors of 10 or 7 bits allow; and r, which is computed from the same numbers as the CPU's, must be further
 * off than float32 may be. */
static void operations(const test_case *tc, uint64_t seed, onet_precision precision) {
    char where[96];
    name_case(where, sizeof where, tc);
    strcat(where, precision_names[precision]);
    sample k;
    sample_make(&k, tc, tc->B, seed, 0);
    sort_index(&k); /* then the rows of GPU and CPU are in the same order */
    net *g = open_net(&k, GPU, 0), *t = open_net(&k, PLAIN, 0);
    const cpu *c = (const cpu *)t;
    size_t R = k.room.items, H = (size_t)c->w.H, D = (size_t)c->w.D, Q = (size_t)c->w.Q;
    int M = tc->s.encoder_blocks, N = tc->s.decoder_blocks;
    /* A batch of a single cell has no variance: its norms magnify rounding errors. So do those of one
     * small set in which some channel hardly varies: float32 on the CPU, plain or AVX2, is as far from
     * double there. */
    static const double forward_of[] = {0, 5e-3, 6e-2}, backward_of[] = {0, 5e-2, 2e-1},
                        sums_of[] = {1e-5, 1e-3, 8e-3};
    const double exact = k.room.pairs == 1 ? 1e-3 : 5e-5, forward = precision ? forward_of[precision] : exact,
                 backward = precision              ? backward_of[precision]
                            : R <= 5 && tc->B == 1 ? 2e-2
                                                   : 5e-4,
                 sums = sums_of[precision];
    const int learns = k.room.largest > 1;
    const net_stages *gpu = stages_of(g), *plain = &cpu_stages;
    g->precision = precision;
    g->ops->start_step(g, k.index, tc->B);
    t->ops->start_step(t, k.index, tc->B);
    rows_equal(where, "taken items", -1, g, CUDA_X, c->x, R, D, (size_t)k.sh.inputs, 1e-7);
    gpu->begin(g);
    plain->begin(t);
    for (int m = 0; m < M; m++) {
        gpu->encoder_forward(g, m);
        plain->encoder_forward(t, m);
        encoder_agrees(where, m, g, c, forward);
    }
    gpu->decoder_rows_forward(g);
    plain->decoder_rows_forward(t);
    rows_agree(where, "x'", -1, g, CUDA_X, c->x, R, D, (size_t)k.sh.D, forward);
    if (N) rows_agree(where, "q", -1, g, CUDA_Q, c->q, R + 1, Q, Q, forward);
    for (int m = 0; m < N; m++) {
        gpu->decoder_forward(g, m);
        plain->decoder_forward(t, m);
        double apart = decoder_agrees(where, m, g, c, forward);
        if (precision && m) report(where, "r (not that of float32)", m, apart > exact ? 0 : INFINITY, 0);
    }
    gpu->head(g);
    plain->head(t);
    rows_equal(where, "log-probabilities", -1, g, CUDA_LOGPROB, c->logit, k.room.step_cells, 1, 1, forward);
    report(where, "loss", -1, fabs(g->ops->loss(g) - t->ops->loss(t)) / (fabs(t->ops->loss(t)) + 1e-6), sums);
    for (int m = N - 1; m >= 0; m--) {
        gpu->decoder_backward(g, m);
        plain->decoder_backward(t, m);
    }
    gpu->decoder_rows_backward(g);
    plain->decoder_rows_backward(t);
    if (N && learns) rows_equal(where, "dq", -1, g, CUDA_DQ, c->dq, R + 1, Q, Q, backward);
    if (learns) rows_equal(where, "dx'", -1, g, CUDA_DX, c->dx, R, D, (size_t)k.sh.D, backward);
    for (int m = M - 1; m >= 0; m--) {
        gpu->encoder_backward(g, m);
        plain->encoder_backward(t, m);
        if (learns) rows_equal(where, "dac", m, g, CUDA_DAC, c->dac, R, 2 * H, 2 * H, backward);
        if (learns && m) rows_equal(where, "dx", m, g, CUDA_DX, c->dx, R, D, (size_t)k.sh.D, backward);
    }
    float *want = fetch(t, NET_GRAD, k.sh.total), *got = fetch(g, NET_GRAD, k.sh.total);
    if (learns) gradients_equal(where, &k, got, want, backward);
    float *theta_want = fetch(t, NET_THETA, k.sh.total), *theta_got = fetch(g, NET_THETA, k.sh.total);
    running_equal(where, &k, theta_got, theta_want, sums);

    /* The same step launched as a whole, by another net (in float32 twice): the same bits. */
    for (int again = 0; again < (precision ? 1 : 2); again++) {
        net *h = open_net(&k, GPU, 0);
        h->precision = precision;
        h->ops->start_step(h, k.index, tc->B);
        h->ops->forward(h);
        h->ops->backward(h);
        float *bits = fetch(h, NET_GRAD, k.sh.total), *moved = fetch(h, NET_THETA, k.sh.total);
        report(where, "the graph's gradient (bits)", -1,
               memcmp(bits, got, k.sh.trained * sizeof(float)) ? INFINITY : 0, 0);
        report(where, "the graph's statistics (bits)", -1,
               memcmp(moved, theta_got, k.sh.total * sizeof(float)) ? INFINITY : 0, 0);
        free(bits);
        free(moved);
        h->ops->close(h);
    }
    free(want);
    free(got);
    free(theta_want);
    free(theta_got);
    g->ops->close(g);
    t->ops->close(t);
    sample_free(&k);
}

/* A batch of sets of different sizes in another order: the GPU sorts it, so the bits are the same. */
static void shuffled(const test_case *tc, uint64_t seed) {
    char where[96];
    name_case(where, sizeof where, tc);
    sample k;
    sample_make(&k, tc, tc->B, seed, 0);
    float *grad[2];
    double loss[2];
    for (int i = 0; i < 2; i++) {
        if (i) sort_index(&k);
        net *g = open_net(&k, GPU, 0);
        g->ops->start_step(g, k.index, k.B);
        g->ops->forward(g);
        g->ops->backward(g);
        grad[i] = fetch(g, NET_GRAD, k.sh.total);
        loss[i] = g->ops->loss(g);
        g->ops->close(g);
    }
    report(where, "the loss of a batch in another order (bits)", -1, fabs(loss[1] - loss[0]), 0);
    report(where, "the gradient of a batch in another order (bits)", -1,
           memcmp(grad[0], grad[1], k.sh.trained * sizeof(float)) ? INFINITY : 0, 0);
    free(grad[0]);
    free(grad[1]);
    sample_free(&k);
}

/* ---- steps in pieces ---- */

static void bits_equal(const char *where, const char *what, int block, const float *got, const float *want,
                       size_t count) {
    report(where, what, block, memcmp(got, want, count * sizeof *got) ? INFINITY : 0, 0);
}

static void bits_differ(const char *where, const char *what, const float *got, const float *other,
                        size_t count) {
    report(where, what, -1, memcmp(got, other, count * sizeof *got) ? 0 : INFINITY, 0);
}

/* A step whose loss is read between forward and backward pass, and forward passes alone, as when the
 * statistics of the norms are measured, must give the bits of a step in one go by another net; also with
 * batches of several sizes, whose graphs and sums share memory. */
static void pieces(const test_case *tc, uint64_t seed) {
    char where[96];
    name_case(where, sizeof where, tc);
    strcat(where, ", in pieces");
    sample k;
    sample_make(&k, tc, tc->B, seed, 0);
    onet_error err;
    net *g = open_net(&k, GPU, 0);
    const int sizes[] = {tc->B, (tc->B + 1) / 2, 1, tc->B};
    for (int i = 0; i < 4; i++) {
        net *whole = open_net(&k, GPU, 0);
        whole->ops->start_step(whole, k.index, sizes[i]);
        whole->ops->forward(whole);
        whole->ops->backward(whole);
        float *grad = fetch(whole, NET_GRAD, k.sh.total), *theta = fetch(whole, NET_THETA, k.sh.total), *got;
        double loss = whole->ops->loss(whole);
        whole->ops->close(whole);
        for (int update = 0; update < 2; update++) {
            must(g->ops->put(g, NET_THETA, k.theta, &err), &err);
            g->update = update;
            g->ops->start_step(g, k.index, sizes[i]);
            g->ops->forward(g);
            got = fetch(g, NET_THETA, k.sh.total);
            bits_equal(where, update ? "statistics" : "parameters that stay", i, got,
                       update ? theta : k.theta, k.sh.total);
            free(got);
        }
        must(g->ops->put(g, NET_THETA, k.theta, &err), &err);
        g->ops->start_step(g, k.index, sizes[i]);
        g->ops->forward(g);
        report(where, "the loss", i, fabs(g->ops->loss(g) - loss), 0);
        g->ops->backward(g);
        got = fetch(g, NET_GRAD, k.sh.total);
        bits_equal(where, "the gradient", i, got, grad, k.sh.trained);
        free(got);
        free(grad);
        free(theta);
    }
    g->ops->close(g);
    sample_free(&k);
}

/* A weight of the head that is NaN, with the bits of the GPU's own NaN: the step ends, loss and gradient
 * are NaN. */
static void lost(const test_case *tc, uint64_t seed) {
    char where[96];
    sample k;
    sample_make(&k, tc, tc->B, seed, 0);
    memcpy(k.theta + k.sh.head_weight, &(uint32_t){0x7fffffff}, sizeof *k.theta);
    for (onet_precision precision = 0; precision <= ONET_BF16; precision++) {
        snprintf(where, sizeof where, "%s n=%d B=%d%s, a lost weight", tc->name, tc->n, tc->B,
                 precision_names[precision]);
        net *g = open_net(&k, GPU, 0);
        g->precision = precision;
        g->ops->start_step(g, k.index, tc->B);
        g->ops->forward(g);
        g->ops->backward(g);
        report(where, "the loss", -1, isnan(g->ops->loss(g)) ? 0 : INFINITY, 0);
        float *grad = fetch(g, NET_GRAD, k.sh.total);
        report(where, "the gradient", -1, isnan(grad[k.sh.enc[0].weight1]) ? 0 : INFINITY, 0);
        free(grad);
        g->ops->close(g);
    }
    sample_free(&k);
}

/* ---- TF32 ---- */

static float *peeked(net *g, cuda_array array, int block, size_t count) {
    float *p = need(malloc(count * sizeof *p));
    if (peek(g, array, block, room_got, ROOM) < count) die("nothing to look at");
    memcpy(p, room_got, count * sizeof *p);
    return p;
}

/* With items and first weights that TF32 represents, a and c keep their bits and u does not. */
static void rounded_forward(const test_case *tc, uint64_t seed) {
    char where[96];
    name_case(where, sizeof where, tc);
    strcat(where, ", TF32 after exact rows");
    sample k;
    test_case exact = *tc;
    exact.s.width = 1; /* which open_net does not scale */
    sample_make(&k, &exact, tc->B, seed, 0);
    size_t rows = k.room.items, acs = rows * 2 * (size_t)tc->s.hidden,
           us = k.room.pairs * (size_t)tc->s.encoder_out;
    for (size_t i = 0; i < rows; i++) k.sets.items[i] = roundf(64 * k.sets.items[i]) / 64;
    for (int i = 0; i < k.sh.tensors; i++)
        for (size_t j = 0; j < k.sh.tensor[i].size && k.sh.tensor[i].offset == k.sh.enc[0].weight1; j++)
            k.theta[k.sh.enc[0].weight1 + j] = roundf(64 * k.theta[k.sh.enc[0].weight1 + j]) / 64;
    float *ac[2], *u[2];
    for (onet_precision precision = 0; precision <= ONET_TF32; precision++) {
        net *g = open_net(&k, GPU, 0);
        const net_stages *s = stages_of(g);
        g->precision = precision;
        g->ops->start_step(g, k.index, k.B);
        s->begin(g);
        s->encoder_forward(g, 0);
        ac[precision] = peeked(g, CUDA_AC, 0, acs);
        u[precision] = peeked(g, CUDA_U, 0, us);
        g->ops->close(g);
    }
    bits_equal(where, "a and c", 0, ac[1], ac[0], acs);
    bits_differ(where, "u", u[1], u[0], us);
    for (int i = 0; i < 2; i++) {
        free(ac[i]);
        free(u[i]);
    }
    sample_free(&k);
}

/* The kernels over cells and pairs make one TF32 product each in the backward pass too. Backward passes after
 * one forward pass, without TF32 and with it in one stage alone: gradients that depend on no other product of
 * that stage are not those of float32. */
static void rounded_backward(const test_case *tc, uint64_t seed) {
    enum { NONE, DECODER, DECODER_ROWS, ENCODER, STAGES };
    char where[96];
    name_case(where, sizeof where, tc);
    strcat(where, ", TF32 in one stage");
    sample k;
    sample_make(&k, tc, tc->B, seed, 0);
    int M = tc->s.encoder_blocks, N = tc->s.decoder_blocks;
    /* at: in the gradient of the last decoder block, of the weights of its first channel that multiply v and
     * pools of the block before. */
    size_t rows = k.room.items, dqs = rows * 6 * (size_t)N * (size_t)tc->s.decoder_out,
           dacs = rows * 2 * (size_t)tc->s.hidden, at = k.sh.dec[N - 1].weight + 3 * (size_t)k.sh.base,
           weights_of_one = 6 * (size_t)tc->s.decoder_out;
    float *dq[STAGES], *dac[STAGES], *grad[STAGES];
    net *g = open_net(&k, GPU, 0);
    const net_stages *s = stages_of(g);
    g->ops->start_step(g, k.index, k.B);
    s->begin(g);
    for (int m = 0; m < M; m++) s->encoder_forward(g, m);
    s->decoder_rows_forward(g);
    for (int m = 0; m < N; m++) s->decoder_forward(g, m);
    s->head(g);
    for (int stage = 0; stage < STAGES; stage++) {
        g->precision = stage == DECODER;
        for (int m = N - 1; m >= 0; m--) s->decoder_backward(g, m);
        g->precision = stage == DECODER_ROWS;
        s->decoder_rows_backward(g);
        dq[stage] = peeked(g, CUDA_DQ, -1, dqs);
        g->precision = stage == ENCODER;
        s->encoder_backward(g, M - 1);
        dac[stage] = peeked(g, CUDA_DAC, M - 1, dacs);
        g->precision = ONET_FLOAT32;
        for (int m = M - 2; m >= 0; m--) s->encoder_backward(g, m);
        grad[stage] = fetch(g, NET_GRAD, k.sh.total);
    }
    g->ops->close(g);
    bits_equal(where, "dq of the decoder's rows", -1, dq[DECODER_ROWS], dq[NONE], dqs);
    bits_differ(where, "dq", dq[DECODER], dq[NONE], dqs);
    bits_differ(where, "gradient of the decoder's last weights", grad[DECODER_ROWS] + at, grad[NONE] + at,
                weights_of_one);
    bits_differ(where, "dac", dac[ENCODER], dac[NONE], dacs);
    for (int i = 0; i < STAGES; i++) {
        free(dq[i]);
        free(dac[i]);
        free(grad[i]);
    }
    sample_free(&k);
}

/* ---- trajectories ---- */

static adam_step adam_at(int step, double rate) {
    return (adam_step){.scale = 1,
                       .rate = rate,
                       .beta1 = 0.9,
                       .beta2 = 0.999,
                       .epsilon = 1e-8,
                       .correction1 = 1 - pow(0.9, step + 1),
                       .correction2 = 1 - pow(0.999, step + 1),
                       .decay = 1e-3 * rate};
}

/* Returns the error of what has moved from `start`, relative to the move. */
static double move_error(const float *got, const float *want, const float *start, size_t count) {
    double d = 0, w = 0;
    for (size_t i = 0; i < count; i++) {
        d += pow((double)got[i] - (double)want[i], 2);
        w += pow((double)want[i] - (double)start[i], 2);
    }
    return sqrt(d / w);
}

/* What an EMA must be, to the last bit. */
typedef struct shadow {
    net_block of, average;
    size_t count;
    float *want;
} shadow;

static void shadow_move(shadow *w, net *t, double decay) {
    float *now = fetch(t, w->of, w->count);
    for (size_t i = 0; i < w->count; i++)
        w->want[i] = (float)(decay * (double)w->want[i] + (1 - decay) * (double)now[i]);
    free(now);
}

static void shadow_check(shadow *w, net *t, const char *where, const char *what) {
    float *got = fetch(t, w->average, w->count);
    report(where, what, -1, memcmp(got, w->want, w->count * sizeof *got) ? INFINITY : 0, 0);
    free(got);
    free(w->want);
}

/* move_error of the parameters from k->theta, without those whose gradient is only rounding. */
static double theta_error(const sample *k, const float *got, const float *want) {
    double d = 0, w = 0;
    for (int i = 0; i < k->sh.tensors; i++)
        for (size_t j = 0; j < k->sh.tensor[i].size; j++) {
            size_t at = k->sh.tensor[i].offset + j;
            if (golden_null(&k->sh, i, j)) continue;
            d += pow((double)got[at] - (double)want[at], 2);
            w += pow((double)want[at] - (double)k->theta[at], 2);
        }
    return sqrt(d / w);
}

/* Ten steps of Adam with clipping; odd steps also read the loss before the optimiser runs. */
static void trajectory(const test_case *tc, uint64_t seed, int vocabulary) {
    char where[96];
    name_case(where, sizeof where, tc);
    strcat(where, vocabulary ? " words, 10 steps" : ", 10 steps");
    enum { STEPS = 10 };
    sample k;
    sample_make(&k, tc, tc->B * 2, seed, vocabulary);
    k.B = tc->B;
    net *g = open_net(&k, GPU, vocabulary > 0), *t = open_net(&k, PLAIN, vocabulary > 0);
    size_t count = (size_t)vocabulary * (size_t)tc->s.width;
    shadow means = {NET_THETA, NET_AVERAGE, k.sh.total, need(calloc(k.sh.total, sizeof(float)))},
           word_means = {NET_VECTORS, NET_VECTORS_AVERAGE, count, need(calloc(count + 1, sizeof(float)))};
    double each[STEPS], kept[STEPS];
    for (int step = 0; step < STEPS; step++) {
        const uint32_t *index = k.index + step * tc->B / STEPS;
        adam_step a = adam_at(step, 1e-4);
        double norm_g, norm_t, looked = 0;
        net *both[] = {g, t};
        for (int i = 0; i < 2; i++) {
            both[i]->ops->start_step(both[i], index, tc->B);
            both[i]->ops->forward(both[i]);
            both[i]->ops->backward(both[i]);
            if (step % 2 && !i) looked = both[i]->ops->loss(both[i]);
        }
        g->ops->optimise(g, &a, 0.5, &norm_g);
        t->ops->optimise(t, &a, 0.5, &norm_t);
        g->ops->average(g, step ? 0.7 : 0);
        shadow_move(&means, g, step ? 0.7 : 0);
        if (vocabulary) shadow_move(&word_means, g, step ? 0.7 : 0);
        double lg = g->ops->loss(g), lt = t->ops->loss(t);
        each[step] = lg;
        report(where, "the loss", step, fabs(lg - lt) / (fabs(lt) + 1e-6), 1e-4);
        if (step % 2) report(where, "the loss before the optimiser", step, fabs(lg - looked), 0);
        report(where, "the gradient's norm", step, fabs(norm_g - norm_t) / norm_t, 2e-3);
    }
    g->ops->losses(g, STEPS, kept);
    report(where, "the losses of all steps (bits)", -1, memcmp(kept, each, sizeof each) ? INFINITY : 0, 0);
    g->ops->losses(g, 1, kept);
    report(where, "the last step's loss (bits)", -1,
           memcmp(kept, each + STEPS - 1, sizeof *each) ? INFINITY : 0, 0);
    shadow_check(&means, g, where, "the average (bits)");
    float *a = fetch(g, NET_THETA, k.sh.total), *b = fetch(t, NET_THETA, k.sh.total);
    report(where, "the change of the parameters", -1, theta_error(&k, a, b), 0.02);
    if (vocabulary) {
        float *va = fetch(g, NET_VECTORS, count), *vb = fetch(t, NET_VECTORS, count);
        report(where, "the change of the vectors", -1, move_error(va, vb, k.words.vectors, count), 0.02);
        shadow_check(&word_means, g, where, "the vectors' average (bits)");
        free(va);
        free(vb);
    } else
        free(word_means.want);
    free(a);
    free(b);
    g->ops->close(g);
    t->ops->close(t);
    sample_free(&k);
}

/* ---- races ---- */

/* A step for ThreadSanitizer or compute-sanitizer; the results are compared in other tests. */
static void watched(const test_case *tc, int vocabulary, onet_precision precision, int eager) {
    sample k;
    double size; /* of the gradient */
    adam_step a = adam_at(0, 1e-4);
    sample_make(&k, tc, tc->B, 600, vocabulary);
    net *g = open_net(&k, GPU, vocabulary > 0);
    g->precision = precision;
    if (eager) stages_of(g);
    g->ops->start_step(g, k.index, k.B);
    g->ops->forward(g);
    g->ops->backward(g);
    g->ops->optimise(g, &a, 0.5, &size);
    g->ops->average(g, 0.7);
    report(tc->name, "a finite loss", -1, isfinite(g->ops->loss(g)) ? 0 : INFINITY, 0);
    g->ops->close(g);
    sample_free(&k);
}

/* ---- several ranks ---- */

enum { STEPS_SHARED = 5 };

typedef struct trip { /* some steps of one rank */
    const sample *k;
    member m;
    int alone, eager, vocabulary;
    double loss[STEPS_SHARED], norm[STEPS_SHARED];
    double kept[STEPS_SHARED];     /* losses read at the end */
    float *grad, *theta, *vectors; /* the gradient of the first step, the others at the end */
} trip;

/* Returns which rank has set b of the batch; at two of the steps one rank has all sets. */
static int owner(const trip *p, int step, int b) {
    return step == 2 ? 0 : step == 3 ? p->m.team->size - 1 : (3 * b + step) / 2 % p->m.team->size;
}

static void *travel(void *arg) {
    trip *p = arg;
    const sample *k = p->k;
    net *t = open_shared(k, GPU, p->vocabulary > 0, p->alone ? NULL : &p->m);
    uint32_t *index = need(calloc((size_t)k->B, sizeof *index)),
             *row = need(calloc((size_t)k->B, sizeof *row));
    if (p->eager) stages_of(t);
    for (int step = 0; step < STEPS_SHARED; step++) {
        const uint32_t *all = k->index + step * k->B / STEPS_SHARED;
        int here = 0;
        for (int b = 0; b < k->B; b++)
            if (p->alone || owner(p, step, b) == p->m.rank) {
                row[here] = (uint32_t)size_of_batch(k, all, b).items;
                index[here++] = all[b];
            }
        if (!p->alone) {
            t->whole = size_of_batch(k, all, k->B);
            t->row = row;
        }
        t->ops->start_step(t, index, here);
        t->ops->forward(t);
        t->ops->backward(t);
        if (step % 3 == 1) p->loss[step] = t->ops->loss(t);
        adam_step a = adam_at(step, 1e-4);
        t->ops->optimise(t, &a, 0.5, &p->norm[step]);
        if (step % 3 != 1) p->loss[step] = t->ops->loss(t);
        if (!step) p->grad = fetch(t, NET_GRAD, k->sh.total);
    }
    t->ops->losses(t, STEPS_SHARED, p->kept);
    p->theta = fetch(t, NET_THETA, k->sh.total);
    if (p->vocabulary) p->vectors = fetch(t, NET_VECTORS, (size_t)p->vocabulary * (size_t)k->sh.s.width);
    t->ops->close(t);
    free(index);
    free(row);
    return NULL;
}

/* Ranks that share each batch train the same net as a single rank. */
static void together(const test_case *tc, uint64_t seed, int vocabulary, int size, int eager) {
    char where[96];
    name_case(where, sizeof where, tc);
    snprintf(where + strlen(where), sizeof where - strlen(where), "%s, %d ranks%s",
             vocabulary ? " words" : "", size, eager ? ", kernel by kernel" : "");
    sample k;
    sample_make(&k, tc, tc->B * 2, seed, vocabulary);
    k.B = tc->B;
    team all = {.size = size};
    if (pthread_barrier_init(&all.barrier, NULL, (unsigned)size)) die("no barrier");
    trip alone = {.k = &k, .m = {&all, 0}, .alone = 1, .vocabulary = vocabulary}, part[RANKS];
    travel(&alone);
    pthread_t thread[RANKS];
    for (int r = 0; r < size; r++) {
        part[r] = (trip){.k = &k, .m = {&all, r}, .eager = eager, .vocabulary = vocabulary};
        if (pthread_create(&thread[r], NULL, travel, &part[r])) die("no thread");
    }
    for (int r = 0; r < size; r++) pthread_join(thread[r], NULL);
    size_t count = (size_t)vocabulary * (size_t)tc->s.width;
    for (int r = 0; r < size; r++) {
        gradients_equal(where, &k, part[r].grad, alone.grad, 5e-4 + 5 * yardstick(&k));
        /* Later on rounding may decide which of two items a pool takes. */
        for (int step = 0; step < STEPS_SHARED; step++) {
            report(where, "the loss", step, fabs(part[r].loss[step] / alone.loss[step] - 1),
                   step ? 1e-3 : 1e-5);
            report(where, "the gradient's norm", step, fabs(part[r].norm[step] / alone.norm[step] - 1),
                   step ? 0.1 : 2e-3);
        }
        report(where, "the losses of all steps (bits)", -1,
               memcmp(part[r].kept, part[r].loss, sizeof part[r].loss) ? INFINITY : 0, 0);
        report(where, "the change of the parameters", -1, theta_error(&k, part[r].theta, alone.theta), 0.05);
        report(where, "the parameters of all ranks (bits)", -1,
               memcmp(part[r].theta, part[0].theta, k.sh.total * sizeof(float)) ? INFINITY : 0, 0);
        if (!vocabulary) continue;
        report(where, "the change of the vectors", -1,
               move_error(part[r].vectors, alone.vectors, k.words.vectors, count), 0.05);
        report(where, "the vectors of all ranks (bits)", -1,
               memcmp(part[r].vectors, part[0].vectors, count * sizeof(float)) ? INFINITY : 0, 0);
    }
    for (int r = 0; r < size; r++) {
        free(part[r].grad);
        free(part[r].theta);
        free(part[r].vectors);
    }
    free(alone.grad);
    free(alone.theta);
    free(alone.vectors);
    pthread_barrier_destroy(&all.barrier);
    sample_free(&k);
}

/* ---- limits ---- */

/* The error for a set that is too large names the largest possible one. That one is trained on too, where
 * that is not too slow. */
static void limits(const char *name, const onet_settings *s, int refusal_alone) {
    onet_error err = {.text = ""};
    net_shape sh;
    net *t;
    must(net_shape_make(&sh, s, &err), &err);
    must(open_gpu(&t, &sh, (gpu_choice){.number = 0}, &err), &err);
    onet_status status = t->ops->reserve(t, batch_of_one_size(1, 30000), &err);
    t->ops->close(t);
    const char *at = strstr(err.text, "sets of ");
    int most = at ? atoi(at + 8) : 0;
    report(name, "the refusal of a set of 30000 items", -1, status == ONET_USAGE && most > 100 ? 0 : INFINITY,
           0);
    if (most <= 100 || refusal_alone) return;
    printf("%s: sets of up to %d items\n", name, most);
    if (most > 700) most = 700; /* more takes the CPU too long */
    sample k;
    double loss[2];
    sample_make(&k, &(test_case){.s = *s, .n = most}, 1, 500, 0);
    for (int i = 0; i < 2; i++) {
        t = open_net(&k, i ? FASTEST : GPU, 0);
        t->ops->start_step(t, k.index, 1);
        t->ops->forward(t);
        t->ops->backward(t);
        loss[i] = t->ops->loss(t);
        t->ops->close(t);
    }
    report(name, "the loss of a large set", -1, fabs(loss[0] / loss[1] - 1), 1e-4);
    sample_free(&k);
}

/* A net that sees neither features nor pairs in an encoder has no rows to multiply. */
static void refused(const onet_settings *s) {
    onet_error err = {.text = ""};
    net_shape sh;
    net *t = NULL;
    must(net_shape_make(&sh, s, &err), &err);
    onet_status status = open_gpu(&t, &sh, (gpu_choice){.number = 0}, &err);
    report("no features and no encoder", "the refusal", -1, status == ONET_USAGE && !t ? 0 : INFINITY, 0);
}

/* ---- golden cases ---- */

static void golden_case(const char *name) {
    golden file;
    golden_load(&file, name);
    golden_noise noise = golden_expected(&file);
    sample k;
    sample_make(&k, &(test_case){.s = file.settings, .n = file.n}, file.B, file.seed, 0);
    onet_error err;
    net *t = NULL;
    must(open_gpu(&t, &k.sh, (gpu_choice){.number = 0}, &err), &err);
    must(t->ops->reserve(t, batch_of_one_size(file.B, file.n), &err), &err);
    must(t->ops->data(t, &k.sets, NULL, NULL, 0, &err), &err);
    must(t->ops->put(t, NET_THETA, k.theta, &err), &err);
    t->ops->start_step(t, k.index, file.B);
    t->ops->forward(t);
    t->ops->backward(t);
    const double *loss = golden_get(&file, "loss", NULL), *want = golden_get(&file, "gradients", NULL);
    char where[96];
    snprintf(where, sizeof where, "golden %s", name);
    report(where, "loss", -1, fabs(t->ops->loss(t) - loss[0]), 1e-6 + 20 * noise.loss);
    float *grad = fetch(t, NET_GRAD, k.sh.total);
    double *records = need(calloc(k.sh.total + 4096, sizeof *records)),
           *values = need(calloc(k.sh.total, sizeof *values));
    size_t at = 0;
    int trained = 0;
    for (int i = 0; i < k.sh.tensors; i++) {
        const tensor *x = &k.sh.tensor[i];
        if (!x->trained) continue;
        trained++;
        for (size_t j = 0; j < x->size; j++) values[j] = (double)grad[x->offset + j];
        at += golden_record(i, values, x->size, records + at);
    }
    int worst = 0;
    double error = golden_records_error(&k.sh, trained, records, want, &worst);
    char what[96];
    snprintf(what, sizeof what, "gradient (worst: %s)", k.sh.tensor[worst].name);
    report(where, what, -1, error, 1e-6 + 20 * noise.gradients);
    free(records);
    free(values);
    free(grad);
    t->ops->close(t);
    sample_free(&k);
    golden_free(&file);
}

static void golden_cases(const char *named) {
    char **names = golden_names();
    for (char **name = names; *name; name++)
        if (strstr(*name, named)) golden_case(*name);
    golden_names_free(names);
}

/* ---- speed ---- */

static const char *wanted; /* a part of the names of the rows to be measured; NULL: all */

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Training steps with sizes first .. last, drawn per batch or (mixed) per set; the median of several runs, in
 * sets per second. m: the steps are cut at every all-reduce, as where ranks share a batch, but with no other
 * rank. */
static void bench(const char *name, const onet_settings *s, int B, int first, int last, int steps, int mixed,
                  onet_precision precision, member *m) {
    if (wanted && !strstr(name, wanted)) return;
    onet_error err;
    net_shape sh;
    must(net_shape_make(&sh, s, &err), &err);
    int sizes = last - first + 1, each = 4 * B, d = s->width;
    size_t count = (size_t)each * sizes, items = 0;
    for (int n = first; n <= last; n++) items += (size_t)each * n;
    onet_sets sets = {.count = count, .width = d};
    sets.start = need(calloc(count + 1, sizeof(size_t)));
    sets.items = need(calloc(items * d, sizeof(float)));
    sets.order = need(calloc(items, sizeof(int32_t)));
    uint32_t *index = need(calloc(count, sizeof *index)),
             *drawn = need(calloc((size_t)B, sizeof *drawn)); /* a mixed batch */
    size_t at = 0, set = 0;
    for (int n = first; n <= last; n++) {
        generated_batch(1, n, each, n, d, sets.items + at * d, sets.order + at);
        for (int b = 0; b < each; b++, set++) {
            index[set] = (uint32_t)set;
            sets.start[set + 1] = sets.start[set] + (size_t)n;
        }
        at += (size_t)each * n;
    }
    onet_pairs own = {0};
    if (s->relations) add_pairs(&sets, &own, (size_t)s->relations, 0, 1);
    float *theta = need(calloc(sh.total, sizeof *theta));
    generated_theta(&sh, 1, theta);
    net *t;
    must(open_gpu(&t, &sh, (gpu_choice){.number = 0}, &err), &err);
    t->precision = precision;
    if (m) join_team(t, m);
    must(t->ops->reserve(t, batch_of_one_size(B, last), &err), &err);
    must(t->ops->data(t, &sets, NULL, NULL, 0, &err), &err);
    must(t->ops->put(t, NET_THETA, theta, &err), &err);
    double rate[5];
    for (int run = -1; run < 5; run++) { /* the first builds the graphs and is not counted */
        double start = now();
        for (int step = 0; step < steps; step++) {
            uint64_t r = generated_u64(2, (uint64_t)run, (uint64_t)step);
            int size = run < 0 ? step % sizes : (int)(r % (uint64_t)sizes), piece = (int)(r >> 32) & 3;
            adam_step a = adam_at(step, 1e-4);
            const uint32_t *batch = index + (size_t)size * each + (size_t)piece * B;
            if (mixed) {
                for (int b = 0; b < B; b++)
                    drawn[b] =
                        (uint32_t)(generated_u64(3 + (uint64_t)(run + 1), (uint64_t)step, (uint64_t)b) %
                                   count);
                batch = drawn;
            }
            if (m) t->whole = batch_of_one_size(B, first + size);
            t->ops->start_step(t, batch, B);
            t->ops->forward(t);
            t->ops->backward(t);
            t->ops->optimise(t, &a, 0, NULL);
        }
        double loss = t->ops->loss(t), seconds = now() - start;
        if (!isfinite(loss)) die("the loss is not a number");
        if (run >= 0) rate[run] = steps * (double)B / seconds;
    }
    for (int i = 0; i < 5; i++)
        for (int j = i + 1; j < 5; j++)
            if (rate[j] < rate[i]) {
                double keep = rate[i];
                rate[i] = rate[j];
                rate[j] = keep;
            }
    printf("| %s | %d | %.3f | %.0f | %.0f to %.0f |\n", name, B, 1e3 * B / rate[2], rate[2], rate[0],
           rate[4]);
    t->ops->close(t);
    free(theta);
    free(own.row);
    free(own.value);
    free(index);
    free(drawn);
    free(sets.start);
    free(sets.items);
    free(sets.order);
}

/* The cost of cutting a step at its all-reduces, without the all-reduces themselves. */
static void benches_shared(void) {
    team one = {.size = 1};
    member m = {&one, 0};
    if (pthread_barrier_init(&one.barrier, NULL, 1)) die("no barrier");
    bench("TSP, sizes 5-20, cut at the all-reduces", &tsp, 128, 5, 20, 500, 0, 0, &m);
    bench("words, n = 5, cut at the all-reduces", &words, 512, 5, 5, 100, 0, 0, &m);
    pthread_barrier_destroy(&one.barrier);
}

static void benches(void) {
    printf("| net | batch | ms per step | sets per second | range |\n| --- | --- | --- | --- | --- |\n");
    bench("TSP, sizes 5-20", &tsp, 128, 5, 20, 1000, 0, 0, NULL);
    bench("TSP, n = 5", &tsp, 128, 5, 5, 500, 0, 0, NULL);
    bench("TSP, n = 10", &tsp, 128, 10, 10, 500, 0, 0, NULL);
    bench("TSP, n = 20", &tsp, 128, 20, 20, 500, 0, 0, NULL);
    bench("TSP, sizes 5-20", &tsp, 512, 5, 20, 300, 0, 0, NULL);
    bench("words, n = 5", &words, 128, 5, 5, 200, 0, 0, NULL);
    bench("words, n = 5", &words, 512, 5, 5, 200, 0, 0, NULL);
    bench("TSP, sizes 2-64, one size per batch", &tsp, 128, 2, 64, 300, 0, 0, NULL);
    bench("TSP, sizes 2-64, mixed", &tsp, 128, 2, 64, 300, 1, 0, NULL);
    bench("TSP, sizes 2-64, one size per batch", &tsp, 512, 2, 64, 100, 0, 0, NULL);
    bench("TSP, sizes 2-64, mixed", &tsp, 512, 2, 64, 100, 1, 0, NULL);
    bench("TSP, sizes 5-20, mixed", &tsp, 128, 5, 20, 300, 1, 0, NULL);
    bench("TSP with a relation, sizes 5-20, mixed", &related_tsp, 128, 5, 20, 300, 1, 0, NULL);
    bench("TSP with a relation, sizes 2-64, mixed", &related_tsp, 128, 2, 64, 300, 1, 0, NULL);
    bench("words, sizes 2-20, one size per batch", &words, 128, 2, 20, 100, 0, 0, NULL);
    bench("words, sizes 2-20, mixed", &words, 128, 2, 20, 100, 1, 0, NULL);
    bench("large word net, sizes 2-20, one size per batch", &large_words, 512, 2, 20, 60, 0, 0, NULL);
    bench("large word net, sizes 2-20, one size per batch, TF32", &large_words, 512, 2, 20, 60, 0, 1, NULL);
    bench("large word net, sizes 2-20, mixed", &large_words, 512, 2, 20, 60, 1, 0, NULL);
    bench("large word net, sizes 2-20, mixed, TF32", &large_words, 512, 2, 20, 60, 1, ONET_TF32, NULL);
    bench("large word net, sizes 2-20, one size per batch, bf16", &large_words, 512, 2, 20, 60, 0, ONET_BF16,
          NULL);
    bench("large word net, sizes 2-20, mixed, bf16", &large_words, 512, 2, 20, 60, 1, ONET_BF16, NULL);
    bench("words, n = 5, bf16", &words, 512, 5, 5, 200, 0, ONET_BF16, NULL);
    benches_shared();
}

/* Runs two steps for a profiler (profile.sh), kernel by kernel or as graphs; sets of `first` items, or of
 * `first` to `last` in turn. */
static void profile(const onet_settings *s, int B, int first, int last, int graphs,
                    onet_precision precision) {
    sample k;
    int sizes[66] = {0};
    for (int n = first; n <= last && n - first < 65; n++) sizes[n - first] = n;
    test_case one = {.s = *s, .n = first}, several = {.s = *s, .sizes = sizes};
    sample_make(&k, last > first ? &several : &one, B, 1, 0);
    net *g = open_net(&k, GPU, 0);
    g->precision = precision;
    if (!graphs) stages_of(g);
    adam_step a = adam_at(0, 1e-4);
    for (int step = 0; step < 2; step++) {
        g->ops->start_step(g, k.index, B);
        g->ops->forward(g);
        g->ops->backward(g);
        g->ops->optimise(g, &a, 0, NULL);
    }
    g->ops->loss(g);
    g->ops->close(g);
    sample_free(&k);
}

int main(int argc, char **argv) {
    const char *mode = argc > 2 ? argv[2] : "all";
    load(argc > 1 ? argv[1] : "./" CUDA_LIBRARY);
    if (strcmp(mode, "bench") == 0) {
        wanted = argc > 3 ? argv[3] : NULL;
        setvbuf(stdout, NULL, _IOLBF, 0);
        benches();
        return 0;
    }
    if (strcmp(mode, "bench-ranks") == 0) {
        benches_shared();
        return 0;
    }
    if (strcmp(mode, "profile") == 0) {
        const char *name = argc > 3 ? argv[3] : "tsp", *sizes = argc > 5 ? argv[5] : "5",
                   *to = strchr(sizes, '-');
        int graphs = 0;
        onet_precision precision = ONET_FLOAT32;
        for (int i = 6; i < argc; i++) {
            if (strcmp(argv[i], "graph") == 0) graphs = 1;
            if (strcmp(argv[i], "tf32") == 0) precision = ONET_TF32;
            if (strcmp(argv[i], "bf16") == 0) precision = ONET_BF16;
        }
        profile(strcmp(name, "large") == 0   ? &large_words
                : strcmp(name, "words") == 0 ? &words
                                             : &tsp,
                argc > 4 ? atoi(argv[4]) : 128, atoi(sizes), to ? atoi(to + 1) : 0, graphs, precision);
        return 0;
    }
    room_got = need(malloc(ROOM * sizeof *room_got));
    room_want = need(malloc(ROOM * sizeof *room_want));
    const test_case small[] = {
        CASE("odd", odd, 3, 5),
        CASE("odd mean", odd_mean, 2, 3),
        CASE("narrow mean", narrow_mean, 3, 4),
        CASE("relative", relative, 2, 35),
        {.name = "narrow mean, strays", .s = narrow_mean, .B = 3, .n = 4, .strays = 1},
        {.name = "narrow mean, dropout", .s = narrow_mean, .B = 3, .n = 4, .dropout = 0.25f}};
    /* Batches of several sizes, in tiles of many sets, of one set and of a part of a set. */
    static const int few_sizes[] = {2, 5, 1, 3, 0}, some_sizes[] = {3, 12, 2, 5, 4, 0},
                     wide_sizes[] = {5, 64, 2, 17, 3, 0}, large_sizes[] = {150, 3, 33, 70, 2, 300, 0};
    const test_case mixed[] = {
        MIXED("odd", odd, 6, few_sizes),
        MIXED("odd mean", odd_mean, 4, few_sizes),
        MIXED("TSP", tsp, 6, some_sizes),
        MIXED("pairs", pairs, 5, some_sizes),
        MIXED("flat", flat, 5, few_sizes),
        MIXED("bare", bare, 5, few_sizes),
        MIXED("broad", broad, 3, some_sizes),
        MIXED("odd", odd, 5, wide_sizes),
        CONTEXT("odd, context", odd, 7, some_sizes),
        {.name = "odd, context", .s = odd, .B = 4, .n = 6, .context = 1},
        CONTEXT("odd mean, context", odd_mean, 5, few_sizes),
        MIXED("relative", relative, 6, wide_sizes),
        CONTEXT("relative, context", relative, 5, some_sizes),
        GIVEN("relative, given", relative, 5, some_sizes),
        {.name = "odd, strays", .s = odd, .B = 7, .sizes = some_sizes, .context = 1, .strays = 1},
        {.name = "odd, dropout", .s = odd, .B = 7, .sizes = some_sizes, .context = 1, .dropout = 0.5f}};
    static const int beyond_64[] = {3, 70, 0};
    const test_case with_relations[] = {
        MIXED("relations", related, 6, few_sizes),
        CASE("relations", related, 3, 5),
        CASE("relations", related, 1, 1),
        MIXED("relations, n > 64", related_small, 2, beyond_64),
        CONTEXT("relations, mean", related_mean, 5, some_sizes),
        MIXED("most relations", related_most, 4, few_sizes),
        CONTEXT("relations alone", related_alone, 4, some_sizes),
        MIXED("relations, no encoder", related_flat, 4, few_sizes),
        MIXED("relations, no decoder", related_bare, 4, few_sizes),
        {.name = "relations, strays", .s = related, .B = 5, .sizes = some_sizes, .context = 1, .strays = 1}};
    const test_case relations_more[] = {MIXED("relations, TSP", related_tsp, 128, wide_sizes),
                                        CASE("relations, TSP", related_tsp, 128, 20),
                                        MIXED("relations", related, 6, large_sizes),
                                        CONTEXT("relations, mean", related_mean, 100, wide_sizes)};
    const test_case mixed_more[] = {MIXED("odd", odd, 128, wide_sizes),
                                    MIXED("odd mean", odd_mean, 100, some_sizes),
                                    MIXED("odd", odd, 6, large_sizes),
                                    MIXED("TSP", tsp, 128, wide_sizes),
                                    MIXED("wide", wide, 7, wide_sizes),
                                    MIXED("words", words, 40, some_sizes),
                                    MIXED("words", words, 6, wide_sizes),
                                    MIXED("single", single, 9, few_sizes),
                                    CONTEXT("TSP, context", tsp, 100, wide_sizes),
                                    CONTEXT("words, context", words, 40, some_sizes)};
    /* With TF32. Narrow nets round nothing, so those here have more sets than multiprocessors, or several
     * sizes. */
    static const int up_to_20[] = {2, 20, 7, 3, 13, 0};
    const test_case rounded_few[] = {
        MIXED("16 channels", pairs_16, 4, some_sizes),
        CASE("32 channels", pairs_32, 2, 3),
        MIXED("48 channels", pairs_48, 3, few_sizes),
        CASE("64 channels", pairs_64, 2, 3),
        MIXED("64 channels", pairs_64, 3, few_sizes),
        {.name = "64 channels, dropout", .s = pairs_64, .B = 3, .sizes = few_sizes, .dropout = 0.25f}};
    const test_case rounded_more[] = {CASE("16 channels", pairs_16, 300, 9),
                                      CASE("48 channels", pairs_48, 20, 7),
                                      CASE("wide", wide, 40, 9),
                                      CASE("words", words, 64, 5),
                                      MIXED("words", words, 40, some_sizes),
                                      CASE("512 hidden channels", deep_pairs, 512, 2),
                                      CASE("512 hidden channels", deep_pairs, 40, 20),
                                      MIXED("512 hidden channels", deep_pairs, 40, up_to_20),
                                      MIXED("48 channels", pairs_48, 40, up_to_20),
                                      MIXED("32 channels", pairs_32, 140, up_to_20)};
    /* For the emulated GPU, which is slow and has 4 multiprocessors. */
    const test_case emulated[] = {CASE("odd", odd, 1, 1),          CASE("odd", odd, 3, 2),
                                  CASE("odd", odd, 4, 3),          CASE("odd mean", odd_mean, 2, 3),
                                  CASE("TSP", tsp, 2, 18),         CASE("TSP", tsp, 6, 4),
                                  CASE("TSP", tsp, 3, 12),         CASE("narrow mean", narrow_mean, 4, 5),
                                  CASE("single", single, 4, 3),    CASE("pairs", pairs, 5, 3),
                                  CASE("pairs", pairs, 1, 11),     CASE("pairs", pairs, 1, 1),
                                  CASE("odd", odd, 1, 23),         CASE("broad", broad, 1, 12),
                                  CASE("relative", relative, 4, 5)};
    const test_case all[] = {CASE("odd", odd, 1, 1), /* the place is the seed: new ones come last */
                             CASE("odd", odd, 3, 2),
                             CASE("odd", odd, 128, 3),
                             CASE("odd", odd, 3, 33),
                             CASE("odd mean", odd_mean, 1, 2),
                             CASE("odd mean", odd_mean, 3, 10),
                             CASE("odd mean", odd_mean, 128, 5),
                             CASE("wide", wide, 3, 5),
                             CASE("wide", wide, 2, 20),
                             CASE("broad", broad, 3, 12),
                             CASE("flat", flat, 3, 5),
                             CASE("bare", bare, 3, 5),
                             CASE("pairs", pairs, 3, 9),
                             CASE("pairs", pairs, 1, 300),
                             CASE("odd", odd, 2, 70),
                             CASE("odd", odd, 1, 150),
                             CASE("odd mean", odd_mean, 300, 4),
                             CASE("TSP", tsp, 1, 1),
                             CASE("TSP", tsp, 3, 2),
                             CASE("TSP", tsp, 1, 3),
                             CASE("TSP", tsp, 128, 5),
                             CASE("TSP", tsp, 3, 10),
                             CASE("TSP", tsp, 128, 13),
                             CASE("TSP", tsp, 128, 20),
                             CASE("TSP", tsp, 3, 33),
                             CASE("words", words, 1, 5),
                             CASE("words", words, 3, 2),
                             CASE("words", words, 128, 5),
                             CASE("words", words, 3, 20),
                             CASE("words", words, 512, 5),
                             CASE("TSP", tsp, 100, 7),
                             CASE("TSP", tsp, 200, 18),
                             CASE("narrow mean", narrow_mean, 4, 5),
                             CASE("narrow mean", narrow_mean, 120, 11),
                             CASE("single", single, 4, 3),
                             CASE("TSP", tsp, 3, 3),
                             CASE("TSP", tsp, 4, 3),
                             CASE("relative", relative, 4, 5),
                             CASE("relative", relative, 128, 20),
                             CASE("relative", relative, 2, 150)};
    int slow = strcmp(mode, "emulated") == 0, few = strcmp(mode, "small") == 0 || slow;
    const test_case *list = slow ? emulated : few ? small : all;
    size_t count = (slow ? sizeof emulated : few ? sizeof small : sizeof all) / sizeof *list;
    if (strcmp(mode, "races") == 0) {
        for (size_t i = 0; i < sizeof small / sizeof *small; i++) watched(&small[i], i ? 0 : 7, 0, i == 2);
        watched(&small[1], 0, 1, 0);
        watched(&mixed[0], 7, 0, 0);
        watched(&mixed[1], 0, 1, 1);
        watched(&with_relations[0], 0, 0, 0);
        watched(&with_relations[4], 0, 1, 0);
        for (onet_precision p = 0; p <= ONET_BF16; p++) { /* channels in two parts */
            watched(&rounded_few[3], 0, p, 0);
            watched(&rounded_few[4], 0, p, 0);
        }
        printf("%d passed, %d failed\n", passed, failed);
        return failed != 0;
    }
    int ranks = strcmp(mode, "ranks") == 0;
    for (size_t i = 0; i < count && !ranks; i++) operations(&list[i], 100 + i, 0);
    int small_only = few && !slow;
    for (size_t i = 0; i < (small_only ? 2 : sizeof mixed / sizeof *mixed) && !ranks; i++)
        operations(&mixed[i], 700 + i, 0);
    for (size_t i = 0; i < (small_only ? 1 : sizeof with_relations / sizeof *with_relations) && !ranks; i++)
        operations(&with_relations[i], 800 + i, 0);
    for (size_t i = 0; i < sizeof relations_more / sizeof *relations_more && !few && !ranks; i++)
        operations(&relations_more[i], 820 + i, 0);
    for (size_t i = 0; i < sizeof mixed_more / sizeof *mixed_more && !few && !ranks; i++)
        operations(&mixed_more[i], 720 + i, 0);
    for (size_t i = 0; i < sizeof rounded_few / sizeof *rounded_few && (slow || !few) && !ranks; i++) {
        operations(&rounded_few[i], 750 + i, ONET_TF32);
        operations(&rounded_few[i], 750 + i, ONET_BF16);
        rounded_forward(&rounded_few[i], 750 + i);
        rounded_backward(&rounded_few[i], 750 + i);
    }
    for (size_t i = 0; i < sizeof rounded_more / sizeof *rounded_more && !few && !ranks; i++)
        for (onet_precision p = ONET_TF32; p <= ONET_BF16; p++) operations(&rounded_more[i], 770 + i, p);
    if ((slow || !few) && !ranks) {
        operations(&with_relations[4], 830, 1);
        rounded_forward(&with_relations[4], 831);
        rounded_backward(&with_relations[4], 832);
    }
    if (!small_only && !ranks) {
        shuffled(&(test_case)MIXED("odd", odd, 4, few_sizes), 740);
        shuffled(&(test_case)MIXED("odd mean", odd_mean, 5, some_sizes), 741);
        shuffled(&with_relations[4], 742);
    }
    for (int size = 2; size <= RANKS && !few; size++) {
        together(&(test_case)CASE("odd", odd, 20, 5), 401, 0, size, 0);
        together(&(test_case)CASE("odd", odd, 6, 70), 402, 0, size, 1);
        together(&(test_case)CASE("odd mean", odd_mean, 20, 5), 403, 30, size, 1);
        together(&(test_case)CASE("flat", flat, 5, 4), 404, 0, size, 0);
        together(&(test_case)CASE("bare", bare, 5, 4), 405, 0, size, 0);
        together(&(test_case)CASE("TSP", tsp, 20, 10), 406, 0, size, 0);
        together(&(test_case)CASE("words", words, 20, 5), 407, 40, size, 0);
        together(&(test_case)MIXED("odd", odd, 20, few_sizes), 408, 0, size, 1);
        together(&(test_case)MIXED("words", words, 20, some_sizes), 409, 40, size, 0);
        together(&(test_case)CONTEXT("relations", related, 20, some_sizes), 410, 0, size, 0);
    }
    if (slow || (!few && !ranks)) { /* too slow for compute-sanitizer */
        pieces(&small[0], 350);
        pieces(&small[1], 351);
        pieces(&mixed[0], 353);
        lost(&small[0], 360);
        lost(&small[1], 361);
    }
    if (!few && !ranks) pieces(&(test_case)CASE("TSP", tsp, 128, 20), 352);
    if (few) {
        trajectory(&small[0], 300, 7);
        together(&small[0], 300, 7, 2, 0);
        trajectory(&(test_case)MIXED("odd", odd, 4, few_sizes), 305, 7);
        together(
            &(test_case){
                .name = "odd mean, context", .s = odd_mean, .B = 4, .sizes = few_sizes, .context = 1},
            306, 7, 2, 0);
        trajectory(&(test_case)CONTEXT("relations", related, 4, few_sizes), 307, 0);
        together(&(test_case)CONTEXT("relations", related, 4, few_sizes), 308, 0, 2, 0);
        limits("TSP", &tsp, 1);
        limits("words", &words, 1);
    } else if (strcmp(mode, "ranks") != 0) {
        trajectory(&(test_case)CASE("odd", odd, 20, 5), 301, 0);
        trajectory(&(test_case)CASE("odd mean", odd_mean, 20, 5), 302, 30);
        /* Few cells: with 20 sets of 10, rounding decides a pool or a ReLU in one run of two (plain C and
         * AVX2 part at the 8th step of seed 303), and the trajectories differ from there on. */
        trajectory(&(test_case)CASE("TSP", tsp, 6, 4), 304, 0);
        trajectory(&(test_case)CASE("words", words, 20, 5), 304, 40);
        trajectory(&(test_case)MIXED("odd", odd, 20, some_sizes), 305, 0);
        trajectory(&(test_case)CONTEXT("words, context", words, 20, few_sizes), 308, 40); /* 306 parts */
        trajectory(&(test_case)CONTEXT("relations", related, 20, some_sizes), 309, 0);
        limits("TSP", &tsp, 0);
        limits("words", &words, 0);
        golden_cases("");
    }
    if (slow) golden_cases("pairs-n");
    if (!ranks) refused(&(onet_settings){0, 0, 16, 16, ONET_POOL_MAX, 2, 16, 0, 1, {0}});
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
