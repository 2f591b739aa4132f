/* Tests charts and drawings of tours: points that a chart cannot show are left out, names of cities stand
 * where they do whatever city a tour begins with, and pictures that cannot be drawn (no tours, no memory) are
 * refused. */
#include <math.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "alloc_count.h"
#include "app/canvas.h"
#include "app/chart.h"
#include "tasks/tours/draw.h"
#include "unit.h"

/* Named after the process, since the same test may run with sanitizers at the same time. */
static char svg[64], png[64];
static onet_error err;

/* A PNG file: an SVG file holds numbers that cairo counts up from picture to picture. */
typedef struct picture {
    size_t size;
    char bytes[1 << 18];
} picture;

static void take(picture *p, const char *path) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    p->size = fread(p->bytes, 1, sizeof p->bytes, file);
    assert_true(p->size > 500 && p->size < sizeof p->bytes);
    fclose(file);
    unlink(path);
}

static bool same(const picture *a, const picture *b) {
    return a->size == b->size && !memcmp(a->bytes, b->bytes, a->size);
}

static void no_tours(void **state) {
    tour_panel panel = {.n = 1, .xy = (double[]){0, 0}, .tour = (int32_t[]){0}};
    remove(svg);
    assert_int_equal(tours_write(&(tour_sheet){.columns = 1}, svg, &err), ONET_USAGE);
    assert_string_equal(err.text, "there are no tours to draw");
    assert_int_equal(tours_write(&(tour_sheet){.count = 1, .panels = &panel}, svg, &err), ONET_USAGE);
    assert_int_equal(access(svg, F_OK), -1);
}

static void draw_chart(picture *p, int count, const double *x, const double *y, bool log) {
    chart_series series = {.name = "s", .count = count, .x = x, .y = y, .low = y, .high = y};
    chart figure = {
        .title = "t", .x = {.title = "x"}, .y = {.title = "y", .log = log}, .count = 1, .series = &series};
    assert_int_equal(chart_write(&figure, png, &err), ONET_OK);
    take(p, png);
}

/* A chart shows `count` points, less those that are not finite, and on a logarithmic axis those that are not
 * positive: the same picture as without them. */
static void points_left_out(void **state) {
    static picture shown, expected;
    draw_chart(&expected, 2, (double[]){1, 10, NAN}, (double[]){1, 2, NAN}, false);
    draw_chart(&shown, 3, (double[]){1, 5, 10, 7}, (double[]){1, NAN, 2, 3}, false);
    assert_true(same(&shown, &expected));
    draw_chart(&shown, 3, (double[]){1, INFINITY, 10, 7}, (double[]){1, 1, 2, 3}, false);
    assert_true(same(&shown, &expected));
    draw_chart(&shown, 3, (double[]){1, 5, 10}, (double[]){1, 0, 2}, false);
    assert_false(same(&shown, &expected));
    draw_chart(&expected, 2, (double[]){1, 10, NAN}, (double[]){1, 2, NAN}, true);
    draw_chart(&shown, 4, (double[]){1, 5, 6, 10}, (double[]){1, 0, -1, 2}, true);
    assert_true(same(&shown, &expected));
}

/* Where the names stand does not depend on the city that a tour is said to begin with. */
static void names_are_placed_alike(void **state) {
    enum { N = 5 };
    static picture first, turned;
    const double xy[2 * N] = {0, 0.1, 1, 0, 0.5, 0.45, 0.9, 1, 0.05, 0.9};
    char *const names[N] = {"zero", "one", "two", "three", "four"};
    for (int k = 0; k < N; k++) {
        int32_t tour[N];
        for (int i = 0; i < N; i++) tour[i] = (i + k) % N;
        tour_panel panel = {.n = N, .xy = xy, .tour = tour, .names = names};
        assert_int_equal(tours_write(&(tour_sheet){.columns = 1, .count = 1, .panels = &panel}, png, &err),
                         ONET_OK);
        take(k ? &turned : &first, png);
        if (k) assert_true(same(&first, &turned));
    }
}

/* Returns the size of the program's address space. */
static size_t used_bytes(void) {
    size_t pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file) skip_because("/proc is not there");
    assert_int_equal(fscanf(file, "%zu", &pages), 1);
    fclose(file);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* A PNG of 400 MB where the program may have 256 MB more. */
static void memory_runs_out(void **state) {
    alloc_works_or_skip(); /* sanitizers have an address space of their own */
    struct rlimit before, less;
    canvas c;
    remove(png);
    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    less = before;
    less.rlim_cur = used_bytes() + (256 << 20);
    assert_int_equal(setrlimit(RLIMIT_AS, &less), 0);
    onet_status status = canvas_open(&c, png, 5000, 5000, &err);
    if (!status) status = canvas_close(&c, &err);
    assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
    assert_int_equal(status, ONET_MEMORY);
    assert_non_null(strstr(err.text, "memory"));
    assert_int_equal(access(png, F_OK), -1);
}

int main(void) {
    snprintf(svg, sizeof svg, "/tmp/ordernet-show-%ld.svg", (long)getpid());
    snprintf(png, sizeof png, "/tmp/ordernet-show-%ld.png", (long)getpid());
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_tours), cmocka_unit_test(points_left_out),
                                       cmocka_unit_test(names_are_placed_alike),
                                       cmocka_unit_test(memory_runs_out)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
