/* Tests the library in locales with a decimal comma or a Turkish i: it must read and write the same bytes. */
#include <locale.h>
#include <string.h>

#include "data_help.h"
#include "engine/base/number.h"
#include "ordernet_train.h"

/* Files that a training writes: the model with its record, the log without its times, the checkpoint. */
typedef struct written {
    char *model, *log;
} written;

static written train_to(const char *name, int resume) {
    char path[512], log[520];
    snprintf(path, sizeof path, "%s", help_path(name));
    onet_sets *sets;
    onet_model *model;
    onet_error err;
    const float items[] = {0.5f, 1.25f, 0.75f, 3.5f, 2.5f, 1.5f};
    const int32_t order[] = {0, 2, 1, 2, 1, 0};
    onet_train_options o;
    onet_train_defaults(&o, sizeof o);
    o.settings = (onet_settings){
        .encoder_blocks = 1, .hidden = 4, .encoder_out = 3, .decoder_blocks = 1, .decoder_out = 2};
    o.epochs = 3;
    o.threads = 1;
    o.device = "cpu";
    o.kernels = "plain";
    o.model_path = path;
    o.resume = resume;
    assert_int_equal(onet_sets_from(&sets, 2, 3, 1, items, order, &err), ONET_OK);
    assert_int_equal(onet_train(&model, sets, sets, &o, &err), ONET_OK);
    onet_train_path(log, sizeof log, path, ONET_TRAIN_LOG);
    written w = {.log = help_content(log)};
    onet_model_free(model);
    assert_int_equal(onet_model_load(&model, path, &err), ONET_OK);
    w.model = strdup(onet_model_record(model, "run"));
    assert_null(strchr(onet_model_record(model, "loss"), ','));
    onet_model_free(model);
    onet_sets_free(sets);
    return w;
}

static void training_writes_points(void **state) {
    written plain = train_to("plain.safetensors", 0);
    use_locale("de_DE");
    char comma[8];
    snprintf(comma, sizeof comma, "%.1f", 0.5);
    assert_string_equal(comma, "0,5"); /* the locale works */
    written german = train_to("german.safetensors", 0);
    assert_string_equal(plain.model, german.model);
    /* A row has 8 separators in every locale. */
    for (char *row = strtok(german.log, "\n"); row; row = strtok(NULL, "\n")) {
        int commas = 0;
        for (char *c = row; *c; c++) commas += *c == ',';
        assert_int_equal(commas, 8);
    }
    written again = train_to("german.safetensors", 1); /* reads its own checkpoint */
    assert_string_equal(plain.model, again.model);
    setlocale(LC_ALL, "C");
    written last = train_to("german.safetensors", 1); /* and so does a program with another locale */
    assert_string_equal(plain.model, last.model);
    free(last.model);
    free(last.log);
    free(plain.model);
    free(plain.log);
    free(german.model);
    free(german.log);
    free(again.model);
    free(again.log);
}

static void sets_and_sentences(void **state) {
    use_locale("de_DE");
    onet_sets *sets;
    onet_error err;
    const float items[] = {0.5f, -1.25f};
    const char *path = help_path("sets.jsonl");
    assert_int_equal(onet_sets_from(&sets, 1, 2, 1, items, NULL, &err), ONET_OK);
    assert_int_equal(onet_sets_write(sets, path, ONET_FORMAT_AUTO, &err), ONET_OK);
    char *text = help_content(path);
    assert_string_equal(text, "{\"items\": [[0.5], [-1.25]]}\n");
    free(text);
    onet_sets_free(sets);
    assert_int_equal(onet_sets_read(&sets, path, NULL, &err), ONET_OK);
    assert_true(sets->items[0] == 0.5f && sets->items[1] == -1.25f);
    onet_sets_free(sets);
    char *end, number[NUMBER_TEXT];
    assert_true(number_parse("1.5", &end) == 1.5 && !*end);
    number_print(number, sizeof number, "%.2f", 2.25);
    assert_string_equal(number, "2.25");
    snprintf(number, sizeof number, "%.1f", 0.5);
    assert_string_equal(number, "0,5"); /* the program's own locale stays */
    setlocale(LC_ALL, "C");
}

static void names_in_any_case(void **state) {
    use_locale("tr_TR"); /* whose small I has no dot */
    onet_format format;
    onet_error err;
    assert_int_equal(onet_format_of_path("A.JSONL", &format, &err), ONET_OK);
    const char *text = "-INFINITY";
    assert_int_equal(number_not_finite(text, text + strlen(text)), strlen(text));
    setlocale(LC_ALL, "C");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(training_writes_points),
                                       cmocka_unit_test(sets_and_sentences),
                                       cmocka_unit_test(names_in_any_case)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
