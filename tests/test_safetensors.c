/* Tests the safetensors format: what is written can be read, errors in a file are found and named, and of a
 * compressed file the header is checked before the rest is decompressed. */
#include <sys/resource.h>
#include <zlib.h>

#include "alloc_count.h"
#include "data_help.h"
#include "engine/data/safetensors.h"

/* A file of this header and `size` bytes of data. */
static const char *raw_file(const char *header, size_t size) {
    size_t length = strlen(header), total = 8 + length + size;
    char *bytes = calloc(total, 1);
    assert_non_null(bytes);
    for (int i = 0; i < 8; i++) bytes[i] = (char)((uint64_t)length >> (8 * i));
    memcpy(bytes + 8, header, length);
    const char *path = help_file_of("raw.safetensors", bytes, total);
    free(bytes);
    return path;
}

static void test_round_trip(void **state) {
    const float numbers[6] = {1, -2, 3.5f, 0, 1e-30f, 6};
    const uint8_t bytes[3] = {1, 2, 255};
    const int64_t large[1] = {-5};
    const st_tensor list[] = {
        {.name = "bytes", .type = ST_U8, .dims = 1, .shape = {3}, .data = bytes},
        {.name = "numbers", .type = ST_F32, .dims = 2, .shape = {2, 3}, .data = numbers},
        {.name = "none", .type = ST_F32, .dims = 2, .shape = {0, 3}, .data = numbers},
        {.name = "a \"scalar\" \xc3\xa9", .type = ST_I64, .dims = 0, .data = large},
    };
    const st_pair metadata[] = {{"key", "value"}, {"empty", ""}, {"text", "line\nbreak \xe2\x82\xac"}};
    const char *path = help_path("round.safetensors");
    onet_error err;
    assert_int_equal(safetensors_write(path, list, 4, metadata, 3, &err), ONET_OK);
    safetensors *file;
    assert_int_equal(safetensors_open(&file, path, &err), ONET_OK);
    assert_int_equal(file->tensors, 4);
    assert_int_equal(file->pairs, 3);
    assert_string_equal(safetensors_metadata(file, "text"), metadata[2].value);
    assert_null(safetensors_metadata(file, "other"));
    for (int i = 0; i < 4; i++) {
        const st_tensor *t;
        char into[64];
        assert_int_equal(
            safetensors_expect(file, list[i].name, list[i].type, list[i].dims, list[i].shape, &t, &err),
            ONET_OK);
        assert_int_equal(safetensors_load(file, t, into, &err), ONET_OK);
        assert_memory_equal(into, list[i].data, t->bytes);
        assert_int_equal(t->begin % (t->type == ST_I64 ? 8 : t->type == ST_F32 ? 4 : 1), 0);
    }
    const st_tensor *t;
    assert_int_equal(safetensors_expect(file, "missing", ST_F32, 1, (size_t[]){SIZE_MAX}, &t, &err),
                     ONET_BAD);
    assert_non_null(strstr(err.text, "tensor \"missing\" (F32 [n]) is missing"));
    assert_int_equal(safetensors_expect(file, "numbers", ST_F32, 2, (size_t[]){2, 4}, &t, &err), ONET_BAD);
    assert_non_null(strstr(err.text, "is F32 [2, 3] where F32 [2, 4] is expected"));
    safetensors_close(file);
    /* The same bytes again, and a header that ends on a multiple of 8. */
    const char *again = help_path("again.safetensors");
    assert_int_equal(safetensors_write(again, list, 4, metadata, 3, &err), ONET_OK);
    char *a = help_content(path), *b = help_content(again);
    size_t header = (unsigned char)a[0] | (size_t)(unsigned char)a[1] << 8;
    assert_int_equal(header % 8, 0);
    assert_memory_equal(a, b, 8 + header + 8 + 24 + 3);
    free(a);
    free(b);
}

#define TENSOR(name, type, shape, from, to)                                                                  \
    "\"" name "\":{\"dtype\":\"" type "\",\"shape\":" shape ",\"data_offsets\":[" from "," to "]}"

static void test_hostile(void **state) {
    static const struct {
        const char *header;
        size_t data;
        const char *sentence;
    } hostile[] = {
        {"", 0, "expected { at byte 8 of its header"},
        {"[]", 0, "expected { at byte 8"},
        {"{", 0, "expected a key in quotes at byte 9"},
        {"{} x", 0, "expected the end at byte 11"},
        {" {}", 0, "expected { at byte 8"},
        {"{\"a\":1}", 0, "expected { at byte 13"},
        {"{\"a\":{}}", 0, "tensor \"a\" does not have just dtype, shape and data_offsets"},
        {"{\"a\":{}", 0, "does not have"},
        {"{\"a\":{\"dtype\":\"F32\",\"dtype\":\"F32\"}}", 0, "does not have just"},
        {"{\"a\" 1}", 0, "expected a colon"},
        {"{\"a", 0, "expected the string's closing quote"},
        {"{\"a\\x\"}", 0, "expected an escape"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1]}}", 0, "does not have just dtype"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0,4],\"x\":1}}", 4,
         "does not have just dtype"},
        {"{" TENSOR("a", "F33", "[1]", "0", "4") "}", 4, "tensor \"a\" has a dtype that is not known"},
        {"{" TENSOR("a", "F32", "[1]", "0", "4") "," TENSOR("a", "F32", "[1]", "4", "8") "}", 8,
         "tensor \"a\" appears twice"},
        {"{" TENSOR("a", "F32", "[-1]", "0", "4") "}", 4, "expected a whole number"},
        {"{" TENSOR("a", "F32", "[1.0]", "0", "4") "}", 4, "expected a whole number"},
        {"{" TENSOR("a", "F32", "[\"1\"]", "0", "4") "}", 4, "expected a whole number"},
        {"{" TENSOR("a", "F32", "[01]", "0", "4") "}", 4, "expected a whole number"},
        {"{" TENSOR("a", "F32", "[1,1,1,1,1,1,1,1,1]", "0", "4") "}", 4,
         "expected a shape of at most 8 dimensions"},
        {"{" TENSOR("a", "F32", "[4294967296,4294967296]", "0", "4") "}", 4, "impossibly large shape"},
        {"{" TENSOR("a", "F32", "[4611686018427387904]", "0", "0") "}", 0, "impossibly large shape"},
        {"{" TENSOR("a", "F32", "[99999999999999999999]", "0", "4") "}", 4, "expected a smaller number"},
        {"{" TENSOR("a", "F32", "[2]", "0", "8") "}", 4, "data_offsets outside of the file"},
        {"{" TENSOR("a", "F32", "[1]", "4", "0") "}", 4, "data_offsets outside of the file"},
        {"{" TENSOR("a", "F32", "[1]", "-4", "0") "}", 4, "expected a whole number"},
        {"{" TENSOR("a", "F32", "[2]", "0", "4") "}", 4, "do not fit its shape and dtype"},
        {"{" TENSOR("a", "F32", "[2]", "0", "8") "," TENSOR("b", "F32", "[1]", "4", "8") "}", 8,
         "tensor \"b\" overlaps another one"},
        {"{" TENSOR("a", "F32", "[1]", "0", "4") "," TENSOR("b", "F32", "[1]", "0", "4") "}", 4, "overlaps"},
        {"{" TENSOR("a", "F32", "[1]", "4", "8") "}", 8, "tensor \"a\" stands behind a hole"},
        {"{" TENSOR("a", "F32", "[1]", "0", "4") "," TENSOR("b", "F32", "[1]", "8", "12") "}", 12,
         "tensor \"b\" stands behind a hole"},
        {"{" TENSOR("a", "F32", "[1]", "0", "4") "}", 5, "bytes behind its last tensor"},
        {"{}", 1, "bytes behind its last tensor"},
        {"{" TENSOR("", "F32", "[1]", "0", "4") "}", 4, "a tensor's name, not empty and without control"},
        {"{" TENSOR("a\\n", "F32", "[1]", "0", "4") "}", 4, "a tensor's name, not empty and without control"},
        {"{" TENSOR("a\\u0000b", "F32", "[1]", "0", "4") "}", 4, "expected an escape"},
        {"{\"\xff\":1}", 0, "expected UTF-8 at byte 10"},
        {"{\"__metadata__\":[]}", 0, "expected { at byte 24"},
        {"{\"__metadata__\":{\"a\":1}}", 0, "expected a string in quotes"},
        {"{\"__metadata__\":{},\"__metadata__\":{}}", 0, "no second __metadata__"},
        {"{\"__metadata__\":{\"b\":\"\",\"a\":\"\",\"b\":\"x\"}}", 0, "its __metadata__ has \"b\" twice"},
        {"{" TENSOR("a", "F32", "[1]", "0", "4,4") "}", 4, "data_offsets of two numbers"},
        {"{" TENSOR("a", "F32", "[1,]", "0", "4") "}", 4, "expected a whole number"},
        {"{" TENSOR("a", "F32", "[1 2]", "0", "4") "}", 4, "expected a comma or ]"},
    };
    for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++) {
        const char *path = raw_file(hostile[i].header, hostile[i].data);
        safetensors *file;
        onet_error err = {.text = ""};
        onet_status status = safetensors_open(&file, path, &err);
        if (status != ONET_BAD || !strstr(err.text, hostile[i].sentence) ||
            strncmp(err.text, path, strlen(path)))
            fail_msg("%s: %d %s", hostile[i].header, status, err.text);
        assert_null(file);
    }
}

static void test_lengths(void **state) {
    static const struct {
        const char bytes[16];
        size_t size;
        const char *sentence;
    } files[] = {
        {"", 0, "it is empty"},
        {"\x02\0\0\0\0\0\0", 7, "it is too short"},
        {"\x03\0\0\0\0\0\0\0{}", 10, "it ends within its header"},
        {"\0\0\0\x10\0\0\0\0{}", 10, "its header is over 100 MB long"},
        {"\xff\xff\xff\xff\xff\xff\xff\xff{}", 10, "its header is over 100 MB long"},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        safetensors *file;
        onet_error err = {.text = ""};
        const char *path = help_file_of("lengths", files[i].bytes, files[i].size);
        assert_int_equal(safetensors_open(&file, path, &err), ONET_BAD);
        if (!strstr(err.text, files[i].sentence)) fail_msg("%zu: %s", i, err.text);
    }
}

/* A gzip file of this header and `size` zeros. */
static const char *packed_file(const char *header, size_t size) {
    const char *path = help_path("packed.safetensors.gz");
    gzFile out = gzopen(path, "wb");
    assert_non_null(out);
    unsigned char length[8];
    static const char zeros[1 << 16];
    for (int i = 0; i < 8; i++) length[i] = (unsigned char)((uint64_t)strlen(header) >> (8 * i));
    gzwrite(out, length, 8);
    gzwrite(out, header, (unsigned)strlen(header));
    for (size_t some; size; size -= some) {
        some = size < sizeof zeros ? size : sizeof zeros;
        gzwrite(out, zeros, (unsigned)some);
    }
    assert_int_equal(gzclose(out), Z_OK);
    return path;
}

/* The header of a compressed file is believed only as far as the file goes, and checked before the rest is
 * unpacked. */
static void test_compressed(void **state) {
    const char *const header = "{\"a\": {\"dtype\": \"U8\", \"shape\": [64], \"data_offsets\": [0, 64]}}";
    const char *const large =
        "{\"a\": {\"dtype\": \"U8\", \"shape\": [1099511627776], \"data_offsets\": [0, 1099511627776]}}";
    safetensors *file;
    onet_error err;
    char into[64];
    const struct {
        const char *header;
        size_t size, limit;
        const char *says;
    } cases[] = {{header, 64, 64, NULL},
                 {header, 63, 64, "ends within its tensors"},
                 {header, 65, 64, "bytes behind its last tensor"},
                 {header, 200000000, 64, "bytes behind its last tensor"},
                 {header, 64, 63, "unpacks to 64 bytes, and at most 63"},
                 {large, 64, MAX_WHOLE, "unpacks to 1099511627776 bytes"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *path = packed_file(cases[i].header, cases[i].size);
        assert_int_equal(safetensors_open(&file, path, &err), ONET_OK);
        onet_status status = safetensors_data(file, cases[i].limit, &err);
        assert_int_equal(status, cases[i].says ? ONET_BAD : ONET_OK);
        if (cases[i].says)
            assert_non_null(strstr(err.text, cases[i].says));
        else
            assert_int_equal(safetensors_load(file, safetensors_find(file, "a"), into, &err), ONET_OK);
        safetensors_close(file);
    }
}

/* A file that is not a model is refused by its header; its data are not decompressed. */
static void test_compressed_model(void **state) {
    alloc_works_or_skip(); /* a sanitizer needs more memory than the limit */
    const char *path = packed_file("{\"__metadata__\": {\"format\": \"other\"}}", (size_t)1 << 26);
    onet_model *model;
    onet_error err;
    struct rlimit limit, small;
    getrlimit(RLIMIT_DATA, &limit);
    small = limit;
    small.rlim_cur = (rlim_t)48 << 20; /* less than the file unpacks to */
    assert_int_equal(setrlimit(RLIMIT_DATA, &small), 0);
    onet_status status = onet_model_load(&model, path, &err);
    assert_int_equal(setrlimit(RLIMIT_DATA, &limit), 0);
    assert_int_equal(status, ONET_BAD);
    assert_non_null(strstr(err.text, "is not an OrderNet model"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),       cmocka_unit_test(test_compressed),
        cmocka_unit_test(test_compressed_model), cmocka_unit_test(test_hostile),
        cmocka_unit_test(test_lengths),
    };
    return cmocka_run_group_tests(tests, NULL, help_clean);
}
