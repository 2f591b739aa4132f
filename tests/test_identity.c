/* Tests the comparison of two trainings' identities (settings and data), by which resuming with other
 * settings is refused. */
#include "engine/train/identity.h"

#include <string.h>

#include "unit.h"

static void refused(const char *before, const char *now, const char *sentence) {
    uint64_t steps;
    onet_error err;
    assert_int_equal(identity_check(before, now, "c", &steps, &err), ONET_BAD);
    assert_non_null(strstr(err.text, sentence));
}

static void same(const char *before, const char *now) {
    uint64_t steps = 0;
    onet_error err;
    assert_int_equal(identity_check(before, now, "c", &steps, &err), ONET_OK);
    assert_int_equal(steps, 5);
}

static void values_differ(void **state) {
    same("hidden=8 seed=1 steps=5", "hidden=8 seed=1 steps=9");
    refused("hidden=8 seed=1 steps=5", "hidden=9 seed=1 steps=5", ": hidden was 8, now 9. ");
    refused("items=a seed=1 steps=5", "items=b seed=1 steps=5", "the items of the training sets differ");
}

/* A setting that a later version added is in the line only if it is not 0. */
static void settings_of_one_line_alone(void **state) {
    refused("hidden=8 relations=2 steps=5", "hidden=8 steps=5", ": relations was 2, now 0. ");
    refused("hidden=8 steps=5", "hidden=8 relations=2 steps=5", ": relations was 0, now 2. ");
    refused("hidden=8 steps=5", "hidden=8 crop=4 steps=5", ": crop was 0, now 4. ");
    refused("hidden=8 crop=4 steps=5", "hidden=8 steps=5", ": crop was 4, now 0. ");
    same("hidden=8 relative=0 steps=5", "hidden=8 steps=5");
    same("hidden=8 steps=5", "hidden=8 relative=0 steps=5");
    same("hidden=8 steps=5", "hidden=8 valid_limit=2000 steps=5"); /* no setting of the network */
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(values_differ),
                                       cmocka_unit_test(settings_of_one_line_alone)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
