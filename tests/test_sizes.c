/* Tests norm statistics by the size of the set: the fitted line and the rows of frequent sizes, their use in
 * ordering, their measurement in training, and the model file. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alloc_count.h"
#include "engine/data/safetensors.h"
#include "engine/data/sets.h"
#include "engine/decode/frozen.h"
#include "engine/model/generated.h"
#include "engine/model/model.h"
#include "engine/train/sizes.h"
#include "paper_form.h"
#include "unit.h"

static const onet_settings small = {.width = 2,
                                    .encoder_blocks = 2,
                                    .hidden = 12,
                                    .encoder_out = 5,
                                    .pool = ONET_POOL_MAX,
                                    .decoder_blocks = 2,
                                    .decoder_out = 6};

static onet_model *some_model(int sized) {
    onet_model *m;
    onet_error err;
    assert_int_equal(model_new(&m, &small, &err), ONET_OK);
    generated_theta(&m->sh, 5, m->theta);
    m->sized = sized;
    m->inverse_size = 0.125f;
    for (size_t i = 0; sized && i < m->sh.total - m->sh.trained; i++)
        m->slope[i] = (float)(2 * generated_uniform(5, 80, i) - 1);
    return m;
}

static onet_sets *sets_of(const int *n, int count) {
    onet_sets *sets;
    onet_error err;
    float x[256 * 2];
    int32_t y[256];
    assert_int_equal(sets_new(&sets, 2, &err), ONET_OK);
    for (int s = 0; s < count; s++) {
        generated_batch(9, s, 1, n[s], 2, x, y);
        assert_int_equal(sets_append(sets, (size_t)n[s], 2, x, y, &err), ONET_OK);
    }
    return sets;
}

/* ---- the line ---- */

/* Statistics that lie on a line in 1/n: means directly, variances in the logarithm.
 */
static double on_line(const tensor *t, size_t i, double n) {
    double a = 0.3 + 0.01 * (double)i, b = 0.7 - 0.02 * (double)i;
    return tensor_is_variance(t) ? exp(a + b / n) - NORM_EPSILON : a + b / n;
}

static void finds_the_line(void **state) {
    onet_model *m = some_model(0);
    const net_shape *sh = &m->sh;
    size_t count = sh->total - sh->trained;
    float *statistics = calloc(count, sizeof *statistics);
    sizes s;
    assert_true(sizes_new(&s, sh));
    for (int n = 5; n <= 20; n++) {
        for (int k = 0; k < sh->tensors; k++)
            for (size_t i = 0; !sh->tensor[k].trained && i < sh->tensor[k].size; i++)
                statistics[sh->tensor[k].offset - sh->trained + i] = (float)on_line(&sh->tensor[k], i, n);
        sizes_add(&s, batch_of_one_size(n % 3 + 1, n), statistics);
    }
    sizes_fit(&s, m);
    assert_true(m->sized);
    const int at[] = {5, 7, 20, 50, 1000, 4, 1};
    for (size_t a = 0; a < sizeof at / sizeof *at; a++) {
        model_statistics(m, at[a], statistics);
        for (int k = 0; k < sh->tensors; k++)
            for (size_t i = 0; !sh->tensor[k].trained && i < sh->tensor[k].size; i++) {
                double meant = on_line(&sh->tensor[k], i, at[a] < 5 ? 5 : at[a]); /* it ends at 5 */
                float found = statistics[sh->tensor[k].offset - sh->trained + i];
                if (fabs((double)found - meant) > 1e-5 * (1 + fabs(meant)))
                    fail_msg("%s[%zu] at n = %d: %g, should be %g", sh->tensor[k].name, i, at[a],
                             (double)found, meant);
            }
    }
    sizes_free(&s);
    free(statistics);
    onet_model_free(m);
}

/* Sizes 2 and 8 have enough sets for statistics of their own, size 4 has one set too few: it has those of the
 * line, as sizes that were not seen have. */
static void many_sets_have_their_own(void **state) {
    onet_model *m = some_model(0);
    size_t count = m->sh.total - m->sh.trained;
    float *of[3], *found = calloc(count, sizeof *found);
    const int n[3] = {2, 4, 8}, sets[3] = {SIZE_SETS, SIZE_SETS - 1, 2 * SIZE_SETS};
    sizes s;
    assert_true(sizes_new(&s, &m->sh));
    for (int k = 0; k < 3; k++) {
        of[k] = calloc(count, sizeof *of[k]);
        for (size_t i = 0; i < count; i++) of[k][i] = (float)generated_uniform(3, (uint64_t)k, i);
        for (int b = 0; b < 2; b++) /* in two batches */
            assert_true(sizes_add(&s, batch_of_one_size(b ? sets[k] - 1000 : 1000, n[k]), of[k]));
    }
    assert_true(sizes_fit(&s, m));
    assert_true(m->sized);
    assert_int_equal(m->rows, 2);
    const int at[] = {1, 2, 4, 8, 16}, row[] = {0, 0, 1, 2, 2};
    for (int a = 0; a < 5; a++) {
        double most = 0;
        model_statistics(m, at[a], found);
        for (size_t i = 0; i < count; i++) most = fmax(most, fabs((double)found[i] - (double)of[row[a]][i]));
        if (at[a] == 4 || at[a] == 16)
            assert_true(most > 0.01);
        else
            assert_true(most < 1e-6);
    }
    /* After a batch of mixed sizes: no rows and no line, the same statistics for all sizes. */
    batch_size mixed = batch_of_one_size(10, 8);
    mixed.pairs--;
    assert_true(sizes_add(&s, mixed, of[0]));
    assert_true(sizes_fit(&s, m));
    assert_false(m->sized);
    assert_int_equal(m->rows, 0);
    for (int k = 0; k < 3; k++) free(of[k]);
    free(found);
    sizes_free(&s);
    onet_model_free(m);
}

static void draws_no_line_from_one_place(void **state) {
    const int close[][2] = {{6, 6}, {6, 11}};
    for (int c = 0; c < 2; c++) {
        onet_model *m = some_model(0);
        size_t count = m->sh.total - m->sh.trained;
        float *statistics = calloc(count, sizeof *statistics);
        sizes s;
        assert_true(sizes_new(&s, &m->sh));
        for (int k = 0; k < 2; k++) {
            for (size_t i = 0; i < count; i++) statistics[i] = 0.5f + (float)k;
            sizes_add(&s, batch_of_one_size(10, close[c][k]), statistics);
        }
        sizes_fit(&s, m);
        assert_false(m->sized);
        for (size_t i = 0; i < count; i++) assert_true(m->slope[i] == 0);
        model_statistics(m, 100, statistics);
        assert_memory_equal(statistics, m->theta + m->sh.trained, count * sizeof *statistics);
        sizes_free(&s);
        free(statistics);
        onet_model_free(m);
    }
}

/* Thousands of sets of one size and one of another: a line through both would be that one set's. */
static void draws_no_line_through_one_odd_set(void **state) {
    onet_model *m = some_model(0);
    size_t count = m->sh.total - m->sh.trained;
    float *statistics = calloc(count, sizeof *statistics);
    sizes s;
    assert_true(sizes_new(&s, &m->sh));
    for (size_t i = 0; i < count; i++) statistics[i] = 0.5f;
    for (int b = 0; b < 128; b++) sizes_add(&s, batch_of_one_size(32, 10), statistics);
    memset(statistics, 0, count * sizeof *statistics);
    sizes_add(&s, batch_of_one_size(1, 3), statistics);
    sizes_fit(&s, m);
    assert_false(m->sized);
    for (size_t i = 0; i < count; i++) {
        assert_true(m->slope[i] == 0);
        assert_true(fabsf(m->theta[m->sh.trained + i] - 0.5f) < 1e-3f);
    }
    /* With enough sets of the other size there is a line. */
    for (int b = 0; b < 32; b++) sizes_add(&s, batch_of_one_size(32, 3), statistics);
    sizes_fit(&s, m);
    assert_true(m->sized);
    sizes_free(&s);
    free(statistics);
    onet_model_free(m);
}

/* A channel that one batch of eight activates, at two sizes: its variance is an eighth of that batch's at
 * both. */
static void keeps_the_variance_of_rare_channels(void **state) {
    onet_model *m = some_model(0);
    const net_shape *sh = &m->sh;
    size_t count = sh->total - sh->trained;
    float *statistics = calloc(count, sizeof *statistics);
    sizes s;
    assert_true(sizes_new(&s, sh));
    for (int n = 4; n <= 16; n += 12)
        for (int b = 0; b < 8; b++) {
            for (size_t i = 0; i < count; i++) statistics[i] = b == 3 ? 0.5f : 0;
            sizes_add(&s, batch_of_one_size(32 * 16 / n * 4 / n, n), statistics);
        }
    sizes_fit(&s, m);
    assert_true(m->sized);
    for (int n = 4; n <= 16; n += 4) {
        model_statistics(m, n, statistics);
        for (size_t i = 0; i < count; i++)
            if (fabsf(statistics[i] - 0.0625f) > 1e-4f)
                fail_msg("statistic %zu at n = %d: %g", i, n, (double)statistics[i]);
    }
    sizes_free(&s);
    free(statistics);
    onet_model_free(m);
}

/* ---- ordering ---- */

/* Sets of 1 to 150 items in one call, more sizes than a freezer holds: each scored as by a model whose
 * statistics are those of its size and the same for all. */
static void orders_by_size(void **state) {
    enum { SIZES = 150 };
    onet_error err;
    onet_model *sized = some_model(1), *fixed = some_model(0);
    int n[2 * SIZES];
    for (int i = 0; i < SIZES; i++) n[i] = n[2 * SIZES - 1 - i] = i + 1;
    onet_sets *sets = sets_of(n, 2 * SIZES);
    double score[3][2 * SIZES];
    int moved = 0;
    for (int threads = 1; threads <= 3; threads++) {
        onet_orderer *r;
        onet_order_options o = {.size = sizeof o, .threads = threads, .device = "cpu"};
        assert_int_equal(onet_orderer_new(&r, sized, &o, &err), ONET_OK);
        assert_int_equal(onet_orderer_score(r, sets, score[threads - 1], &err), ONET_OK);
        onet_orderer_free(r);
    }
    assert_memory_equal(score[1], score[0], sizeof score[0]);
    assert_memory_equal(score[2], score[0], sizeof score[0]);
    for (int i = 0; i < SIZES; i += 7) {
        float before[512];
        double plain, same;
        onet_orderer *r;
        onet_sets *one = sets_of(n, i + 1);
        onet_sets view = *one;
        view.start += i;
        view.count = 1;
        size_t count = fixed->sh.total - fixed->sh.trained;
        memcpy(before, fixed->theta + fixed->sh.trained, count * sizeof *before);
        for (int k = 0; k < 2; k++) {
            if (k) model_statistics(sized, i + 1, fixed->theta + fixed->sh.trained);
            assert_int_equal(
                onet_orderer_new(&r, fixed,
                                 &(onet_order_options){.size = sizeof(onet_order_options), .device = "cpu"},
                                 &err),
                ONET_OK);
            assert_int_equal(onet_orderer_score(r, &view, k ? &same : &plain, &err), ONET_OK);
            onet_orderer_free(r);
        }
        assert_true(same == score[0][i]);
        moved += fabs(plain - same) > 1e-3;
        memcpy(fixed->theta + fixed->sh.trained, before, count * sizeof *before);
        onet_sets_free(one);
    }
    assert_true(moved > 10);
    onet_sets_free(sets);
    onet_model_free(sized);
    onet_model_free(fixed);
}

/* Memory that runs out while a size is prepared: ONET_MEMORY, and the orderer works afterwards. */
static void memory_runs_out_between_sizes(void **state) {
    alloc_works_or_skip();
    onet_error err;
    onet_model *m = some_model(1);
    const int first[] = {4}, more[] = {4, 7, 2, 9};
    enum { MORE = 4 };
    onet_sets *one = sets_of(first, 1), *all = sets_of(more, MORE);
    const onet_order_options o = {.size = sizeof o, .threads = 1, .device = "cpu"};
    double meant[MORE], got[MORE];
    onet_orderer *r;
    assert_int_equal(onet_orderer_new(&r, m, &o, &err), ONET_OK);
    assert_int_equal(onet_orderer_score(r, all, meant, &err), ONET_OK);
    onet_orderer_free(r);
    int points = 0;
    for (int reached = 1; reached; points++) {
        assert_int_equal(onet_orderer_new(&r, m, &o, &err), ONET_OK);
        assert_int_equal(onet_orderer_score(r, one, got, &err), ONET_OK);
        alloc_fail((size_t)points, 0);
        onet_status status = onet_orderer_score(r, all, got, &err);
        reached = alloc_failed();
        alloc_fail(SIZE_MAX, 0);
        assert_int_equal(status, reached ? ONET_MEMORY : ONET_OK);
        assert_int_equal(onet_orderer_score(r, all, got, &err), ONET_OK);
        assert_memory_equal(got, meant, sizeof meant);
        onet_orderer_free(r);
    }
    assert_true(points > 3 * (2 + 5 * 2)); /* for each new size the net itself, and some for each block */
    onet_sets_free(one);
    onet_sets_free(all);
    onet_model_free(m);
}

/* Slopes as large as a number can be: statistics stay numbers, and an answer is an order or a status. */
static void the_steepest_slopes_are_survived(void **state) {
    enum { N = 9 };
    onet_error err;
    onet_model *m = some_model(1);
    size_t count = m->sh.total - m->sh.trained;
    float *statistics = calloc(count, sizeof *statistics), items[N * 2];
    int32_t order[N], y[N];
    generated_batch(3, 0, 1, N, 2, items, y);
    for (int sign = -1; sign <= 1; sign += 2) {
        for (size_t i = 0; i < count; i++) m->slope[i] = (float)sign * 3e38f;
        for (int n = 1; n <= N; n++) {
            model_statistics(m, n, statistics);
            for (size_t i = 0; i < count; i++) assert_true(isfinite(statistics[i]));
            onet_status status = onet_order(m, items, n, order, NULL, &err);
            if (status) {
                assert_int_equal(status, ONET_BAD);
                continue;
            }
            int seen[N] = {0};
            for (int t = 0; t < n; t++) {
                assert_in_range(order[t], 0, n - 1);
                assert_false(seen[order[t]]++);
            }
        }
    }
    free(statistics);
    onet_model_free(m);
}

static void keeps_what_is_ready(void **state) {
    onet_model *m = some_model(1);
    freezer z;
    assert_true(freezer_new(&z, m, kernels_pick("plain")));
    const frozen *five = freezer_prepare(&z, 5);
    assert_non_null(five);
    assert_ptr_equal(freezer_prepare(&z, 5), five);
    assert_null(freezer_find(&z, 6));
    for (int n = 6; z.count < FROZEN_SIZES; n++) assert_non_null(freezer_prepare(&z, n));
    assert_ptr_equal(freezer_find(&z, 5), five);
    assert_int_equal(freezer_prepare(&z, 1000)->n, 1000);
    assert_int_equal(z.count, 1);
    freezer_free(&z);
    m->sized = false;
    assert_true(freezer_new(&z, m, kernels_pick("plain")));
    assert_ptr_equal(freezer_prepare(&z, 5), freezer_prepare(&z, 50));
    assert_int_equal(z.count, 1);
    freezer_free(&z);
    onet_model_free(m);
}

/* ---- training ---- */

/* One size per batch, statistics measured, a small net. */
static onet_train_options measuring(void) {
    onet_train_options o;
    onet_train_defaults(&o, sizeof o);
    o.batches = ONET_BATCHES_ONE_SIZE;
    o.statistics = ONET_STATISTICS_MEASURED;
    o.settings = small;
    o.device = "cpu";
    return o;
}

/* One batch is all there is: the model's statistics are then those of that batch under its own final weights,
 * as the paper's form gives them. */
static void measures_what_the_norms_see(void **state) {
    enum { B = 24, N = 6 };
    onet_error err;
    int n[B];
    for (int i = 0; i < B; i++) n[i] = N;
    onet_sets *sets = sets_of(n, B);
    onet_train_options o = measuring();
    o.batch = B;
    o.epochs = 5;
    o.average = 0;
    o.standardise = 0;
    onet_model *m;
    assert_int_equal(onet_train(&m, sets, NULL, &o, &err), ONET_OK);
    assert_false(m->sized);
    size_t count = m->sh.total - m->sh.trained;
    double *running = calloc(count, sizeof *running), *logits = calloc(B * N * N, sizeof *logits), loss;
    float *theta = calloc(m->sh.total, sizeof *theta);
    memcpy(theta, m->theta, m->sh.trained * sizeof *theta);
    paper_forward(&m->sh, theta, running, B, N, sets->items, sets->order, 1, logits, &loss);
    for (size_t i = 0; i < count; i++) {
        double meant = running[i] / NORM_MOMENTUM, found = (double)m->theta[m->sh.trained + i];
        if (fabs(found - meant) > 1e-4 * (1 + fabs(meant)))
            fail_msg("statistic %zu is %g, should be %g", i, found, meant);
    }
    free(running);
    free(logits);
    free(theta);
    onet_model_free(m);

    /* The running averages, when they are asked for, are others. */
    o.statistics = ONET_STATISTICS_RUNNING;
    onet_model *plain;
    assert_int_equal(onet_train(&plain, sets, NULL, &o, &err), ONET_OK);
    assert_false(plain->sized);
    assert_string_equal(onet_model_record(plain, "statistics"), "running");
    onet_model_free(plain);
    onet_sets_free(sets);
}

/* Measuring leaves the training as it was: with validation after each epoch the weights are those without. */
static void measuring_changes_nothing(void **state) {
    enum { COUNT = 300 };
    onet_error err;
    int n[COUNT];
    for (int i = 0; i < COUNT; i++) n[i] = 2 + i % 7;
    onet_sets *sets = sets_of(n, COUNT);
    onet_train_options o = measuring();
    o.epochs = 3;
    onet_model *m[3];
    assert_int_equal(onet_train(&m[0], sets, NULL, &o, &err), ONET_OK);
    assert_int_equal(onet_train(&m[1], sets, sets, &o, &err), ONET_OK);
    o.statistics = ONET_STATISTICS_RUNNING;
    assert_int_equal(onet_train(&m[2], sets, sets, &o, &err), ONET_OK);
    assert_true(m[0]->sized && m[1]->sized && !m[2]->sized);
    assert_string_equal(onet_model_record(m[0], "statistics"), "measured");
    assert_memory_equal(m[1]->theta, m[0]->theta, m[0]->sh.total * sizeof(float));
    assert_memory_equal(m[1]->slope, m[0]->slope, (m[0]->sh.total - m[0]->sh.trained) * sizeof(float));
    assert_memory_equal(m[2]->theta, m[0]->theta, m[0]->sh.trained * sizeof(float));
    for (int i = 0; i < 3; i++) onet_model_free(m[i]);
    onet_sets_free(sets);
}

/* More sets than are measured: models of two seeds have their lines at the same place and rows for the same
 * sizes, so that they can be merged. Size 6 has too few sets for a row. */
static void all_seeds_measure_the_same(void **state) {
    enum { COUNT = 80000 };
    onet_error err;
    int *n = calloc(COUNT, sizeof *n);
    for (int i = 0; i < COUNT; i++) n[i] = i % 80 == 0 ? 6 : i % 37 == 0 ? 5 : 2 + i % 3;
    onet_sets *sets = sets_of(n, COUNT);
    onet_train_options o = measuring();
    o.batch = 512;
    o.max_steps = 1;
    onet_model *m[2], *merged;
    for (int k = 0; k < 2; k++) {
        o.seed = (uint64_t)k + 1;
        assert_int_equal(onet_train(&m[k], sets, NULL, &o, &err), ONET_OK);
        assert_true(m[k]->sized);
        assert_int_equal(m[k]->rows, 4);
        for (int r = 0; r < 4; r++) assert_true(m[k]->row_size[r] == (float)(2 + r));
    }
    assert_true(m[0]->inverse_size == m[1]->inverse_size);
    assert_int_equal(onet_model_merge(&merged, (const onet_model *const *)m, 2, &err), ONET_OK);
    onet_model_free(merged);
    for (int k = 0; k < 2; k++) onet_model_free(m[k]);
    onet_sets_free(sets);
    free(n);
}

/* However large the batch, the sizes that the line needs are among those that are measured. */
static void large_batches_measure_several_sizes(void **state) {
    enum { EACH = 5000, SIZES = 3 };
    onet_error err;
    int *n = calloc(EACH * SIZES, sizeof *n);
    for (int i = 0; i < EACH * SIZES; i++) n[i] = 2 + i % SIZES;
    onet_sets *sets = sets_of(n, EACH * SIZES);
    onet_train_options o = measuring();
    o.batch = EACH;
    o.epochs = 1;
    onet_model *m;
    assert_int_equal(onet_train(&m, sets, NULL, &o, &err), ONET_OK);
    assert_true(m->sized);
    onet_model_free(m);
    onet_sets_free(sets);
    free(n);
}

static void same_model(const onet_model *a, const onet_model *b) {
    char x[65], y[65];
    model_checksum(a, x);
    model_checksum(b, y);
    assert_string_equal(x, y);
}

/* The statistics do not affect training: a checkpoint can be resumed, or made a model, with either setting.
 */
static void resumes_with_other_statistics(void **state) {
    enum { COUNT = 200 };
    char folder[] = "/tmp/ordernet-sizes-XXXXXX", path[64], command[64];
    onet_error err;
    int n[COUNT];
    for (int i = 0; i < COUNT; i++) n[i] = 2 + i % 7;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/m.safetensors", folder);
    onet_sets *sets = sets_of(n, COUNT);
    onet_train_options o = measuring();
    o.epochs = 2;
    o.resume = 1;
    onet_model *alone[2], *resumed;
    for (int k = 0; k < 2; k++) {
        o.statistics = k ? ONET_STATISTICS_MEASURED : ONET_STATISTICS_RUNNING;
        assert_int_equal(onet_train(&alone[k], sets, NULL, &o, &err), ONET_OK);
    }
    o.model_path = path;
    for (int k = 1; k >= 0; k--) {
        o.statistics = k ? ONET_STATISTICS_MEASURED : ONET_STATISTICS_RUNNING;
        assert_int_equal(onet_train(&resumed, sets, NULL, &o, &err), ONET_OK);
        same_model(resumed, alone[k]);
        onet_model_free(resumed);
    }
    for (int k = 0; k < 2; k++) onet_model_free(alone[k]);
    onet_sets_free(sets);
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

/* ---- the file ---- */

/* onet_model_tensor lists the tensors of the model's file. */
static void expect_listed(const onet_model *m, const char *path) {
    safetensors *file;
    onet_tensor t;
    size_t count = 0;
    assert_int_equal(safetensors_open(&file, path, NULL), ONET_OK);
    for (; onet_model_tensor(m, count, &t); count++) {
        size_t k = 0;
        while (k < file->tensors && strcmp(file->tensor[k].name, t.name)) k++;
        if (k == file->tensors) fail_msg("%s is not in the file", t.name);
    }
    assert_int_equal(count, file->tensors);
    safetensors_close(file);
}

/* The file has no tensor of this name any more. */
static void change_name(const char *path, const char *name) {
    FILE *in = fopen(path, "rb+");
    char head[65536];
    size_t got = fread(head, 1, sizeof head, in);
    char *found = memmem(head, got, name, strlen(name));
    assert_non_null(found);
    fseek(in, found - head, SEEK_SET);
    fputc('D', in);
    fclose(in);
}

static void file_keeps_it(void **state) {
    char path[] = "/tmp/ordernet-sizes-XXXXXX", before[65], after[65];
    onet_error err;
    close(mkstemp(path));
    onet_model *m = some_model(1), *again, *bad;
    assert_int_equal(onet_model_save(m, path, &err), ONET_OK);
    assert_int_equal(onet_model_load(&again, path, &err), ONET_OK);
    assert_true(again->sized);
    assert_true(again->inverse_size == m->inverse_size);
    assert_memory_equal(again->slope, m->slope, (m->sh.total - m->sh.trained) * sizeof *m->slope);
    model_checksum(m, before);
    model_checksum(again, after);
    assert_string_equal(before, after);
    again->slope[3] += 1;
    model_checksum(again, after);
    assert_string_not_equal(before, after);
    expect_listed(again, path);
    onet_model_free(again);

    /* Where the line ends, when it does. */
    m->smallest_size = 3;
    assert_int_equal(onet_model_save(m, path, &err), ONET_OK);
    assert_int_equal(onet_model_load(&again, path, &err), ONET_OK);
    assert_true(again->smallest_size == 3);
    expect_listed(again, path);
    onet_model_free(again);

    /* Rows of single sizes. */
    assert_true(model_make_rows(m, 2));
    m->row_size[0] = 4;
    m->row_size[1] = 9;
    size_t count = m->sh.total - m->sh.trained;
    for (size_t i = 0; i < 2 * count; i++) m->row[i] = 0.25f + (float)i;
    assert_int_equal(onet_model_save(m, path, &err), ONET_OK);
    assert_int_equal(onet_model_load(&again, path, &err), ONET_OK);
    assert_int_equal(again->rows, 2);
    assert_memory_equal(again->row_size, m->row_size, 2 * sizeof *m->row_size);
    assert_memory_equal(again->row, m->row, 2 * count * sizeof *m->row);
    model_checksum(m, before);
    model_checksum(again, after);
    assert_string_equal(before, after);
    again->row[count + 1] += 1;
    model_checksum(again, after);
    assert_string_not_equal(before, after);
    expect_listed(again, path);
    onet_model_free(again);
    change_name(path, "norm.statistics");
    assert_int_equal(onet_model_load(&bad, path, &err), ONET_BAD);
    assert_non_null(strstr(err.text, "norm.statistics"));
    const float wrong[] = {0, 4, 9.5f, -1, NAN, 1e30f};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        m->row_size[1] = wrong[i];
        assert_int_equal(onet_model_save(m, path, &err), ONET_FAILED);
        assert_non_null(strstr(err.text, "norm.sizes"));
    }
    m->row_size[1] = 9;
    m->row[count] = INFINITY;
    assert_int_equal(onet_model_save(m, path, &err), ONET_FAILED);
    assert_non_null(strstr(err.text, "norm.statistics"));
    for (size_t i = count; i < 2 * count; i++) m->row[i] = -1; /* means may be, variances not */
    assert_int_equal(onet_model_save(m, path, &err), ONET_FAILED);
    assert_true(model_make_rows(m, 0));
    assert_int_equal(onet_model_save(m, path, &err), ONET_OK);

    /* Not a number, or out of range: neither written nor read. */
    m->slope[2] = NAN;
    assert_int_equal(onet_model_save(m, path, &err), ONET_FAILED);
    m->slope[2] = 0;
    m->inverse_size = 2;
    assert_int_equal(onet_model_save(m, path, &err), ONET_FAILED);
    m->inverse_size = 0.5f;
    m->smallest_size = INFINITY;
    assert_int_equal(onet_model_save(m, path, &err), ONET_FAILED);
    m->smallest_size = 0;
    assert_int_equal(onet_model_load(&again, path, &err), ONET_OK);
    onet_model_free(again);

    /* A file that says that it has slopes and has not all of them. */
    change_name(path, "decoder.1.norm.var_slope");
    assert_int_equal(onet_model_load(&bad, path, &err), ONET_BAD);
    assert_non_null(strstr(err.text, "decoder.1.norm.var_slope"));
    unlink(path);
    onet_model_free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_line),
        cmocka_unit_test(many_sets_have_their_own),
        cmocka_unit_test(draws_no_line_from_one_place),
        cmocka_unit_test(keeps_the_variance_of_rare_channels),
        cmocka_unit_test(draws_no_line_through_one_odd_set),
        cmocka_unit_test(orders_by_size),
        cmocka_unit_test(memory_runs_out_between_sizes),
        cmocka_unit_test(the_steepest_slopes_are_survived),
        cmocka_unit_test(keeps_what_is_ready),
        cmocka_unit_test(measures_what_the_norms_see),
        cmocka_unit_test(measuring_changes_nothing),
        cmocka_unit_test(all_seeds_measure_the_same),
        cmocka_unit_test(large_batches_measure_several_sizes),
        cmocka_unit_test(resumes_with_other_statistics),
        cmocka_unit_test(file_keeps_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
