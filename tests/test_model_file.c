/* Tests the model file: presets, saving and loading in single and half precision, and files that other
 * programs cast to 16 bits. Truncated files, flipped bits, an altered header and invalid numbers or words are
 * refused with a message. */
#include <math.h>

#include "data_help.h"
#include "engine/base/half.h"
#include "engine/base/rng.h"
#include "engine/data/safetensors.h"
#include "engine/model/model.h"
#include "ordernet_io.h"

static onet_words *two_words(int width) {
    onet_words *words = calloc(1, sizeof *words);
    assert_non_null(words);
    words->count = 2;
    words->width = width;
    words->at = calloc(3, sizeof *words->at);
    words->text = strdup("an\xc3\xa9t\xc3\xa9");
    words->vectors = calloc(2 * (size_t)width, sizeof *words->vectors);
    assert_true(words->at && words->text && words->vectors);
    words->at[1] = 2;
    words->at[2] = 7;
    for (int i = 0; i < 2 * width; i++) words->vectors[i] = 0.1f * (float)i;
    assert_true(words_build(words));
    return words;
}

static onet_model *model_with(bool words, int relative) {
    const onet_settings settings = {.width = 2,
                                    .encoder_blocks = 2,
                                    .hidden = 3,
                                    .encoder_out = 2,
                                    .pool = ONET_POOL_MEAN,
                                    .decoder_blocks = 1,
                                    .decoder_out = 2,
                                    .relative = relative};
    onet_model *m;
    onet_error err;
    rng r;
    assert_int_equal(model_new(&m, &settings, &err), ONET_OK);
    assert_true(m->scale[1] == 1 && m->mean[1] == 0 && m->theta[m->sh.total - 1] == 0);
    rng_seed(&r, 7, 0);
    for (size_t i = 0; i < m->sh.total; i++) m->theta[i] = (float)rng_uniform(&r) + 0.01f;
    m->mean[0] = -3;
    m->scale[1] = 0.25f;
    if (words) m->words = two_words(2);
    assert_int_equal(model_set_entry(m, "seed", "12", &err), ONET_OK);
    assert_int_equal(model_set_entry(m, "data", "b\xff\"d", &err), ONET_OK);
    assert_int_equal(model_set_entry(m, "seed", "13", &err), ONET_OK);
    return m;
}

static onet_model *small_model(bool words) {
    return model_with(words, 0);
}

static void test_presets(void **state) {
    static const struct {
        const char *name;
        int width;
        size_t total, trained;
    } nets[] = {{"tsp", 2, 72903, 71623}, {"words", 50, 1385367, 1380247}};
    onet_error err;
    for (int i = 0; i < 2; i++) {
        onet_settings settings = {.width = nets[i].width};
        onet_model *m;
        assert_int_equal(onet_settings_preset(&settings, nets[i].name, &err), ONET_OK);
        assert_int_equal(settings.width, nets[i].width);
        assert_int_equal(settings.relative, 0);
        assert_int_equal(model_new(&m, &settings, &err), ONET_OK);
        assert_int_equal(onet_model_parameters(m, 0), nets[i].total);
        assert_int_equal(onet_model_parameters(m, 1), nets[i].trained);
        onet_model_free(m);
    }
    onet_settings settings;
    assert_int_equal(onet_settings_preset(&settings, "default", &err), ONET_OK);
    assert_int_equal(onet_settings_preset(&settings, "best", &err), ONET_USAGE);
    assert_non_null(strstr(err.text, "\"best\""));
}

static void test_round_trip(void **state) {
    for (int words = 0; words < 2; words++) {
        onet_model *m = small_model(words), *n;
        onet_error err;
        char sum[65], again[65];
        const char *path = help_path("round.safetensors"), *copy = help_path("copy.safetensors");
        assert_int_equal(onet_model_save(m, path, &err), ONET_OK);
        assert_int_equal(onet_model_load(&n, path, &err), ONET_OK);
        assert_memory_equal(onet_model_settings(n), onet_model_settings(m), sizeof(onet_settings));
        assert_memory_equal(n->theta, m->theta, m->sh.total * sizeof *m->theta);
        assert_memory_equal(n->mean, m->mean, 2 * sizeof *m->mean);
        assert_memory_equal(n->scale, m->scale, 2 * sizeof *m->scale);
        assert_string_equal(onet_model_record(n, "seed"), "13");
        assert_string_equal(onet_model_record(n, "data"), "b?\"d");
        assert_null(onet_model_record(n, "other"));
        model_checksum(m, sum);
        model_checksum(n, again);
        assert_string_equal(sum, again);
        if (words) {
            const onet_words *w = onet_model_words(n);
            assert_int_equal(w->count, 2);
            assert_memory_equal(w->text, m->words->text, 7);
            assert_int_equal(words_exact(w, "\xc3\xa9t\xc3\xa9", 5), 1);
            for (int i = 0; i < 4; i++)
                assert_true(fabsf(w->vectors[i] - m->words->vectors[i]) <= 0.0005f * m->words->vectors[i]);
        } else
            assert_null(onet_model_words(n));
        /* Loading and saving again changes no byte. */
        assert_int_equal(onet_model_save(n, copy, &err), ONET_OK);
        safetensors *file;
        assert_int_equal(safetensors_open(&file, copy, &err), ONET_OK);
        assert_string_equal(safetensors_metadata(file, "sha256"), sum);
        assert_string_equal(safetensors_metadata(file, "settings.pool"), "mean");
        safetensors_close(file);
        char command[500];
        snprintf(command, sizeof command, "cmp %s %s", path, copy);
        assert_int_equal(system(command), 0);
        onet_model_free(m);
        onet_model_free(n);
    }
}

/* Returns the bytes of a model's file; *data: where its tensors begin. Frees the model. */
static char *bytes_of(onet_model *m, size_t *size, size_t *data) {
    onet_error err;
    const char *path = help_path("bytes.safetensors");
    assert_int_equal(onet_model_save(m, path, &err), ONET_OK);
    onet_model_free(m);
    char *bytes = help_bytes(path, size);
    *data = 8 + ((unsigned char)bytes[0] | (size_t)(unsigned char)bytes[1] << 8);
    return bytes;
}

static char *model_bytes(bool words, size_t *size, size_t *data) {
    return bytes_of(small_model(words), size, data);
}

static onet_status load_bytes(const char *bytes, size_t size, onet_error *err) {
    onet_model *m;
    onet_status status = onet_model_load(&m, help_file_of("loaded.safetensors", bytes, size), err);
    assert_true(status ? m == NULL : m != NULL);
    onet_model_free(m);
    return status;
}

static onet_model *half_model(bool words) {
    onet_model *m = small_model(words);
    onet_error err;
    assert_int_equal(onet_model_set_half(m, 1, &err), ONET_OK);
    return m;
}

static void test_truncated(void **state) {
    for (int half = 0; half < 2; half++) {
        size_t size, data;
        char *bytes = bytes_of(half ? half_model(true) : small_model(true), &size, &data);
        onet_error err;
        assert_int_equal(load_bytes(bytes, size, &err), ONET_OK);
        for (size_t cut = 0; cut < size; cut += cut < 64 ? 1 : 23)
            assert_int_equal(load_bytes(bytes, cut, &err), ONET_BAD);
        free(bytes);
    }
}

/* One flipped bit of any number, vector or word is found. */
static void test_flipped(void **state) {
    for (int half = 0; half < 2; half++) {
        size_t size, data;
        char *bytes = bytes_of(half ? half_model(true) : small_model(true), &size, &data);
        onet_error err;
        for (size_t i = data; i < size; i++) {
            bytes[i] ^= (char)(1 << i % 8);
            assert_int_equal(load_bytes(bytes, size, &err), ONET_BAD);
            bytes[i] ^= (char)(1 << i % 8);
        }
        assert_int_equal(load_bytes(bytes, size, &err), ONET_OK);
        free(bytes);
    }
}

static void assert_type(const char *path, const char *name, st_type type) {
    onet_error err;
    safetensors *file;
    assert_int_equal(safetensors_open(&file, path, &err), ONET_OK);
    const st_tensor *t = safetensors_find(file, name);
    assert_non_null(t);
    assert_string_equal(st_type_name(t->type), st_type_name(type));
    safetensors_close(file);
}

/* Matrices are rounded and written in half precision; what is loaded is the same model, and back in single
 * precision it is the same again. */
static void test_half(void **state) {
    onet_error err;
    onet_model *plain = small_model(true), *m = small_model(true), *n;
    const net_shape *sh = &m->sh;
    const char *path = help_path("half.safetensors"), *copy = help_path("half-copy.safetensors");
    float *w = m->theta + sh->enc[0].weight1, *large = m->theta + sh->enc[1].weight1;
    const float given[] = {65504, -65504, 0x1p-24f, -0x1.8p-24f, 0x1p-26f, -0.0f, 1.0009765f, 0.1f};
    const float kept[] = {65504, -65504, 0x1p-24f, -0x1p-23f, 0, -0.0f, 1.0009765625f, 0x1.998p-4f};
    memcpy(w, given, sizeof given);
    large[0] = 65505; /* and with it the whole matrix stays single */
    float second = large[1], bias = m->theta[sh->enc[0].bias1];
    assert_int_equal(onet_model_half(m), 0);
    assert_int_equal(onet_model_set_half(m, 1, &err), ONET_OK);
    assert_memory_equal(w, kept, sizeof kept);
    assert_true(large[0] == 65505 && large[1] == second && m->theta[sh->enc[0].bias1] == bias);
    assert_memory_equal(m->theta + sh->trained, plain->theta + sh->trained,
                        (sh->total - sh->trained) * sizeof *m->theta);
    assert_string_equal(onet_model_record(m, "weights"), "rounded to half precision");
    assert_int_equal(onet_model_save(m, path, &err), ONET_OK);
    assert_type(path, "encoder.0.conv1.weight", ST_F16);
    assert_type(path, "encoder.1.conv1.weight", ST_F32);
    assert_type(path, "decoder.0.conv.weight", ST_F16);
    assert_type(path, "encoder.0.conv1.bias", ST_F32);
    assert_type(path, "encoder.0.norm1.weight", ST_F32);
    assert_type(path, "encoder.0.norm1.running_var", ST_F32);
    assert_type(path, "decoder.start", ST_F32);
    assert_type(path, "input.scale", ST_F32);
    char sum[65], again[65], command[500];
    model_checksum(m, sum);
    assert_int_equal(onet_model_load(&n, path, &err), ONET_OK);
    assert_int_equal(onet_model_half(n), 1);
    assert_memory_equal(n->theta, m->theta, sh->total * sizeof *m->theta);
    assert_int_equal(onet_model_save(n, copy, &err), ONET_OK);
    snprintf(command, sizeof command, "cmp %s %s", path, copy);
    assert_int_equal(system(command), 0);
    assert_int_equal(onet_model_set_half(n, 0, &err), ONET_OK);
    assert_int_equal(onet_model_save(n, copy, &err), ONET_OK);
    onet_model_free(n);
    assert_type(copy, "encoder.0.conv1.weight", ST_F32);
    assert_int_equal(onet_model_load(&n, copy, &err), ONET_OK);
    assert_int_equal(onet_model_half(n), 0);
    model_checksum(n, again);
    assert_string_equal(sum, again);
    onet_model_free(n);
    onet_model_free(m);
    onet_model_free(plain);
}

/* Infinity and NaN in half precision are refused by name. */
static void test_half_not_finite(void **state) {
    static const struct {
        uint16_t bits;
        const char *text;
    } bad[] = {{0x7c00, "has inf as its number 1"}, {0xfc00, "has -inf"}, {0x7e00, "nan"}, {0x7c01, "nan"}};
    size_t size, data;
    onet_model *m = half_model(false);
    size_t head = (size_t)m->sh.head_in;
    char *bytes = bytes_of(m, &size, &data);
    onet_error err;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        /* The second number of head.weight, the last tensor of the file. */
        char before[2], *at = bytes + size - 2 * (head - 1);
        memcpy(before, at, 2);
        memcpy(at, &bad[i].bits, 2);
        assert_int_equal(load_bytes(bytes, size, &err), ONET_BAD);
        if (!strstr(err.text, "head.weight") || !strstr(err.text, bad[i].text)) fail_msg("%s", err.text);
        memcpy(at, before, 2);
    }
    free(bytes);
}

/* Other programs may have cast all tensors of numbers to 16 bits, and left the checksum out. */
static void test_cast(void **state) {
    static const st_type types[] = {ST_F16, ST_BF16, ST_I16};
    for (int k = 0; k < 3; k++) {
        onet_model *m = small_model(false), *n;
        onet_error err;
        safetensors *file;
        const char *path = help_path("whole.safetensors"), *cast = help_path("cast.safetensors");
        assert_int_equal(onet_model_save(m, path, &err), ONET_OK);
        assert_int_equal(safetensors_open(&file, path, &err), ONET_OK);
        st_pair *pairs = calloc(file->pairs, sizeof *pairs);
        st_tensor *list = calloc(file->tensors, sizeof *list);
        assert_true(pairs && list);
        size_t count = 0;
        for (size_t i = 0; i < file->pairs; i++)
            if (strcmp(file->metadata[i].key, "sha256")) pairs[count++] = file->metadata[i];
        for (size_t i = 0; i < file->tensors; i++) {
            size_t numbers = file->tensor[i].bytes / sizeof(float);
            float *x = malloc(file->tensor[i].bytes);
            uint16_t *narrow = calloc(numbers, sizeof *narrow);
            assert_true(x && narrow);
            assert_int_equal(safetensors_load(file, &file->tensor[i], x, &err), ONET_OK);
            for (size_t j = 0; j < numbers; j++) {
                uint32_t bits;
                memcpy(&bits, &x[j], sizeof bits);
                narrow[j] = types[k] == ST_BF16 ? (uint16_t)(bits >> 16) : half_from_float(x[j]);
            }
            free(x);
            list[i] = file->tensor[i];
            list[i].type = types[k];
            list[i].data = narrow;
        }
        assert_int_equal(safetensors_write(cast, list, file->tensors, pairs, count, &err), ONET_OK);
        onet_status status = onet_model_load(&n, cast, &err);
        if (types[k] == ST_I16) {
            assert_int_equal(status, ONET_BAD);
            assert_non_null(strstr(err.text, "\"encoder.0.conv1.weight\" is I16 [3, 4] where F32 [3, 4]"));
        } else {
            assert_int_equal(status, ONET_OK);
            assert_int_equal(onet_model_half(n), types[k] == ST_F16);
            for (size_t i = 0; i < m->sh.total; i++)
                assert_true(fabsf(n->theta[i] - m->theta[i]) <= 0.0079f * fabsf(m->theta[i]));
            assert_true(n->mean[0] == -3 && n->scale[1] == 0.25f);
        }
        for (size_t i = 0; i < file->tensors; i++) free((void *)list[i].data);
        free(list);
        free(pairs);
        safetensors_close(file);
        onet_model_free(n);
        onet_model_free(m);
    }
}

/* Changes the header's text, keeping its length, and loads that. Frees the model. */
static void expect_of(onet_model *m, const char *from, const char *to, const char *sentence) {
    size_t size, data;
    char *bytes = bytes_of(m, &size, &data);
    char *at = memmem(bytes, data, from, strlen(from));
    assert_non_null(at);
    assert_int_equal(strlen(from), strlen(to));
    memcpy(at, to, strlen(to));
    onet_error err = {.text = ""};
    onet_status status = load_bytes(bytes, size, &err);
    if (status != ONET_BAD || !strstr(err.text, sentence)) fail_msg("%s: %d %s", to, status, err.text);
    free(bytes);
}

static void expect_after(const char *from, const char *to, const char *sentence) {
    expect_of(small_model(true), from, to, sentence);
}

static void test_altered_header(void **state) {
    expect_after("\"ordernet\"", "\"disorder\"", "is not an OrderNet model");
    expect_after("version\":\"1\"", "version\":\"6\"",
                 "format_version is \"6\", which this version does not know; use a newer OrderNet");
    expect_after("format_version", "formal_version", "has no format_version; the file is corrupt");
    expect_after("version\":\"1\"", "version\":\"2\"", "its settings.relative is \"\" where a whole number");
    expect_after("settings.hidden", "settings.hodden", "settings.hodden is \"3\", which this version");
    expect_after("hidden\":\"3\"", "hidden\":\"x\"", "settings.hidden is \"x\"");
    expect_after("hidden\":\"3\"", "hidden\":\"0\"", "hidden width is 0");
    expect_after("hidden\":\"3\"", "hidden\":\"4\"",
                 "\"encoder.0.conv1.weight\" is F32 [3, 4] where F32 [4, 4]");
    expect_after("\"mean\"", "\"mode\"",
                 "settings.pool is \"mode\", which this version does not know; use a newer OrderNet");
    expect_after("settings.pool", "settings.poll",
                 "settings.poll is \"mean\", which this version does not know");
    expect_after("settings.pool", "sittings.pool", "has no settings.pool; the file is corrupt");
    expect_after("settings.pool", "settings_pool", "has no settings.pool; the file is corrupt");
    expect_after("settings.pool", "settings_poll", "has no settings.pool; the file is corrupt");
    expect_after("head.bias", "tail.bias", "tensor \"head.bias\" (F32 [1]) is missing");
    expect_after("input.scale", "input.scald", "tensor \"input.scale\" (F32 [2]) is missing");
    expect_after("words.text", "words.tent", "\"words.text\" (U8 [n]) is missing");
    expect_after("\"F16\",\"shape\":[2,2]", "\"I16\",\"shape\":[2,2]", "words.vectors\" is I16");
    expect_after("\"F16\",\"shape\":[2,2]", "\"F16\",\"shape\":[4,1]", "words.text");
    expect_after("\"F16\",\"shape\":[2,2]", "\"F16\",\"shape\":[1,4]", "words.text has more words");
}

/* Relative features are in files of format_version 2, which programs that know 1 alone refuse; a file without
 * them is as it was. */
static void test_relative(void **state) {
    onet_error err;
    for (int relative = 0; relative < 2; relative++) {
        onet_model *m = model_with(false, relative), *n;
        safetensors *file;
        char sum[65];
        const char *path = help_path("relative.safetensors");
        assert_int_equal(onet_model_save(m, path, &err), ONET_OK);
        assert_int_equal(onet_model_load(&n, path, &err), ONET_OK);
        assert_memory_equal(onet_model_settings(n), onet_model_settings(m), sizeof(onet_settings));
        assert_memory_equal(n->theta, m->theta, m->sh.total * sizeof *m->theta);
        assert_int_equal(n->sh.inputs, relative ? 4 : 2);
        model_checksum(n, sum);
        assert_int_equal(safetensors_open(&file, path, &err), ONET_OK);
        assert_string_equal(safetensors_metadata(file, "sha256"), sum);
        assert_string_equal(safetensors_metadata(file, "format_version"), relative ? "2" : "1");
        assert_int_equal(safetensors_metadata(file, "settings.relative") != NULL, relative);
        safetensors_close(file);
        onet_model_free(m);
        onet_model_free(n);
    }
    expect_of(model_with(false, 1), "version\":\"2\"", "version\":\"1\"",
              "\"encoder.0.conv1.weight\" is F32 [3, 8] where F32 [3, 4]");
    expect_of(model_with(false, 1), "relative\":\"1\"", "relative\":\"0\"",
              "\"encoder.0.conv1.weight\" is F32 [3, 8] where F32 [3, 4]");
    expect_of(model_with(false, 1), "relative\":\"1\"", "relative\":\"2\"",
              "relative is 2: it must be from 0 to 1");
    expect_of(model_with(false, 1), "relative\":\"1\"", "relative\":\"x\"",
              "settings.relative is \"x\" where a whole number");
    expect_of(model_with(true, 1), "record.seed", "record.seed",
              "settings.relative is 1, but its items are words");
}

/* The pool changes no shape: the checksum shows that it was altered. */
static void test_altered_pool(void **state) {
    size_t size, data;
    char *bytes = model_bytes(false, &size, &data);
    char *at = memmem(bytes, data, "\"mean\"", 6);
    assert_non_null(at);
    memcpy(at, "\"max\" ", 6);
    onet_error err;
    assert_int_equal(load_bytes(bytes, size, &err), ONET_BAD);
    assert_non_null(strstr(err.text, "checksum"));
    free(bytes);
}

/* A bad number with a right checksum: such a file is refused, and is not written either. */
static void test_bad_numbers(void **state) {
    onet_error err;
    const char *path = help_path("kept.safetensors");
    onet_model *m = small_model(false);
    assert_int_equal(onet_model_save(m, path, &err), ONET_OK);
    m->theta[5] = NAN;
    assert_int_equal(onet_model_save(m, path, &err), ONET_FAILED);
    assert_non_null(strstr(err.text, "\"encoder.0.conv1.weight\" has nan as its number 5"));
    m->theta[5] = 1;
    m->theta[m->sh.enc[1].norm1.var] = -1;
    assert_int_equal(onet_model_save(m, path, &err), ONET_FAILED);
    assert_non_null(strstr(err.text, "encoder.1.norm1.running_var"));
    m->theta[m->sh.enc[1].norm1.var] = 1;
    m->scale[0] = INFINITY;
    assert_int_equal(onet_model_save(m, path, &err), ONET_FAILED);
    onet_model_free(m);
    assert_int_equal(onet_model_load(&m, path, &err), ONET_OK);
    onet_model_free(m);
}

static void test_bad_words(void **state) {
    static const struct {
        const char *text, *sentence;
    } cases[] = {{"aa\xc3\xa9t\xc3\xa9", NULL},
                 {"an\xc3\xa9\n\xc3\xa9", "has more words than words.vectors"},
                 {"an\xc3\xa9t\xc3\xff", "not UTF-8"}};
    for (int i = 0; i < 3; i++) {
        onet_error err;
        onet_model *m = small_model(true), *n = NULL;
        memcpy(m->words->text, cases[i].text, 7);
        const char *path = help_path("words.safetensors");
        assert_int_equal(onet_model_save(m, path, &err), ONET_OK);
        assert_int_equal(onet_model_load(&n, path, &err), cases[i].sentence ? ONET_BAD : ONET_OK);
        if (cases[i].sentence) assert_non_null(strstr(err.text, cases[i].sentence));
        onet_model_free(m);
        onet_model_free(n);
    }
    onet_error err;
    onet_model *m = small_model(true), *n;
    memcpy(m->words->text, "abab", 4);
    m->words->at[2] = 4;
    assert_int_equal(onet_model_save(m, help_path("twice.safetensors"), &err), ONET_OK);
    assert_int_equal(onet_model_load(&n, help_path("twice.safetensors"), &err), ONET_BAD);
    assert_non_null(strstr(err.text, "word 2 of words.text appears twice"));
    /* Too large for half precision: kept in float. */
    memcpy(m->words->text, "abcd", 4);
    m->words->vectors[1] = 1e6f;
    assert_int_equal(onet_model_save(m, help_path("large.safetensors"), &err), ONET_OK);
    assert_int_equal(onet_model_load(&n, help_path("large.safetensors"), &err), ONET_OK);
    assert_true(n->words->vectors[1] == 1e6f);
    onet_model_free(m);
    onet_model_free(n);
}

static void test_unwritable(void **state) {
    onet_error err;
    onet_model *m = small_model(false), *n;
    assert_int_equal(onet_model_save(m, "/tmp", &err), ONET_IO);
    assert_int_equal(onet_model_save(m, "/dev/full", &err), ONET_IO);
    assert_int_equal(onet_model_load(&n, help_path("nowhere"), &err), ONET_IO);
    assert_int_equal(onet_model_load(&n, "/tmp", &err), ONET_IO);
    assert_null(n);
    onet_model_free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_presets),      cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_truncated),    cmocka_unit_test(test_flipped),
        cmocka_unit_test(test_half),         cmocka_unit_test(test_half_not_finite),
        cmocka_unit_test(test_cast),         cmocka_unit_test(test_altered_header),
        cmocka_unit_test(test_altered_pool), cmocka_unit_test(test_bad_numbers),
        cmocka_unit_test(test_bad_words),    cmocka_unit_test(test_unwritable),
        cmocka_unit_test(test_relative),
    };
    return cmocka_run_group_tests(tests, NULL, help_clean);
}
