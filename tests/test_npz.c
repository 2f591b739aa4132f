/* Tests NumPy's .npz format and the project's binary format: sets are read from files that NumPy made
 * (tests/data/make_npz.py), written and read again; whole numbers of every type stay exact or are refused;
 * damaged files and invalid sets are refused. Also tests how sets in memory grow. */
#include <math.h>

#include "data_help.h"
#include "engine/data/format.h"
#include "engine/data/safetensors.h"
#include "engine/data/sets.h"

typedef onet_status read_sets(onet_sets **sets, input *in, onet_error *err);

static onet_status read_path(read_sets *how, onet_sets **sets, const char *path, onet_error *err) {
    input *in;
    *sets = NULL;
    onet_status status = input_open(&in, path, err);
    if (status) return status;
    status = how(sets, in, err);
    assert_true(status ? *sets == NULL : *sets != NULL);
    input_close(in);
    return status;
}

/* The sets of all fixtures: 2 sets of 3 items, items counting up in eighths. */
static void expect_fixture(const onet_sets *s, bool order) {
    static const int32_t meant[6] = {2, 0, 1, 0, 1, 2};
    assert_int_equal(s->count, 2);
    assert_int_equal(s->width, 2);
    assert_int_equal(s->start[2], 6);
    for (int i = 0; i < 12; i++) assert_true(s->items[i] == (float)i / 8);
    assert_true(!s->order == !order);
    if (order) assert_memory_equal(s->order, meant, sizeof meant);
    assert_int_equal(strlen(s->hash), 64);
}

static void test_fixtures(void **state) {
    static const char *const names[] = {"stored.npz",   "deflated.npz", "versions.npz",
                                        "fortran.npz",  "half.npz",     "big.npz",
                                        "big-half.npz", "no-order.npz", "single.npy"};
    for (int i = 0; i < 9; i++) {
        char path[100];
        onet_sets *sets;
        onet_error err = {.text = ""};
        snprintf(path, sizeof path, "tests/data/%s", names[i]);
        if (read_path(npz_read, &sets, path, &err)) fail_msg("%s", err.text);
        expect_fixture(sets, i < 7);
        onet_sets_free(sets);
    }
    onet_sets *sets;
    onet_error err;
    assert_int_equal(read_path(npz_read, &sets, "tests/data/complex.npz", &err), ONET_BAD);
    assert_string_equal(err.text, "tests/data/complex.npz: items is of type <c8, not of numbers; save "
                                  "items.astype(\"float64\")");
    assert_int_equal(read_path(npz_read, &sets, "tests/data/plane.npz", &err), ONET_BAD);
    assert_string_equal(err.text,
                        "tests/data/plane.npz: items has the shape (3, 2), two dimensions where [sets, n, "
                        "features] are expected; save items[None] for one set, items[..., None] for items of "
                        "one feature, or an array sizes beside it for sets one behind the other");
    assert_int_equal(read_path(npz_read, &sets, "tests/data/short.npz", &err), ONET_BAD);
    assert_string_equal(err.text, "tests/data/short.npz: the sizes add up to 5 where there are 6 items");
    static const char *const none[] = {"tests/data/no-sets.npz", "tests/data/no-items.npz",
                                       "tests/data/no-flat.npz"};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(read_path(npz_read, &sets, none[i], &err), ONET_BAD);
        assert_non_null(strstr(err.text, "items holds no sets, or sets without items"));
    }
}

/* Sets of 3 and 2 items. */
static void expect_mixed(const onet_sets *s) {
    static const int32_t meant[5] = {2, 0, 1, 1, 0};
    assert_int_equal(s->count, 2);
    assert_int_equal(s->start[1], 3);
    assert_int_equal(s->start[2], 5);
    for (int i = 0; i < 10; i++) assert_true(s->items[i] == (float)i / 8);
    assert_memory_equal(s->order, meant, sizeof meant);
}

static void test_mixed_sizes(void **state) {
    static const char *const names[] = {"tests/data/flat.npz", "tests/data/filled.npz"};
    for (int i = 0; i < 2; i++) {
        onet_sets *sets, *again;
        onet_error err = {.text = ""};
        if (read_path(npz_read, &sets, names[i], &err)) fail_msg("%s", err.text);
        expect_mixed(sets);
        const char *path = help_path("mixed.npz");
        assert_int_equal(npz_write(sets, path, NULL, &err), ONET_OK);
        if (read_path(npz_read, &again, path, &err)) fail_msg("%s", err.text);
        expect_mixed(again);
        onet_sets_free(again);
        onet_sets_free(sets);
    }
}

static void test_round_trip(void **state) {
    onet_sets *a, *b;
    onet_error err;
    const char *path = help_path("round.npz"), *binary = help_path("round.safetensors");
    assert_int_equal(read_path(npz_read, &a, "tests/data/deflated.npz", &err), ONET_OK);
    assert_int_equal(npz_write(a, path, NULL, &err), ONET_OK);
    assert_int_equal(read_path(npz_read, &b, path, &err), ONET_OK);
    expect_fixture(b, true);
    onet_sets_free(b);
    assert_int_equal(sets_binary_write(a, binary, NULL, &err), ONET_OK);
    assert_int_equal(read_path(sets_binary_read, &b, binary, &err), ONET_OK);
    expect_fixture(b, true);
    onet_sets_free(b);
    onet_sets_free(a);
    /* Compressed once more, so that it cannot be read by place from disk. */
    char command[500];
    snprintf(command, sizeof command, "gzip -k %s %s", path, binary);
    assert_int_equal(system(command), 0);
    assert_int_equal(read_path(npz_read, &b, help_path("round.npz.gz"), &err), ONET_OK);
    expect_fixture(b, true);
    onet_sets_free(b);
    assert_int_equal(read_path(sets_binary_read, &b, help_path("round.safetensors.gz"), &err), ONET_OK);
    expect_fixture(b, true);
    onet_sets_free(b);
}

static void expect_context(const onet_sets *s) {
    const uint8_t context[6] = {0, 1, 0, 0, 0, 1};
    expect_fixture(s, true);
    assert_non_null(s->context);
    assert_memory_equal(s->context, context, sizeof context);
}

static void test_context(void **state) {
    onet_sets *a, *b;
    onet_error err;
    const char *path = help_path("context.npz"), *binary = help_path("context.safetensors");
    assert_int_equal(read_path(npz_read, &a, "tests/data/context.npz", &err), ONET_OK);
    expect_context(a);
    assert_int_equal(npz_write(a, path, NULL, &err), ONET_OK);
    assert_int_equal(read_path(npz_read, &b, path, &err), ONET_OK);
    expect_context(b);
    onet_sets_free(b);
    assert_int_equal(sets_binary_write(a, binary, NULL, &err), ONET_OK);
    assert_int_equal(read_path(sets_binary_read, &b, binary, &err), ONET_OK);
    expect_context(b);
    onet_sets_free(b);
    const onet_constraint last = {ONET_LAST, 0, 0};
    assert_int_equal(onet_sets_set_constraints(a, &last, 1, &err), ONET_OK);
    assert_int_equal(npz_write(a, path, NULL, &err), ONET_BAD);
    assert_non_null(strstr(err.text, "npz cannot hold constraints; use jsonl or safetensors"));
    onet_sets_free(a);
}

/* Returns the path of an .npy file of the type, shape (1, 4, 1): each number has the low `size` bytes of its
 * bits. */
static const char *npy_of(const char *type, size_t size, const uint64_t bits[4]) {
    char file[128 + 32];
    memset(file, ' ', 128);
    memcpy(file, "\x93NUMPY\x01\x00\x76\x00", 10);
    int used =
        snprintf(file + 10, 118, "{'descr': '%s', 'fortran_order': False, 'shape': (1, 4, 1), }", type);
    file[10 + used] = ' ';
    file[127] = '\n';
    for (size_t i = 0; i < 4; i++)
        for (size_t b = 0; b < size; b++)
            file[128 + i * size + (*type == '>' ? size - 1 - b : b)] = (char)(bits[i] >> 8 * b);
    return help_file_of("typed.npy", file, 128 + 4 * size);
}

/* Whole numbers of every size, sign and byte order; -5 as int64 was once read as 0. */
static void test_whole_numbers(void **state) {
    for (int size = 1; size <= 8; size *= 2)
        for (int sign = 0; sign < 2; sign++)
            for (int order = 0; order < 2; order++) {
                char type[4] = {"<>"[order], sign ? 'i' : 'u', (char)('0' + size), 0};
                uint64_t top = (uint64_t)1 << (8 * size - 1);
                /* Values of 64 bits are chosen so that double does not round them. */
                const uint64_t less = size == 8 ? 1024 : 1,
                               bits[4] = {5, (uint64_t)(sign ? -5 : -2048), top, top - less};
                const double all = ldexp(1, 8 * size), half = ldexp(1, 8 * size - 1);
                const float meant[4] = {5,
                                        (float)(sign        ? -5
                                                : size == 1 ? 0
                                                            : all - 2048),
                                        (float)(sign ? -half : half), (float)(half - (double)less)};
                onet_sets *sets;
                onet_error err = {.text = ""};
                if (read_path(npz_read, &sets, npy_of(type, (size_t)size, bits), &err))
                    fail_msg("%s: %s", type, err.text);
                for (int i = 0; i < 4; i++)
                    if (sets->items[i] != meant[i])
                        fail_msg("%s: [%d] is %.9g, not %.9g", type, i, (double)sets->items[i],
                                 (double)meant[i]);
                onet_sets_free(sets);
            }
}

/* Whole numbers beyond 2^53 that are not those of a double are refused: others near them would become equal.
 */
static void test_rounded_numbers(void **state) {
    const uint64_t one = (uint64_t)1 << 53 | 1;
    const struct {
        const char *type, *said;
        uint64_t bits;
    } each[] = {
        {"<i8", "items[0][2][0]: \"9007199254740993\" is a whole number that double cannot hold exactly",
         one},
        {">i8", "items[0][2][0]: \"-9007199254740993\" is a whole number that double cannot hold exactly",
         -one},
        {"<u8", "items[0][2][0]: \"18446744073709551615\" is a whole number that double cannot hold exactly",
         UINT64_MAX}};
    for (size_t k = 0; k < sizeof each / sizeof *each; k++) {
        const uint64_t bits[4] = {1, 2, each[k].bits, 3};
        onet_sets *sets;
        onet_error err = {.text = ""};
        assert_int_equal(read_path(npz_read, &sets, npy_of(each[k].type, 8, bits), &err), ONET_BAD);
        if (!strstr(err.text, each[k].said)) fail_msg("%s", err.text);
    }
}

/* Every cut and every flipped bit: an error, or the very same sets (a byte that says nothing). */
static void expect_robust(read_sets *how, const char *path, bool checksum) {
    size_t size;
    char *bytes = help_bytes(path, &size);
    onet_sets *sets;
    onet_error err;
    for (size_t cut = 0; cut < size; cut += 5)
        assert_int_equal(read_path(how, &sets, help_file_of("cut", bytes, cut), &err), ONET_BAD);
    for (size_t i = 0; i < size; i++) {
        bytes[i] ^= (char)(1 << i % 8);
        onet_status status = read_path(how, &sets, help_file_of("flipped", bytes, size), &err);
        if (status) assert_int_equal(status, ONET_BAD);
        if (!status && checksum) expect_fixture(sets, sets->order != NULL);
        if (!status) onet_sets_free(sets);
        bytes[i] ^= (char)(1 << i % 8);
    }
    free(bytes);
}

static void test_hostile_npz(void **state) {
    expect_robust(npz_read, "tests/data/stored.npz", true);
    expect_robust(npz_read, "tests/data/deflated.npz", true);
    expect_robust(npz_read, "tests/data/context.npz", true);
    expect_robust(npz_read, "tests/data/flat.npz", false);
    expect_robust(npz_read, "tests/data/single.npy", false);
}

static void test_hostile_binary(void **state) {
    expect_robust(sets_binary_read, "tests/data/items.sets", false);
    expect_robust(sets_binary_read, "tests/data/words.sets", false);
    expect_robust(sets_binary_read, "tests/data/constraints.sets", false);
}

static void test_cannot_hold(void **state) {
    const float items[4] = {1, 2, 3, 4};
    onet_sets *sets;
    onet_error err;
    assert_int_equal(sets_new(&sets, 0, &err), ONET_OK);
    assert_int_equal(npz_write(sets, help_path("none.npz"), NULL, &err), ONET_BAD);
    assert_int_equal(sets_append(sets, 1, 2, items, NULL, &err), ONET_OK);
    onet_sets_free(sets);
    assert_int_equal(read_path(sets_binary_read, &sets, "tests/data/words.sets", &err), ONET_OK);
    assert_int_equal(npz_write(sets, help_path("words.npz"), NULL, &err), ONET_BAD);
    assert_non_null(strstr(err.text, "npz cannot hold words; use jsonl, safetensors or text"));
    onet_sets_free(sets);
}

/* A file of the binary form with one thing wrong in it. */
static void expect_binary(const int32_t *sizes, size_t count, const float *items, const int32_t *order,
                          const char *sentence) {
    const st_pair metadata[] = {{"format", "ordernet-sets"}, {"format_version", "1"}};
    const st_tensor list[] = {{.name = "sizes", .type = ST_I32, .dims = 1, .shape = {count}, .data = sizes},
                              {.name = "items", .type = ST_F32, .dims = 2, .shape = {3, 1}, .data = items},
                              {.name = "order", .type = ST_I32, .dims = 1, .shape = {3}, .data = order}};
    const char *path = help_path("made.safetensors");
    onet_sets *sets;
    onet_error err = {.text = ""};
    assert_int_equal(safetensors_write(path, list, 3, metadata, 2, &err), ONET_OK);
    onet_status status = read_path(sets_binary_read, &sets, path, &err);
    if (sentence &&
        (status != ONET_BAD || !strstr(err.text, sentence) || strncmp(err.text, path, strlen(path))))
        fail_msg("%d %s", status, err.text);
    if (!sentence && status) fail_msg("%d %s", status, err.text);
    onet_sets_free(sets);
}

static void test_bad_sets(void **state) {
    const float good[3] = {1, 2, 3}, infinite[3] = {1, 2, INFINITY};
    const int32_t right[3] = {1, 0, 0}, twice[3] = {1, 1, 0}, far[3] = {1, 0, 1}, negative[3] = {1, -1, 0};
    expect_binary((int32_t[]){2, 1}, 2, good, right, NULL);
    expect_binary((int32_t[]){2, 1}, 2, infinite, right, "set 2: items[0][0] is not a finite number");
    expect_binary((int32_t[]){2, 1}, 2, good, twice,
                  "set 1: order[1] is 1, which stands in the order already");
    expect_binary((int32_t[]){2, 1}, 2, good, far, "set 2: order[0] is 1: it must be an index");
    expect_binary((int32_t[]){2, 1}, 2, good, negative, "set 1: order[1] is -1");
    expect_binary((int32_t[]){2, 2}, 2, good, right, "set 2: its size is 2, where 1 items are left");
    expect_binary((int32_t[]){3, 0}, 2, good, right, "set 2: its size is 0");
    expect_binary((int32_t[]){2}, 1, good, right, "its sizes add up to 2 where there are 3 items");
    expect_binary((int32_t[]){2, -1}, 2, good, right, "set 2: its size is -1");
    expect_binary(NULL, 0, good, right, "holds no sets");
}

static void test_growing(void **state) {
    const float items[6] = {1, 2, 3, 4, 5, INFINITY};
    const int32_t order[3] = {2, 0, 1};
    onet_sets *sets;
    onet_error err;
    assert_int_equal(sets_new(&sets, 0, &err), ONET_OK);
    assert_int_equal(sets_append(sets, 0, 2, items, NULL, &err), ONET_BAD);
    assert_int_equal(sets_append(sets, 3, 1, items, order, &err), ONET_OK);
    assert_int_equal(sets_append(sets, 1, 2, items, (int32_t[]){0}, &err), ONET_BAD);
    assert_non_null(strstr(err.text, "have 2 features where 1"));
    assert_int_equal(sets_append(sets, 3, 1, items, NULL, &err), ONET_BAD);
    assert_int_equal(sets_append(sets, 3, 1, items + 3, order, &err), ONET_BAD);
    assert_int_equal(sets_append_words(sets, 1, order, order, &err), ONET_BAD);
    assert_int_equal(sets->count, 1);
    for (int i = 0; i < 1000; i++) assert_int_equal(sets_append(sets, 3, 1, items, order, &err), ONET_OK);
    assert_int_equal(sets->start[1001], 3003);
    assert_true(sets_item(sets, 3002)[0] == 3);
    assert_int_equal(sets_check(sets, &err), ONET_OK);
    onet_sets_free(sets);
    assert_int_equal(onet_sets_from(&sets, 2, 3, 1, items, NULL, &err), ONET_BAD);
    assert_non_null(strstr(err.text, "set 2: items[2][0]"));
    assert_int_equal(onet_sets_from(&sets, 0, 3, 1, items, NULL, &err), ONET_USAGE);
    assert_null(sets);
    /* More items than the check has bits on its stack. */
    int32_t many[5000];
    for (int i = 0; i < 5000; i++) many[i] = 4999 - i;
    assert_int_equal(sets_check_order(many, 5000, &err), ONET_OK);
    many[4999] = 17;
    assert_int_equal(sets_check_order(many, 5000, &err), ONET_BAD);
    assert_non_null(strstr(err.text, "order[4999] is 17, which stands"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fixtures),        cmocka_unit_test(test_mixed_sizes),
        cmocka_unit_test(test_round_trip),      cmocka_unit_test(test_context),
        cmocka_unit_test(test_hostile_npz),     cmocka_unit_test(test_hostile_binary),
        cmocka_unit_test(test_cannot_hold),     cmocka_unit_test(test_bad_sets),
        cmocka_unit_test(test_growing),         cmocka_unit_test(test_whole_numbers),
        cmocka_unit_test(test_rounded_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, help_clean);
}
