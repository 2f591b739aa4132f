/* Replaces cmocka (the unit-test library) for targets that Debian has no cmocka for (WebAssembly, ARM): as
 * much of it as the tests of the kernels use; the first failure ends the program. */
#ifndef TESTS_PORTABLE_CMOCKA_H
#define TESTS_PORTABLE_CMOCKA_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct CMUnitTest {
    const char *name;
    void (*run)(void **state);
};

#define cmocka_unit_test(f)                                                                                  \
    { #f, f }
#define fail_msg(...)                                                                                        \
    (printf("%s:%d: ", __FILE__, __LINE__), printf(__VA_ARGS__), printf("\n[  FAILED  ] 1 test(s).\n"),      \
     fflush(stdout), exit(1))
#define assert_true(x)               ((x) ? (void)0 : fail_msg("%s is false", #x))
#define assert_false(x)              assert_true(!(x))
#define assert_non_null(p)           assert_true((p) != NULL)
#define assert_null(p)               assert_true((p) == NULL)
#define assert_ptr_equal(p, q)       assert_true((const void *)(p) == (const void *)(q))
#define assert_int_equal(x, y)       assert_true((x) == (y))
#define assert_string_equal(s, t)    assert_true(!strcmp(s, t))
#define assert_memory_equal(p, q, n) assert_true(!memcmp(p, q, n))
#define skip()                       exit(0)

#define cmocka_run_group_tests_name(group, tests, setup, teardown)                                           \
    portable_run(group, tests, sizeof(tests) / sizeof *(tests))

static inline int portable_run(const char *group, const struct CMUnitTest *tests, size_t count) {
    for (size_t i = 0; i < count; i++) {
        void *state = NULL;
        tests[i].run(&state);
        printf("[       OK ] %s: %s\n", group, tests[i].name);
        fflush(stdout);
    }
    printf("[  PASSED  ] %zu test(s).\n", count);
    return 0;
}

#endif
