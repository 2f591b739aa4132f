/* Puts sets in order and scores given orders for the public API (onet_orderer): many sets in parallel, each
 * thread with a group of small sets or one larger set; very large sets, and one that is alone, with its work
 * spread over the threads; or all of them on a GPU. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/arguments.h"
#include "engine/base/choice.h"
#include "engine/base/clock.h"
#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/base/sized.h"
#include "engine/data/columns.h"
#include "engine/data/sets.h"
#include "engine/decode/orderer.h"
#include "engine/decode/scoring.h"
#include "engine/decode/search.h"
#include "engine/kernels/operations.h"
#include "engine/words/words.h"
#include "ordernet_measure.h"
#include "ordernet_train.h"

const onet_choice *onet_decodes(void) {
    static const onet_choice list[] = {
        {"beam", "beam search", ONET_BEAM},
        {"greedy", "the most probable item at each step", ONET_GREEDY},
        {"sample", "drawn by its probability", ONET_SAMPLE},
        {0},
    };
    return list;
}

enum { LARGE = 400 }; /* items from which on a set gets all threads, however many sets there are */

/* A set being ordered whose caller asked for progress. */
typedef struct watch {
    const onet_order_options *o;
    double last;
    size_t done, steps;
} watch;

struct worker {
    encoded e;
    search s;
    scoring scoring; /* of several orders of a set */
    search_query query[GROUP_SETS];
    int start[GROUP_SETS + 1]; /* rows of the group's sets */
    watch large;               /* a set that is alone */
    rng r;
    const float **items; /* [room]: the features of each row, placed items first */
    int32_t *item;       /* [item_room]: the item of each row */
    int32_t *row;        /* [row_room]: the row of each item; then the rows of a given order */
    size_t room, item_room, row_room;
};

onet_status orderer_new(onet_orderer **orderer, const onet_model *model, const onet_order_options *options,
                        gpu_choice gpu, onet_error *err) {
    onet_order_options o = options ? *options : (onet_order_options){0};
    *orderer = NULL;
    onet_status status = check_threads(o.threads, "onet_order_options.threads", err);
    if (status) return status;
    if (o.max_items < 0 || o.max_items > ONET_MAX_ITEMS)
        return fail_field(err, ONET_USAGE, "onet_order_options.max_items",
                          "sets of at most %d items: 0 to %d are possible", o.max_items, ONET_MAX_ITEMS);
    if (o.beam < 0 || o.beam > 1000000)
        return fail_field(err, ONET_USAGE, "onet_order_options.beam",
                          "a beam of %d: 0 to 1000000 are possible", o.beam);
    if (o.top < 0 || o.top > 1000000)
        return fail_field(err, ONET_USAGE, "onet_order_options.top",
                          "%d orders per set: 0 to 1000000 are possible", o.top);
    if (!choice_of(onet_decodes(), o.decode))
        return fail_field(err, ONET_USAGE, "onet_order_options.decode", "there is no decoding method %d",
                          (int)o.decode);
    const kernels *k = kernels_pick(o.kernels);
    if (!k)
        return fail_field(err, ONET_USAGE, "onet_order_options.kernels",
                          "kernels `%s` are unknown or not for this CPU", o.kernels);
    device_choice device;
    status = device_choose(o.device, gpu, o.kernels, CUDA_ORDER, &device, err);
    if (status == ONET_USAGE) error_field(err, "onet_order_options.device");
    if (status) return status;
    onet_orderer *r = calloc(1, sizeof *r);
    if (!r) return fail_memory(err, "ordering");
    r->options = o;
    r->top = o.top ? o.top : 1;
    r->beams = o.decode == ONET_BEAM ? (o.beam ? o.beam : 5) : 1;
    if (o.decode == ONET_BEAM && r->beams < r->top) r->beams = r->top;
    if (!freezer_new(&r->z, model, k) || !(r->threads = thread_pool_new(o.threads)) ||
        !(r->worker = calloc((size_t)thread_pool_threads(r->threads), sizeof *r->worker))) {
        onet_orderer_free(r);
        return fail_memory(err, "ordering");
    }
    if (model_is_ranker(model)) device.kind = DEVICE_CPU; /* a sum per item is not worth the transfer */
    r->device = device;
    if (device.kind == DEVICE_GPU && (status = gpu_open(&r->gpu, &r->z, device.gpu, err))) {
        onet_orderer_free(r);
        return status;
    }
    *orderer = r;
    return ONET_OK;
}

onet_status onet_orderer_new(onet_orderer **orderer, const onet_model *model,
                             const onet_order_options *options, onet_error *err) {
    NEED(orderer, "orderer");
    *orderer = NULL;
    NEED(model, "model");
    onet_order_options own = {.size = sizeof own};
    onet_status status = sized_take(&own, sizeof own, options, "onet_order_options", err);
    if (status) return status;
    const world *w = own.world;
    if (w && !own.threads) own.threads = w->processors;
    status = world_agree(w, orderer_new(orderer, model, &own, gpu_of_rank(w ? w->local_rank : 0), err), err);
    if (status) {
        onet_orderer_free(*orderer);
        *orderer = NULL;
    } else if (w && w->rank == 0)
        orderer_share(*orderer, w);
    return status;
}

void onet_orderer_work(onet_orderer *r) {
    if (r && r->options.world && r->options.world->rank) orderer_work(r, r->options.world);
}

void onet_orderer_serve(onet_orderer *r) {
    onet_orderer_work(r);
}

const char *onet_orderer_kernels(const onet_orderer *r) {
    if (!r) return NULL;
    return r->gpu ? "cuda" : kernels_pick(r->options.kernels)->name;
}

void onet_order_defaults(onet_order_options *options, size_t size) {
    onet_order_options own = {.size = sizeof own};
    sized_give(options, size, &own, sizeof own);
}

void onet_orderer_free(onet_orderer *r) {
    if (!r) return;
    if (r->w) orderer_dismiss(r);
    if (r->worker)
        for (int t = 0; t < thread_pool_threads(r->threads); t++) {
            encoded_free(&r->worker[t].e);
            search_free(&r->worker[t].s);
            scoring_free(&r->worker[t].scoring);
            free(r->worker[t].items);
            free(r->worker[t].item);
            free(r->worker[t].row);
        }
    free(r->worker);
    free(r->own);
    free(r->logprob);
    if (r->gpu) r->gpu->close(r->gpu);
    thread_pool_free(r->threads);
    freezer_free(&r->z);
    free(r);
}

typedef struct order_args {
    onet_orderer *r;
    const onet_sets *sets;
    onet_answer *answers; /* or NULL: score the sets' own order */
    score_out score;
    const constraint_graph *graph; /* [count]; NULL: no set has constraints */
    size_t first, last;            /* sets of the jobs: first .. last - 1 */
    int share;                     /* sets per job */
    thread_pool *threads;          /* for the sets of the only job; NULL: there are several */
} order_args;

/* Arranges the rows of a set, number k of the group, from w->start[k] on; returns how many of its items are
 * placed. */
static int arrange(worker *w, const onet_model *model, const onet_sets *sets, size_t set, int k) {
    size_t start = (size_t)w->start[k], first = sets->start[set], n = sets_size(sets, set);
    int32_t *item = w->item + start;
    int placed = sets_rows(sets, set, item, w->row + 2 * start);
    for (size_t r = 0; r < n; r++) w->items[start + r] = item_seen(model, sets, first + (size_t)item[r]);
    int width = model->sh.s.width;
    w->e.set[k] = (relations){.pairs = sets->pairs,
                              .first = first,
                              .item = item,
                              .mean = model->mean + width,
                              .scale = model->scale + width};
    return placed;
}

/* Returns the query that scores the own order of set k of the group. */
static search_query score_query(const order_args *j, size_t set, worker *w, int k, int placed) {
    size_t first = j->sets->start[set], n = sets_size(j->sets, set), start = (size_t)w->start[k];
    int32_t *row = w->row + 2 * start, *given = row + n;
    for (int t = 0; t < placed; t++) given[t] = row[j->sets->order[first + (size_t)t]];
    return (search_query){.n = placed,
                          .first = w->start[k],
                          .beams = 1,
                          .given = given,
                          .choices = j->score.choices,
                          .width = (int)n,
                          .item = w->item + start,
                          .relations = &w->e.set[k]};
}

static void score_set(order_args *j, size_t set, worker *w, const frozen *f, int k) {
    size_t first = j->sets->start[set], n = sets_size(j->sets, set);
    int placed = w->query[k].n;
    search_run(&w->s, f, &w->e, k);
    const beam *found = &w->s.now[0];
    j->score.logprob[set] = found->logprob;
    if (!j->score.step) return;
    double *step = j->score.step + (first - j->sets->start[0]);
    memcpy(step, found->step, (size_t)placed * sizeof *step);
    memset(step + placed, 0, (n - (size_t)placed) * sizeof *step);
}

/* Adds one order of the search, followed by the context items, to an answer. */
static void add_order(onet_answer *a, const beam *from, const int32_t *item, int n, int placed) {
    size_t at = (size_t)a->found * (size_t)n;
    memcpy(a->order + at, from->order, (size_t)placed * sizeof *a->order);
    memcpy(a->order + at + placed, item + placed, (size_t)(n - placed) * sizeof *a->order);
    if (a->logprob) a->logprob[a->found] = from->logprob;
    for (int t = 0; a->step && t < n; t++)
        a->step[at + (size_t)t] = t < placed ? (float)exp(from->step[t]) : 0;
    a->found++;
}

static void report_step(void *context, int t) {
    watch *w = context;
    double now = clock_seconds();
    if (now - w->last < 0.1) return;
    w->last = now;
    w->o->progress(w->o->context, w->done + (size_t)t, w->steps);
}

/* Returns the query that puts set k of the group in order. */
static search_query order_query(const order_args *j, size_t set, worker *w, int k, int placed) {
    const onet_order_options *o = &j->r->options;
    const constraint_graph *constraints = j->graph && j->graph[set].n ? &j->graph[set] : NULL;
    /* The most probable order of a ranker is by falling logits, which the greedy search finds. */
    bool sorts = model_is_ranker(j->r->z.model) && j->r->top == 1 && !constraints;
    return (search_query){.n = placed,
                          .first = w->start[k],
                          .beams = sorts ? 1 : search_orders(placed, j->r->beams),
                          .best_only = j->r->top == 1,
                          .r = o->decode == ONET_SAMPLE ? &w->r : NULL,
                          .item = w->item + w->start[k],
                          .relations = &w->e.set[k],
                          .constraints = constraints,
                          .progress = sets_size(j->sets, set) >= LARGE && o->progress ? report_step : NULL,
                          .context = &w->large};
}

static void order_set(order_args *j, size_t set, worker *w, const frozen *f, int k) {
    const search_query *query = &w->query[k];
    onet_answer *a = &j->answers[set];
    int rounds = query->r ? j->r->top : 1;
    if (query->r) rng_seed(query->r, j->r->options.seed, j->r->answered + set);
    w->large = (watch){.o = &j->r->options, .steps = (size_t)query->n * (size_t)rounds};
    a->found = 0;
    for (int round = 0; round < rounds; round++) {
        w->large.done = (size_t)round * (size_t)query->n;
        int found = search_run(&w->s, f, &w->e, k);
        for (int b = 0; b < found && a->found < j->r->top; b++)
            add_order(a, &w->s.now[b], query->item, (int)sets_size(j->sets, set), query->n);
    }
}

/* Returns how many sets from `set` on, `most` at most, are a group: small ones with the same weights, all of
 * whose items are placed. Any other set is a group of its own. */
static int group_of(const order_args *j, size_t set, size_t most) {
    const frozen *f = freezer_find(&j->r->z, (int)sets_size(j->sets, set));
    size_t rows = 0, count = 0;
    for (; count < most; count++) {
        size_t n = sets_size(j->sets, set + count);
        rows += n;
        if (n > GROUP_ITEMS || rows > GROUP_ROWS || freezer_find(&j->r->z, (int)n) != f ||
            sets_placed(j->sets, set + count) < n)
            break;
    }
    return count ? (int)count : 1;
}

/* Encodes and searches a group of `count` sets, or one set of any size. threads share its work; NULL: this
 * thread. */
static void one_group(order_args *j, size_t first, int count, worker *w, thread_pool *threads) {
    const frozen *f = freezer_find(&j->r->z, (int)sets_size(j->sets, first));
    for (int k = 0; k < count; k++) {
        size_t set = first + (size_t)k;
        int placed = arrange(w, f->model, j->sets, set, k);
        w->start[k + 1] = w->start[k] + (int)sets_size(j->sets, set);
        w->query[k] = j->answers ? order_query(j, set, w, k, placed) : score_query(j, set, w, k, placed);
    }
    w->e.options = &j->r->options;
    encode(&w->e, f, w->items, w->start, count, count > 1 ? w->start[count] : w->query[0].n, threads);
    if (order_stops(w->e.options)) return;
    search_begin(&w->s, f, &w->e, w->query, count, threads);
    for (int k = 0; k < count; k++) (j->answers ? order_set : score_set)(j, first + (size_t)k, w, f, k);
}

static void some_sets(void *arg, int job, int thread) {
    order_args *j = arg;
    size_t set = j->first + (size_t)job * (size_t)j->share, end = set + (size_t)j->share;
    if (end > j->last) end = j->last;
    for (int count; set < end && !order_stops(&j->r->options); set += (size_t)count) {
        count = group_of(j, set, end - set);
        if (sets_size(j->sets, set) < LARGE) one_group(j, set, count, &j->r->worker[thread], j->threads);
    }
}

/* Returns the sets per job: about as many as a group has, but few enough for all threads to end at about the
 * same time. */
static int share_of(const order_args *j) {
    enum { JOBS = 4 }; /* per thread */
    size_t sets = j->last - j->first, rows = j->sets->start[j->last] - j->sets->start[j->first];
    size_t threads = (size_t)thread_pool_threads(j->r->threads), share = GROUP_ROWS * sets / rows;
    if (threads > 1 && share > sets / (threads * JOBS)) share = sets / (threads * JOBS);
    return share > GROUP_SETS ? GROUP_SETS : share ? (int)share : 1;
}

/* Returns the number of jobs for the sets from j->first to j->last. */
static int groups_of(const order_args *j) {
    size_t share = (size_t)j->share;
    return (int)((j->last - j->first + share - 1) / share);
}

/* Makes the net ready for the sets from j->first to j->last, as many as there is room for. All memory is
 * taken here, before the first set, so that no job can fail. */
static onet_status reserve(order_args *j, int beams, onet_error *err) {
    onet_orderer *r = j->r;
    const onet_sets *sets = j->sets;
    int n[2] = {0, 0};
    size_t s = j->first;
    for (; s < sets->count; s++) {
        int size = (int)sets_size(sets, s), large = size >= LARGE;
        if (!freezer_find(&r->z, size)) {
            if (s > j->first && r->z.count == FROZEN_SIZES) break;
            if (!freezer_prepare(&r->z, size)) return fail_memory(err, "the net's weights");
        }
        if (size > n[large]) n[large] = size;
    }
    j->last = s;
    j->share = share_of(j);
    bool best_only = j->answers && r->top == 1;
    int threads = groups_of(j) > 1 ? thread_pool_threads(r->threads)
                                   : 1; /* thread_pool_run leaves one job to thread 0 */
    for (int t = 0; t < threads; t++) {
        worker *w = &r->worker[t];
        int need = t == 0 && n[1] ? n[1] : n[0];
        if (!need) continue;
        const frozen *f = freezer_find(&r->z, need);
        int rows = j->share > 1 && need < GROUP_ROWS ? GROUP_ROWS : need;
        w->e.threads = t ? 1 : thread_pool_threads(r->threads);
        if (!encoded_reserve(&w->e, f, rows) ||
            !search_reserve(&w->s, f, search_orders(need, beams), need, best_only ? j->share : 1,
                            &r->options) ||
            !array_reserve(&w->items, &w->room, (size_t)rows, sizeof *w->items) ||
            !array_reserve(&w->item, &w->item_room, (size_t)rows, sizeof *w->item) ||
            !array_reserve(&w->row, &w->row_room, 2 * (size_t)rows, sizeof *w->row))
            return order_stops(&r->options) ? fail(err, ONET_INTERRUPTED, "the ordering was stopped")
                                            : fail(err, ONET_MEMORY,
                                                   "not enough memory to order a set of %d items with %d "
                                                   "beams: try a narrower beam",
                                                   need, beams);
    }
    return ONET_OK;
}

/* Whether to use the GPU. With auto: if the work is worth the transfer and, for the first call, the start of
 * the driver. Sampled orders, and log-probabilities of steps, which are in double, always come from the
 * CPU. */
static bool on_gpu(onet_orderer *r, const onet_sets *sets, int beams, const score_out *score) {
    if (r->device.kind == DEVICE_CPU || score->step) return false;
    if (r->options.decode == ONET_SAMPLE && !score->logprob) return false;
    if (r->device.kind == DEVICE_GPU) return true;
    double work = 0, each = 0, enough = r->gpu ? 1e9 : 1e11;
    int n = 0;
    for (size_t s = 0; s < sets->count && work < enough; s++) {
        int size = (int)sets_size(sets, s);
        if (size != n) each = operations_order(&r->z.model->sh, n = size, beams);
        work += each;
    }
    if (work < enough) return false;
    if (!r->gpu && gpu_open(&r->gpu, &r->z, r->device.gpu, NULL)) r->device.kind = DEVICE_CPU;
    return r->gpu != NULL;
}

static onet_status run_cpu(order_args *j, int beams, onet_error *err) {
    onet_orderer *r = j->r;
    for (; j->first < j->sets->count; j->first = j->last) {
        onet_status status = reserve(j, beams, err);
        if (status) return status;
        j->threads = groups_of(j) == 1 ? r->threads : NULL;
        thread_pool_run(r->threads, groups_of(j), some_sets, j);
        for (size_t s = j->first; s < j->last && !order_stops(&r->options); s++)
            if (sets_size(j->sets, s) >= LARGE) one_group(j, s, 1, &r->worker[0], r->threads);
        if (order_stops(&r->options)) return fail(err, ONET_INTERRUPTED, "the ordering was stopped");
    }
    return ONET_OK;
}

onet_status orderer_run_here(onet_orderer *r, const onet_sets *sets, onet_answer *answers, score_out score,
                             onet_error *err) {
    int beams = answers ? r->beams : 1;
    bool done = false;
    constraint_graph *graph = NULL;
    onet_status status =
        answers && sets->constraint_count ? constraint_graphs_new(&graph, sets, err) : ONET_OK;
    if (!status && on_gpu(r, sets, beams, &score)) {
        status = gpu_run(r->gpu,
                         &(gpu_work){.z = &r->z,
                                     .sets = sets,
                                     .answers = answers,
                                     .graph = graph,
                                     .logprob = score.logprob,
                                     .beams = beams,
                                     .top = r->top,
                                     .threads = r->threads,
                                     .options = &r->options},
                         err);
        done = !status;
        if (status == ONET_MEMORY && r->device.kind != DEVICE_GPU) status = ONET_OK;
    }
    order_args j = {.r = r, .sets = sets, .answers = answers, .score = score, .graph = graph};
    if (!status && !done) status = run_cpu(&j, beams, err);
    if (!status) r->answered += sets->count;
    constraint_graphs_free(graph, sets->count);
    return status;
}

/* Reports features so far beyond those of the training that they overflowed in the network. */
static onet_status fail_numbers(size_t set, onet_error *err) {
    return fail(err, ONET_BAD,
                "set %zu: its features are too large for the net; bring them to the scale of those that the "
                "model was trained on",
                set + 1);
}

static onet_status check_numbers(const onet_sets *sets, const onet_answer *answers, const double *logprob,
                                 onet_error *err) {
    for (size_t s = 0; s < sets->count; s++) {
        const double *p = answers ? answers[s].logprob : logprob + s;
        for (int k = 0; p && k < (answers ? answers[s].found : 1); k++)
            if (isnan(p[k])) return fail_numbers(s, err);
    }
    return ONET_OK;
}

/* Returns the end of the part of the sets that starts at `first`. One part holds all sets, unless the model
 * computes relations or their quantiles: these take n^2 numbers per set, so a part has at most MOST of them,
 * or one set. */
static size_t part_end(const onet_model *model, const onet_sets *sets, size_t first) {
    enum { MOST = 1 << 24 }; /* numbers: 64 MB */
    double numbers = 0;
    size_t end = first;
    if (!model->relating) return sets->count;
    for (; end < sets->count; end++) {
        double n = (double)sets_size(sets, end);
        numbers += n * n * model->sh.s.relations;
        if (end > first && numbers > MOST) break;
    }
    return end;
}

static onet_status run(onet_orderer *r, const onet_sets *sets, onet_answer *answers, score_out score,
                       onet_error *err) {
    const onet_model *model = r->z.model;
    int width = model_width(model);
    if (sets->width != width)
        return fail(err, ONET_BAD, "the sets have items of width %d, but the model was trained on width %d",
                    sets->width, width);
    onet_status status = columns_check(sets->columns, r->z.model->columns, err);
    if (!status) status = model_check_relations(model, sets, err);
    if (status) return status;
    const onet_words *words = r->z.model->words;
    if (words && sets->word && !words_same(words, sets->words))
        return fail(err, ONET_BAD,
                    "the sets have another vocabulary than the model: prepare them with that of its training "
                    "data, or give them as text");
    if (sets->count > INT32_MAX) return fail(err, ONET_USAGE, "more than 2147483647 sets in one call");
    size_t most = r->options.max_items ? (size_t)r->options.max_items : ONET_MAX_ITEMS;
    for (size_t s = 0; s < sets->count; s++)
        if (sets_size(sets, s) > most)
            return fail_field(err, ONET_BAD, most < ONET_MAX_ITEMS ? "onet_order_options.max_items" : "",
                              "set %zu has %zu items, and at most %zu are put in order%s", s + 1,
                              sets_size(sets, s), most,
                              most < ONET_MAX_ITEMS ? ": raise the limit, or split the set" : "");
    /* Part by part. Constraints of all sets are checked first: a later part would count its sets from its own
     * start in an error message. */
    size_t first = 0, end = part_end(model, sets, first);
    if (end < sets->count && sets->constraint_count && (status = onet_sets_check(sets, err))) return status;
    for (; first < sets->count && !status; first = end) {
        onet_sets part, seen;
        end = part_end(model, sets, first);
        sets_slice(&part, sets, first, end);
        if ((status = seen_make(&seen, model->scaling, model->relating, &part, first, err))) break;
        size_t items = sets->start[first] - sets->start[0];
        score_out own = {.logprob = score.logprob ? score.logprob + first : NULL,
                         .step = score.step ? score.step + items : NULL,
                         .choices = score.choices};
        /* The choices of one set are not worth sharing between ranks. */
        status = (r->w && !score.choices ? orderer_run_shared : orderer_run_here)(
            r, &seen, answers ? answers + first : NULL, own, err);
        seen_free(&seen, &part);
    }
    return status ? status : check_numbers(sets, answers, score.logprob, err);
}

onet_status onet_orderer_run(onet_orderer *r, const onet_sets *sets, onet_answer *answers, onet_error *err) {
    NEED(r, "orderer");
    NEED(sets, "sets");
    NEED(answers, "answers");
    onet_sets unordered = *sets; /* their own order is ignored, even a bad one */
    unordered.order = NULL;
    /* Ranks that share the sets would name them by their own numbers, so rank 0 finds out here. */
    onet_status status = (r->w ? onet_sets_check : sets_check)(&unordered, err);
    for (size_t s = 0; s < sets->count && !status; s++)
        if (!answers[s].order) status = fail(err, ONET_USAGE, "answers[%zu].order is NULL", s);
    if (status) return status;
    /* An overflow shows in the log-probabilities, so they are computed even if the caller does not ask for
     * them. */
    size_t lacks = 0;
    while (lacks < sets->count && answers[lacks].logprob) lacks++;
    if (lacks == sets->count) return run(r, sets, answers, (score_out){0}, err);
    size_t top = (size_t)r->top, all;
    if (!size_mul(sets->count, top, &all) ||
        !array_reserve(&r->own, &r->own_room, sets->count, sizeof *r->own) ||
        !array_reserve(&r->logprob, &r->logprob_room, all, sizeof *r->logprob))
        return fail_memory(err, "the answers");
    for (size_t s = 0; s < sets->count; s++) {
        r->own[s] = answers[s];
        if (!r->own[s].logprob) r->own[s].logprob = r->logprob + s * top;
    }
    status = run(r, sets, r->own, (score_out){0}, err);
    for (size_t s = 0; s < sets->count; s++) answers[s].found = r->own[s].found;
    return status;
}

onet_status onet_orderer_score_steps(onet_orderer *r, const onet_sets *sets, double *logprob, double *step,
                                     onet_error *err) {
    NEED(r, "orderer");
    NEED(sets, "sets");
    NEED(logprob, "logprob");
    if (!sets->order) return fail(err, ONET_BAD, "the sets have no order to score");
    onet_status status = sets_check(sets, err);
    return status ? status : run(r, sets, NULL, (score_out){.logprob = logprob, .step = step}, err);
}

onet_status onet_orderer_choices(onet_orderer *r, const onet_sets *sets, double *probability,
                                 onet_error *err) {
    NEED(r, "orderer");
    NEED(sets, "sets");
    NEED(probability, "probability");
    if (sets->count != 1)
        return fail(err, ONET_USAGE, "the choices of one set are given, not of %zu", sets->count);
    if (!sets->order)
        return fail(err, ONET_BAD,
                    "the set has no order: choices are computed along the set's own order; give one");
    onet_status status = sets_check(sets, err);
    if (status) return status;
    size_t n = sets_size(sets, 0);
    double logprob, *step = array_new(n, sizeof *step);
    if (!step) return fail_memory(err, "the choices");
    memset(probability, 0, n * n * sizeof *probability);
    /* Asking for the steps selects the CPU: the GPU does not return choices. */
    status = run(r, sets, NULL, (score_out){&logprob, step, probability}, err);
    free(step);
    return status;
}

onet_status onet_orderer_score(onet_orderer *r, const onet_sets *sets, double *logprob, onet_error *err) {
    return onet_orderer_score_steps(r, sets, logprob, NULL, err);
}

/* Several orders of each of some sets of the same size. */
typedef struct orders_args {
    onet_orderer *r;
    const onet_sets *sets;
    const frozen *f;
    const scoring_plan *plan; /* [parts]: of the parts of the orders */
    int parts;
    double *logprob; /* [sets, count] */
    size_t count;
} orders_args;

/* Runs a job, one per set and part of the orders. */
static void some_orders(void *arg, int job, int thread) {
    orders_args *j = arg;
    worker *w = &j->r->worker[thread];
    size_t set = (size_t)(job / j->parts), first = 0;
    const scoring_plan *plan = &j->plan[job % j->parts];
    for (const scoring_plan *before = j->plan; before < plan; before++) first += (size_t)before->count;
    if (order_stops(&j->r->options)) return;
    arrange(w, j->f->model, j->sets, set, 0);
    w->start[1] = plan->n;
    w->e.options = &j->r->options;
    encode(&w->e, j->f, w->items, w->start, 1, plan->n, NULL);
    if (order_stops(&j->r->options)) return;
    scoring_run(&w->scoring, plan, j->f, &w->e, j->logprob + set * j->count + first);
}

static onet_status score_orders_here(onet_orderer *r, const onet_sets *sets, const int32_t *orders,
                                     size_t count, double *logprob, onet_error *err) {
    order_args sizes = {.r = r, .sets = sets};
    int n = (int)sets_size(sets, 0), blocks = r->z.model->sh.s.decoder_blocks;
    onet_status status = reserve(&sizes, 1, err);
    if (status) return status;
    orders_args j = {
        .r = r, .sets = sets, .f = freezer_find(&r->z, n), .logprob = logprob, .count = count, .parts = 1};
    /* Parts have less in common, so there are no more than the threads need. */
    int threads = thread_pool_threads(r->threads);
    if ((size_t)threads > sets->count) j.parts = (threads + (int)sets->count - 1) / (int)sets->count;
    if ((size_t)j.parts > count) j.parts = (int)count;
    scoring_plan *plan = array_new((size_t)j.parts, sizeof *plan);
    bool enough = plan != NULL;
    for (size_t part = 0, parts = (size_t)j.parts; part < parts && enough; part++) {
        size_t from = count * part / parts, to = count * (part + 1) / parts;
        enough = scoring_plan_new(&plan[part], blocks, n, orders + from * (size_t)n, (int)(to - from));
    }
    for (int t = 0; t < threads && enough; t++) {
        worker *w = &r->worker[t];
        size_t rows = (size_t)n;
        enough = encoded_reserve(&w->e, j.f, n) &&
                 scoring_reserve(&w->scoring, j.f, n, plan[j.parts - 1].count) &&
                 array_reserve(&w->items, &w->room, rows, sizeof *w->items) &&
                 array_reserve(&w->item, &w->item_room, rows, sizeof *w->item) &&
                 array_reserve(&w->row, &w->row_room, 2 * rows, sizeof *w->row);
    }
    j.plan = plan;
    if (enough) thread_pool_run(r->threads, (int)sets->count * j.parts, some_orders, &j);
    for (int part = 0; part < j.parts && plan; part++) scoring_plan_free(&plan[part]);
    free(plan);
    if (!enough) return fail_memory(err, "the orders of a set");
    return order_stops(&r->options) ? fail(err, ONET_INTERRUPTED, "the ordering was stopped") : ONET_OK;
}

onet_status orderer_score_orders(onet_orderer *r, const float *items, int sets, int n, const int32_t *orders,
                                 int count, double *logprob, onet_error *err) {
    const onet_model *model = r->z.model;
    size_t rows = (size_t)n, all = (size_t)sets;
    bool here = !r->w && r->device.kind != DEVICE_GPU && !model->words && !model->scaling &&
                !model->columns && !model->sh.s.relations;
    onet_sets view = {.count = all,
                      .width = model_width(model),
                      .start = array_new(all + 1, sizeof *view.start),
                      .items = (float *)items,
                      .order = here ? NULL : array_new(all * rows, sizeof *view.order)};
    double *one = array_new(all, sizeof *one);
    onet_status status =
        view.start && one && (here || view.order) ? ONET_OK : fail_memory(err, "the orders of a set");
    for (size_t s = 0; s <= all && !status; s++) view.start[s] = s * rows;
    if (!status && here) status = sets_check(&view, err);
    if (!status && here) status = score_orders_here(r, &view, orders, (size_t)count, logprob, err);
    for (size_t k = 0; k < all * (size_t)count && here && !status; k++)
        if (isnan(logprob[k])) status = fail_numbers(k / (size_t)count, err);
    /* On a GPU or with several ranks, or if the items are changed first, one order of all sets is scored at a
     * time. */
    for (int k = 0; k < count && !here && !status; k++) {
        for (size_t s = 0; s < all; s++)
            memcpy(view.order + s * rows, orders + (size_t)k * rows, rows * sizeof *orders);
        status = onet_orderer_score(r, &view, one, err);
        for (size_t s = 0; s < all && !status; s++) logprob[s * (size_t)count + (size_t)k] = one[s];
    }
    free(view.start);
    free(view.order);
    free(one);
    return status;
}

onet_status onet_order(const onet_model *model, const float *items, int n, int32_t *order, double *logprob,
                       onet_error *err) {
    NEED(model, "model");
    NEED(items, "items");
    NEED(order, "order");
    onet_orderer *r = NULL;
    onet_sets *sets = NULL;
    double p;
    const onet_columns *columns = model->columns;
    float *filled = NULL; /* the items with missing values filled in */
    onet_status status = orderer_new(&r, model, &(onet_order_options){.threads = 1}, gpu_of_rank(0), err);
    if (!status && columns && columns->fill && n > 0) {
        if ((filled = array_new((size_t)n, (size_t)columns->inputs * sizeof *filled)))
            columns_fill_floats(columns, items, (size_t)n, filled);
        else
            status = fail_memory(err, "the items");
    }
    if (!status) status = onet_sets_from(&sets, 1, n, model_width(model), filled ? filled : items, NULL, err);
    if (!status)
        status =
            onet_orderer_run(r, sets, &(onet_answer){.order = order, .logprob = logprob ? logprob : &p}, err);
    free(filled);
    onet_sets_free(sets);
    onet_orderer_free(r);
    return status;
}
