/* Tests the paper's form in C (paper_form.c) against the golden results of the PyTorch reference, on every
 * golden case: outputs agree to the last digits of a double, and the golden gradients with finite
 * differences. Also tests the comparison of gradients in golden_file.c. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/model/generated.h"
#include "golden_file.h"
#include "paper_form.h"
#include "unit.h"

typedef struct inputs {
    golden g;
    net_shape sh;
    float *theta, *x; /* [total], [B, n, d] */
    int32_t *y;       /* [B, n] */
} inputs;

static void *need(void *memory) {
    assert_non_null(memory);
    return memory;
}

static void inputs_load(inputs *in, const char *name) {
    golden_load(&in->g, name);
    onet_error err;
    assert_int_equal(net_shape_make(&in->sh, &in->g.settings, &err), ONET_OK);
    size_t items = (size_t)in->g.B * (size_t)in->g.n;
    in->theta = need(malloc(in->sh.total * sizeof *in->theta));
    in->x = need(malloc(items * (size_t)in->g.settings.width * sizeof *in->x));
    in->y = need(malloc(items * sizeof *in->y));
    generated_theta(&in->sh, in->g.seed, in->theta);
    generated_batch(in->g.seed, 0, in->g.B, in->g.n, in->g.settings.width, in->x, in->y);
}

static void inputs_free(inputs *in) {
    golden_free(&in->g);
    free(in->theta);
    free(in->x);
    free(in->y);
}

static void check(const inputs *in, const char *entry, const double *got, size_t count, double allowed) {
    size_t stored;
    const double *want = golden_get(&in->g, entry, &stored);
    assert_non_null(want);
    assert_int_equal(stored, count);
    for (size_t i = 0; i < count; i++)
        if (!(fabs(got[i] - want[i]) <= allowed))
            fail_msg("%s: %s[%zu] is %.17g, the twin has %.17g", in->g.name, entry, i, got[i], want[i]);
}

/* Log-softmax over the free items of each step, one after the other. Returns how many numbers that is. */
static size_t log_probs(const inputs *in, const double *logits, double *out) {
    int n = in->g.n;
    size_t count = 0;
    for (int b = 0; b < in->g.B; b++)
        for (int t = 0; t < n; t++) {
            const double *row = logits + ((size_t)b * (size_t)n + (size_t)t) * (size_t)n;
            double sum = 0;
            for (int k = t; k < n; k++)
                sum += exp(row[in->y[b * n + k]]); /* free at t: placed at t or later */
            for (int i = 0; i < n; i++)
                for (int k = t; k < n; k++)
                    if (in->y[b * n + k] == i) out[count++] = row[i] - log(sum);
        }
    return count;
}

static void agrees_with_the_twin(void **state) {
    char **names = golden_names();
    for (size_t i = 0; names[i]; i++) {
        inputs in;
        inputs_load(&in, names[i]);
        if (in.sh.s.relations) { /* the engine and the twin are compared on these (test_engine_golden.c) */
            inputs_free(&in);
            continue;
        }
        int B = in.g.B, n = in.g.n;
        size_t cells = (size_t)B * (size_t)n * (size_t)n, statistics = in.sh.total - in.sh.trained;
        double *logits = need(malloc(cells * sizeof *logits)), loss;
        double *running = need(malloc(statistics * sizeof *running)), *p = need(malloc(cells * sizeof *p));

        paper_forward(&in.sh, in.theta, running, B, n, in.x, in.y, 1, logits, &loss);
        check(&in, "logits", logits, cells, 1e-9);
        check(&in, "log_probs", p, log_probs(&in, logits, p), 1e-9);
        check(&in, "loss", &loss, 1, 1e-10);
        check(&in, "running", running, statistics, 1e-10);

        paper_forward(&in.sh, in.theta, NULL, B, n, in.x, in.y, 0, logits, &loss);
        check(&in, "eval_logits", logits, cells, 1e-10);
        check(&in, "eval_loss", &loss, 1, 1e-10);

        /* The twin's greedy order is the most probable item at each step, and has the log-probability it
         * says. */
        const double *order = golden_get(&in.g, "greedy_order", NULL);
        assert_non_null(order);
        for (int k = 0; k < B * n; k++) in.y[k] = (int32_t)order[k];
        paper_forward(&in.sh, in.theta, NULL, B, n, in.x, in.y, 0, logits, &loss);
        double *sums = need(calloc((size_t)B, sizeof *sums));
        log_probs(&in, logits, p);
        size_t at = 0;
        for (int b = 0; b < B; b++)
            for (int t = 0; t < n; t++) {
                double best = -INFINITY;
                for (int k = t; k < n; k++) best = fmax(best, p[at++]);
                sums[b] += best;
            }
        check(&in, "greedy_log_prob", sums, (size_t)B, 1e-9);

        free(logits);
        free(running);
        free(p);
        free(sums);
        inputs_free(&in);
    }
    golden_names_free(names);
}

/* The golden gradients of the small nets against central differences of the paper's form along random signs:
 * a third view, which shares no code with torch's backward pass. */
static void gradients_match_differences(void **state) {
    const double h = 1e-7;
    char **names = golden_names();
    for (size_t k = 0; names[k]; k++) {
        inputs in;
        inputs_load(&in, names[k]);
        if (in.sh.s.relations) { /* the engine and the twin are compared on these (test_engine_golden.c) */
            inputs_free(&in);
            continue;
        }
        size_t count, cells = (size_t)in.g.B * (size_t)in.g.n * (size_t)in.g.n;
        size_t input = (size_t)in.g.B * (size_t)in.g.n * (size_t)in.g.settings.width;
        const double *gradient = golden_get(&in.g, "gradients", &count);
        assert_non_null(gradient);
        if (count == in.sh.trained) { /* all tensors are stored in full, in the block's own order */
            double *theta = need(malloc(in.sh.total * sizeof *theta)), *x = need(malloc(input * sizeof *x));
            double *logits = need(malloc(cells * sizeof *logits));
            for (size_t i = 0; i < input; i++) x[i] = in.x[i];
            for (uint64_t direction = 0; direction < 4; direction++) {
                double slope = 0, loss[2];
                for (int side = 0; side < 2; side++) {
                    for (size_t i = 0; i < in.sh.total; i++) theta[i] = in.theta[i];
                    slope = 0;
                    for (size_t i = 0; i < in.sh.trained; i++) {
                        double sign = generated_u64(2, direction, i) & 1 ? -1 : 1;
                        theta[i] += (side ? h : -h) * sign;
                        slope += sign * gradient[i];
                    }
                    paper_forward_double(&in.sh, theta, NULL, in.g.B, in.g.n, x, in.y, 1, logits,
                                         &loss[side]);
                }
                double difference = (loss[1] - loss[0]) / (2 * h);
                if (!(fabs(difference - slope) <= 1e-5 * (1 + fabs(slope))))
                    fail_msg("%s: slope %.9g by differences, %.9g by the golden gradients", names[k],
                             difference, slope);
            }
            free(theta);
            free(x);
            free(logits);
        }
        inputs_free(&in);
    }
    golden_names_free(names);
}

static void records_and_null_parameters(void **state) {
    inputs in;
    inputs_load(&in, "tsp-n5-b8");
    size_t count, size = 0;
    const double *want = golden_get(&in.g, "gradients", &count);
    int trained = 0;
    for (; in.sh.tensor[trained].trained; trained++) size += golden_record_size(in.sh.tensor[trained].size);
    assert_int_equal(size, count);

    double *got = need(malloc(count * sizeof *got));
    memcpy(got, want, count * sizeof *got);
    int worst;
    assert_true(golden_records_error(&in.sh, trained, got, want, &worst) == 0);
    got[3] += 1e-3 * (fabs(got[3]) + 1e-3); /* one altered gradient is seen, and in the right tensor */
    assert_true(golden_records_error(&in.sh, trained, got, want, &worst) > 1e-5);
    assert_int_equal(worst, 0);
    assert_true(golden_records_distance(&in.sh, trained, got, want) > 0);

    size_t at = 0;
    for (int k = 0; k < trained; k++) {
        for (size_t i = 0; in.sh.tensor[k].size <= GOLDEN_FULL && i < in.sh.tensor[k].size; i++)
            if (golden_null(&in.sh, k, i)) assert_true(fabs(want[at + i]) < 1e-13);
        at += golden_record_size(in.sh.tensor[k].size);
    }
    free(got);
    inputs_free(&in);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_the_twin),
        cmocka_unit_test(gradients_match_differences),
        cmocka_unit_test(records_and_null_parameters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
