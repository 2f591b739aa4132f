/* Trains one model with one rank or many (train_together, called by several.c): scales the sets and
 * distributes them to the ranks, counts the steps, makes the model and its state or resumes them, opens the
 * CPU or GPU, runs the loop (loop.c), and returns and saves the model. Also resolves the automatic pool. */
#include "engine/train/train.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/arguments.h"
#include "engine/base/choice.h"
#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/train/initial.h"
#include "engine/train/options.h"
#include "engine/train/run.h"

enum { MANY_SETS = 10000 /* from here on the pool of ONET_POOL_AUTO is max: docs/model.md */ };

onet_pool train_pool(onet_pool given, size_t sets) {
    return given != ONET_POOL_AUTO ? given : sets < MANY_SETS ? ONET_POOL_MEAN : ONET_POOL_MAX;
}

/* Copies the settings and checksum of the model to begin with, which rank 0 has, to all ranks. */
static onet_status take_from(run *r, onet_error *err) {
    onet_status status = ONET_OK;
    if (r->o.from) {
        r->o.settings = r->o.from->sh.s;
        model_checksum(r->o.from, r->from);
    }
    status = world_agree(r->w, status, err);
    if (status || !r->w) return status;
    r->w->broadcast(r->w, 0, &r->o.settings, sizeof r->o.settings);
    r->w->broadcast(r->w, 0, r->from, sizeof r->from);
    return ONET_OK;
}

static onet_status note_training(run *r, onet_error *err) {
    char sets[32], seed[32], per_step[32];
    snprintf(sets, sizeof sets, "%zu", r->sets.train->count);
    snprintf(seed, sizeof seed, "%" PRIu64, r->o.seed);
    snprintf(per_step, sizeof per_step, "%d", r->o.batch);
    const char *pairs[][2] = {{"data.sha256", r->sets.train->hash},
                              {"data.sets", sets},
                              {"seed", seed},
                              {"batch", per_step},
                              {"run", r->identity},
                              {"kernels", net_kernels(r->net)},
                              {"statistics", choice_name(onet_norm_statistics(), r->o.statistics)}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        onet_status status = model_set_entry(r->model, pairs[i][0], pairs[i][1], err);
        if (status) return status;
    }
    onet_status status = r->from[0] ? model_set_entry(r->model, "from.sha256", r->from, err) : ONET_OK;
    const char *precision = choice_name(onet_precisions(), r->o.precision);
    if (!status && r->o.precision) status = model_set_entry(r->model, "precision", precision, err);
    return status;
}

/* Counts the steps and finds where the epochs begin. If items are left out, each epoch has its own sizes, and
 * so, with batches of one size, its own number of batches. */
static onet_status count_steps(run *r, onet_error *err) {
    uint64_t epochs = (uint64_t)r->o.epochs, most = r->o.max_steps ? r->o.max_steps : UINT64_MAX;
    if (!(r->when.begin = array_new(epochs + 1, sizeof *r->when.begin)))
        return fail_memory(err, "the epochs");
    for (uint64_t e = 0; e < epochs && r->when.begin[e] < most; e++) {
        size_t count = r->sets.plan->count;
        if (augment_drops(&r->o) && r->o.batches == ONET_BATCHES_ONE_SIZE) {
            batches *plan;
            augment_sizes(r->sets.augment, e);
            onet_status status = batches_new(&plan, &r->sets.augment->sizes, r->o.batch, r->o.batches, err);
            if (status) return status;
            count = plan->count;
            batches_free(plan);
        }
        r->when.begin[e + 1] = r->when.begin[e] + count;
        r->when.begun = e + 1;
    }
    r->when.steps = r->when.begin[r->when.begun] < most ? r->when.begin[r->when.begun] : most;
    return ONET_OK;
}

/* Makes the model, the plan of batches and the state, all with their first values. */
static onet_status make_state(run *r, onet_error *err) {
    onet_status status;
    onet_settings settings = r->o.settings;
    settings.width = r->sets.train->width;
    settings.pool = train_pool(settings.pool, r->sets.train->count);
    settings.relations = sets_relations(r->sets.own);
    if ((status = model_new(&r->model, &settings, err)) ||
        (status = batches_new(&r->sets.plan, r->sets.train, r->o.batch, r->o.batches, err)))
        return status;
    const net_shape *sh = &r->model->sh;
    r->sets.now = r->sets.train;
    if ((status = augment_new(&r->sets.augment, r->sets.train, r->sets.own, &r->o, r->w ? r->w->rank : 0,
                              r->w ? r->w->size : 1, err)) ||
        (status = count_steps(r, err)))
        return status;
    if (r->sets.own->word && !(r->model->words = words_copy(r->sets.own->words)))
        return fail_memory(err, "the vocabulary");
    const onet_columns *columns = r->sets.columns ? r->sets.columns : r->o.from ? r->o.from->columns : NULL;
    if (columns && (status = onet_columns_copy(&r->model->columns, columns, err))) return status;
    if ((status = scaling_copy(&r->model->scaling, r->sets.scaling, err))) return status;
    if (r->sets.relates && (status = relating_copy(&r->model->relating, r->sets.relating, err)))
        return status;
    /* In rank 0; shard_relations copies them to the others. */
    const onet_pairs *given = r->sets.given ? r->sets.given->pairs : NULL;
    const char *relations = r->o.from ? r->o.from->relations : given ? given->names : NULL;
    if (relations && !(r->model->relations = strdup(relations))) return fail_memory(err, "the relations");
    const float *fill = given ? given->fill : NULL;
    if (r->o.from && r->o.from->relation_fill) fill = r->o.from->relation_fill;
    if ((status = model_fill_relations(r->model, fill, err))) return status;
    int vectors = r->sets.own->word && r->o.train_vectors;
    size_t vector_numbers = vectors ? (size_t)r->sets.own->words->count * (size_t)r->sets.own->width : 0;
    if ((status = state_new(&r->s, sh->total, vector_numbers, r->o.average > 0, err))) return status;
    if (r->o.from)
        memcpy(r->s.theta, r->o.from->theta, sh->total * sizeof *r->s.theta);
    else
        initial_parameters(sh, r->o.seed, r->s.theta);
    if (vectors) memcpy(r->s.vec, r->sets.own->words->vectors, vector_numbers * sizeof(float));
    r->files.saved_step = UINT64_MAX;
    size_t most = r->sets.plan->used < (size_t)r->o.batch ? r->sets.plan->used : (size_t)r->o.batch;
    if (r->w && (!(r->sets.index = array_new(most, sizeof *r->sets.index)) ||
                 !(r->sets.row = array_new(most, sizeof *r->sets.row))))
        return fail_memory(err, "the batches");
    return ONET_OK;
}

static void sum(void *context, double *values, size_t count) {
    const world *w = context;
    w->sum(w, values, count);
}

static void sum_floats(void *context, real *values, size_t count) {
    const world *w = context;
    w->sum_floats(w, values, count);
}

/* Opens the net on the same kind of device in all ranks: on CPUs if only some have found a GPU. */
static onet_status open_device(run *r, onet_error *err) {
    const net_shape *sh = &r->model->sh;
    onet_status status =
        net_open(&r->net, sh, r->o.device, r->w ? r->w->local_rank : 0, r->o.kernels, r->o.threads, err);
    status = world_agree(r->w, status, err);
    if (status || !r->w) return status;
    double gpus = r->net->ops->is_gpu;
    r->w->sum(r->w, &gpus, 1);
    if (gpus == 0 || gpus == r->w->size) return ONET_OK;
    r->net->ops->close(r->net);
    r->net = NULL;
    return world_agree(r->w, cpu_open(&r->net, sh, r->o.kernels, r->o.threads, err), err);
}

static onet_status open_net(run *r, onet_error *err) {
    onet_status status = open_device(r, err);
    if (status) return status;
    if (r->o.precision && !r->net->ops->is_gpu)
        return fail_field(err, ONET_USAGE, "onet_train_options.precision onet_train_options.device",
                          "precision %s needs a GPU, and this training runs on the CPU: leave it out, or "
                          "train on a GPU",
                          choice_name(onet_precisions(), r->o.precision));
    r->net->precision = r->o.precision;
    if (r->w) {
        r->net->first_set = (uint32_t)r->w->rank;
        r->net->ranks = (uint32_t)r->w->size;
        r->net->sum = sum;
        r->net->sum_floats = sum_floats;
        r->net->sum_context = (void *)(uintptr_t)r->w;
    }
    if (r->sets.augment && r->model->sh.s.relative &&
        (status = augment_relative(r->sets.augment, r->model->mean, r->model->scale, err)))
        return status;
    const scaling *scaled = r->model->scaling;
    if (augment_drops(&r->o) && scaled && scaled->inputs > scaled->width &&
        (status = augment_rank(r->sets.augment, (size_t)scaled->width, err)))
        return status;
    batches_shuffle(r->sets.plan, r->o.seed, 0);
    if ((status = run_reserve(r, err))) return status;
    if ((status =
             r->net->ops->data(r->net, r->sets.own, r->model->mean, r->model->scale, r->s.vec != NULL, err)))
        return status;
    const struct {
        net_block what;
        const float *from;
    } put[] = {{NET_THETA, r->s.theta},
               {NET_M, r->s.m},
               {NET_V, r->s.v},
               {NET_AVERAGE, r->s.average},
               {NET_VECTORS, r->s.vec},
               {NET_VECTORS_M, r->s.vec_m},
               {NET_VECTORS_V, r->s.vec_v},
               {NET_VECTORS_AVERAGE, r->s.vec_average}};
    for (size_t i = 0; i < sizeof put / sizeof *put && !status; i++)
        if (put[i].from) status = r->net->ops->put(r->net, put[i].what, put[i].from, err);
    return status ? status : note_training(r, err);
}

/* Learns the scaling of the features. Quantiles of relations are learned later, when the relations have been
 * computed (relating_learn). */
static onet_status learn_scales(run *r, int given, onet_error *err) {
    run_sets *x = &r->sets;
    const char *names = given ? x->given->pairs->names : NULL;
    int width = x->given->width, meant = r->o.settings.relations;
    if (!(x->feature = array_new((size_t)width, sizeof *x->feature)))
        return fail_memory(err, "the scaling of the features");
    onet_status status = relating_new(&x->relating, r->o.relate, given, names, width, x->columns, err);
    if (status) return status;
    int relations = x->relating ? given + x->relating->made : 0;
    if (meant && meant != relations)
        return fail(err, ONET_USAGE, "the net is to take %d relation%s, but the sets have %d", meant,
                    meant == 1 ? "" : "s", relations);
    scaling_wish wish = {.text = r->o.scale,
                         .relations = x->relating ? x->relating->names : NULL,
                         .within = r->o.within,
                         .standardise = r->o.standardise,
                         .keep_exact = r->o.relate != NULL};
    status = scaling_learn(&x->scaling, x->given, &wish, x->feature, err);
    if (!status && x->relating) status = relating_wants(x->relating, r->o.scale, &x->relates, err);
    return status;
}

/* In rank 0: scales the training sets and makes their relations, as the net sees them. */
static onet_status scale_sets(run *r, onet_error *err) {
    run_sets *x = &r->sets;
    int width = x->train->width, meant = r->o.from ? width : r->o.settings.width;
    onet_status status;
    x->columns = x->train->columns;
    x->given = x->train;
    int given = sets_relations(x->train);
    if (meant && meant != width)
        return fail(err, ONET_USAGE,
                    "the net is to take items of width %d, but those of the sets have width %d", meant,
                    width);
    if (r->o.from) {
        status = scaling_copy(&x->scaling, r->o.from->scaling, err);
        if (!status) status = relating_copy(&x->relating, r->o.from->relating, err);
        x->relates = x->relating != NULL;
    } else
        status = learn_scales(r, given, err);
    if (status || (!x->scaling && !x->relates)) return status;
    const relating *related = x->relates ? x->relating : NULL;
    if ((status = seen_make(&x->seen, x->scaling, related, x->given, 0, err))) return status;
    x->train = &x->seen;
    return x->relates && !r->o.from ? relating_learn(x->relating, r->o.scale, &x->seen, err) : ONET_OK;
}

/* Prepares the run: checks and distributes the sets, makes model and state, resumes, opens the net. After a
 * step that may fail in one rank, all ranks agree on its status before they wait for each other. */
static onet_status prepare(run *r, onet_error *err) {
    const world *w = r->w;
    int first = !w || !w->rank;
    onet_status status = first ? train_check_sets(r->sets.train, r->sets.valid, &r->o, err) : ONET_OK;
    if (first && !status) status = scale_sets(r, err);
    if ((status = world_agree(w, status, err))) return status;
    if (w) {
        if ((status = shard_make(&r->sets.shard, w, r->sets.train, err))) return status;
        if (!first) r->sets.train = r->sets.shard.plan;
        r->sets.own = r->sets.shard.own;
    } else
        r->sets.own = r->sets.train;
    r->o.weight_decay = train_decay(&r->o, r->sets.train->count);
    if (w) { /* rank 0 alone knows `from`, and how large the sets are that it has read */
        w->broadcast(w, 0, &r->o.weight_decay, sizeof r->o.weight_decay);
        w->broadcast(w, 0, &r->o.batch, sizeof r->o.batch);
    }
    if ((status = take_from(r, err)) || (status = world_agree(w, make_state(r, err), err))) return status;
    if (r->o.from) {
        size_t bytes = model_inputs(r->model) * sizeof *r->model->mean;
        memcpy(r->model->mean, r->o.from->mean, bytes);
        memcpy(r->model->scale, r->o.from->scale, bytes);
    } else if (first && (r->o.standardise || !r->sets.train->word))
        status = initial_scale(r->model, r->sets.train, r->sets.train->word ? NULL : r->sets.feature, err);
    if (first && !status && !r->o.from && r->o.standardise)
        status = initial_relations(r->model, r->sets.train, r->sets.relating ? r->sets.relating->names : NULL,
                                   r->o.scale, err);
    if (first && !status && r->o.jitter > 0)
        status = feature_spread(r->sets.train, r->sets.augment->spread, err);
    if (first && !status) {
        identity_make(r->identity, r->sets.train, r->sets.valid, &r->model->sh.s, &r->o, r->from,
                      r->when.steps);
        status = files_find(r, err);
    }
    status = world_agree(w, status, err);
    if (!status && w) status = shard_columns(w, &r->model->columns, err);
    if (!status && w) status = shard_scaling(w, &r->model->scaling, err);
    if (!status && w) status = shard_relations(w, r->model, err);
    if (status) return status;
    if (w) {
        w->broadcast(w, 0, &r->validates, sizeof r->validates);
        w->broadcast(w, 0, r->identity, sizeof r->identity);
        w->broadcast(w, 0, r->model->mean, model_inputs(r->model) * sizeof *r->model->mean);
        w->broadcast(w, 0, r->model->scale, model_inputs(r->model) * sizeof *r->model->scale);
        if (r->o.jitter > 0)
            w->broadcast(w, 0, r->sets.augment->spread,
                         (size_t)r->sets.train->width * sizeof *r->sets.augment->spread);
        state_share(&r->s, w);
    }
    r->told.seconds_before = r->s.seconds;
    if ((status = world_agree(w, open_net(r, err), err))) return status;
    return world_agree(w, files_start(r, err), err);
}

onet_status train_together(const world *w, onet_model **model, const onet_sets *train, const onet_sets *valid,
                           const onet_train_options *options, onet_error *err) {
    run r = {.w = w,
             .files = {.lock = {.fd = -1}},
             .sets = {.train = train, .valid = valid && valid->count ? valid : NULL},
             .o = *options};
    r.validates = r.sets.valid != NULL;
    *model = NULL;
    if (r.o.best) *r.o.best = NULL;
    if (w && !r.o.threads) r.o.threads = w->processors;
    if (w && w->rank) r.o.from = NULL;
    onet_status status = train_check_options(options, err);
    if (!status) status = prepare(&r, err);
    if (!status) status = run_loop(&r, err);
    bool kept = status == ONET_INTERRUPTED && r.o.keep_stopped;
    if (!status || kept) {
        onet_error late;
        onet_status filled = run_fill_model(&r, kept ? &late : err);
        if (!filled) filled = run_note_results(&r, kept ? &late : err);
        if (!filled && !kept && r.files.checkpoint)
            filled = onet_model_save(r.model, options->model_path, err);
        filled = world_agree(w, filled, kept ? &late : err);
        kept = kept && !filled;
        if (!status) status = filled;
    }
    if (r.o.best && r.s.best_epoch && (!status || kept)) {
        onet_status got = files_best(&r, kept ? NULL : err);
        if (!status) status = got;
    }
    onet_bytes_free(r.files.best_bytes);
    onet_error late;
    onet_status closed =
        log_close(&r.files.log, status ? &late : err); /* the first failure is the one to report */
    if (!status) status = closed;
    if (r.net) r.net->ops->close(r.net);
    batches_free(r.sets.plan);
    augment_free(r.sets.augment);
    free(r.when.begin);
    state_free(&r.s);
    if (w) shard_free(&r.sets.shard);
    free(r.sets.index);
    free(r.sets.row);
    lock_release(&r.files.lock);
    free(r.files.checkpoint);
    free(r.files.best);
    free(r.files.log_path);
    if (r.sets.train == &r.sets.seen) seen_free(&r.sets.seen, r.sets.given);
    free(r.sets.feature);
    scaling_free(r.sets.scaling);
    relating_free(r.sets.relating);
    if (status && !kept)
        onet_model_free(r.model);
    else
        *model = r.model;
    return status;
}
