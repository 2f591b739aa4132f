/* Tests out-of-memory at every allocation of reading and writing a model, an .npz file, and sets in
 * safetensors: the status is ONET_OK or ONET_MEMORY. */
#include "alloc_count.h"
#include "data_help.h"
#include "engine/data/format.h"
#include "engine/model/model.h"

typedef onet_status job(const char *from, const char *to, onet_error *err);

static onet_status copy_model(const char *from, const char *to, onet_error *err) {
    onet_model *m;
    onet_status status = onet_model_load(&m, from, err);
    if (!status) status = onet_model_save(m, to, err);
    onet_model_free(m);
    return status;
}

static onet_status copy_sets(const char *from, const char *to, onet_error *err,
                             onet_status (*from_file)(onet_sets **, input *, onet_error *),
                             onet_status (*to_file)(const onet_sets *, const char *, const char *,
                                                    onet_error *)) {
    input *in;
    onet_sets *sets;
    onet_status status = input_open(&in, from, err);
    if (status) return status;
    status = from_file(&sets, in, err);
    input_close(in);
    if (!status) status = to_file(sets, to, NULL, err);
    onet_sets_free(sets);
    return status;
}

static onet_status copy_npz(const char *from, const char *to, onet_error *err) {
    return copy_sets(from, to, err, npz_read, npz_write);
}

static onet_status copy_binary(const char *from, const char *to, onet_error *err) {
    return copy_sets(from, to, err, sets_binary_read, sets_binary_write);
}

static void expect_survival(job *run, const char *from, const char *to_name) {
    const char *to = help_path(to_name);
    onet_error err;
    alloc_works_or_skip();
    size_t points = alloc_count();
    assert_int_equal(run(from, to, &err), ONET_OK);
    points = alloc_count() - points;
    assert_true(points > 10);
    size_t refused = 0;
    for (int rest = 0; rest < 2; rest++)
        for (size_t i = 0; i < points; i++) {
            alloc_fail(i, rest);
            onet_status status = run(from, to, &err);
            alloc_fail(SIZE_MAX, 0);
            if (status && status != ONET_MEMORY) fail_msg("point %zu: status %d, %s", i, status, err.text);
            refused += status == ONET_MEMORY;
        }
    /* The C library can do without a few of its own. */
    assert_true(refused > points);
}

static void test_model(void **state) {
    expect_survival(copy_model, "tests/data/words.model", "model.safetensors");
}

static void test_npz(void **state) {
    expect_survival(copy_npz, "tests/data/deflated.npz", "sets.npz");
}

static void test_binary(void **state) {
    expect_survival(copy_binary, "tests/data/words.sets", "sets.safetensors.gz");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_model), cmocka_unit_test(test_npz),
                                       cmocka_unit_test(test_binary)};
    return cmocka_run_group_tests(tests, NULL, help_clean);
}
