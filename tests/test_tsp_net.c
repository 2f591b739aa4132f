/* Tests tours from a network that was trained for a second, by coordinates or by costs as relations:
 * properties that do not depend on what it learned. Also tests the measured gaps and the pictures of tours.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/chart.h"
#include "engine/data/sets.h"
#include "tasks/tours/draw.h"
#include "tasks/tours/gaps.h"
#include "tasks/tours/generate.h"
#include "unit.h"

static onet_model *model;
static onet_tsp_net *net;

static onet_sets *instances(const int *sizes, int count, uint64_t seed, size_t total) {
    tsp_plan plan = {.size = sizes, .sizes = count, .seed = seed};
    onet_sets *sets;
    assert_int_equal(sets_new(&sets, 2, NULL), ONET_OK);
    assert_int_equal(tsp_generate(&plan, 0, total, NULL, tsp_append, sets, NULL), ONET_OK);
    return sets;
}

static int train_net(void **state) {
    int sizes[] = {5, 7, 9};
    onet_sets *sets = instances(sizes, 3, 1, 900);
    onet_train_options options;
    onet_train_defaults(&options, sizeof options);
    options.settings = (onet_settings){.width = 2,
                                       .encoder_blocks = 2,
                                       .hidden = 16,
                                       .encoder_out = 8,
                                       .pool = ONET_POOL_MAX,
                                       .decoder_blocks = 2,
                                       .decoder_out = 8};
    options.batch = 30;
    options.epochs = 5;
    options.standardise = 0;
    options.threads = 1;
    onet_error err = {.text = ""};
    onet_status status = onet_train(&model, sets, NULL, &options, &err);
    onet_sets_free(sets);
    if (!status)
        status = onet_tsp_net_new(
            &net, model, &(onet_order_options){.size = sizeof(onet_order_options), .beam = 5, .threads = 1},
            &err);
    if (status) print_message("%s\n", err.text);
    return (int)status;
}

static int free_net(void **state) {
    onet_tsp_net_free(net);
    onet_model_free(model);
    return 0;
}

static void tours_of(const onet_tsp *t, onet_tsp_place place, int symmetries, int32_t *probable,
                     int32_t *shortest) {
    onet_error err;
    assert_int_equal(onet_tsp_net_tours(net, t, 1, place, symmetries, &probable, &shortest, &err), ONET_OK);
    assert_true(onet_tsp_is_tour(t->n, probable) && onet_tsp_is_tour(t->n, shortest));
}

static void shortest_is_no_longer(void **state) {
    int n = 14;
    tsp_plan plan = {.size = &n, .sizes = 1, .seed = 9};
    double of_beam = 0, shorter = 0;
    for (size_t i = 0; i < 20; i++) {
        float xy[28];
        int32_t probable[14], shortest[14], any[14], best[14];
        onet_tsp t;
        tsp_sample(&plan, i, xy);
        assert_int_equal(tsp_floats(&t, n, xy, NULL), ONET_OK);
        tours_of(&t, ONET_TSP_AS_IS, 1, probable, shortest);
        tours_of(&t, ONET_TSP_AS_IS, 8, any, best);
        assert_true(onet_tsp_length(&t, shortest) <= onet_tsp_length(&t, probable));
        assert_true(onet_tsp_length(&t, best) <= onet_tsp_length(&t, shortest));
        of_beam += onet_tsp_length(&t, probable) - onet_tsp_length(&t, shortest);
        shorter += onet_tsp_length(&t, probable) - onet_tsp_length(&t, best);
        onet_tsp_free(&t);
    }
    assert_true(of_beam > 0 && shorter > of_beam);
}

/* Powers of two move and scale without rounding, so the very same tour must come out. */
static void scale_and_place_do_not_matter(void **state) {
    int n = 12;
    tsp_plan plan = {.size = &n, .sizes = 1, .seed = 21};
    for (size_t i = 0; i < 10; i++) {
        float xy[24];
        double moved[24];
        int32_t tour[4][12];
        onet_tsp t, far;
        tsp_sample(&plan, i, xy);
        for (int k = 0; k < 24; k++) moved[k] = (double)xy[k] * 4096.0 + (k % 2 ? 1048576.0 : -2097152.0);
        assert_int_equal(tsp_floats(&t, n, xy, NULL), ONET_OK);
        assert_int_equal(onet_tsp_points(&far, n, moved, NULL), ONET_OK);
        tours_of(&t, ONET_TSP_FITTED, 1, tour[0], tour[1]);
        tours_of(&far, ONET_TSP_FITTED, 1, tour[2], tour[3]);
        assert_memory_equal(tour[0], tour[2], sizeof tour[0]);
        assert_memory_equal(tour[1], tour[3], sizeof tour[1]);
        onet_tsp_free(&t);
        onet_tsp_free(&far);
    }
}

/* The longer side of the bounding box leaves a margin of 1/(n+1); the shorter one is centred. */
static void items_are_fitted(void **state) {
    double xy[6] = {100, 10, 300, 20, 500, 30};
    float items[6], want[6] = {0.25f, 0.4875f, 0.5f, 0.5f, 0.75f, 0.5125f};
    onet_error err;
    onet_tsp t;
    assert_int_equal(onet_tsp_points(&t, 3, xy, NULL), ONET_OK);
    assert_int_equal(onet_tsp_net_items(&t, ONET_TSP_FITTED, items, &err), ONET_OK);
    for (int k = 0; k < 6; k++) assert_true(fabsf(items[k] - want[k]) < 1e-6f);
    assert_int_equal(onet_tsp_net_items(&t, ONET_TSP_AS_IS, items, &err), ONET_OK);
    for (int k = 0; k < 6; k++) assert_true(items[k] == (float)xy[k]);
    onet_tsp_free(&t);
    assert_int_equal(onet_tsp_blank(&t, 3, false, NULL), ONET_OK);
    assert_int_equal(onet_tsp_net_items(&t, ONET_TSP_FITTED, items, &err), ONET_USAGE);
    assert_non_null(strstr(err.text, "coordinates"));
    onet_tsp_free(&t);
}

static void degenerate_inputs(void **state) {
    double xy[60] = {0};
    int32_t probable[30], shortest[30];
    onet_tsp t;
    for (int n = 1; n <= 30; n++) {
        for (int line = 0; line < 2; line++) {
            for (int i = 0; i < n; i++) xy[2 * i] = line * 1e9 * i, xy[2 * i + 1] = 7;
            assert_int_equal(onet_tsp_points(&t, n, xy, NULL), ONET_OK);
            tours_of(&t, ONET_TSP_FITTED, 8, probable, shortest);
            onet_tsp_free(&t);
        }
    }
    onet_error err;
    int32_t *tour = probable;
    assert_int_equal(onet_tsp_blank(&t, 3, false, NULL), ONET_OK);
    assert_int_equal(onet_tsp_net_tours(net, &t, 1, ONET_TSP_FITTED, 1, &tour, NULL, &err), ONET_USAGE);
    assert_non_null(strstr(err.text, "coordinates"));
    onet_tsp_free(&t);
}

static int stop_at_128(void *context, int n, size_t done, size_t total) {
    size_t *calls = context;
    ++*calls;
    assert_int_equal(n, 8);
    assert_int_equal(total, 150);
    return done == 128;
}

static void gaps_add_up(void **state) {
    int sizes[] = {6, 8};
    onet_sets *sets = instances(sizes, 2, 33, 300);
    tsp_cities cities = {0};
    for (size_t i = 0; i < sets->count; i++) {
        double xy[16];
        size_t n = sets_size(sets, i);
        for (size_t j = 0; j < 2 * n; j++) xy[j] = (double)sets_item(sets, sets->start[i])[j];
        assert_int_equal(tsp_cities_add(&cities, (int)n, xy, sets->order + sets->start[i], NULL), ONET_OK);
    }
    gap_setting setting = {.cities = &cities, .greedy = net, .beam = net};
    gap_row row;
    assert_int_equal(gap_measure(&row, 8, &setting, NULL), ONET_OK);
    assert_int_equal(row.count, 150);
    assert_true(row.gap[GAP_REFERENCE].mean == 0);
    for (int m = 1; m < GAP_METHODS; m++) {
        assert_true(row.gap[m].mean >= 0 && row.gap[m].low <= row.gap[m].mean &&
                    row.gap[m].mean <= row.gap[m].high);
        assert_true(row.length[m].mean >= row.length[GAP_REFERENCE].mean * (1 - 1e-12));
    }
    assert_true(row.gap[GAP_SHORTEST].mean <= row.gap[GAP_PROBABLE].mean);
    assert_true(row.gap[GAP_SYMMETRIC].mean <= row.gap[GAP_SHORTEST].mean);
    double sum = 0;
    for (size_t i = 1; i < sets->count; i += 2) {
        onet_tsp t;
        assert_int_equal(tsp_floats(&t, 8, sets_item(sets, sets->start[i]), NULL), ONET_OK);
        sum += onet_tsp_length(&t, sets->order + sets->start[i]);
        onet_tsp_free(&t);
    }
    assert_true(fabs(sum / 150 - row.length[GAP_REFERENCE].mean) < 1e-12);
    assert_int_equal(gap_measure(&row, 7, &setting, NULL), ONET_USAGE);
    /* Stopped between two pieces of 128 sets. */
    size_t calls = 0;
    setting.tick = stop_at_128;
    setting.context = &calls;
    assert_int_equal(gap_measure(&row, 8, &setting, NULL), ONET_INTERRUPTED);
    assert_int_equal(row.count, 128);
    assert_int_equal(calls, 1);
    tsp_cities_free(&cities);
    onet_sets_free(sets);
}

static long file_size(const char *name, char *start, size_t size) {
    FILE *file = fopen(name, "rb");
    assert_non_null(file);
    memset(start, 0, size);
    assert_true(fread(start, 1, size - 1, file) > 0);
    fseek(file, 0, SEEK_END);
    long bytes = ftell(file);
    fclose(file);
    unlink(name);
    return bytes;
}

static void pictures(void **state) {
    char folder[] = "/tmp/ordernet-show-XXXXXX", base[64], name[80], start[16];
    assert_non_null(mkdtemp(folder));
    snprintf(base, sizeof base, "%s/x", folder);
    double xy[] = {0, 0, 1, 0, 1, 1, 0, 1}, x[] = {1, 10, 100}, y[] = {1, NAN, 0};
    int32_t tour[] = {0, 1, 2, 3}, other[] = {0, 2, 1, 3};
    tour_panel panels[] = {{.n = 4, .xy = xy, .tour = tour, .title = "a"},
                           {.n = 4, .xy = xy, .tour = other, .against = tour, .title = "b"},
                           {.n = 1, .xy = xy, .tour = tour}};
    tour_sheet page = {.title = "t", .columns = 2, .count = 3, .panels = panels};
    chart_series series[] = {{.name = "s", .count = 3, .x = x, .y = y, .low = y, .high = y}};
    chart figure = {
        .title = "t", .x = {.title = "x", .log = true}, .y = {.title = "y"}, .count = 1, .series = series};
    for (int i = 0; i < 2; i++) {
        onet_error err;
        assert_int_equal(i ? chart_write(&figure, base, &err) : tours_write(&page, base, &err), ONET_OK);
        snprintf(name, sizeof name, "%s.svg", base);
        assert_true(file_size(name, start, sizeof start) > 500 && !strncmp(start, "<?xml", 5));
        snprintf(name, sizeof name, "%s.png", base);
        assert_true(file_size(name, start, sizeof start) > 500 && !strncmp(start, "\x89PNG", 4));
        assert_int_equal(i ? chart_write(&figure, "/nowhere/x.svg", &err)
                           : tours_write(&page, "/nowhere/x.png", &err),
                         ONET_IO);
    }
    rmdir(folder);
}

/* ---- A net with a relation -------------------------------------------------------------------------- */

/* A tsp_put: costs as relations; with the depot's feature where the sets have a width of 1. */
static onet_status append_costs(void *sets, int n, const float *costs, const int32_t *tour, onet_error *err) {
    const float depot[16] = {1};
    int width = ((onet_sets *)sets)->width;
    onet_status status = sets_append(sets, (size_t)n, width, depot, tour, err);
    return status ? status : sets_append_pairs(sets, 1, costs, err);
}

static onet_tsp_net *related_net(int width, onet_model **trained) {
    int sizes[] = {4, 5, 6};
    tsp_plan plan = {.size = sizes, .sizes = 3, .seed = 1, .asymmetric = true};
    onet_sets *sets;
    onet_error err = {.text = ""};
    onet_tsp_net *made = NULL;
    onet_train_options options;
    onet_train_defaults(&options, sizeof options);
    options.settings.hidden = options.settings.encoder_out = options.settings.decoder_out = 8;
    options.settings.encoder_blocks = options.settings.decoder_blocks = 2;
    options.epochs = 3;
    options.threads = 1;
    assert_int_equal(sets_new(&sets, width, &err), ONET_OK);
    assert_int_equal(tsp_generate(&plan, 0, 300, NULL, append_costs, sets, &err), ONET_OK);
    if (onet_train(trained, sets, NULL, &options, &err)) fail_msg("%s", err.text);
    onet_sets_free(sets);
    onet_order_options order = {.size = sizeof order, .beam = 5, .threads = 1};
    if (onet_tsp_net_new(&made, *trained, &order, &err)) fail_msg("%s", err.text);
    return made;
}

static void costs_of(onet_tsp *t, int n, size_t index) {
    tsp_plan plan = {.size = &n, .sizes = 1, .seed = 9, .asymmetric = true};
    float costs[12 * 12];
    assert_int_equal(tsp_sample(&plan, index, costs), n);
    assert_int_equal(onet_tsp_blank(t, n, false, NULL), ONET_OK);
    t->asymmetric = 1;
    for (int i = 0; i < n * n; i++) t->dist[i] = (double)costs[i];
}

static void relations_are_the_costs(void **state) {
    for (int width = 0; width < 2; width++) {
        onet_model *trained;
        onet_tsp_net *by_costs = related_net(width, &trained), *points = net;
        net = by_costs;
        double shorter = 0;
        for (size_t i = 0; i < 10; i++) {
            onet_tsp t;
            int32_t probable[4][12], shortest[4][12];
            costs_of(&t, 12, i);
            tours_of(&t, ONET_TSP_FITTED, 1, probable[0], shortest[0]);
            assert_int_equal(probable[0][0], 0); /* the depot */
            assert_int_equal(shortest[0][0], 0);
            tours_of(&t, ONET_TSP_FITTED, 8, probable[1], shortest[1]);
            assert_true(onet_tsp_length(&t, shortest[1]) <= onet_tsp_length(&t, shortest[0]));
            shorter += onet_tsp_length(&t, probable[0]) - onet_tsp_length(&t, shortest[1]);
            for (int k = 0; k < 144; k++) t.dist[k] *= 4096; /* without rounding: the very same tour */
            tours_of(&t, ONET_TSP_FITTED, 1, probable[2], shortest[2]);
            assert_memory_equal(probable[2], probable[0], sizeof probable[0]);
            /* An instance of both directions alike goes as well. */
            for (int a = 0; a < 12; a++)
                for (int b = 0; b < a; b++) t.dist[a * 12 + b] = t.dist[b * 12 + a];
            t.asymmetric = 0;
            tours_of(&t, ONET_TSP_AS_IS, 1, probable[3], shortest[3]);
            onet_tsp_free(&t);
        }
        assert_true(shorter > 0);
        for (int n = 1; n <= 3; n++) { /* fewer cities than views; no cost at all */
            onet_tsp t;
            int32_t probable[3], shortest[3];
            assert_int_equal(onet_tsp_blank(&t, n, false, NULL), ONET_OK);
            tours_of(&t, ONET_TSP_FITTED, 8, probable, shortest);
            onet_tsp_free(&t);
        }
        net = points;
        onet_tsp_net_free(by_costs);
        onet_model_free(trained);
    }
    onet_tsp t;
    onet_error err;
    int32_t tour[5];
    onet_tsp_options options = {.size = sizeof options, .net = net};
    costs_of(&t, 5, 0);
    assert_int_equal(onet_tsp_solve(&t, ONET_TSP_ORDERNET, &options, tour, NULL, &err), ONET_USAGE);
    assert_non_null(strstr(err.text, "depend on the direction"));
    onet_tsp_free(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shortest_is_no_longer),
        cmocka_unit_test(scale_and_place_do_not_matter),
        cmocka_unit_test(items_are_fitted),
        cmocka_unit_test(degenerate_inputs),
        cmocka_unit_test(gaps_add_up),
        cmocka_unit_test(pictures),
        cmocka_unit_test(relations_are_the_costs),
    };
    return cmocka_run_group_tests(tests, train_net, free_net);
}
