/* Tests that training works at full scale: learns four orders from 20,000 examples each and measures them on
 * new sets. `make check-learn`: some minutes on two cores. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ordernet_measure.h"

typedef struct task {
    const char *name;
    int width;
    double at_10, at_20; /* least share of sets in exactly the right order */
} task;

static const task tasks[] = {
    {"ascending", 1, 0.995, 0.97},
    {"descending", 1, 0.995, 0.97},
    {"by the second feature", 2, 0.995, 0.97},
    {"outward from the set's mean", 1, 0.85, 0},
};

static uint64_t state = 88172645463325252u;

static double uniform(void) { /* xorshift64 */
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (double)(state >> 11) * 0x1p-53;
}

static double key(int which, const float *item, double mean) {
    switch (which) {
    case 0:
        return item[0];
    case 1:
        return -item[0];
    case 2:
        return item[1];
    default:
        return fabs(item[0] - mean);
    }
}

/* `count` sets of one size, in order. */
static void fill(int which, int count, int n, float *items, int32_t *order) {
    int w = tasks[which].width;
    for (int s = 0; s < count; s++, items += n * w, order += n) {
        double mean = 0;
        for (int i = 0; i < n * w; i++) items[i] = (float)uniform();
        for (int i = 0; i < n; i++) mean += items[i * w] / n;
        for (int i = 0; i < n; i++) {
            int at = i;
            for (; at && key(which, items + order[at - 1] * w, mean) > key(which, items + i * w, mean); at--)
                order[at] = order[at - 1];
            order[at] = i;
        }
    }
}

static void quit(const char *what, const onet_error *err) {
    fprintf(stderr, "%s: %s\n", what, err->text);
    exit(1);
}

/* Returns sets of 2 to 10 items, a ninth of them of each size. */
static onet_sets *training_sets(int which, int count) {
    onet_error err;
    int w = tasks[which].width, each = count / 9 + 1;
    onet_sets *all = calloc(1, sizeof *all);
    size_t room = (size_t)each * 54;
    all->width = w;
    all->start = malloc(((size_t)each * 9 + 1) * sizeof *all->start);
    all->items = malloc(room * (size_t)w * sizeof *all->items);
    all->order = malloc(room * sizeof *all->order);
    if (!all->start || !all->items || !all->order) quit("memory", (memset(&err, 0, sizeof err), &err));
    all->start[0] = 0;
    for (int n = 2; n <= 10; n++) {
        size_t at = all->start[all->count];
        fill(which, each, n, all->items + at * (size_t)w, all->order + at);
        for (int s = 0; s < each; s++, all->count++)
            all->start[all->count + 1] = all->start[all->count] + (size_t)n;
    }
    return all;
}

static double exact(const onet_model *model, int which, int n) {
    enum { COUNT = 2000 };
    onet_error err;
    onet_sets *sets;
    onet_orderer *orderer;
    onet_report report;
    float *items = malloc((size_t)COUNT * n * 2 * sizeof *items);
    int32_t *order = malloc((size_t)COUNT * n * sizeof *order),
            *found = malloc((size_t)COUNT * n * sizeof *found);
    onet_answer *answers = calloc(COUNT, sizeof *answers);
    fill(which, COUNT, n, items, order);
    for (int s = 0; s < COUNT; s++) answers[s].order = found + (size_t)s * n;
    if (onet_sets_from(&sets, COUNT, n, tasks[which].width, items, order, &err) ||
        onet_orderer_new(&orderer, model, NULL, &err) || onet_orderer_run(orderer, sets, answers, &err) ||
        onet_measure_sets(&report, sets, answers, NULL, 0, &err))
        quit(tasks[which].name, &err);
    onet_orderer_free(orderer);
    onet_sets_free(sets);
    free(items);
    free(order);
    free(found);
    free(answers);
    return report.exact.mean;
}

/* usage: learn [max|mean [RATE]]: another pool and learning rate than the defaults, to compare them. */
int main(int argc, char **argv) {
    int passed = 0, failed = 0;
    for (int k = 0; k < (int)(sizeof tasks / sizeof *tasks); k++) {
        onet_sets *sets = training_sets(k, 20000);
        onet_train_options o;
        onet_train_defaults(&o, sizeof o);
        if (k == 3) o.settings.pool = ONET_POOL_MEAN; /* the order depends on a mean: let it see one */
        if (argc > 1) o.settings.pool = strcmp(argv[1], "mean") ? ONET_POOL_MAX : ONET_POOL_MEAN;
        if (argc > 2) o.learning_rate = atof(argv[2]);
        onet_model *model;
        onet_error err;
        if (onet_train(&model, sets, NULL, &o, &err)) quit(tasks[k].name, &err);
        double at_10 = exact(model, k, 10), at_20 = exact(model, k, 20);
        int ok = at_10 >= tasks[k].at_10 && at_20 >= tasks[k].at_20;
        printf("%-28s exact at 10: %.2f%% (at least %.1f%%), at 20: %.2f%%", tasks[k].name, 100 * at_10,
               100 * tasks[k].at_10, 100 * at_20);
        if (tasks[k].at_20 > 0) printf(" (at least %.1f%%)", 100 * tasks[k].at_20);
        puts(ok ? "" : "  FAILED");
        fflush(stdout);
        passed += ok;
        failed += !ok;
        onet_model_free(model);
        free(sets->start);
        free(sets->items);
        free(sets->order);
        free(sets);
    }
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
