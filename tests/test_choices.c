/* Tests the lists of named values (enum values with their names): each value is found by its name and each
 * name by its value, names are listed for a message, every preset gives a network, and every available kernel
 * set can be chosen by name. */
#include <string.h>

#include "engine/base/choice.h"
#include "engine/kernels/kernels.h"
#include "ordernet_tsp.h"
#include "tasks/tours/generate.h"
#include "unit.h"

static const onet_choice *(*const lists[])(void) = {
    onet_formats,     onet_pools,     onet_presets,         onet_decodes,    onet_kernel_sets,
    onet_devices,     onet_schedules, onet_norm_statistics, onet_precisions, onet_variations,
    onet_tsp_methods, tsp_labels,     tsp_shapes,
};

static void names_and_values_are_found(void **state) {
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        const onet_choice *list = lists[i]();
        assert_non_null(list->name);
        for (const onet_choice *c = list; c->name; c++) {
            assert_ptr_equal(choice_named(list, c->name, strlen(c->name)), c);
            assert_ptr_equal(choice_of(list, c->value), c);
            assert_string_equal(choice_name(list, c->value), c->name);
            assert_true(c->help && c->help[0]);
        }
        assert_null(choice_named(list, "", 0));
        assert_null(choice_of(list, -1));
        assert_string_equal(choice_name(list, -1), "unknown");
    }
}

/* Every preset has a net, and every name of a list that takes names is taken. */
static void names_are_taken(void **state) {
    onet_error err;
    for (const onet_choice *c = onet_presets(); c->name; c++) {
        onet_settings settings = {.width = 7};
        assert_int_equal(onet_settings_preset(&settings, c->name, &err), ONET_OK);
        assert_int_equal(settings.width, 7);
        assert_true(settings.encoder_blocks > 0 && settings.decoder_out > 0);
    }
    onet_settings settings = {0};
    assert_int_equal(onet_settings_preset(&settings, "tps", &err), ONET_USAGE);
    assert_string_equal(err.text, "there is no preset \"tps\"; there are default, tsp and words");
    for (const char *const *name = kernels_available(); *name; name++) {
        assert_non_null(choice_named(onet_kernel_sets(), *name, strlen(*name)));
        assert_string_equal(kernels_pick(*name)->name, *name);
    }
    assert_ptr_equal(kernels_pick("auto"), kernels_pick(NULL));
    assert_null(kernels_pick("abacus"));
}

static void names_are_listed(void **state) {
    char text[64], tight[8];
    assert_string_equal(choice_names(onet_decodes(), " or ", text, sizeof text), "beam, greedy or sample");
    assert_string_equal(choice_names(onet_decodes(), " or ", tight, sizeof tight), "beam, g");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_and_values_are_found),
        cmocka_unit_test(names_are_taken),
        cmocka_unit_test(names_are_listed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
