/* Tests training as a whole: it learns, gives the same bits for any number of threads and across
 * interruptions, allocates nothing in a step, and survives out-of-memory at any point. Also tests stopping,
 * several models, validation with patience, fine-tuning, and averaged parameters. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alloc_count.h"
#include "app/division.h"
#include "context_help.h"
#include "data_help.h"
#include "engine/base/rng.h"
#include "engine/data/pick.h"
#include "engine/data/sets.h"
#include "engine/kernels/backend.h"
#include "engine/model/model.h"
#include "number_sets.h"
#include "ordernet_io.h"
#include "ordernet_measure.h"

/* Sets of numbers in ascending order of their first feature. */
static onet_sets *sorting(int count, int low, int high, uint64_t seed) {
    onet_sets *sets;
    onet_error err;
    rng r;
    rng_seed(&r, seed, 0);
    assert_int_equal(sets_new(&sets, 1, &err), ONET_OK);
    for (int s = 0; s < count; s++) {
        float x[64];
        int32_t y[64];
        int n = low + (int)rng_below(&r, (uint64_t)(high - low + 1));
        for (int i = 0; i < n; i++) x[i] = (float)rng_uniform(&r);
        order_by(y, n, x, 1);
        assert_int_equal(sets_append(sets, (size_t)n, 1, x, y, &err), ONET_OK);
    }
    return sets;
}

/* The same sets with words for items: of 40, each standing for a fortieth of 0 to 1. */
static onet_sets *as_words(onet_sets *sets) {
    onet_sets *out;
    onet_error err;
    assert_int_equal(sets_new(&out, 1, &err), ONET_OK);
    out->words = number_words();
    assert_non_null(out->words);
    for (size_t s = 0; s < sets->count; s++) {
        size_t first = sets->start[s], n = sets->start[s + 1] - first;
        int32_t word[64];
        for (size_t i = 0; i < n; i++) word[i] = (int32_t)(sets->items[first + i] * NUMBER_WORDS);
        assert_int_equal(sets_append_words(out, n, word, sets->order + first, &err), ONET_OK);
    }
    onet_sets_free(sets);
    return out;
}

static onet_train_options small_run(void) {
    onet_train_options o;
    onet_train_defaults(&o, sizeof o);
    o.settings = (onet_settings){0, 2, 16, 8, ONET_POOL_MAX, 2, 8, 0, 0, {0}};
    o.batch = 32;
    o.epochs = 2;
    o.checkpoint_seconds = 0;
    return o;
}

static void same_files(const char *a, const char *b) {
    size_t na, nb;
    char *x = help_bytes(a, &na), *y = help_bytes(b, &nb);
    assert_int_equal(na, nb);
    assert_memory_equal(x, y, na);
    free(x);
    free(y);
}

static onet_model *train(const onet_sets *sets, const onet_sets *valid, const onet_train_options *o) {
    onet_model *m;
    onet_error err;
    onet_status status = onet_train(&m, sets, valid, o, &err);
    if (status) fail_msg("training failed: %s", err.text);
    return m;
}

static void same_bits_for_any_threads(const onet_sets *sets, const onet_sets *valid, onet_train_options o) {
    for (int threads = 1; threads <= 3; threads++) {
        char name[32];
        snprintf(name, sizeof name, "t%d.safetensors", threads);
        o.threads = threads;
        o.model_path = help_path(name);
        onet_model_free(train(sets, valid, &o));
        if (threads > 1) same_files(help_path("t1.safetensors"), help_path(name));
    }
}

static void threads_give_the_same_bits(void **state) {
    onet_sets *sets = sorting(600, 1, 9, 1), *valid = sorting(50, 5, 9, 2);
    onet_sets *seen = give_context(sorting(600, 1, 9, 1), 3);
    for (const char *const *k = kernels_available(); *k; k++) {
        onet_train_options o = small_run();
        o.kernels = *k;
        o.average = 0.99;
        o.clip = 0.5;
        o.drop = 0.4;
        o.jitter = 0.05;
        o.stray = 0.1;
        o.dropout = 0.2;
        o.batches = ONET_BATCHES_ONE_SIZE;
        same_bits_for_any_threads(sets, valid, o);
        o.batches = ONET_BATCHES_MIXED;
        same_bits_for_any_threads(seen, valid, o);
    }
    onet_sets_free(sets);
    onet_sets_free(valid);
    onet_sets_free(seen);
}

/* Stops the run at a given step. */
static int stop_at(void *context, const onet_progress *p) {
    return p->step >= *(uint64_t *)context;
}

static void resumed_equals_unbroken(onet_sets *sets, onet_sets *valid, onet_batches batches,
                                    int train_vectors, double drop, int patience) {
    onet_train_options o = small_run();
    onet_model *m;
    onet_error err;
    o.average = 0.98;
    o.epochs = 4;
    o.train_vectors = train_vectors;
    o.drop = drop;
    if (sets->items) o.jitter = drop / 5;
    o.stray = drop / 4;
    o.dropout = drop / 2;
    o.crop = drop > 0 ? 4 : 0;
    o.patience = patience;
    o.batches = batches;
    o.model_path = help_path("whole.safetensors");
    onet_model_free(train(sets, valid, &o));
    char parts_path[128]; /* help_path's answers do not last */
    snprintf(parts_path, sizeof parts_path, "%s", help_path("parts.safetensors"));
    o.model_path = parts_path;
    o.resume = 1; /* from the start, since there is no checkpoint yet */
    o.progress = stop_at;
    o.checkpoint_seconds = 1e-9; /* after each step */
    uint64_t stop = 0;
    o.context = &stop;
    int parts = 0;
    onet_status status;
    do {
        stop += 7;
        /* Progress is reported by time and at each epoch's end: a part may run longer than asked for. */
        status = onet_train(&m, sets, valid, &o, &err);
        if (++parts > 500) fail_msg("no end");
    } while (status == ONET_INTERRUPTED);
    assert_int_equal(status, ONET_OK);
    assert_true(parts > 2);
    onet_model_free(m);
    same_files(help_path("whole.safetensors"), help_path("parts.safetensors"));
    same_files(help_path("whole.best.safetensors"), help_path("parts.best.safetensors"));
    /* A finished run resumed: nothing to do, the same model. */
    o.progress = NULL;
    onet_model_free(train(sets, valid, &o));
    same_files(help_path("whole.safetensors"), help_path("parts.safetensors"));
    /* Another run's checkpoint is refused, and what differs is named: settings, or data, also from memory. */
    o.learning_rate *= 2;
    assert_int_equal(onet_train(&m, sets, valid, &o, &err), ONET_BAD);
    assert_non_null(strstr(err.text, " another run: learning_rate was 0.005, now 0.01. "));
    o.learning_rate /= 2;
    int32_t first = sets->order[0];
    sets->order[0] = sets->order[1];
    sets->order[1] = first;
    assert_int_equal(onet_train(&m, sets, valid, &o, &err), ONET_BAD);
    assert_non_null(strstr(err.text, " another run: the orders of the training sets differ. "));
    sets->order[1] = sets->order[0];
    sets->order[0] = first;
    float *number = sets->items ? &sets->items[0] : &sets->words->vectors[0];
    *number += 0.5f;
    assert_int_equal(onet_train(&m, sets, NULL, &o, &err), o.patience ? ONET_USAGE : ONET_BAD);
    if (!o.patience)
        assert_non_null(strstr(err.text, sets->items
                                             ? "the items of the training sets differ; the validation "
                                               "sets are not there now. "
                                             : "the words or their vectors differ"));
    *number -= 0.5f;
    remove(help_path("parts.checkpoint.safetensors"));
    remove(help_path("parts.safetensors"));
    onet_sets_free(sets);
    onet_sets_free(valid);
}

static void a_resumed_run_equals_an_unbroken_one(void **state) {
    const onet_batches one_size = ONET_BATCHES_ONE_SIZE, mixed = ONET_BATCHES_MIXED;
    resumed_equals_unbroken(sorting(700, 2, 9, 3), sorting(50, 5, 9, 4), one_size, 0, 0, 0);
    resumed_equals_unbroken(sorting(700, 2, 9, 3), sorting(50, 5, 9, 4), one_size, 0, 0.5, 0);
    resumed_equals_unbroken(sorting(700, 2, 9, 3), turn_orders(sorting(50, 5, 9, 4)), mixed, 0, 0.5, 2);
    resumed_equals_unbroken(give_context(sorting(700, 2, 9, 3), 3), give_context(sorting(50, 5, 9, 4), 3),
                            mixed, 0, 0.5, 0);
    resumed_equals_unbroken(as_words(sorting(700, 2, 9, 3)), as_words(sorting(50, 5, 9, 4)), one_size, 1, 0,
                            0);
    resumed_equals_unbroken(as_words(sorting(700, 2, 9, 3)), as_words(sorting(50, 5, 9, 4)), mixed, 1, 0.5,
                            0);
}

/* A progress callback that stops the run at `step` of the second model, and keeps the last report. */
typedef struct stopping_second {
    uint64_t step; /* 0: does not stop */
    onet_progress last;
    int order_is_right; /* with one thread: models one after the other, seconds never less */
} stopping_second;

static int stop_second(void *context, const onet_progress *p) {
    stopping_second *s = context;
    s->order_is_right &= p->model >= s->last.model && p->seconds >= s->last.seconds && p->models == 3;
    s->last = *p;
    return s->step && p->model == 2 && p->step >= s->step;
}

/* Several models are those of the seeds one by one, merged; also across an interruption, and with more models
 * than before it. */
static void several_models_are_merged(void **state) {
    onet_sets *sets = sorting(200, 2, 7, 3), *valid = sorting(40, 3, 6, 4);
    onet_train_options o = small_run();
    onet_model *one[3], *best[3], *merged, *got, *got_best;
    onet_error err;
    char path[128], sum[65], want[65];
    o.seed = 5;
    for (int k = 0; k < 3; k++, o.seed++) {
        o.best = &best[k];
        one[k] = train(sets, valid, &o);
    }
    o.seed = 5;
    snprintf(path, sizeof path, "%s", help_path("several.safetensors"));
    o.model_path = path;
    o.models = 3;
    o.keep = 1;
    o.best = &got_best;
    o.checkpoint_seconds = 1e-9;
    o.threads = 1;
    stopping_second s = {.step = 3, .order_is_right = 1};
    o.progress = stop_second;
    o.context = &s;
    assert_int_equal(onet_train(&got, sets, valid, &o, &err), ONET_INTERRUPTED);
    assert_null(got);
    assert_int_equal(s.last.model, 2);
    assert_true(s.last.seconds_left > 0);
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(access(help_path("several.1.safetensors"), F_OK), 0);
    /* Its parts are there already; a run of one model cannot resume it. */
    assert_int_equal(onet_train(&got, sets, valid, &o, &err), ONET_USAGE);
    assert_non_null(strstr(err.text, "several.1.safetensors is there already"));
    o.resume = 1;
    o.models = 1;
    assert_int_equal(onet_train(&got, sets, valid, &o, &err), ONET_USAGE);
    assert_non_null(strstr(err.text, "several.1.checkpoint.safetensors is of a training of several models"));
    /* Two of them first, at the same time, then all three. */
    o.progress = NULL;
    o.models = 2;
    o.threads = 2;
    assert_int_equal(onet_train(&got, sets, valid, &o, &err), ONET_OK);
    assert_int_equal(onet_model_merge(&merged, (const onet_model *const *)one, 2, &err), ONET_OK);
    onet_model_checksum(got, sum);
    onet_model_checksum(merged, want);
    assert_string_equal(sum, want);
    onet_model_free(got);
    onet_model_free(got_best);
    onet_model_free(merged);
    s = (stopping_second){.order_is_right = 1};
    o.progress = stop_second;
    o.models = 3;
    o.threads = 1;
    assert_int_equal(onet_train(&got, sets, valid, &o, &err), ONET_OK);
    assert_int_equal(onet_model_merge(&merged, (const onet_model *const *)one, 3, &err), ONET_OK);
    onet_model_checksum(got, sum);
    onet_model_checksum(merged, want);
    assert_string_equal(sum, want);
    assert_true(s.order_is_right);
    /* The last report has the measures of the merged model, and so has its record. */
    char text[32];
    snprintf(text, sizeof text, "%.6f", s.last.valid_loglik);
    assert_string_equal(onet_model_record(got, "valid.loglik"), text);
    assert_string_not_equal(onet_model_record(one[2], "valid.loglik"), text);
    onet_model_free(got);
    onet_model_free(merged);
    /* The file has the model that was returned; the best models are merged as well. */
    assert_int_equal(onet_model_load(&got, path, &err), ONET_OK);
    onet_model_checksum(got, sum);
    assert_string_equal(sum, want);
    onet_model_free(got);
    assert_int_equal(onet_model_merge(&merged, (const onet_model *const *)best, 3, &err), ONET_OK);
    onet_model_checksum(merged, want);
    onet_model_checksum(got_best, sum);
    assert_string_equal(sum, want);
    assert_int_equal(onet_model_load(&got, help_path("several.best.safetensors"), &err), ONET_OK);
    onet_model_checksum(got, sum);
    assert_string_equal(sum, want);
    onet_model_free(got);
    onet_model_free(got_best);
    onet_model_free(merged);
    for (int k = 0; k < 3; k++) {
        onet_model_free(one[k]);
        onet_model_free(best[k]);
    }
    onet_sets_free(sets);
    onet_sets_free(valid);
}

static void a_stop_may_keep_several_models(void **state) {
    onet_sets *sets = sorting(200, 2, 7, 3);
    onet_train_options o = small_run();
    stopping_second s = {.step = 3, .order_is_right = 1};
    onet_model *got;
    onet_error err;
    o.models = 3;
    o.progress = stop_second;
    o.context = &s;
    o.keep_stopped = 1;
    o.half = 1;
    o.checkpoint_seconds = 1e-9;
    /* With two threads the first model may have been stopped too, or the third have begun. */
    for (o.threads = 1; o.threads <= 2; o.threads++) {
        assert_int_equal(onet_train(&got, sets, NULL, &o, &err), ONET_INTERRUPTED);
        assert_non_null(got);
        assert_non_null(onet_model_record(got, "merged.2.sha256"));
        if (o.threads == 1) assert_null(onet_model_record(got, "merged.3.sha256"));
        assert_true(onet_model_half(got));
        onet_model_free(got);
    }
    onet_sets_free(sets);
}

typedef struct stopping {
    int after;     /* epochs */
    int ended[16]; /* reported by progress, each epoch once */
    int count;
    uint64_t step;
} stopping;

static int stop_after(void *context, const onet_progress *p) {
    stopping *s = context;
    if (p->ended && (!s->count || s->ended[s->count - 1] != p->ended)) s->ended[s->count++] = p->ended;
    s->step = p->step;
    return s->count >= s->after;
}

static void a_stop_may_keep_the_model(void **state) {
    onet_sets *sets = sorting(200, 3, 7, 31);
    onet_train_options o = small_run();
    onet_model *stopped = NULL, *whole;
    onet_error err;
    stopping s = {.after = 2};
    o.epochs = 4;
    o.schedule = ONET_CONSTANT; /* the first epochs of a run do not depend on how many follow */
    o.warmup = 0;
    o.progress = stop_after;
    o.context = &s;
    assert_int_equal(onet_train(&stopped, sets, NULL, &o, &err), ONET_INTERRUPTED);
    assert_null(stopped);
    s = (stopping){.after = 2};
    o.keep_stopped = 1;
    assert_int_equal(onet_train(&stopped, sets, NULL, &o, &err), ONET_INTERRUPTED);
    assert_non_null(stopped);
    assert_non_null(strstr(err.text, "stopped at step"));
    assert_int_equal(s.count, 2);
    assert_int_equal(s.ended[0], 1);
    assert_int_equal(s.ended[1], 2);
    assert_int_equal(strtoull(onet_model_record(stopped, "steps"), NULL, 10), s.step);
    s = (stopping){.after = 16};
    o.epochs = 2;
    whole = train(sets, NULL, &o);
    char a[65], b[65];
    onet_model_checksum(stopped, a);
    onet_model_checksum(whole, b);
    assert_string_equal(a, b);
    onet_model_free(stopped);
    onet_model_free(whole);
    onet_sets_free(sets);
}

static int stop_in_validation(void *context, const onet_progress *p) {
    *(onet_progress *)context = *p;
    return p->step >= 1;
}

/* Without files, a stop does not wait for the end of a validation. */
static void a_stop_ends_a_validation(void **state) {
    onet_sets *one_step = sorting(10, 3, 7, 33), *many = sorting(60000, 3, 7, 32);
    onet_train_options o = small_run();
    onet_model *model;
    onet_error err;
    onet_progress last;
    o.epochs = 3;
    o.valid_limit = 0;
    o.threads = 1;
    o.progress = stop_in_validation;
    o.context = &last;
    o.keep_stopped = 1;
    assert_int_equal(onet_train(&model, one_step, many, &o, &err), ONET_INTERRUPTED);
    assert_int_equal(last.step, 1);
    assert_true(isnan(last.valid_exact));
    assert_int_equal(last.best_epoch, 0);
    onet_model_free(model);
    onet_sets_free(many);
    onet_sets_free(one_step);
}

typedef struct ends_seen {
    double loglik[3]; /* by epoch */
} ends_seen;

static int see_ends(void *context, const onet_progress *p) {
    ends_seen *seen = context;
    if (!p->ended) return 0;
    double *loglik = &seen->loglik[p->ended - 1];
    assert_false(isnan(p->valid_loglik));
    if (*loglik != 0) assert_true(*loglik == p->valid_loglik);
    *loglik = p->valid_loglik;
    return 0;
}

/* Progress that is reported while a validation runs does not say that the epoch has ended: what it knows of
 * the validation is that of the epoch before. */
static void an_epoch_ends_with_its_validation(void **state) {
    onet_sets *sets = sorting(10, 3, 7, 33), *many = sorting(20000, 3, 7, 32);
    onet_train_options o = small_run();
    ends_seen seen = {0};
    o.epochs = 3;
    o.valid_limit = 0;
    o.threads = 1;
    o.progress = see_ends;
    o.context = &seen;
    onet_model_free(train(sets, many, &o));
    assert_true(seen.loglik[0] != 0 && seen.loglik[1] != 0 && seen.loglik[2] != 0);
    assert_true(seen.loglik[0] != seen.loglik[1] && seen.loglik[1] != seen.loglik[2]);
    onet_sets_free(many);
    onet_sets_free(sets);
}

static double loglik(const onet_model *m, const onet_sets *sets) {
    onet_orderer *orderer;
    onet_error err;
    double *logprob = calloc(sets->count, sizeof *logprob), sum = 0;
    assert_non_null(logprob);
    assert_int_equal(onet_orderer_new(&orderer, m, NULL, &err), ONET_OK);
    assert_int_equal(onet_orderer_score(orderer, sets, logprob, &err), ONET_OK);
    for (size_t s = 0; s < sets->count; s++) sum += logprob[s];
    onet_orderer_free(orderer);
    free(logprob);
    return sum / (double)sets->start[sets->count];
}

typedef struct watch {
    int epochs;
    double seen[8]; /* validation log-likelihood after each epoch */
    onet_progress last;
} watch;

static int watching(void *context, const onet_progress *p) {
    watch *w = context;
    if (!isnan(p->valid_loglik) && (!w->epochs || w->seen[w->epochs - 1] != p->valid_loglik)) {
        assert_true(w->epochs < 8);
        w->seen[w->epochs++] = p->valid_loglik;
    }
    w->last = *p;
    return 0;
}

/* The log-likelihood that progress tells is that of the model; the best is kept, and the training ends when
 * the patience does. What is learned makes the reversed orders less likely with each epoch. */
static void the_best_and_patience_go_by_log_likelihood(void **state) {
    onet_sets *sets = sorting(600, 3, 7, 21), *valid = sorting(60, 5, 9, 22);
    onet_train_options o = small_run();
    onet_error err;
    onet_model *best, *m;
    watch w = {0};
    o.epochs = 5;
    o.patience = 2;
    o.model_path = help_path("patient.safetensors");
    o.progress = watching;
    o.context = &w;
    m = train(sets, valid, &o);
    assert_int_equal(w.epochs, 5);
    assert_int_equal(w.last.best_epoch, 5);
    assert_int_equal(w.last.epoch, 5);
    assert_true(fabs(loglik(m, valid) - w.last.valid_loglik) < 1e-12);
    same_files(help_path("patient.safetensors"), help_path("patient.best.safetensors"));
    onet_model_free(m);

    turn_orders(valid);
    w = (watch){0};
    m = train(sets, valid, &o);
    assert_int_equal(w.epochs, 3);
    assert_true(w.seen[0] > w.seen[1] && w.seen[0] > w.seen[2]);
    assert_int_equal(w.last.best_epoch, 1);
    assert_int_equal(w.last.epoch, 3);
    assert_true(w.last.step < w.last.steps);
    assert_true(fabs(loglik(m, valid) - w.seen[2]) < 1e-12);
    assert_int_equal(onet_model_load(&best, help_path("patient.best.safetensors"), &err), ONET_OK);
    assert_true(fabs(loglik(best, valid) - w.seen[0]) < 1e-12);
    onet_model_free(m);
    onet_model_free(best);

    /* Without files, the best model is returned to the caller. */
    onet_train_options in_memory = o;
    in_memory.model_path = NULL;
    in_memory.best = &best;
    onet_model_free(train(sets, valid, &in_memory));
    assert_true(fabs(loglik(best, valid) - w.seen[0]) < 1e-12);
    onet_model_free(best);
    /* A finished run resumed: from its file. */
    in_memory.model_path = o.model_path;
    in_memory.resume = 1;
    onet_model_free(train(sets, valid, &in_memory));
    assert_true(fabs(loglik(best, valid) - w.seen[0]) < 1e-12);
    onet_model_free(best);
    in_memory = small_run();
    in_memory.best = &best;
    onet_model_free(train(sets, NULL, &in_memory));
    assert_null(best);

    /* More patience, and the same run goes on. */
    o.resume = 1;
    o.patience = 4;
    onet_model_free(train(sets, valid, &o));
    assert_int_equal(w.last.epoch, 5);
    /* A new run without validation leaves no best model of another. */
    o.resume = 0;
    o.patience = 0;
    onet_model_free(train(sets, NULL, &o));
    assert_int_not_equal(access(help_path("patient.best.safetensors"), F_OK), 0);
    o.patience = 1;
    assert_int_equal(onet_train(&m, sets, NULL, &o, &err), ONET_USAGE);
    o.patience = -1;
    assert_int_equal(onet_train(&m, sets, valid, &o, &err), ONET_USAGE);
    onet_sets_free(sets);
    onet_sets_free(valid);
}

/* Returns the loss of the first step. */
static double first_loss(const onet_sets *sets, const onet_model *from) {
    onet_train_options o = small_run();
    o.max_steps = 1;
    o.from = from;
    onet_model *m = train(sets, NULL, &o);
    double loss = atof(onet_model_record(m, "loss"));
    onet_model_free(m);
    return loss;
}

/* Numbers that are twice as large and moved: another scale, the same order. */
static onet_sets *moved(onet_sets *sets) {
    for (size_t i = 0; i < sets->start[sets->count]; i++) sets->items[i] = 2 * sets->items[i] + 0.5f;
    return sets;
}

static void fine_tuning_begins_with_the_model(onet_sets *sets, onet_sets *other) {
    onet_train_options o = small_run();
    onet_model *base, *m;
    onet_error err;
    o.epochs = 4;
    o.train_vectors = sets->word != NULL;
    base = train(sets, NULL, &o);
    if (sets->word) { /* the vectors were trained: sets to go on with have those of the model */
        size_t bytes = (size_t)sets->words->count * sizeof(float);
        o.from = base;
        assert_int_equal(onet_train(&m, other, NULL, &o, &err), ONET_BAD);
        assert_non_null(strstr(err.text, "vocabulary"));
        memcpy(other->words->vectors, base->words->vectors, bytes);
    }
    assert_true(first_loss(other, base) < 0.5 * first_loss(other, NULL));
    char before[65], after[65];
    model_checksum(base, before);

    o.from = base;
    o.settings = (onet_settings){0}; /* ignored */
    o.epochs = 2;
    o.drop = 0.3;
    o.model_path = help_path("tuned.safetensors");
    m = train(other, other, &o);
    assert_memory_equal(m->mean, base->mean, sizeof(float));
    assert_memory_equal(m->scale, base->scale, sizeof(float));
    assert_memory_not_equal(m->theta, base->theta, base->sh.trained * sizeof(float));
    assert_string_equal(onet_model_record(m, "from.sha256"), before);
    assert_null(onet_model_record(m, "precision")); /* only that of products on a GPU is told */
    onet_model_free(m);
    model_checksum(base, after);
    assert_string_equal(before, after);

    /* Interrupted and resumed: the same bytes. */
    char parts_path[128];
    snprintf(parts_path, sizeof parts_path, "%s", help_path("tuned-parts.safetensors"));
    uint64_t stop = 5;
    o.model_path = parts_path;
    o.progress = stop_at;
    o.context = &stop;
    o.checkpoint_seconds = 1e-9;
    assert_int_equal(onet_train(&m, other, other, &o, &err), ONET_INTERRUPTED);
    o.progress = NULL;
    o.resume = 1;
    onet_model_free(train(other, other, &o));
    same_files(help_path("tuned.safetensors"), help_path("tuned-parts.safetensors"));
    /* That run did not begin with random weights. */
    o.from = NULL;
    o.settings = small_run().settings;
    assert_int_equal(onet_train(&m, other, other, &o, &err), ONET_BAD);
    assert_non_null(strstr(err.text, "the weights to begin with are not there now"));
    remove(help_path("tuned-parts.checkpoint.safetensors"));
    onet_model_free(base);
    onet_sets_free(sets);
    onet_sets_free(other);
}

static void fine_tuning(void **state) {
    fine_tuning_begins_with_the_model(sorting(600, 2, 8, 31), moved(sorting(200, 2, 8, 32)));
    fine_tuning_begins_with_the_model(as_words(sorting(600, 2, 8, 31)), as_words(sorting(200, 2, 8, 32)));
}

static void fine_tuning_of_other_items_is_refused(void **state) {
    onet_sets *sets = sorting(50, 2, 6, 33), *words = as_words(sorting(50, 2, 6, 33)), *wide;
    const float x[4] = {1, 2, 3, 4};
    const int32_t order[2] = {0, 1};
    onet_train_options o = small_run();
    onet_model *base, *m;
    onet_error err;
    o.max_steps = 2;
    base = train(sets, NULL, &o);
    o.from = base;
    assert_int_equal(onet_sets_from(&wide, 1, 2, 2, x, order, &err), ONET_OK);
    assert_int_equal(onet_train(&m, wide, NULL, &o, &err), ONET_BAD);
    assert_non_null(strstr(err.text, "1 feature"));
    assert_int_equal(onet_train(&m, words, NULL, &o, &err), ONET_BAD);
    assert_non_null(strstr(err.text, "orders numbers"));
    onet_model_free(base);
    onet_sets_free(sets);
    onet_sets_free(words);
    onet_sets_free(wide);
}

/* After each step the averages are what the formula says, to the last bit, for any number of threads: of a
 * word that was in no batch too. */
static void the_average_is_that_of_all_steps(void **state) {
    enum { STEPS = 6, B = 8, SIZE = 5 };
    onet_sets *sets = as_words(sorting(STEPS * B, SIZE, SIZE, 13));
    size_t vectors = (size_t)sets->words->count;
    net_shape *sh = malloc(sizeof *sh);
    onet_error err;
    onet_settings s = {1, 2, 16, 8, ONET_POOL_MAX, 2, 8, 0, 0, {0}};
    assert_int_equal(net_shape_make(sh, &s, &err), ONET_OK);
    float *now = calloc(2 * sh->total + 2 * vectors, sizeof *now), *want = now + sh->total + vectors;
    assert_non_null(now);
    for (size_t i = 0; i < sh->total; i++) now[i] = 0.1f + 0.01f * (float)(i % 17);
    for (int threads = 1; threads <= 2; threads++) {
        net *t;
        assert_int_equal(cpu_open(&t, sh, NULL, threads, &err), ONET_OK);
        assert_int_equal(t->ops->reserve(t, batch_of_one_size(B, SIZE), &err), ONET_OK);
        assert_int_equal(t->ops->data(t, sets, NULL, NULL, 1, &err), ONET_OK);
        assert_int_equal(t->ops->put(t, NET_THETA, now, &err), ONET_OK);
        assert_int_equal(t->ops->put(t, NET_AVERAGE, want, &err), ONET_OK);
        assert_int_equal(t->ops->put(t, NET_VECTORS_AVERAGE, want + sh->total, &err), ONET_OK);
        for (uint32_t step = 0; step < STEPS; step++) {
            uint32_t index[B];
            for (uint32_t i = 0; i < B; i++) index[i] = step * B + i;
            t->ops->start_step(t, index, B);
            t->ops->forward(t);
            t->ops->backward(t);
            t->ops->optimise(t, &(adam_step){1, 1e-3, 0.9, 0.999, 1e-8, 0.1, 0.001, 0}, 1, NULL);
            double decay = step ? 0.7 : 0;
            t->ops->average(t, decay);
            assert_int_equal(t->ops->get(t, NET_THETA, now, &err), ONET_OK);
            assert_int_equal(t->ops->get(t, NET_VECTORS, now + sh->total, &err), ONET_OK);
            for (size_t i = 0; i < sh->total + vectors; i++)
                want[i] = (float)(decay * (double)want[i] + (1 - decay) * (double)now[i]);
            assert_int_equal(t->ops->get(t, NET_AVERAGE, now, &err), ONET_OK);
            assert_int_equal(t->ops->get(t, NET_VECTORS_AVERAGE, now + sh->total, &err), ONET_OK);
            assert_memory_equal(now, want, (sh->total + vectors) * sizeof *now);
        }
        t->ops->close(t);
    }
    free(now);
    free(sh);
    onet_sets_free(sets);
}

static void a_loss_that_is_no_number_stops(void **state) {
    onet_sets *sets = sorting(400, 2, 6, 5);
    onet_train_options o = small_run();
    onet_model *m;
    onet_error err;
    o.learning_rate = 1e30;
    o.schedule = ONET_CONSTANT;
    o.warmup = 0;
    o.epochs = 20;
    o.model_path = help_path("nan.safetensors");
    assert_int_equal(onet_train(&m, sets, NULL, &o, &err), ONET_FAILED);
    assert_non_null(strstr(err.text, "at step"));
    assert_int_not_equal(access(o.model_path, F_OK), 0);
    onet_sets_free(sets);
}

static void bad_options_are_refused(void **state) {
    onet_sets *sets = sorting(50, 2, 6, 6), *ones = sorting(20, 1, 1, 6);
    onet_model *m = (onet_model *)1;
    onet_error err;
    onet_train_options good = small_run(), o;
    o = good, o.batch = 0;
    assert_int_equal(onet_train(&m, sets, NULL, &o, &err), ONET_USAGE);
    assert_null(m);
    o = good, o.learning_rate = NAN;
    assert_int_equal(onet_train(&m, sets, NULL, &o, &err), ONET_USAGE);
    o = good, o.schedule = (onet_schedule)2;
    assert_int_equal(onet_train(&m, sets, NULL, &o, &err), ONET_USAGE);
    o = good, o.statistics = (onet_statistics)-1;
    assert_int_equal(onet_train(&m, sets, NULL, &o, &err), ONET_USAGE);
    o = good, o.drop = 1;
    assert_int_equal(onet_train(&m, sets, NULL, &o, &err), ONET_USAGE);
    o = good, o.stray = 1;
    assert_int_equal(onet_train(&m, sets, NULL, &o, &err), ONET_USAGE);
    o = good, o.jitter = INFINITY;
    assert_int_equal(onet_train(&m, sets, NULL, &o, &err), ONET_USAGE);
    o = good, o.settings.hidden = 0;
    assert_int_equal(onet_train(&m, sets, NULL, &o, &err), ONET_USAGE);
    o = good, o.models = 0;
    assert_int_equal(onet_train(&m, sets, NULL, &o, &err), ONET_USAGE);
    o = good, o.models = 65;
    assert_int_equal(onet_train(&m, sets, NULL, &o, &err), ONET_USAGE);
    o = good, o.vary = (onet_variation)3;
    assert_int_equal(onet_train(&m, sets, NULL, &o, &err), ONET_USAGE);
    o = good, o.models = 2, o.train_vectors = 1;
    assert_int_equal(onet_train(&m, sets, NULL, &o, &err), ONET_USAGE);
    assert_null(m);
    o = good, o.settings.width = 3;
    assert_int_equal(onet_train(&m, sets, NULL, &o, &err), ONET_USAGE);
    assert_int_equal(onet_train(&m, ones, NULL, &good, &err), ONET_BAD);
    o = good, o.model_path = "/nowhere/at/all.safetensors";
    assert_int_equal(onet_train(&m, sets, NULL, &o, &err), ONET_IO);
    onet_sets_free(sets);
    onet_sets_free(ones);
}

static double exact(const onet_model *m, const onet_sets *sets) {
    onet_orderer *orderer;
    onet_error err;
    onet_report report;
    onet_answer *a = calloc(sets->count, sizeof *a);
    int32_t *order = malloc(sets->start[sets->count] * sizeof *order);
    assert_true(a && order);
    for (size_t s = 0; s < sets->count; s++) a[s].order = order + sets->start[s];
    assert_int_equal(onet_orderer_new(&orderer, m, NULL, &err), ONET_OK);
    assert_int_equal(onet_orderer_run(orderer, sets, a, &err), ONET_OK);
    assert_int_equal(onet_measure_sets(&report, sets, a, NULL, 0, &err), ONET_OK);
    onet_orderer_free(orderer);
    free(a);
    free(order);
    return report.exact.mean;
}

/* The short version; tests/long/learn.c has the long ones. */
static void it_learns_to_sort(void **state) {
    onet_sets *sets = sorting(6000, 2, 8, 7), *same = sorting(300, 8, 8, 8),
              *longer = sorting(300, 12, 12, 9);
    onet_train_options o = small_run();
    o.settings = (onet_settings){0, 2, 32, 16, ONET_POOL_MAX, 3, 16, 0, 0, {0}};
    o.epochs = 4;
    o.learning_rate = 4e-3;
    onet_model *m = train(sets, NULL, &o);
    double seen = exact(m, same), unseen = exact(m, longer);
    print_message("exact at 8: %.3f, at 12, never seen: %.3f\n", seen, unseen);
    assert_true(seen > 0.97);
    assert_true(unseen > 0.90);
    onet_model_free(m);
    onet_sets_free(sets);
    onet_sets_free(same);
    onet_sets_free(longer);
}

static void a_step_allocates_nothing(void **state) {
    alloc_works_or_skip();
    onet_sets *sets = sorting(200, 5, 9, 10);
    net_shape *sh = malloc(sizeof *sh);
    net *t;
    onet_error err;
    onet_settings s = {1, 2, 32, 16, ONET_POOL_MAX, 2, 16, 0, 0, {0}};
    assert_int_equal(net_shape_make(sh, &s, &err), ONET_OK);
    for (const char *const *k = kernels_available(); *k; k++) {
        assert_int_equal(cpu_open(&t, sh, *k, 2, &err), ONET_OK);
        assert_int_equal(t->ops->reserve(t, batch_of_one_size(16, 9), &err), ONET_OK);
        assert_int_equal(t->ops->data(t, sets, NULL, NULL, 0, &err), ONET_OK);
        float *average = calloc(sh->total, sizeof *average);
        assert_non_null(average);
        assert_int_equal(t->ops->put(t, NET_AVERAGE, average, &err), ONET_OK);
        free(average);
        uint32_t index[16];
        int found = 0;
        for (uint32_t i = 0; i < 200 && found < 16; i++)
            if (sets_size(sets, i) == 9) index[found++] = i;
        size_t before = alloc_count();
        for (int step = 0; step < 3; step++) {
            t->ops->start_step(t, index, found);
            t->ops->forward(t);
            t->ops->backward(t);
            t->ops->optimise(t, &(adam_step){1, 1e-3, 0.9, 0.999, 1e-8, 0.1, 0.001, 0}, 1, NULL);
            t->ops->average(t, 0.9);
        }
        assert_int_equal(alloc_count(), before);
        t->ops->close(t);
    }
    free(sh);
    onet_sets_free(sets);
}

static void ordering_again_allocates_nothing(void **state) {
    alloc_works_or_skip();
    onet_sets *sets = sorting(50, 2, 12, 11);
    onet_model *m;
    onet_orderer *orderer;
    onet_error err;
    onet_settings s = {1, 2, 32, 16, ONET_POOL_MAX, 2, 16, 0, 0, {0}};
    assert_int_equal(model_new(&m, &s, &err), ONET_OK);
    assert_int_equal(onet_orderer_new(&orderer, m, NULL, &err), ONET_OK);
    onet_answer a[50];
    int32_t order[50][12];
    for (int i = 0; i < 50; i++) a[i] = (onet_answer){.order = order[i]};
    assert_int_equal(onet_orderer_run(orderer, sets, a, &err), ONET_OK);
    size_t before = alloc_count();
    assert_int_equal(onet_orderer_run(orderer, sets, a, &err), ONET_OK);
    assert_int_equal(alloc_count(), before);
    onet_orderer_free(orderer);
    onet_model_free(m);
    onet_sets_free(sets);
}

/* Makes allocation 0, 1, 2, ... of a job fail until it gets through; each failure must be a clean status. */
#define SURVIVES(job)                                                                                        \
    do {                                                                                                     \
        for (int rest = 0; rest < 2; rest++)                                                                 \
            for (size_t which = 0;; which++) {                                                               \
                onet_error said = {.text = ""};                                                              \
                alloc_fail(which, rest);                                                                     \
                onet_status status = job(&said);                                                             \
                int reached = alloc_failed();                                                                \
                alloc_fail(SIZE_MAX, 0);                                                                     \
                if (status && !reached) fail_msg("status %d without a failure: %s", (int)status, said.text); \
                if (status && status != ONET_MEMORY)                                                         \
                    fail_msg("allocation %zu: status %d, %s", which, (int)status, said.text);                \
                if (status && !said.text[0]) fail_msg("allocation %zu: no error message", which);            \
                if (!reached) break;                                                                         \
            }                                                                                                \
    } while (0)

static onet_sets *few;

static onet_status load_job(onet_error *err) {
    onet_model *m;
    onet_status status = onet_model_load(&m, help_path("memory.safetensors"), err);
    if (!status) onet_model_free(m);
    return status;
}

static onet_model *loaded;

static onet_status order_job(onet_error *err) {
    float x[4] = {0.1f, 0.4f, 0.2f, 0.3f};
    int32_t order[4];
    return onet_order(loaded, x, 4, order, NULL, err);
}

static onet_status train_job(onet_error *err) {
    onet_train_options o = small_run();
    onet_model *m;
    o.max_steps = 1;
    o.average = 0.9;
    o.drop = 0.5;
    o.jitter = 0.1;
    o.threads = 2;
    onet_status status = onet_train(&m, few, few, &o, err);
    if (!status) onet_model_free(m);
    return status;
}

static onet_status pick_job(onet_error *err) {
    size_t *place;
    onet_sets *some = NULL;
    uint8_t take[20] = {0};
    onet_status status = pick_places(&place, few->count, 1, err);
    if (status) return status;
    for (size_t s = 0; s < few->count; s++) take[s] = place[s] < 10;
    status = pick_sets(&some, few, take, err);
    onet_sets_free(some);
    free(place);
    return status;
}

static void failing_memory_is_survived(void **state) {
    alloc_works_or_skip();
    onet_error err;
    few = sorting(20, 2, 5, 12);
    onet_train_options o = small_run();
    o.max_steps = 2;
    o.model_path = help_path("memory.safetensors");
    onet_model_free(train(few, NULL, &o));
    SURVIVES(load_job);
    assert_int_equal(onet_model_load(&loaded, help_path("memory.safetensors"), &err), ONET_OK);
    SURVIVES(order_job);
    onet_model_free(loaded);
    SURVIVES(train_job);
    SURVIVES(pick_job);
    onet_sets_free(few);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_give_the_same_bits),
        cmocka_unit_test(a_resumed_run_equals_an_unbroken_one),
        cmocka_unit_test(the_best_and_patience_go_by_log_likelihood),
        cmocka_unit_test(a_stop_may_keep_the_model),
        cmocka_unit_test(a_stop_ends_a_validation),
        cmocka_unit_test(an_epoch_ends_with_its_validation),
        cmocka_unit_test(several_models_are_merged),
        cmocka_unit_test(a_stop_may_keep_several_models),
        cmocka_unit_test(fine_tuning),
        cmocka_unit_test(fine_tuning_of_other_items_is_refused),
        cmocka_unit_test(the_average_is_that_of_all_steps),
        cmocka_unit_test(a_loss_that_is_no_number_stops),
        cmocka_unit_test(bad_options_are_refused),
        cmocka_unit_test(it_learns_to_sort),
        cmocka_unit_test(a_step_allocates_nothing),
        cmocka_unit_test(ordering_again_allocates_nothing),
        cmocka_unit_test(failing_memory_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, help_clean);
}
