/* Included by every unit test: cmocka with the headers that it needs, a skip that prints its reason, and the
 * path of the shared data. */
#ifndef TESTS_UNIT_H
#define TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* cmocka gives every test a `state`, which few of them use. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

/* Ends the running test as skipped. mk/check.sh counts lines that begin with "skipped: "; cmocka writes to
 * both streams, so the line is flushed to keep it whole. Never call skip() itself: it would not be counted.
 */
#define skip_because(...)                                                                                    \
    (fflush(stderr), printf("\nskipped: " __VA_ARGS__), printf("\n"), fflush(stdout), skip())

/* As doubles: cmocka's assert_float_equal compares floats, and sees no difference below 1e-7. */
#define assert_near(a, b, tolerance)                                                                         \
    do {                                                                                                     \
        double near_a = (a), near_b = (b);                                                                   \
        if (!((near_a > near_b ? near_a - near_b : near_b - near_a) <= (tolerance)))                         \
            fail_msg("%.17g is not near %.17g", near_a, near_b);                                             \
    } while (0)

enum { SHARED_PATH = 512 };

/* The path of a file of the shared data, which `make` names in ORDERNET_SHARED; skips the test if there
 * is none. */
static inline void shared_file(char path[SHARED_PATH], const char *name) {
    const char *shared = getenv("ORDERNET_SHARED");
    if (!shared) skip_because("ORDERNET_SHARED is not set; `make check-unit` sets it");
    snprintf(path, SHARED_PATH, "%s/data/%s", shared, name);
    if (access(path, R_OK)) skip_because("%s is not there", path);
}

#endif
