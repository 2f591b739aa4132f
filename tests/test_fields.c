/* The library's fields as the program's options, in sentences. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "app/fields.h"

#include "ordernet_io.h"

static void says(const char *sentence, const char *meant) {
    onet_error err;
    snprintf(err.text, sizeof err.text, "%s", sentence);
    fields_to_options(&err);
    assert_string_equal(err.text, meant);
}

static void fields_become_options(void **state) {
    (void)state;
    says("onet_train_options.learning_rate is 0", "--learning-rate is 0");
    says("try onet_train_options.clip 1.", "try --clip 1.");
    says("beta1 (onet_train_options.beta1), onet_order_options.top", "beta1 (--beta1), --top");
    says("name it in onet_write_options.format: csv", "name it in --to: csv");
    says("remove it, or train without onet_train_options.resume", "remove it, or train without --resume");
}

static void other_words_stay(void **state) {
    (void)state;
    says("", "");
    says("data.csv:3: no order_options.top, onet_train, onet_sets.count, onet_train_options.",
         "data.csv:3: no order_options.top, onet_train, onet_sets.count, onet_train_options.");
}

/* A sentence that grows beyond its room is cut off, not overrun. */
static void long_sentences_are_cut(void **state) {
    (void)state;
    onet_error err;
    for (size_t i = 0; i + 24 < sizeof err.text; i++) err.text[i] = 'x';
    strcpy(err.text + sizeof err.text - 24, "onet_read_options.words");
    fields_to_options(&err);
    assert_string_equal(err.text + sizeof err.text - 24, "train's --vectors");
    memset(err.text, 'x', sizeof err.text - 1);
    err.text[sizeof err.text - 1] = '\0';
    fields_to_options(&err);
    assert_int_equal(strlen(err.text), sizeof err.text - 1); /* one that just fits stays whole */
    memset(err.text, 'x', sizeof err.text);
    strcpy(err.text + sizeof err.text - 23, "onet_a_options.abcdefg");
    fields_to_options(&err);
    assert_string_equal(err.text + sizeof err.text - 23, "--abcdefg");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_become_options),
        cmocka_unit_test(other_words_stay),
        cmocka_unit_test(long_sentences_are_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
