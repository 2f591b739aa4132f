/* Tests out-of-memory at every allocation of reading, writing and converting sets: ONET_MEMORY, and no
 * partial file. */
#include "data_help.h"

#include "alloc_count.h"

static const struct {
    const char *name, *text;
    bool limited; /* with context and constraints, which JSON Lines and safetensors hold */
} samples[] = {
    {"a.jsonl",
     "{\"id\": \"x\", \"items\": [[1, 2], [3, 4]], \"order\": [1, 0], \"set\": \"u\"}\n"
     "{\"items\": [[0.12345678901234567890, 2]], \"order\": [0]}\n",
     false},
    {"a.csv", "set,x,n,rank\n1,2,\"a\"\"b\",4\n2,3,b,0\n1,5,c,1\n", false},
    {"a.txt", "1 2 3 4 output 2 1 2\n5 6 output 1\n", false},
    {"b.jsonl",
     "{\"items\": [[1, 2], [3, 4], [5, 6]], \"order\": [1, 0], \"context\": [2], \"last\": 0}\n"
     "{\"items\": [[1, 2], [3, 4], [5, 6]], \"order\": [1, 0, 2], \"prefix\": [1], \"before\": [[0, 2]]}\n",
     true},
    {"b.csv", "set,x,rank\n1,2,4\n2,3,0\n1,5,\n", true},
};

/* Calls with the first, second, ... allocation failing, until none does. */
static void survives(onet_status (*call)(const char *path, const char *out, onet_error *err), bool limited) {
    alloc_works_or_skip();
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        if (samples[i].limited && !limited) continue;
        const char *path = help_file(samples[i].name, samples[i].text), *out = help_path("out");
        for (int rest = 0; rest < 2; rest++) {
            bool failed = true;
            size_t k = 0;
            onet_error first;
            call(path, out, &first); /* allocates what is kept until the program ends */
            for (; failed; k++) {
                onet_error err = {.text = ""};
                unlink(out);
                alloc_fail(k, rest);
                onet_status status = call(path, out, &err);
                failed = alloc_failed();
                alloc_fail(SIZE_MAX, 0);
                if (!failed) assert_int_equal(status, ONET_OK);
                if (status && status != ONET_MEMORY) print_error("%s, %zu: %s\n", path, k, err.text);
                if (status) {
                    assert_int_equal(status, ONET_MEMORY);
                    assert_true(err.text[0]);
                    assert_int_equal(access(out, F_OK), -1);
                }
                assert_true(k < 10000);
            }
            assert_true(k > 10);
        }
    }
}

static onet_status read_whole(const char *path, const char *out, onet_error *err) {
    (void)out;
    onet_sets *sets;
    onet_status status = onet_sets_read(&sets, path, NULL, err);
    if (status && sets) fail_msg("sets returned with a failure");
    onet_sets_free(sets);
    return status;
}

static onet_format target;

static onet_status convert(const char *path, const char *out, onet_error *err) {
    onet_write_options options = {.size = sizeof options, .format = target};
    return onet_sets_convert(path, out, NULL, &options, err);
}

static void reading(void **state) {
    survives(read_whole, true);
}

static void converting(void **state) {
    for (target = ONET_FORMAT_JSONL; target <= ONET_FORMAT_POINTER; target++)
        survives(convert, target == ONET_FORMAT_JSONL);
    target = ONET_FORMAT_SAFETENSORS;
    survives(convert, true);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(reading), cmocka_unit_test(converting)};
    return cmocka_run_group_tests(tests, NULL, help_clean);
}
