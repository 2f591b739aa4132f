/* Tests how `ordernet draw` reads a training log: steps become epochs, and points are thinned out to what a
 * chart can show. */
#define cmd_draw tested_cmd_draw
#include "../src/front/cli/cmd_draw.c"

#include "unit.h"

typedef struct text {
    const char *from;
    size_t left;
} text;

static ptrdiff_t give(void *context, void *buffer, size_t size) {
    text *t = context;
    if (size > t->left) size = t->left;
    memcpy(buffer, t->from, size);
    t->from += size;
    t->left -= size;
    return (ptrdiff_t)size;
}

static void read_text(curve *c, const char *log, curve_what what) {
    text t = {log, strlen(log)};
    input *in;
    assert_int_equal(input_from(&in, "log", give, &t, NULL), ONET_OK);
    *c = (curve){.count = 0};
    assert_int_equal(read_lines(c, in, what, NULL), ONET_OK);
    finish(c, what);
    input_close(in);
}

static void free_curve(curve *c) {
    free(c->step);
    free(c->epoch);
    free(c->y);
}

static void steps_become_epochs(void **state) {
    curve c;
    /* An epoch has 10 steps: where the second begins says so, the last row does not. */
    read_text(&c, "step,epoch,loss\n3,1,0.5\n10,1,0.4\n14,2,0.3\n17,2,0.2\n", CURVE_LOSS);
    static const double expected[] = {0.3, 1, 1.4, 1.7};
    assert_int_equal(c.count, 4);
    for (int i = 0; i < 4; i++) assert_true(fabs(c.step[i] - expected[i]) < 1e-12);
    assert_true(c.y[1] == 0.4);
    free_curve(&c);
    /* One epoch alone: its last row ends it. */
    read_text(&c, "step,epoch,valid_exact\n5,1,\n20,1,0.25\n", CURVE_VALID);
    assert_int_equal(c.count, 1);
    assert_true(c.step[0] == 1 && c.y[0] == 25);
    free_curve(&c);
}

static void the_last_point_stays(void **state) {
    enum { ROWS = 2 * MOST_POINTS + 7, LENGTH = 32 };
    char *log = malloc(ROWS * LENGTH + LENGTH), *at = log;
    assert_non_null(log);
    at += sprintf(at, "step,epoch,loss\n");
    for (int i = 1; i <= ROWS; i++) at += sprintf(at, "%d,1,%d\n", i, ROWS - i);
    curve c;
    read_text(&c, log, CURVE_LOSS);
    assert_int_equal(c.count, (ROWS + 2) / 3);
    assert_true(c.step[c.count - 1] == 1 && c.y[c.count - 1] == 0);
    assert_true(c.y[c.count - 2] == 3);
    free_curve(&c);
    free(log);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_become_epochs),
        cmocka_unit_test(the_last_point_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
