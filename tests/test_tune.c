/* Tests the parts of the search for training settings: the list of known settings, changes of them, when
 * settings are clearly better than others, what several models differ in, and which settings win. */
#include <math.h>

#include "engine/tune/tuner.h"
#include "unit.h"

static void known_settings_are_in_the_space(void **state) {
    (void)state;
    onet_train_options plain;
    choice_made base, made;
    bool fixed[TUNED_SETTINGS] = {false};
    onet_train_defaults(&plain, sizeof plain);
    space_read(&base, &plain);
    int count = 0;
    for (; space_known(&made, count, &base, fixed); count++)
        for (int s = 0; s < TUNED_SETTINGS; s++) {
            bool listed = made.value[s] == base.value[s];
            for (int i = 0; i < tuned_settings[s].count; i++)
                listed |= tuned_settings[s].value[i] == made.value[s];
            if (!listed)
                fail_msg("known settings %d: %s is not a value of the space", count, tuned_settings[s].name);
        }
    assert_true(count > 10);
    assert_true(space_known(&made, 0, &base, fixed) && space_same(&made, &base));
}

static void fixed_settings_stay(void **state) {
    (void)state;
    onet_train_options plain;
    choice_made base, made;
    bool fixed[TUNED_SETTINGS] = {[S_EPOCHS] = true, [S_DROP] = true, [S_RANKER] = true};
    onet_train_defaults(&plain, sizeof plain);
    space_read(&base, &plain);
    rng r;
    rng_seed(&r, 1, 2);
    for (int i = 0; space_known(&made, i, &base, fixed); i++)
        for (int change = 0; change < 20; change++) {
            for (int s = 0; s < TUNED_SETTINGS; s++)
                if (fixed[s]) assert_true(made.value[s] == base.value[s]);
            space_change(&made, fixed, &r);
        }
}

static void a_lead_is_clear_if_the_parts_agree(void **state) {
    (void)state;
    const double same[] = {0.02, 0.02, 0.02, 0.02}, close[] = {0.02, 0.024, 0.016, 0.02},
                 small[] = {0.009, 0.009, 0.009, 0.009}, mixed[] = {0.05, -0.02, 0.03, -0.01},
                 one[] = {0.04, 0, 0, 0}, none[] = {0, 0, 0, 0}, behind[] = {-0.01, -0.01, -0.012, -0.01};
    assert_true(is_clear_lead(same, 4));
    assert_true(is_clear_lead(close, 4));
    assert_false(is_clear_lead(small, 4)); /* less than a point, on every part */
    assert_false(is_clear_lead(mixed, 4));
    assert_false(is_clear_lead(one, 4)); /* one standard error */
    assert_false(is_clear_lead(none, 4));
    assert_false(is_clear_lead(behind, 4));
    /* Mean 1, standard error 0.5 sqrt(4 / 3) = 0.577: less than two of them. */
    assert_false(is_clear_lead((double[]){0, 2, 0, 2}, 4));
    /* Mean 1, standard error 0.25 sqrt(4 / 3) = 0.289: more. */
    assert_true(is_clear_lead((double[]){0.5, 1.5, 0.5, 1.5}, 4));
}

static void a_point_behind_is_not_as_good(void **state) {
    (void)state;
    assert_true(is_as_good(0.9, 0.9));
    assert_true(is_as_good(0.891, 0.9));
    assert_false(is_as_good(0.889, 0.9));
    assert_false(is_as_good((double)NAN, 0.9)); /* a trial that did not end */
}

/* Returns a trial with this score in all four measures. */
static trial scored(double score) {
    return (trial){.exact = score, .neighbours = score, .tau = score, .loglik = log(score)};
}

/* Returns what one of several models differs in, for settings with ranks and relative features whose score is
 * 0.8; the arguments are the scores of the settings without ranks and without relative features, 0: not
 * tried. */
static onet_variation varied(double no_ranks, double no_relative, int level, int fixed) {
    const double score[] = {0.8, no_ranks, no_relative};
    trial tried[3];
    config configs[3];
    tuner s = {.configs = configs};
    onet_train_options plain;
    choice_made base;
    onet_train_defaults(&plain, sizeof plain);
    space_read(&base, &plain);
    for (int i = 0; i < 3; i++) {
        if (score[i] == 0) continue;
        tried[s.count] = scored(score[i]);
        config *c = &configs[s.count];
        *c = (config){.made = base};
        c->made.value[S_WITHIN] = i != 1;
        c->made.value[S_RELATIVE] = i != 2;
        if (level == 1) c->brief = &tried[s.count];
        if (level == 2) c->whole[0] = &tried[s.count];
        s.count++;
    }
    if (fixed >= 0) s.fixed[fixed] = true;
    return tune_variation(&s, &configs[0]);
}

static void one_model_differs_in_features_that_are_nearly_as_good(void **state) {
    (void)state;
    for (int level = 1; level <= 2; level++) {
        assert_int_equal(varied(0.78, 0.81, level, -1), ONET_VARY_WITHIN);
        assert_int_equal(varied(0.78, 0, level, -1), ONET_VARY_WITHIN);
        assert_int_equal(varied(0.74, 0.78, level, -1), ONET_VARY_RELATIVE);
        assert_int_equal(varied(0.74, 0.74, level, -1), ONET_VARY_NOTHING);
        assert_int_equal(varied(0, 0, level, -1), ONET_VARY_NOTHING);
        assert_int_equal(varied(0.8, 0.8, level, S_WITHIN), ONET_VARY_RELATIVE);
        assert_int_equal(varied(0.8, 0.7, level, S_WITHIN), ONET_VARY_NOTHING);
        assert_int_equal(varied(0.8, 0.8, level, S_RELATIVE), ONET_VARY_WITHIN);
        assert_int_equal(varied(0.8, 0.8, level, S_VARY), ONET_VARY_NOTHING);
        assert_int_equal(varied(0.8, 0.8, level, S_MODELS), ONET_VARY_NOTHING);
    }
}

/* Returns which of a deep net, a small net and a ranker wins; each orders this share right on the first part,
 * and all sets on the others. */
static int winner_of(double deep, double small, double ranker) {
    const double right[] = {deep, small, ranker};
    trial first[3], others[3];
    config configs[3];
    tuner s = {.configs = configs, .count = 3, .fixed = {[S_CROP] = true}};
    onet_train_options plain;
    choice_made base;
    onet_train_defaults(&plain, sizeof plain);
    space_read(&base, &plain);
    for (int i = 0; i < 3; i++) {
        first[i] = (trial){.exact = right[i], .neighbours = 1, .tau = 1, .loglik = -0.01 * (i + 1)};
        others[i] = (trial){.exact = 1, .neighbours = 1, .tau = 1, .loglik = -0.01 * (i + 1)};
        configs[i] =
            (config){.made = base, .known = true, .whole = {&first[i], &others[i], &others[i], &others[i]}};
    }
    configs[0].made.value[S_DECODER] = 8;
    configs[0].made.value[S_EPOCHS] = 60;
    configs[2].made.value[S_RANKER] = 1;
    return (int)(tune_winner(&s) - configs);
}

static void the_cheapest_of_equally_right_settings_wins(void **state) {
    (void)state;
    assert_int_equal(winner_of(1, 1, 1), 2);
    assert_int_equal(winner_of(1, 1, 0.99), 1);
    assert_int_equal(winner_of(1, 0.99, 0.99), 0);
    assert_int_equal(winner_of(0.9, 1, 1), 2);
    assert_int_equal(winner_of(0.9, 1, 0.9), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_settings_are_in_the_space),
        cmocka_unit_test(fixed_settings_stay),
        cmocka_unit_test(a_lead_is_clear_if_the_parts_agree),
        cmocka_unit_test(a_point_behind_is_not_as_good),
        cmocka_unit_test(one_model_differs_in_features_that_are_nearly_as_good),
        cmocka_unit_test(the_cheapest_of_equally_right_settings_wins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
