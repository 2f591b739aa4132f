/* Tests public functions about models, files, a caller's own sets, speed, and the progress and stop of
 * ordering. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ordernet_io.h"
#include "ordernet_measure.h"
#include "ordernet_train.h"
#include "unit.h"

static onet_error err;

static onet_model *small_model(void) {
    const float items[] = {3, 1, 2, 4};
    const int32_t three[] = {1, 2, 0}, four[] = {1, 2, 0, 3};
    onet_sets *sets;
    onet_model *model;
    onet_train_options o;
    onet_train_defaults(&o, sizeof o);
    o.settings = (onet_settings){
        .encoder_blocks = 1, .hidden = 4, .encoder_out = 3, .decoder_blocks = 1, .decoder_out = 2};
    o.epochs = 1;
    o.device = "cpu";
    assert_int_equal(onet_sets_new(&sets, 1, &err), ONET_OK);
    assert_int_equal(onet_sets_append(sets, 3, 1, items, three, &err), ONET_OK);
    assert_int_equal(onet_sets_append(sets, 4, 1, items, four, &err), ONET_OK);
    assert_int_equal(onet_train(&model, sets, NULL, &o, &err), ONET_OK);
    onet_sets_free(sets);
    return model;
}

static void tells_of_models(void **state) {
    onet_model *model = small_model();
    size_t trained = 0, count = 0;
    onet_tensor t;
    for (; onet_model_tensor(model, count, &t); count++) {
        size_t size = 1;
        for (int i = 0; i < t.dims; i++) size *= (size_t)t.shape[i];
        if (t.trained) trained += size;
        assert_true(t.name[0] && t.dims >= 1 && t.dims <= 3);
    }
    assert_int_equal(trained, onet_model_parameters(model, 1));
    assert_string_equal(t.name, "input.scale"); /* the last, for items that are numbers */
    assert_false(onet_model_tensor(model, count + 7, &t));
    assert_false(onet_model_sized(model)); /* two sets are too few to tell sizes apart */
    size_t entries = 0;
    const char *key, *value;
    for (; (value = onet_model_record_at(model, entries, &key)); entries++)
        assert_string_equal(onet_model_record(model, key), value);
    assert_true(entries > 3);
    char sum[65], other[65];
    onet_model_checksum(model, sum);
    onet_model *again = small_model();
    onet_model_checksum(again, other);
    assert_int_equal(strlen(sum), 64);
    assert_string_equal(sum, other); /* the same seed, data and settings */
    onet_model_free(again);
    onet_model_free(model);
}

static void models_as_bytes(void **state) {
    onet_model *model = small_model(), *again;
    void *bytes, *second;
    size_t size, second_size;
    assert_int_equal(onet_model_to_bytes(model, &bytes, &size, &err), ONET_OK);
    char path[] = "/tmp/ordernet-bytes-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(onet_model_save(model, path, &err), ONET_OK);
    close(fd);
    FILE *file = fopen(path, "rb");
    char *saved = malloc(size + 1);
    assert_true(file && saved);
    assert_int_equal(fread(saved, 1, size + 1, file), size); /* the file is as long as the bytes */
    assert_memory_equal(saved, bytes, size);
    fclose(file);
    remove(path);
    assert_int_equal(onet_model_from_bytes(&again, bytes, size, &err), ONET_OK);
    assert_int_equal(onet_model_to_bytes(again, &second, &second_size, &err), ONET_OK);
    assert_int_equal(second_size, size);
    assert_memory_equal(second, bytes, size);
    onet_bytes_free(second);
    onet_model_free(again);
    for (size_t part = 0; part < size; part += 37) { /* none of which is a whole model */
        assert_int_equal(onet_model_from_bytes(&again, bytes, part, &err), ONET_BAD);
        assert_null(again);
    }
    saved[size - 1] ^= 1;
    assert_int_equal(onet_model_from_bytes(&again, saved, size, &err), ONET_BAD);
    assert_non_null(strstr(err.text, "the model"));
    free(saved);
    onet_bytes_free(bytes);
    onet_model_free(model);
}

/* Sets in arrays of the caller's own, which nothing copies. */
static void checks_a_callers_sets(void **state) {
    float items[] = {3, 1, 2, 4, 5};
    int32_t order[] = {1, 0, 2, 0, 1};
    size_t start[] = {0, 2, 5};
    onet_sets sets = {.count = 2, .width = 1, .start = start, .items = items, .order = order};
    assert_int_equal(onet_sets_check(&sets, &err), ONET_OK);
    order[4] = 0;
    assert_int_equal(onet_sets_check(&sets, &err), ONET_BAD);
    assert_non_null(strstr(err.text, "set 2: order[2] is 0, which stands in the order already"));
    order[4] = 1;
    items[3] = NAN;
    assert_int_equal(onet_sets_check(&sets, &err), ONET_BAD);
    assert_non_null(strstr(err.text, "set 2: items[1][0] is not a finite number"));
    items[3] = 4;
    start[1] = 0;
    assert_int_equal(onet_sets_check(&sets, &err), ONET_BAD);
    assert_non_null(strstr(err.text, "set 1: the set has no items"));
}

static void names_files(void **state) {
    char path[32];
    assert_int_equal(onet_train_path(path, sizeof path, "a/m.safetensors", ONET_TRAIN_LOG), 11);
    assert_string_equal(path, "a/m.log.csv");
    onet_train_path(path, sizeof path, "m", ONET_TRAIN_BEST);
    assert_string_equal(path, "m.best.safetensors");
    assert_int_equal(onet_train_path(path, sizeof path, "m.safetensors", ONET_TRAIN_LOCK), 6);
    assert_string_equal(path, "m.lock");
    assert_int_equal(onet_train_path(path, 4, "m", ONET_TRAIN_CHECKPOINT), 24);
    assert_string_equal(path, "m.c");
    assert_int_equal(onet_train_model_path(path, sizeof path, "a/m.safetensors", 2), 17);
    assert_string_equal(path, "a/m.2.safetensors");
    assert_int_equal(onet_train_model_path(path, sizeof path, "m", 0), 0);
}

typedef struct source {
    const char *text;
    size_t left;
} source;

/* A few bytes at a time, as a socket may give them. */
static ptrdiff_t give(void *context, void *buffer, size_t size) {
    source *s = context;
    if (size > 3) size = 3;
    if (size > s->left) size = s->left;
    memcpy(buffer, s->text, size);
    s->text += size;
    s->left -= size;
    return (ptrdiff_t)size;
}

static ptrdiff_t refuse(void *context, void *buffer, size_t size) {
    (void)context, (void)buffer, (void)size;
    return -1;
}

static void reads_a_callers_bytes(void **state) {
    const char text[] = "{\"items\": [[1], [2]], \"order\": [1, 0]}\n{\"items\": [[3]], \"order\": [0]}\n";
    source s = {text, sizeof text - 1};
    onet_read_options o = {.size = sizeof o, .bytes = give, .context = &s};
    onet_sets *sets;
    assert_int_equal(onet_sets_read(&sets, "a socket", &o, &err), ONET_OK);
    assert_int_equal(sets->count, 2);
    assert_true(sets->items[2] == 3);
    onet_sets_free(sets);
    s = (source){"{\"items\": [[1], ", 16};
    assert_int_equal(onet_sets_read(&sets, "a socket", &o, &err), ONET_BAD);
    assert_non_null(strstr(err.text, "a socket:1:"));
    o.bytes = refuse;
    assert_int_equal(onet_sets_read(&sets, "a socket", &o, &err), ONET_IO);
    assert_string_equal(err.text, "cannot read a socket");
}

static void measures_speed(void **state) {
    onet_speed_options o;
    onet_speed speed;
    onet_speed_defaults(&o, sizeof o);
    o.settings = (onet_settings){.width = 1,
                                 .encoder_blocks = 1,
                                 .hidden = 4,
                                 .encoder_out = 3,
                                 .decoder_blocks = 1,
                                 .decoder_out = 2};
    o.n = 3;
    o.batch = 2;
    o.sets = 4;
    o.seconds = 0.01;
    o.threads = 1;
    o.device = "cpu";
    assert_int_equal(onet_speed_train(&speed, &o, &err), ONET_OK);
    assert_true(speed.sets == 2 && speed.sets_per_second > 0 && speed.gflops > 0 && isfinite(speed.loss));
    assert_int_equal(onet_speed_order(&speed, &o, &err), ONET_OK);
    assert_true(speed.sets == 4 && speed.sets_per_second > 0 && isnan(speed.loss));
    assert_string_equal(speed.kernels, onet_kernels_here()[0]);
    o.n = 0;
    assert_int_equal(onet_speed_order(&speed, &o, &err), ONET_USAGE);
    assert_true(onet_threads(3) == 3 && onet_threads(0) >= 1);
}

/* onet_order_options.stop: requests a stop from the `left`-th call on. */
static int stop_later(void *context) {
    int *left = context;
    return __atomic_sub_fetch(left, 1, __ATOMIC_RELAXED) <= 0;
}

typedef struct far {
    int calls;
    size_t done, steps;
    int fell;
} far;

static void see_how_far(void *context, size_t done, size_t steps) {
    far *f = context;
    f->fell |= done < f->done || done > steps;
    *f = (far){f->calls + 1, done, steps, f->fell};
}

static void large_sets_show_how_far_they_are(void **state) {
    enum { SMALL = 300, LARGE = 1200 };
    onet_model *model = small_model();
    static float items[LARGE];
    static int32_t order[LARGE];
    for (int i = 0; i < LARGE; i++) items[i] = (float)((i * 37) % LARGE) / 100;
    for (int large = 0; large < 2; large++) {
        far seen = {0};
        onet_sets *sets;
        onet_orderer *orderer;
        onet_order_options o = {
            .size = sizeof o, .threads = 1, .device = "cpu", .progress = see_how_far, .context = &seen};
        onet_answer answer = {.order = order};
        assert_int_equal(onet_sets_new(&sets, 1, &err), ONET_OK);
        assert_int_equal(onet_sets_append(sets, large ? LARGE : SMALL, 1, items, NULL, &err), ONET_OK);
        assert_int_equal(onet_orderer_new(&orderer, model, &o, &err), ONET_OK);
        assert_int_equal(onet_orderer_run(orderer, sets, &answer, &err), ONET_OK);
        assert_int_equal(seen.calls > 0, large);
        assert_int_equal(seen.steps, large ? LARGE : 0);
        assert_false(seen.fell);
        onet_orderer_free(orderer);
        onet_sets_free(sets);
    }
    onet_model_free(model);
}

static void ordering_stops(void **state) {
    enum { SMALL = 300, LARGE = 500 };
    onet_model *model = small_model();
    float items[LARGE];
    int32_t order[LARGE];
    for (int i = 0; i < LARGE; i++) {
        items[i] = (float)((i * 37) % LARGE) / 100;
        order[i] = i;
    }
    for (int large = 0; large < 2; large++) {
        onet_sets *sets;
        onet_orderer *orderer;
        onet_answer answers[SMALL];
        static int32_t room[SMALL][LARGE];
        double logprob[SMALL];
        size_t count = large ? 2 : SMALL;
        assert_int_equal(onet_sets_new(&sets, 1, &err), ONET_OK);
        for (size_t s = 0; s < count; s++) {
            assert_int_equal(onet_sets_append(sets, large ? LARGE : 6, 1, items, order, &err), ONET_OK);
            answers[s] = (onet_answer){.order = room[s]};
        }
        for (int calls = 1; calls < 20; calls += 3) {
            int left = calls;
            onet_order_options o = {
                .size = sizeof o, .threads = 2, .device = "cpu", .stop = stop_later, .context = &left};
            assert_int_equal(onet_orderer_new(&orderer, model, &o, &err), ONET_OK);
            assert_int_equal(onet_orderer_run(orderer, sets, answers, &err), ONET_INTERRUPTED);
            assert_string_equal(err.text, "the ordering was stopped");
            left = calls;
            assert_int_equal(onet_orderer_score(orderer, sets, logprob, &err), ONET_INTERRUPTED);
            left = 1 << 30; /* no stop is requested: the orderer still works */
            assert_int_equal(onet_orderer_run(orderer, sets, answers, &err), ONET_OK);
            assert_true(left < 1 << 30);
            onet_orderer_free(orderer);
        }
        onet_sets_free(sets);
    }
    onet_model_free(model);
}

static void alone_in_the_world(void **state) {
    assert_int_equal(onet_world_rank(NULL), 0);
    assert_int_equal(onet_world_size(NULL), 1);
    assert_int_equal(onet_world_agree(NULL, ONET_IO, &err), ONET_IO);
    onet_world_close(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tells_of_models),
        cmocka_unit_test(names_files),
        cmocka_unit_test(reads_a_callers_bytes),
        cmocka_unit_test(measures_speed),
        cmocka_unit_test(alone_in_the_world),
        cmocka_unit_test(models_as_bytes),
        cmocka_unit_test(checks_a_callers_sets),
        cmocka_unit_test(ordering_stops),
        cmocka_unit_test(large_sets_show_how_far_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
