/* Calls the public functions (those for pages in test_pages_api.c) with invalid arguments: NULL, options and
 * settings out of range, data that do not fit. They must return a status and an error message, for an option
 * with the name of its field, and never crash. Also checks that each function of the public headers is called
 * here. Run it under AddressSanitizer too (make check-asan). */
#include <ctype.h>
#include <glob.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "ordernet_io.h"
#include "ordernet_measure.h"
#include "ordernet_train.h"
#include "ordernet_tsp.h"
#include "ordernet_tune.h"
#include "ordernet_words.h"
#include "unit.h"

static onet_error err;

/* The error names the field that was wrong: "settings.hidden" of options is onet_settings.hidden. */
static void about(const char *name, const char *options) {
    char expected[80];
    bool shape = !strncmp(name, "settings.", 9);
    snprintf(expected, sizeof expected, "%s%s", shape ? "onet_" : options, name);
    assert_string_equal(err.field, expected);
    assert_null(strstr(err.text, "onet_")); /* the message makes sense without the struct */
}

/* The call is refused with the status and an error message. */
#define refused(status, call)                                                                                \
    do {                                                                                                     \
        err.text[0] = 0;                                                                                     \
        assert_int_equal(call, status);                                                                      \
        assert_true(err.text[0]);                                                                            \
    } while (0)
#define usage(call) refused(ONET_USAGE, call)
#define bad(call)   refused(ONET_BAD, call)
#define ok(call)    assert_int_equal(call, ONET_OK)

enum { SETS = 4, N = 3, WIDTH = 2 };

static const float items[SETS * N * WIDTH] = {3, 0, 1, 1, 2, 0, 5, 1, 6, 0, 4, 1,
                                              9, 0, 7, 1, 8, 0, 1, 1, 3, 0, 2, 1};
static const int32_t orders[SETS * N] = {1, 2, 0, 2, 0, 1, 1, 2, 0, 0, 2, 1};

static onet_sets *some_sets(void) {
    onet_sets *sets;
    ok(onet_sets_from(&sets, SETS, N, WIDTH, items, orders, &err));
    return sets;
}

static onet_train_options small_training(void) {
    onet_train_options o;
    onet_train_defaults(&o, sizeof o);
    o.settings = (onet_settings){
        .encoder_blocks = 1, .hidden = 4, .encoder_out = 3, .decoder_blocks = 1, .decoder_out = 2};
    o.epochs = 1;
    o.device = "cpu";
    o.threads = 1;
    return o;
}

static onet_model *some_model(void) {
    onet_sets *sets = some_sets();
    onet_model *model;
    onet_train_options o = small_training();
    ok(onet_train(&model, sets, NULL, &o, &err));
    onet_sets_free(sets);
    return model;
}

static onet_words *some_words(void) {
    static const char *const text[] = {"<other>", "one", "two"};
    onet_words *words;
    ok(onet_words_from(&words, 3, WIDTH, text, NULL, NULL, &err));
    return words;
}

/* Calls `call` on sets in which one thing at a time is broken. Each breaks what memory holds: nothing is read
 * beyond it. */
typedef onet_status sets_call(const onet_sets *sets, void *context);

static void with_broken_sets(sets_call *call, void *context, bool looks_at_order) {
    onet_sets *sets = some_sets(), broken;
    ok(call(sets, context));
#define broken_by(status, ...)                                                                               \
    do {                                                                                                     \
        broken = *sets;                                                                                      \
        __VA_ARGS__;                                                                                         \
        refused(status, call(&broken, context));                                                             \
    } while (0)
    broken_by(ONET_USAGE, broken.start = NULL);
    broken_by(ONET_BAD, broken.pairs = &(onet_pairs){.width = 17});
    broken_by(ONET_USAGE, broken.pairs = &(onet_pairs){.width = 1});
    broken_by(ONET_USAGE, broken.pairs = &(onet_pairs){.width = 1, .reserved = {sets}});
    broken_by(ONET_USAGE, broken.lost = &(onet_lost){.width = 1});
    broken_by(ONET_USAGE, broken.constraint_count = 1);
    broken_by(ONET_BAD, broken.width = -1);
    broken_by(ONET_BAD, broken.width = 1 << 20);
    broken_by(ONET_BAD, broken.items = NULL);
    broken_by(ONET_BAD, broken.word = sets->order);
    broken_by(ONET_BAD, broken.items = NULL; broken.word = sets->order); /* without a vocabulary */
    onet_words *words = some_words();
    int32_t row[SETS * N] = {0, 1, 2, 0, 1, 3};
    broken_by(ONET_BAD, broken.items = NULL; broken.word = row; broken.words = words);
    row[5] = -1;
    broken_by(ONET_BAD, broken.items = NULL; broken.word = row; broken.words = words);
    onet_words_free(words);
    size_t start[SETS + 1];
    memcpy(start, sets->start, sizeof start);
    start[2] = start[1];
    broken_by(ONET_BAD, broken.start = start); /* a set without items */
    start[2] = start[1] - 1;
    broken_by(ONET_BAD, broken.start = start);
    float wrong[SETS * N * WIDTH];
    memcpy(wrong, items, sizeof wrong);
    wrong[7] = NAN;
    broken_by(ONET_BAD, broken.items = wrong);
    assert_true(strstr(err.text, "not a finite number") || strstr(err.text, "has no value"));
    wrong[7] = INFINITY;
    broken_by(ONET_BAD, broken.items = wrong);
    uint8_t context_items[SETS * N] = {1, 1, 1};
    broken_by(ONET_BAD, broken.context = context_items);
    onet_constraint constraint = {.kind = ONET_BEFORE, .item = SETS * N, .other = 0};
    broken_by(ONET_BAD, broken.constraints = &constraint; broken.constraint_count = 1);
    constraint = (onet_constraint){.kind = (onet_constraint_kind)7, .item = 1, .other = 0};
    broken_by(ONET_BAD, broken.constraints = &constraint; broken.constraint_count = 1);
    int32_t order[SETS * N];
    memcpy(order, orders, sizeof order);
    broken = *sets;
    broken.order = order;
    for (int wrong_index = -1; wrong_index <= N && looks_at_order; wrong_index += N + 1) {
        order[4] = wrong_index;
        bad(call(&broken, context));
    }
    order[4] = order[5]; /* twice */
    if (looks_at_order)
        bad(call(&broken, context));
    else
        ok(call(&broken, context));
    onet_sets_free(sets);
#undef broken_by
}

/* ---- Simple ------------------------------------------------------------------------------------------ */

static void sets_from_memory(void **state) {
    onet_sets *sets = some_sets(), *made = sets;
    usage(onet_sets_from(NULL, SETS, N, WIDTH, items, orders, &err));
    usage(onet_sets_from(&made, SETS, N, WIDTH, NULL, orders, &err));
    assert_null(made);
    usage(onet_sets_from(&made, 0, N, WIDTH, items, orders, &err));
    usage(onet_sets_from(&made, SETS, -1, WIDTH, items, orders, &err));
    usage(onet_sets_from(&made, SETS, N, 0, items, orders, &err));
    refused(ONET_MEMORY, onet_sets_from(&made, SIZE_MAX / 2, N, WIDTH, items, orders, &err));
    const int32_t out_of_range[SETS * N] = {0, 1, 3};
    bad(onet_sets_from(&made, SETS, N, WIDTH, items, out_of_range, &err));
    usage(onet_sets_new(NULL, 1, &err));
    usage(onet_sets_new(&made, -1, &err));
    ok(onet_sets_new(&made, 0, &err));
    const double doubles[N * WIDTH] = {1.1};
    usage(onet_sets_append_doubles(NULL, N, WIDTH, doubles, NULL, &err));
    usage(onet_sets_append_doubles(sets, N, WIDTH, NULL, NULL, &err));
    bad(onet_sets_append_doubles(sets, 0, WIDTH, doubles, NULL, &err));
    usage(onet_sets_append(NULL, N, WIDTH, items, orders, &err));
    usage(onet_sets_append(made, N, WIDTH, NULL, orders, &err));
    bad(onet_sets_append(made, -1, WIDTH, items, orders, &err));
    bad(onet_sets_append(made, N, -1, items, orders, &err));
    bad(onet_sets_append(made, N, WIDTH, items, out_of_range, &err));
    int32_t row[] = {0, 2, 3};
    usage(onet_sets_append_words(NULL, N, row, NULL, &err));
    onet_sets_lend_words(NULL, NULL);
    usage(onet_sets_append_words(made, 2, row, NULL, &err)); /* there is no vocabulary */
    made->words = some_words();
    usage(onet_sets_append_words(made, 2, NULL, NULL, &err));
    bad(onet_sets_append_words(made, 0, row, NULL, &err));
    bad(onet_sets_append_words(made, 3, row, NULL, &err)); /* a row that it does not have */
    ok(onet_sets_append_words(made, 2, row, NULL, &err));
    onet_sets_free(made);
    onet_sets_free(sets);
    onet_sets_free(NULL);
}

static onet_status set_context(const onet_sets *sets, void *context) {
    (void)context;
    onet_sets copy = *sets;
    uint8_t none[SETS * N] = {0};
    onet_status status = onet_sets_set_context(&copy, copy.context ? copy.context : none, &err);
    if (!status) free(copy.context);
    return status;
}

static onet_status set_constraints(const onet_sets *sets, void *context) {
    (void)context;
    onet_sets copy = *sets;
    return onet_sets_set_constraints(&copy, copy.constraints, copy.constraint_count, &err);
}

static onet_status write_sets(const onet_sets *sets, void *context) {
    return onet_sets_write(sets, context, ONET_FORMAT_JSONL, &err);
}

static onet_status pick_first(const onet_sets *sets, void *context) {
    uint8_t take[SETS] = {1};
    onet_sets *picked;
    (void)context;
    onet_status status = onet_sets_pick(&picked, sets, take, &err);
    onet_sets_free(picked);
    return status;
}

static void sets_of_callers(void **state) {
    onet_sets *sets = some_sets(), *picked = sets;
    uint8_t take[SETS] = {0};
    char path[] = "/tmp/ordernet-doors-XXXXXX";
    close(mkstemp(path));
    with_broken_sets(set_context, NULL, true);
    with_broken_sets(set_constraints, NULL, false);
    with_broken_sets(write_sets, path, true);
    with_broken_sets(pick_first, NULL, true);
    assert_false(onet_sets_look_like_ranks(NULL));
    usage(onet_sets_set_context(NULL, NULL, &err));
    usage(onet_sets_set_pairs(NULL, 0, NULL, NULL, &err));
    usage(onet_sets_set_pairs(&(onet_sets){.width = 1, .count = 1}, 1, &(float){1}, NULL, &err));
    usage(onet_sets_set_constraints(NULL, NULL, 0, &err));
    usage(onet_sets_set_constraints(sets, NULL, 3, &err));
    usage(onet_sets_write(NULL, path, ONET_FORMAT_JSONL, &err));
    usage(onet_sets_write(sets, NULL, ONET_FORMAT_JSONL, &err));
    usage(onet_sets_write(sets, path, (onet_format)99, &err));
    size_t part[8];
    usage(onet_sets_divide(NULL, sets, NULL, 1, 1, &err));
    usage(onet_sets_divide(part, NULL, NULL, 1, 1, &err));
    usage(onet_sets_divide(part, sets, NULL, 0, 1, &err));
    usage(onet_sets_hold_out(NULL, sets, NULL, 1, 1, &err));
    usage(onet_sets_hold_out(take, NULL, NULL, 1, 1, &err));
    usage(onet_sets_hold_out(take, sets, NULL, 0, 1, &err));
    usage(onet_sets_join(NULL, (const onet_sets *const[]){sets}, 1, &err));
    usage(onet_sets_join(&picked, NULL, 1, &err));
    usage(onet_sets_pick(NULL, sets, take, &err));
    usage(onet_sets_pick(&picked, NULL, take, &err));
    assert_null(picked);
    usage(onet_sets_pick(&picked, sets, NULL, &err));
    usage(onet_sets_pick(&picked, sets, take, &err)); /* none is taken */
    remove(path);
    onet_sets_free(sets);
}

static void files(void **state) {
    onet_sets *sets;
    onet_format format = ONET_FORMAT_CSV;
    onet_read_options reading;
    onet_write_options writing;
    onet_read_defaults(NULL, sizeof reading);
    onet_read_defaults(&reading, 3);
    onet_write_defaults(NULL, sizeof writing);
    onet_read_defaults(&reading, sizeof reading);
    onet_write_defaults(&writing, sizeof writing);
    const char *path = "examples/data/sort-ask.jsonl", *to = "/tmp/ordernet-doors.jsonl";
    usage(onet_sets_read(NULL, path, NULL, &err));
    usage(onet_sets_read(&sets, NULL, NULL, &err));
    refused(ONET_IO, onet_sets_read(&sets, "", NULL, &err));
    reading.format = (onet_format)99;
    usage(onet_sets_read(&sets, path, &reading, &err));
    reading.format = ONET_FORMAT_AUTO;
    reading.width = -1;
    usage(onet_sets_read(&sets, path, &reading, &err));
    usage(onet_sets_convert(path, to, &reading, &writing, &err));
    reading.size = 0;
    usage(onet_sets_read(&sets, path, &reading, &err));
    usage(onet_sets_convert(NULL, to, NULL, NULL, &err));
    usage(onet_sets_convert(path, NULL, NULL, NULL, &err));
    writing.format = (onet_format)-1;
    usage(onet_sets_convert(path, to, NULL, &writing, &err));
    writing.size = 1;
    usage(onet_sets_convert(path, to, NULL, &writing, &err));
    usage(onet_format_of_path(NULL, &format, &err));
    assert_int_equal(format, ONET_FORMAT_AUTO);
    usage(onet_format_of_path("a.csv", NULL, &err));
    usage(onet_format_of_path("a.unknown", &format, &err));
    assert_string_equal(onet_status_name((onet_status)77), "unknown status");
    assert_non_null(onet_version());
    const onet_choice *lists[] = {
        onet_formats(),    onet_pools(),     onet_presets(),     onet_decodes(),         onet_kernel_sets(),
        onet_devices(),    onet_schedules(), onet_batch_kinds(), onet_norm_statistics(), onet_precisions(),
        onet_variations(), onet_unknowns(),  onet_scales(),      onet_relates()};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) assert_non_null(lists[i][0].name);
    assert_non_null(onet_kernels_here()[0]);
}

/* ---- Models ------------------------------------------------------------------------------------------ */

static void models(void **state) {
    onet_model *model = some_model(), *loaded = model;
    onet_settings settings = {0};
    onet_tensor tensor;
    const char *key;
    char hex[65] = "before";
    int32_t order[N];
    usage(onet_model_load(NULL, "models/tsp.safetensors", &err));
    usage(onet_model_load(&loaded, NULL, &err));
    assert_null(loaded);
    usage(onet_model_save(NULL, "/tmp/m.safetensors", &err));
    usage(onet_model_save(model, NULL, &err));
    void *bytes;
    size_t size;
    usage(onet_model_to_bytes(NULL, &bytes, &size, &err));
    usage(onet_model_to_bytes(model, NULL, &size, &err));
    usage(onet_model_to_bytes(model, &bytes, NULL, &err));
    ok(onet_model_to_bytes(model, &bytes, &size, &err));
    usage(onet_model_from_bytes(NULL, bytes, size, &err));
    usage(onet_model_from_bytes(&loaded, NULL, size, &err));
    assert_null(loaded);
    bad(onet_model_from_bytes(&loaded, bytes, size - 1, &err));
    onet_bytes_free(bytes);
    onet_bytes_free(NULL);
    usage(onet_model_merge(NULL, (const onet_model *const[]){model}, 1, &err));
    usage(onet_model_merge(&loaded, NULL, 1, &err));
    usage(onet_model_merge(&loaded, (const onet_model *const[]){NULL}, 1, &err));
    assert_null(loaded);
    usage(onet_sets_check(NULL, &err));
    onet_model_free(NULL);
    usage(onet_order(NULL, items, N, order, NULL, &err));
    usage(onet_order(model, NULL, N, order, NULL, &err));
    usage(onet_order(model, items, N, NULL, NULL, &err));
    usage(onet_order(model, items, 0, order, NULL, &err));
    usage(onet_order(model, items, -3, order, NULL, &err));
    const float no_number[N * WIDTH] = {1, NAN};
    bad(onet_order(model, no_number, N, order, NULL, &err));
    usage(onet_settings_preset(NULL, "tsp", &err));
    usage(onet_settings_preset(&settings, NULL, &err));
    usage(onet_settings_preset(&settings, "none", &err));
    assert_null(onet_model_settings(NULL));
    onet_feature feature;
    assert_int_equal(onet_model_width(NULL), 0);
    assert_int_equal(onet_model_width(model), WIDTH);
    assert_int_equal(onet_model_feature(NULL, 0, &feature), 0);
    assert_int_equal(onet_model_feature(model, 0, NULL), 0);
    assert_int_equal(onet_model_feature(model, -1, &feature), 0);
    assert_int_equal(onet_model_feature(model, WIDTH, &feature), 0);
    assert_int_equal(onet_model_feature(model, WIDTH - 1, &feature), 1);
    assert_int_equal(onet_model_parameters(NULL, 1), 0);
    assert_null(onet_model_record(NULL, "seed"));
    assert_null(onet_model_record(model, NULL));
    assert_null(onet_model_record_at(NULL, 0, &key));
    assert_null(onet_model_record_at(model, SIZE_MAX, &key));
    assert_non_null(onet_model_record_at(model, 0, NULL));
    usage(onet_model_set_record(NULL, "own", "value", &err));
    usage(onet_model_set_record(model, NULL, "value", &err));
    usage(onet_model_set_record(model, "own", NULL, &err));
    usage(onet_model_set_record(model, "", "value", &err));
    usage(onet_model_set_record(model, "Own key", "value", &err));
    usage(onet_model_set_record(model, "0123456789012345678901234567890123456789012345678901234567890123x",
                                "value", &err));
    ok(onet_model_set_record(model, "own", "value", &err));
    assert_string_equal(onet_model_record(model, "own"), "value");
    ok(onet_model_set_record(model, "own", "another", &err));
    assert_string_equal(onet_model_record(model, "own"), "another");
    onet_model_checksum(NULL, hex);
    assert_string_equal(hex, "");
    onet_model_checksum(model, NULL);
    assert_int_equal(onet_model_sized(NULL), 0);
    assert_null(onet_model_kind(NULL));
    usage(onet_model_set_half(NULL, 1, &err));
    ok(onet_model_set_half(model, 0, &err));
    assert_int_equal(onet_model_half(NULL), 0);
    assert_int_equal(onet_model_half(model), 0);
    assert_int_equal(onet_model_tensor(NULL, 0, &tensor), 0);
    assert_int_equal(onet_model_tensor(model, 0, NULL), 0);
    assert_int_equal(onet_model_tensor(model, SIZE_MAX, &tensor), 0);
    assert_null(onet_model_words(NULL));
    onet_model_free(model);
}

/* ---- Ordering and measures --------------------------------------------------------------------------- */

typedef struct ordering {
    onet_orderer *orderer;
    onet_answer answers[SETS];
    int32_t order[SETS * N];
    double logprob[SETS];
    onet_set_measure each[SETS];
} ordering;

static onet_status order_sets(const onet_sets *sets, void *context) {
    ordering *o = context;
    return onet_orderer_run(o->orderer, sets, o->answers, &err);
}

static onet_status score_sets(const onet_sets *sets, void *context) {
    ordering *o = context;
    return onet_orderer_score(o->orderer, sets, o->logprob, &err);
}

static onet_status measure_each(const onet_sets *sets, void *context) {
    ordering *o = context;
    return onet_measure_each(o->each, sets, o->answers, NULL, &err);
}

static onet_status calibrate(const onet_sets *sets, void *model) {
    return onet_model_calibrate(model, sets, NULL, NULL, &err);
}

static onet_status measure_importance(const onet_sets *sets, void *context) {
    ordering *o = context;
    onet_importance result;
    return onet_measure_importance(&result, o->orderer, sets, o->each, 0, 1, 1, &err);
}

static void orderers(void **state) {
    onet_model *model = some_model();
    onet_orderer *none = (onet_orderer *)model;
    onet_order_options o;
    onet_order_defaults(NULL, sizeof o);
    onet_order_defaults(&o, sizeof o);
    usage(onet_orderer_new(NULL, model, NULL, &err));
    usage(onet_orderer_new(&none, NULL, NULL, &err));
    assert_null(none);
#define unnamed(name, value)                                                                                 \
    do {                                                                                                     \
        onet_order_options wrong = o;                                                                        \
        wrong.name = value;                                                                                  \
        usage(onet_orderer_new(&none, model, &wrong, &err));                                                 \
    } while (0)
#define option(name, value)                                                                                  \
    do {                                                                                                     \
        unnamed(name, value);                                                                                \
        about(#name, "onet_order_options.");                                                                 \
    } while (0)
    unnamed(size, 0);
    option(decode, (onet_decode)9);
    option(beam, -1);
    option(beam, 1 << 30);
    option(top, -1);
    option(threads, -1);
    option(threads, 1 << 30);
    option(max_items, -1);
    option(max_items, INT32_MAX);
    option(kernels, "none");
    option(device, "none");
#undef option
#undef unnamed
    ordering w = {0};
    ok(onet_orderer_new(&w.orderer, model, &(onet_order_options){.size = sizeof o, .device = "cpu"}, &err));
    onet_sets *sets = some_sets();
    usage(onet_orderer_run(w.orderer, sets, w.answers, &err)); /* answers without memory for orders */
    for (int s = 0; s < SETS; s++) w.answers[s].order = w.order + s * N;
    usage(onet_orderer_run(NULL, sets, w.answers, &err));
    usage(onet_orderer_run(w.orderer, NULL, w.answers, &err));
    usage(onet_orderer_run(w.orderer, sets, NULL, &err));
    with_broken_sets(order_sets, &w, false);
    usage(onet_orderer_score(NULL, sets, w.logprob, &err));
    usage(onet_orderer_score(w.orderer, NULL, w.logprob, &err));
    usage(onet_orderer_score(w.orderer, sets, NULL, &err));
    usage(onet_orderer_score_steps(w.orderer, sets, NULL, NULL, &err));
    double choice[N * N];
    usage(onet_orderer_choices(NULL, sets, choice, &err));
    usage(onet_orderer_choices(w.orderer, NULL, choice, &err));
    usage(onet_orderer_choices(w.orderer, sets, NULL, &err));
    usage(onet_orderer_choices(w.orderer, sets, choice, &err)); /* more than one set */
    with_broken_sets(score_sets, &w, true);
    onet_sets other = *sets;
    other.width = 1;
    bad(onet_orderer_run(w.orderer, &other, w.answers, &err)); /* of another width than the model's */
    other = *sets;
    other.order = NULL;
    bad(onet_orderer_score(w.orderer, &other, w.logprob, &err));
    other.count = 1;
    bad(onet_orderer_choices(w.orderer, &other, choice, &err));
    onet_orderer_work(NULL);
    onet_orderer_work(w.orderer); /* alone: no other rank */
    onet_orderer_serve(NULL);
    assert_null(onet_orderer_kernels(NULL));
    onet_orderer_free(NULL);
    onet_orderer_free(w.orderer);
    onet_sets_free(sets);
    onet_model_free(model);
}

static void measures(void **state) {
    onet_model *model = some_model();
    onet_sets *sets = some_sets();
    ordering w = {0};
    onet_report report;
    onet_importance fall;
    ok(onet_orderer_new(&w.orderer, model,
                        &(onet_order_options){.size = sizeof(onet_order_options), .device = "cpu"}, &err));
    for (int s = 0; s < SETS; s++) w.answers[s].order = w.order + s * N;
    bad(onet_measure_each(w.each, sets, w.answers, NULL, &err)); /* all zero: no permutation */
    ok(onet_orderer_run(w.orderer, sets, w.answers, &err));
    with_broken_sets(measure_each, &w, true);
    with_broken_sets(calibrate, model, true);
    usage(onet_model_calibrate(NULL, sets, NULL, NULL, &err));
    usage(onet_model_calibrate(model, NULL, NULL, NULL, &err));
    usage(onet_model_calibrate(model, sets, &(onet_order_options){.size = 0}, NULL, &err));
    usage(onet_measure_each(NULL, sets, w.answers, NULL, &err));
    usage(onet_measure_each(w.each, NULL, w.answers, NULL, &err));
    usage(onet_measure_each(w.each, sets, NULL, NULL, &err));
    usage(onet_measure_sets(NULL, sets, w.answers, NULL, 0, &err));
    usage(onet_measure_sets(&report, NULL, w.answers, NULL, 0, &err));
    usage(onet_measure_sets(&report, sets, NULL, NULL, 0, &err));
    usage(onet_measure_sets(&report, sets, w.answers, NULL, -1, &err));
    int32_t kept = w.order[4];
    w.order[4] = 1000000;
    bad(onet_measure_sets(&report, sets, w.answers, NULL, 0, &err));
    w.order[4] = w.order[3];
    bad(onet_measure_sets(&report, sets, w.answers, NULL, 0, &err));
    w.order[4] = kept;
    w.answers[1].order = NULL;
    usage(onet_measure_sets(&report, sets, w.answers, NULL, 0, &err));
    w.answers[1].order = w.order + N;
    onet_measure_mean(NULL, w.each, NULL, SETS);
    onet_measure_mean(&report, NULL, NULL, SETS);
    assert_int_equal(report.sets, 0);
    with_broken_sets(measure_importance, &w, true);
    usage(onet_measure_importance(NULL, w.orderer, sets, w.each, 0, 1, 1, &err));
    usage(onet_measure_importance(&fall, NULL, sets, w.each, 0, 1, 1, &err));
    usage(onet_measure_importance(&fall, w.orderer, NULL, w.each, 0, 1, 1, &err));
    usage(onet_measure_importance(&fall, w.orderer, sets, NULL, 0, 1, 1, &err));
    usage(onet_measure_importance(&fall, w.orderer, sets, w.each, -1, 1, 1, &err));
    usage(onet_measure_importance(&fall, w.orderer, sets, w.each, INT_MIN, 1, 1, &err));
    usage(onet_measure_importance(&fall, w.orderer, sets, w.each, WIDTH, 1, 1, &err));
    usage(onet_measure_importance(&fall, w.orderer, sets, w.each, 0, 0, 1, &err));
    onet_sets unordered = *sets;
    unordered.order = NULL;
    bad(onet_measure_importance(&fall, w.orderer, &unordered, w.each, 0, 1, 1, &err));
    assert_string_equal(err.text, "the sets have no order to compare with");
    onet_orderer_free(w.orderer);
    onet_sets_free(sets);
    onet_model_free(model);
}

/* ---- Training ---------------------------------------------------------------------------------------- */

static onet_status train_on(const onet_sets *sets, void *context) {
    onet_model *model;
    onet_train_options o = small_training();
    onet_sets *good = some_sets();
    bool validates = *(int *)context;
    onet_status status = onet_train(&model, validates ? good : sets, validates ? sets : NULL, &o, &err);
    onet_sets_free(good);
    onet_model_free(model);
    return status;
}

static void training(void **state) {
    with_broken_sets(train_on, &(int){0}, true);
    with_broken_sets(train_on, &(int){1}, true);
    onet_sets *sets = some_sets();
    onet_model *model;
    onet_train_options o = small_training();
    usage(onet_train(NULL, sets, NULL, &o, &err));
    usage(onet_train(&model, NULL, NULL, &o, &err));
    assert_null(model);
    onet_feature feature[WIDTH];
    size_t equal;
    usage(onet_train_features(NULL, sets, &o, &equal, &err));
    usage(onet_train_features(feature, NULL, &o, &equal, &err));
    usage(onet_train_features(feature, sets, &(onet_train_options){.size = 1}, &equal, &err));
    ok(onet_train_features(feature, sets, NULL, NULL, &err));
    o.scale = "largest";
    usage(onet_train_possible(&o, &err));
    o.scale = "none:3,quantile:7";
    usage(onet_train_features(feature, sets, &o, &equal, &err));
    o = small_training();
    ok(onet_train_possible(&o, &err));
    usage(onet_train_possible(&(onet_train_options){.size = 1}, &err));
    assert_int_equal(onet_train_batch(NULL), 32);
    assert_int_equal(onet_train_batch_related(NULL), 32);
    assert_int_equal(onet_train_batch_related(&(onet_sets){.count = 1, .width = 1}), 32);
    assert_int_equal(onet_train_batch(&(onet_sets){.count = 1, .pairs = &(onet_pairs){.width = 1}}), 32);
    o.relate = "nearness";
    usage(onet_train_possible(&o, &err));
    o = small_training();
    o.epochs = 0;
    usage(onet_train_possible(&o, &err));
    o = small_training();
    o.keep = 1;
    o.model_path = "/"; /* something is there */
    usage(onet_train_possible(&o, &err));
    o = small_training();
#define unnamed(name, value)                                                                                 \
    do {                                                                                                     \
        onet_train_options wrong = o;                                                                        \
        wrong.name = value;                                                                                  \
        usage(onet_train(&model, sets, NULL, &wrong, &err));                                                 \
    } while (0)
#define option(name, value)                                                                                  \
    do {                                                                                                     \
        unnamed(name, value);                                                                                \
        about(#name, "onet_train_options.");                                                                 \
    } while (0)
    unnamed(size, 4);
    unnamed(settings.width, WIDTH + 1);
    option(settings.encoder_blocks, -1);
    option(settings.hidden, 0);
    option(settings.encoder_out, 1 << 30);
    option(settings.pool, (onet_pool)5);
    option(settings.decoder_blocks, 1000);
    option(settings.decoder_out, -2);
    option(settings.relative, 2);
    unnamed(settings.reserved[3], 1);
    option(batch, 0);
    option(epochs, -1);
    option(learning_rate, NAN);
    option(learning_rate, -1);
    option(schedule, (onet_schedule)5);
    option(warmup, 2);
    option(beta1, 1);
    option(beta2, -1);
    option(epsilon, 0);
    option(epsilon, INFINITY);
    option(weight_decay, -0.5);
    option(weight_decay, INFINITY);
    option(clip, NAN);
    option(average, 1);
    option(batches, (onet_batches)5);
    option(statistics, (onet_statistics)5);
    option(forget, 1);
    option(drop, -0.5);
    option(jitter, INFINITY);
    option(stray, -0.1);
    option(stray, NAN);
    option(dropout, 1);
    option(dropout, 1 - 1e-9); /* 1 as a float */
    option(dropout, NAN);
    option(vary, (onet_variation)3);
    option(crop, -1);
    option(crop, 1);
    option(models, 0);
    option(threads, -1);
    option(threads, 1 << 20);
    option(kernels, "none");
    option(device, "none");
    option(precision, (onet_precision)5);
    option(checkpoint_seconds, -1);
    option(valid_limit, -1);
    option(patience, -1);
#undef option
#undef unnamed
    onet_train_defaults(NULL, sizeof o);
    onet_train_defaults(&o, 1);
    char path[16] = "before";
    assert_int_equal(onet_train_path(NULL, sizeof path, "m", ONET_TRAIN_LOG), 0);
    assert_int_equal(onet_train_path(path, sizeof path, NULL, ONET_TRAIN_LOG), 0);
    assert_string_equal(path, "");
    assert_int_equal(onet_train_path(path, sizeof path, "m", (onet_train_file)9), 0);
    assert_int_equal(onet_train_path(NULL, 0, "m", ONET_TRAIN_LOG), 9);
    assert_int_equal(onet_train_model_path(NULL, sizeof path, "m", 1), 0);
    assert_int_equal(onet_train_model_path(path, sizeof path, NULL, 1), 0);
    assert_int_equal(onet_train_model_path(path, sizeof path, "m", 65), 0);
    assert_int_equal(onet_train_model_path(NULL, 0, "m", 1), 15);
    onet_sets_free(sets);
}

/* ---- Words ------------------------------------------------------------------------------------------- */

static void vocabularies(void **state) {
    static const char *const text[] = {"one", "two"}, *const hole[] = {"one", NULL};
    const float no_number[] = {0, 1, NAN, 2};
    onet_words *words = some_words(), *made = words;
    uint64_t times[3] = {1, 1, 1};
    size_t length, repeated;
    onet_vocabulary_options o;
    onet_vocabulary_defaults(NULL, sizeof o);
    onet_vocabulary_defaults(&o, sizeof o);
    usage(onet_words_from(NULL, 2, WIDTH, text, NULL, NULL, &err));
    usage(onet_words_from(&made, 2, WIDTH, NULL, NULL, NULL, &err));
    assert_null(made);
    usage(onet_words_from(&made, 2, WIDTH, hole, NULL, NULL, &err));
    usage(onet_words_from(&made, 0, WIDTH, text, NULL, NULL, &err));
    usage(onet_words_from(&made, 2, -1, text, NULL, NULL, &err));
    bad(onet_words_from(&made, 2, WIDTH, text, NULL, no_number, &err));
    /* Words that a model's file could not keep. */
    bad(onet_words_from(&made, 2, WIDTH, (const char *const[]){"one", ""}, NULL, NULL, &err));
    assert_string_equal(err.text, "word 1 is empty or has a newline in it");
    bad(onet_words_from(&made, 2, WIDTH, (const char *const[]){"one\ntwo", "three"}, NULL, NULL, &err));
    usage(onet_words_copy(NULL, words, &err));
    usage(onet_words_copy(&made, NULL, &err));
    usage(onet_words_read(NULL, "vectors.txt", &err));
    usage(onet_words_read(&made, NULL, &err));
    usage(onet_vectors_read(NULL, "vectors.txt", &repeated, &err));
    usage(onet_vectors_read(&made, NULL, &repeated, &err));
    usage(onet_words_choose(NULL, words, words, times, &o, &err));
    usage(onet_words_choose(&made, NULL, words, times, &o, &err));
    usage(onet_words_choose(&made, words, NULL, times, &o, &err));
    usage(onet_words_choose(&made, words, words, NULL, &o, &err));
#define option(field, value)                                                                                 \
    do {                                                                                                     \
        onet_vocabulary_options wrong = o;                                                                   \
        wrong.field = value;                                                                                 \
        usage(onet_words_choose(&made, words, words, times, &wrong, &err));                                  \
    } while (0)
    option(size, 2);
    option(unknown, (onet_unknown)9);
    option(limit, 0);
    option(own_row, -1);
    option(rare_until, -1);
#undef option
    assert_int_equal(onet_words_count(NULL), 0);
    assert_int_equal(onet_words_width(NULL), 0);
    assert_null(onet_words_text(NULL, 0, &length));
    assert_null(onet_words_text(words, 0, NULL));
    assert_null(onet_words_text(words, 3, &length));
    assert_null(onet_words_vector(NULL, 0));
    assert_null(onet_words_vector(words, -1));
    assert_int_equal(onet_words_find(NULL, "one", 3, NULL), -1);
    assert_int_equal(onet_words_find(words, NULL, 3, NULL), -1);
    assert_int_equal(onet_words_exact(NULL, "one", 3), -1);
    assert_int_equal(onet_words_exact(words, NULL, 3), -1);
    onet_bag *bag;
    const int32_t beyond[] = {0, 5};
    usage(onet_bag_new(NULL, words, &err));
    usage(onet_bag_new(&bag, NULL, &err));
    assert_null(bag);
    ok(onet_bag_new(&bag, words, &err));
    usage(onet_bag_add(NULL, "one", 9, &err));
    usage(onet_bag_add(bag, NULL, 9, &err));
    usage(onet_bag_add(bag, "one", 0, &err));
    ok(onet_bag_add(bag, "one two", 9, &err));
    assert_int_equal(onet_bag_count(NULL), 0);
    assert_null(onet_bag_word(NULL, 0, NULL));
    assert_null(onet_bag_word(bag, -1, NULL));
    assert_null(onet_bag_word(bag, 2, NULL));
    assert_null(onet_bag_set(NULL));
    assert_non_null(onet_letter_cases());
    assert_int_equal(onet_bag_write(NULL, beyond, ONET_CASE_KEEP, NULL, 0), 0);
    assert_int_equal(onet_bag_write(bag, NULL, ONET_CASE_KEEP, NULL, 0), 0);
    assert_int_equal(onet_bag_write(bag, beyond, ONET_CASE_KEEP, NULL, 0), 0);
    onet_bag_clear(NULL);
    onet_bag_clear(bag);
    onet_bag_free(NULL);
    onet_bag_free(bag);
    onet_words_free(NULL);
    onet_words_free(words);
}

/* Rows of another vocabulary would be taken for other words. */
static void other_vocabularies(void **state) {
    static const char *const text[] = {"<other>", "one", "three"};
    const int32_t rows[SETS][2] = {{1, 2}, {2, 1}, {1, 2}, {2, 1}}, order[2] = {1, 0};
    onet_sets *sets;
    onet_model *model;
    onet_orderer *orderer;
    int32_t found[SETS * 2];
    onet_answer answers[SETS];
    onet_words *other;
    onet_train_options o = small_training();
    for (int s = 0; s < SETS; s++) answers[s] = (onet_answer){.order = found + 2 * s};
    ok(onet_sets_new(&sets, 0, &err));
    sets->words = some_words();
    for (int s = 0; s < SETS; s++) ok(onet_sets_append_words(sets, 2, rows[s], order, &err));
    ok(onet_train(&model, sets, NULL, &o, &err));
    ok(onet_orderer_new(&orderer, model,
                        &(onet_order_options){.size = sizeof(onet_order_options), .device = "cpu"}, &err));
    ok(onet_orderer_run(orderer, sets, answers, &err));
    ok(onet_words_from(&other, 3, WIDTH, text, NULL, NULL, &err));
    onet_sets lent = *sets;
    lent.words = other;
    bad(onet_orderer_run(orderer, &lent, answers, &err));
    assert_non_null(strstr(err.text, "another vocabulary"));
    onet_words_free(other);
    onet_orderer_free(orderer);
    onet_model_free(model);
    onet_sets_free(sets);
}

/* ---- Sets one by one --------------------------------------------------------------------------------- */

typedef struct bytes {
    const char *text;
    size_t left;
} bytes;

static ptrdiff_t give(void *context, void *buffer, size_t size) {
    bytes *b = context;
    if (size > b->left) size = b->left;
    memcpy(buffer, b->text, size);
    b->text += size;
    b->left -= size;
    return (ptrdiff_t)size;
}

static const char line[] = "{\"items\": [[1], [2], [3]], \"name\": \"a\"}\n";

static void records_and_readers(void **state) {
    bytes from = {line, strlen(line)};
    onet_read_options o = {.size = sizeof o, .format = ONET_FORMAT_JSONL, .bytes = give, .context = &from};
    onet_record *record;
    onet_reader *reader;
    const char *text = line;
    char hex[65] = "before";
    int end;
    usage(onet_record_new(NULL, &err));
    ok(onet_record_new(&record, &err));
    assert_int_equal(onet_record_size(NULL), 0);
    assert_int_equal(onet_record_width(NULL), 0);
    assert_int_equal(onet_record_relations(NULL), 0);
    assert_null(onet_record_relation_names(NULL));
    assert_null(onet_model_relation_fill(NULL));
    assert_null(onet_record_values(NULL));
    assert_null(onet_record_items(NULL));
    assert_null(onet_record_word(NULL, 0));
    assert_null(onet_record_word(record, -1));
    assert_null(onet_record_order(NULL));
    assert_int_equal(onet_record_line(NULL), 0);
    assert_int_equal(onet_record_item_line(NULL, 0), 0);
    assert_int_equal(onet_record_item_line(record, 5), 0);
    assert_int_equal(onet_record_format(NULL), ONET_FORMAT_AUTO);
    usage(onet_record_text(NULL, "name", &text, &err));
    assert_null(text);
    usage(onet_record_text(record, NULL, &text, &err));
    usage(onet_record_text(record, "name", NULL, &err));
    usage(onet_record_item_text(NULL, "name", 0, &text, &err));
    usage(onet_record_item_text(record, NULL, 0, &text, &err));
    usage(onet_record_item_text(record, "name", 0, NULL, &err));
    usage(onet_record_item_text(record, "name", -1, &text, &err));
    usage(onet_record_item_text(record, "name", 1 << 20, &text, &err));
    assert_int_equal(onet_record_placed(NULL), 0);
    assert_null(onet_record_feature(NULL, 0));
    assert_null(onet_record_feature(record, -1));
    usage(onet_reader_open(NULL, "name", &o, &err));
    usage(onet_reader_open(&reader, NULL, &o, &err));
    assert_null(reader);
    ok(onet_reader_open(&reader, "name", &o, &err));
    usage(onet_reader_next(NULL, record, &end, &err));
    usage(onet_reader_next(reader, NULL, &end, &err));
    usage(onet_reader_next(reader, record, NULL, &err));
    assert_null(onet_reader_name(NULL));
    assert_int_equal(onet_reader_waits(NULL), 0);
    onet_reader_hash(NULL, hex);
    assert_string_equal(hex, "");
    onet_reader_hash(reader, NULL);
    ok(onet_reader_next(reader, record, &end, &err));
    assert_int_equal(onet_record_size(record), 3);
    onet_reader_close(NULL);
    onet_sets *sets = some_sets(), *growing;
    usage(onet_sets_record(NULL, 0, record, &err));
    usage(onet_sets_record(sets, SETS, record, &err));
    usage(onet_sets_record(sets, 0, NULL, &err));
    usage(onet_sets_record(&(onet_sets){.width = 1, .count = 2}, 1, record, &err));
    onet_sets broken = *sets;
    broken.width = 0;
    bad(onet_sets_record(&broken, 0, record, &err));
    ok(onet_sets_new(&growing, 0, &err));
    usage(onet_sets_append_record(NULL, record, NULL, 0, &err));
    usage(onet_sets_append_record(growing, NULL, NULL, 0, &err));
    onet_record *fresh;
    ok(onet_record_new(&fresh, &err));
    bad(onet_sets_append_record(growing, fresh, NULL, 0, &err)); /* nothing was read into it */
    onet_record_free(fresh);
    onet_sets_free(growing);
    onet_sets_free(sets);
    onet_record_free(NULL);
    onet_record_free(record);
    onet_reader_close(reader);
}

static void writers(void **state) {
    char path[] = "/tmp/ordernet-doors-XXXXXX";
    close(mkstemp(path));
    onet_write_options o = {.size = sizeof o, .format = ONET_FORMAT_JSONL, .top = 2};
    onet_writer *writer;
    onet_record *record;
    onet_sets *sets = some_sets();
    int32_t order[2 * N] = {0, 1, 2, 2, 1, 0};
    double logprob[2] = {-1, -2};
    onet_answer answer = {.found = 2, .order = order, .logprob = logprob};
    usage(onet_writer_open(NULL, path, &o, &err));
    usage(onet_writer_open(&writer, NULL, &o, &err));
    assert_null(writer);
    onet_write_options wrong = o;
    wrong.size = 0;
    usage(onet_writer_open(&writer, path, &wrong, &err));
    wrong = o;
    wrong.format = (onet_format)99;
    usage(onet_writer_open(&writer, path, &wrong, &err));
    wrong = o;
    wrong.top = -1;
    usage(onet_writer_open(&writer, path, &wrong, &err));
    wrong = o;
    wrong.made = "\xff";
    usage(onet_writer_open(&writer, path, &wrong, &err));
    usage(onet_sets_convert(path, path, NULL, &wrong, &err));
    ok(onet_writer_open(&writer, path, &o, &err));
    ok(onet_record_new(&record, &err));
    usage(onet_writer_put(writer, record, &answer, &err)); /* before begin */
    usage(onet_writer_begin(NULL, NULL, &err));
    ok(onet_writer_begin(writer, NULL, &err));
    usage(onet_writer_begin(writer, NULL, &err));          /* twice */
    usage(onet_writer_put(writer, record, &answer, &err)); /* nothing was read into the record */
    ok(onet_sets_record(sets, 0, record, &err));
    usage(onet_writer_put(NULL, record, &answer, &err));
    usage(onet_writer_put(writer, NULL, &answer, &err));
    onet_answer no_order = answer, no_logprob = answer, none_found = answer;
    no_order.order = NULL;
    no_logprob.logprob = NULL;
    none_found.found = -1;
    usage(onet_writer_put(writer, record, &no_order, &err));
    usage(onet_writer_put(writer, record, &no_logprob, &err));
    usage(onet_writer_put(writer, record, &none_found, &err));
    order[N] = N; /* of the second order */
    bad(onet_writer_put(writer, record, &answer, &err));
    order[N] = 2;
    ok(onet_writer_put(writer, record, &answer, &err));
    usage(onet_writer_end(NULL, &err));
    usage(onet_writer_flush(NULL, &err));
    usage(onet_writer_commit(NULL, &err));
    usage(onet_writer_put_error(NULL, record, "bad", &err));
    usage(onet_writer_put_error(writer, NULL, "bad", &err));
    usage(onet_writer_put_error(writer, record, NULL, &err));
    usage(onet_writer_put_error(writer, record, "bad", &err)); /* the options do not ask for it */
    ok(onet_writer_end(writer, &err));
    usage(onet_writer_put(writer, record, &answer, &err)); /* after the end */
    ok(onet_writer_commit(writer, &err));
    onet_writer_abort(NULL);
    onet_record_free(record);
    onet_sets_free(sets);
    remove(path);
}

/* ---- Columns ----------------------------------------------------------------------------------------- */

static onet_status fill_sets(const onet_sets *sets, void *context) {
    onet_sets *filled;
    onet_status status = onet_sets_fill(&filled, sets, NULL, ONET_MISSING_ERROR, &err);
    (void)context;
    onet_sets_free(filled);
    return status;
}

static void columns(void **state) {
    static const char *const names[] = {"a", "b", "c"};
    onet_columns *c, *copy;
    onet_sets *sets = some_sets(), *filled;
    usage(onet_columns_new(NULL, WIDTH, names, NULL, NULL, &err));
    usage(onet_columns_new(&c, -1, names, NULL, NULL, &err));
    bad(onet_columns_new(&c, 2, (const char *const[]){"a", NULL}, NULL, NULL, &err));
    ok(onet_columns_new(&c, WIDTH, names, NULL, NULL, &err));
    usage(onet_columns_copy(NULL, c, &err));
    usage(onet_columns_copy(&copy, NULL, &err));
    assert_int_equal(onet_columns_width(NULL), 0);
    assert_int_equal(onet_columns_inputs(NULL), 0);
    assert_null(onet_columns_name(NULL, 0));
    assert_null(onet_columns_name(c, -1));
    assert_null(onet_columns_name(c, WIDTH));
    assert_int_equal(onet_columns_span(NULL, 0), 1);
    assert_int_equal(onet_columns_span(c, -1), 1);
    assert_int_equal(onet_columns_span(c, WIDTH), 1);
    assert_null(onet_columns_unused(NULL));
    assert_string_equal(onet_columns_kind(NULL, 0), "number");
    usage(onet_columns_set_kinds(NULL, "-", &err));
    usage(onet_columns_set_kinds(c, NULL, &err));
    usage(onet_columns_set_kinds(c, "", &err));
    usage(onet_columns_set_kinds(c, "x-", &err));
    double value = 3;
    assert_false(onet_text_value(NULL, &value) || onet_text_value("true", NULL) ||
                 onet_text_value("1", &value));
    assert_true(value == 3 && onet_text_value("True", &value) && value == 1);
    assert_true(onet_text_value("1970-01-02", &value) && value == 86400);
    assert_null(onet_text_spelling(NULL));
    assert_null(onet_text_spelling("5"));
    assert_non_null(onet_text_spelling("5%"));
    assert_null(onet_columns_misspelt(NULL));
    assert_null(onet_columns_unknown(NULL));
    assert_null(onet_reader_unknown(NULL));
    assert_null(onet_columns_set(NULL));
    assert_null(onet_columns_rank(NULL));
    assert_int_equal(onet_columns_missing(NULL), ONET_MISSING_ERROR);
    assert_non_null(onet_missings()->name);
    assert_null(onet_model_columns(NULL));
    assert_null(onet_model_relations(NULL));
    assert_null(onet_model_relate(NULL));
    assert_int_equal(onet_model_given_relations(NULL), 0);
    usage(onet_sets_set_columns(NULL, c, &err));
    ok(onet_sets_set_columns(sets, c, &err));
    onet_columns_free(c);
    ok(onet_columns_new(&c, 3, names, NULL, NULL, &err));
    usage(onet_sets_set_columns(sets, c, &err));
    usage(onet_sets_fill(NULL, sets, NULL, ONET_MISSING_MEAN, &err));
    usage(onet_sets_fill(&filled, NULL, NULL, ONET_MISSING_MEAN, &err));
    usage(onet_sets_fill(&filled, sets, NULL, (onet_missing)9, &err));
    with_broken_sets(fill_sets, NULL, true);
    onet_columns_free(c);
    onet_columns_free(NULL);
    onet_sets_free(sets);
}

/* ---- Ranks and speed --------------------------------------------------------------------------------- */

static void ranks_and_speed(void **state) {
    usage(onet_world_open(NULL, &err));
    assert_int_equal(onet_world_rank(NULL), 0);
    assert_int_equal(onet_world_size(NULL), 1);
    assert_int_equal(onet_world_agree(NULL, ONET_BAD, NULL), ONET_BAD);
    onet_world_close(NULL);
    onet_speed speed;
    onet_speed_options o;
    onet_speed_defaults(NULL, sizeof o);
    onet_speed_defaults(&o, sizeof o);
    usage(onet_speed_train(NULL, &o, &err));
    usage(onet_speed_order(NULL, &o, &err));
#define option(field, value)                                                                                 \
    do {                                                                                                     \
        onet_speed_options wrong = o;                                                                        \
        wrong.field = value;                                                                                 \
        usage(onet_speed_train(&speed, &wrong, &err));                                                       \
        usage(onet_speed_order(&speed, &wrong, &err));                                                       \
    } while (0)
    option(size, 0);
    option(settings.hidden, -1);
    option(n, 0);
    option(batch, -1);
    option(beam, 0);
    option(sets, -1);
    option(seconds, NAN);
    option(seconds, INFINITY);
    option(threads, -1);
    option(kernels, "none");
    option(device, "none");
#undef option
    assert_true(isnan(onet_speed_peak(-1, 0.01)));
    assert_true(isnan(onet_speed_peak(1, NAN)));
    assert_true(isnan(onet_speed_peak(1, INFINITY)));
    assert_int_equal(onet_threads(-1), 0);
    assert_int_equal(onet_threads(1 << 30), 0);
    assert_int_equal(onet_threads(2), 2);
}

/* ---- Tours ------------------------------------------------------------------------------------------- */

enum { CITIES = 5 };
static const double city[CITIES * 2] = {0, 0, 3, 0, 3, 4, 0, 4, 1, 1};

static void instances(void **state) {
    onet_tsp t;
    double wrong[CITIES * 2];
    int32_t tour[CITIES] = {0, 1, 2, 3, 4}, before[CITIES];
    usage(onet_tsp_points(NULL, CITIES, city, &err));
    usage(onet_tsp_points(&t, CITIES, NULL, &err));
    bad(onet_tsp_points(&t, 0, city, &err));
    bad(onet_tsp_points(&t, -1, city, &err));
    bad(onet_tsp_points(&t, ONET_TSP_MAX_CITIES + 1, city, &err));
    static const double no_numbers[] = {NAN, INFINITY, -INFINITY};
    for (int i = 0; i < 3; i++) {
        memcpy(wrong, city, sizeof wrong);
        wrong[7] = no_numbers[i];
        bad(onet_tsp_points(&t, CITIES, wrong, &err));
        assert_null(t.dist);
    }
    wrong[7] = 1e308;
    wrong[5] = -1e308;
    bad(onet_tsp_points(&t, CITIES, wrong, &err)); /* too far apart */
    usage(onet_tsp_blank(NULL, CITIES, 1, &err));
    bad(onet_tsp_blank(&t, 0, 1, &err));
    bad(onet_tsp_blank(&t, ONET_TSP_MAX_CITIES + 1, 1, &err));
    ok(onet_tsp_points(&t, CITIES, city, &err));
    assert_true(onet_tsp_length(&t, tour) > 13);
    assert_true(isnan(onet_tsp_length(NULL, tour)));
    assert_true(isnan(onet_tsp_length(&t, NULL)));
    onet_tsp_canonical(NULL, tour);
    onet_tsp_canonical(&t, NULL);
    static const int32_t not_there[] = {CITIES, -1, INT32_MAX, INT32_MIN};
    for (int i = 0; i < 4; i++) {
        tour[2] = not_there[i];
        assert_true(isnan(onet_tsp_length(&t, tour)));
        memcpy(before, tour, sizeof tour);
        onet_tsp_canonical(&t, tour);
        assert_memory_equal(before, tour, sizeof tour);
        assert_false(onet_tsp_is_tour(CITIES, tour));
    }
    assert_false(onet_tsp_is_tour(-1, tour));
    assert_false(onet_tsp_is_tour(CITIES, NULL));
    onet_tsp none = {.n = -3};
    onet_tsp_canonical(&none, tour);
    assert_true(isnan(onet_tsp_length(&none, tour)));
    onet_tsp_free(&t);
    onet_tsp_free(&t);
    onet_tsp_free(NULL);
}

/* Every method, since each reads the instance in its own way. */
static void refused_by_all(onet_status status, const onet_tsp *t, const onet_tsp_options *o) {
    int32_t tour[CITIES];
    for (int method = 0; method < ONET_TSP_METHODS; method++)
        refused(status, onet_tsp_solve(t, (onet_tsp_method)method, o, tour, NULL, &err));
}

static void solvers(void **state) {
    onet_model *model = some_model();
    onet_tsp_net *net;
    onet_tsp_options o;
    onet_tsp_proof proof;
    onet_tsp t, broken;
    int32_t tour[CITIES];
    onet_tsp_defaults(NULL, sizeof o);
    onet_tsp_defaults(&o, 3);
    onet_tsp_defaults(&o, sizeof o);
    assert_false(onet_tsp_stop_flag(NULL));
    assert_non_null(onet_tsp_methods()[0].name);
    ok(onet_tsp_net_new(&net, model, NULL, &err));
    ok(onet_tsp_points(&t, CITIES, city, &err));
    o.net = net;
    for (int method = 0; method < ONET_TSP_METHODS; method++)
        ok(onet_tsp_solve(&t, (onet_tsp_method)method, &o, tour, &proof, &err));
    usage(onet_tsp_solve(NULL, ONET_TSP_EXACT, &o, tour, NULL, &err));
    usage(onet_tsp_solve(&t, ONET_TSP_EXACT, &o, NULL, NULL, &err));
    usage(onet_tsp_solve(&t, (onet_tsp_method)-1, &o, tour, NULL, &err));
    usage(onet_tsp_solve(&t, ONET_TSP_METHODS, &o, tour, NULL, &err));
#define option(status, field, value)                                                                         \
    do {                                                                                                     \
        onet_tsp_options wrong = o;                                                                          \
        wrong.field = value;                                                                                 \
        refused_by_all(status, &t, &wrong);                                                                  \
    } while (0)
    option(ONET_USAGE, size, 0);
    option(ONET_USAGE, size, sizeof(size_t) - 1);
    option(ONET_USAGE, seconds, -1);
    option(ONET_USAGE, seconds, NAN);
    option(ONET_USAGE, kicks, -1);
#undef option
    onet_tsp_options wrong = o;
    wrong.net = NULL;
    usage(onet_tsp_solve(&t, ONET_TSP_ORDERNET, &wrong, tour, NULL, &err));
    wrong = o;
    wrong.symmetries = 3;
    usage(onet_tsp_solve(&t, ONET_TSP_ORDERNET, &wrong, tour, NULL, &err));
#define broken_by(status, ...)                                                                               \
    do {                                                                                                     \
        broken = t;                                                                                          \
        __VA_ARGS__;                                                                                         \
        refused_by_all(status, &broken, &o);                                                                 \
    } while (0)
    broken_by(ONET_USAGE, broken.n = 0);
    broken_by(ONET_USAGE, broken.n = -1);
    broken_by(ONET_USAGE, broken.n = ONET_TSP_MAX_CITIES + 1);
    broken_by(ONET_USAGE, broken.dist = NULL);
    broken_by(ONET_USAGE, broken.reserved[1] = &t);
    broken_by(ONET_BAD, broken.whole = 1); /* one distance is the root of 2 */
    double dist[CITIES * CITIES];
    static const double no_distances[] = {NAN, INFINITY, -1, 7.5}; /* the last differs there and back */
    for (int i = 0; i < 4; i++) {
        memcpy(dist, t.dist, sizeof dist);
        dist[CITIES + 3] = no_distances[i];
        broken_by(ONET_BAD, broken.dist = dist);
        dist[3 * CITIES + 1] = no_distances[i];
        if (i < 3) broken_by(ONET_BAD, broken.dist = dist);
    }
    memcpy(dist, t.dist, sizeof dist);
    dist[2 * CITIES + 2] = 1;
    broken_by(ONET_BAD, broken.dist = dist);
#undef broken_by
    broken = t;
    broken.xy = NULL;
    usage(onet_tsp_solve(&broken, ONET_TSP_ORDERNET, &o, tour, NULL, &err));
    onet_tsp_free(&t);
    onet_tsp_net_free(net);
    onet_model_free(model);
}

static void nets_of_tours(void **state) {
    onet_model *model = some_model();
    onet_tsp_net *net = NULL;
    onet_tsp t, broken;
    onet_order_options o;
    float shown[CITIES * 2];
    int32_t tour[CITIES], *tours[] = {tour};
    onet_order_defaults(&o, sizeof o);
    usage(onet_tsp_net_new(NULL, model, NULL, &err));
    usage(onet_tsp_net_new(&net, NULL, NULL, &err));
#define option(field, value)                                                                                 \
    do {                                                                                                     \
        onet_order_options wrong = o;                                                                        \
        wrong.field = value;                                                                                 \
        usage(onet_tsp_net_new(&net, model, &wrong, &err));                                                  \
        assert_null(net);                                                                                    \
    } while (0)
    option(size, 0);
    option(beam, -1);
    option(threads, -1);
    option(decode, (onet_decode)9);
    option(kernels, "none");
    option(device, "none");
#undef option
    ok(onet_tsp_net_new(&net, model, &o, &err));
    ok(onet_tsp_points(&t, CITIES, city, &err));
    ok(onet_tsp_net_items(&t, ONET_TSP_AS_IS, shown, &err));
    usage(onet_tsp_net_items(NULL, ONET_TSP_FITTED, shown, &err));
    usage(onet_tsp_net_items(&t, ONET_TSP_FITTED, NULL, &err));
    usage(onet_tsp_net_items(&t, (onet_tsp_place)5, shown, &err));
    ok(onet_tsp_net_tours(net, &t, 1, ONET_TSP_FITTED, 8, tours, tours, &err));
    ok(onet_tsp_net_tours(net, &t, 1, ONET_TSP_FITTED, 1, NULL, NULL, &err));
    usage(onet_tsp_net_tours(NULL, &t, 1, ONET_TSP_FITTED, 1, tours, NULL, &err));
    usage(onet_tsp_net_tours(net, NULL, 1, ONET_TSP_FITTED, 1, tours, NULL, &err));
    usage(onet_tsp_net_tours(net, &t, 1, (onet_tsp_place)-1, 1, tours, NULL, &err));
    usage(onet_tsp_net_tours(net, &t, 1, ONET_TSP_FITTED, 2, tours, NULL, &err));
    usage(onet_tsp_net_tours(net, &t, 1, ONET_TSP_FITTED, -8, tours, NULL, &err));
#define broken_by(...)                                                                                       \
    do {                                                                                                     \
        broken = t;                                                                                          \
        __VA_ARGS__;                                                                                         \
        usage(onet_tsp_net_items(&broken, ONET_TSP_FITTED, shown, &err));                                    \
        usage(onet_tsp_net_tours(net, &broken, 1, ONET_TSP_FITTED, 1, tours, NULL, &err));                   \
    } while (0)
    broken_by(broken.xy = NULL);
    broken_by(broken.n = 0);
    broken_by(broken.n = -CITIES);
    broken_by(broken.n = ONET_TSP_MAX_CITIES + 1);
    broken_by(broken.reserved[2] = &t);
#undef broken_by
    double wrong[CITIES * 2];
    memcpy(wrong, city, sizeof wrong);
    wrong[3] = NAN;
    broken = t;
    broken.xy = wrong;
    bad(onet_tsp_net_tours(net, &broken, 1, ONET_TSP_FITTED, 1, tours, NULL, &err));
    onet_tsp_free(&t);
    onet_tsp_net_free(net);
    onet_tsp_net_free(NULL);
    onet_model_free(model);
}

/* ---- Settings chosen by trying them ------------------------------------------------------------------- */

static void tuning(void **state) {
    enum { MANY = 30 };
    float feature[MANY * 2 * WIDTH];
    int32_t order[MANY * 2];
    size_t group[MANY];
    for (int i = 0; i < MANY * 2 * WIDTH; i++) feature[i] = (float)(i * 7 % 11);
    for (int i = 0; i < MANY * 2; i++) order[i] = i % 2;
    for (int i = 0; i < MANY; i++) group[i] = (size_t)i % 4;
    onet_sets *sets = NULL, *few = some_sets();
    ok(onet_sets_from(&sets, MANY, 2, WIDTH, feature, order, &err));
    onet_train_options o = small_training();
    onet_tune_options how;
    onet_tuned found;
    onet_tune_defaults(&how, sizeof how);
    assert_true(how.seconds > 0 && !how.trials);
    how.trials = 4;
    usage(onet_tune(NULL, &found, sets, &how, &err));
    usage(onet_tune(&o, &found, NULL, &how, &err));
    usage(onet_tune(&o, &found, sets, &(onet_tune_options){.size = 1}, &err));
    usage(onet_tune(&o, &found, sets, &(onet_tune_options){.size = sizeof how, .trials = 3}, &err));
    usage(onet_tune(&o, &found, sets, &(onet_tune_options){.size = sizeof how, .trials = -1}, &err));
    assert_int_equal(onet_tune(&o, &found, few, &how, &err), ONET_BAD);
    how.group = group; /* four groups cannot be five parts */
    assert_int_equal(onet_tune(&o, &found, sets, &how, &err), ONET_BAD);
    group[3] = MANY;
    usage(onet_tune(&o, &found, sets, &how, &err));
    how.group = NULL;
    o.epochs = 0;
    usage(onet_tune(&o, &found, sets, &how, &err));
    o = small_training();
    ok(onet_tune(&o, &found, sets, &how, &err));
    assert_in_range(found.trials, 1, 4); /* a round that would go beyond the budget is not begun */
    assert_int_equal(found.test.model.sets, 6);
    assert_true(found.test.guess.exact.mean == 0.5);
    onet_sets_free(sets);
    onet_sets_free(few);
}

/* ---- The ranker, and what a result is worth ---------------------------------------------------------- */

static onet_status rank(const onet_sets *sets, void *context) {
    onet_model *model;
    (void)context;
    onet_status status = onet_ranker_train(&model, sets, NULL, &err);
    onet_model_free(model);
    return status;
}

static onet_status compare_with_nothing(const onet_sets *sets, void *context) {
    onet_comparison c;
    (void)context;
    return onet_compare(&c, NULL, sets, NULL, NULL, &err);
}

static void comparisons(void **state) {
    onet_sets *sets = some_sets();
    onet_model *model;
    onet_ranker_options o;
    onet_compare_options how;
    onet_comparison c;
    char text[2000];
    with_broken_sets(rank, NULL, true);
    with_broken_sets(compare_with_nothing, NULL, true);
    onet_ranker_defaults(NULL, 0);
    onet_ranker_defaults(&o, sizeof o);
    usage(onet_ranker_train(NULL, sets, &o, &err));
    usage(onet_ranker_train(&model, NULL, &o, &err));
    o.penalty = NAN;
    usage(onet_ranker_train(&model, sets, &o, &err));
    o.penalty = 0;
    o.threads = -1;
    usage(onet_ranker_train(&model, sets, &o, &err));
    o.threads = 1;
    o.scale = "none such";
    usage(onet_ranker_train(&model, sets, &o, &err));
    o.scale = NULL;
    o.size = 1;
    usage(onet_ranker_train(&model, sets, &o, &err));
    o.size = sizeof o;
    ok(onet_ranker_train(&model, sets, &o, &err));
    assert_string_equal(onet_model_kind(model), "ranker");
    assert_null(onet_model_kind(NULL));
    assert_non_null(onet_ranker_weights(model));
    assert_null(onet_ranker_weights(NULL));
    onet_model_free(model);
    onet_compare_defaults(NULL, 0);
    onet_compare_defaults(&how, sizeof how);
    usage(onet_compare(NULL, sets, sets, NULL, &how, &err));
    usage(onet_compare(&c, sets, NULL, NULL, &how, &err));
    how.folds = -1;
    usage(onet_compare(&c, NULL, sets, NULL, &how, &err));
    how.folds = 0;
    how.threads = -1;
    usage(onet_compare(&c, NULL, sets, NULL, &how, &err));
    how.threads = 1;
    ok(onet_compare(&c, NULL, sets, NULL, &how, &err));
    usage(onet_sets_oddities(NULL, text, sizeof text, &err));
    usage(onet_sets_oddities(sets, NULL, sizeof text, &err));
    usage(onet_sets_oddities(sets, text, 0, &err));
    ok(onet_sets_oddities(sets, text, sizeof text, &err));
    onet_sets_free(sets);
}

/* ---- None is left out -------------------------------------------------------------------------------- */

static char *text_of(const char *path) {
    FILE *file = fopen(path, "r");
    if (!file) skip_because("%s is not here: run the test in the repository's root", path);
    char *text = calloc(1, 1 << 20);
    assert_non_null(text);
    assert_true(fread(text, 1, (1 << 20) - 1, file) < (1 << 20) - 1);
    fclose(file);
    return text;
}

/* Returns the number of functions in the header, each of which this file must call. */
static int functions_of(const char *path) {
    char *header = text_of(path), *own = text_of("tests/test_arguments.c");
    int functions = 0;
    for (char *at = header; (at = strstr(at, "\nONET_API "));) {
        at = strstr(at, "onet_");
        char *open = strchr(at, '('), *name = open, call[80];
        while (isalnum((unsigned char)name[-1]) || name[-1] == '_') name--;
        snprintf(call, sizeof call, "%.*s(", (int)(open - name), name);
        if (!strstr(own, call)) fail_msg("%s) is never called here", call);
        functions++;
        at = open;
    }
    free(header);
    free(own);
    return functions;
}

static void every_function_is_here(void **state) {
    glob_t headers;
    int functions = 0;
    if (glob("include/ordernet*.h", 0, NULL, &headers)) skip_because("run the test in the repository's root");
    for (size_t i = 0; i < headers.gl_pathc; i++)
        if (!strstr(headers.gl_pathv[i], "_pages")) /* tests/test_pages_api.c */
            functions += functions_of(headers.gl_pathv[i]);
    globfree(&headers);
    assert_true(functions > 140);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sets_from_memory),
        cmocka_unit_test(sets_of_callers),
        cmocka_unit_test(files),
        cmocka_unit_test(models),
        cmocka_unit_test(orderers),
        cmocka_unit_test(measures),
        cmocka_unit_test(comparisons),
        cmocka_unit_test(training),
        cmocka_unit_test(tuning),
        cmocka_unit_test(vocabularies),
        cmocka_unit_test(other_vocabularies),
        cmocka_unit_test(records_and_readers),
        cmocka_unit_test(writers),
        cmocka_unit_test(columns),
        cmocka_unit_test(ranks_and_speed),
        cmocka_unit_test(instances),
        cmocka_unit_test(solvers),
        cmocka_unit_test(nets_of_tours),
        cmocka_unit_test(every_function_is_here),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
