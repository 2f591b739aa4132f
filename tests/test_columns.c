/* Tests named columns: features by name from CSV, JSON and binary files, in sets and models; missing values;
 * the columns that tell sets apart; categories, dates and truth values. */
#include <math.h>

#include "data_help.h"
#include "engine/data/columns.h"
#include "engine/model/model.h"
#include "ordernet_io.h"

static const char *const people[] = {"height", "age"};

static onet_columns *columns_of(int width, const char *const *name) {
    onet_columns *c;
    onet_error err = {.text = ""};
    assert_int_equal(onet_columns_new(&c, width, name, "team", "place", &err), ONET_OK);
    return c;
}

static void items_are(const onet_sets *sets, const float *expected) {
    for (size_t i = 0; i < sets->start[sets->count] * (size_t)sets->width; i++)
        if (!(sets->items[i] == expected[i])) fail_msg("item %zu is %g", i, (double)sets->items[i]);
}

/* The file's columns stand in another order, with others between them. */
static void csv_by_name(void **state) {
    onet_columns *c = columns_of(2, people);
    onet_read_options options = {.size = sizeof options, .columns = c};
    onet_sets *sets = help_read(
        "a.csv", "age,place,extra,team,height\n36,1,7,a,1.5\n29,0,7,a,2.5\n41,0,8,b,3.5\n", &options);
    assert_int_equal(sets->count, 2);
    assert_int_equal(sets->width, 2);
    items_are(sets, (float[]){1.5f, 36, 2.5f, 29, 3.5f, 41});
    assert_int_equal(sets->order[0], 1);
    assert_string_equal(onet_columns_name(sets->columns, 1), "age");
    onet_sets_free(sets);
    const char *lacks = "age,place,team\n36,1,a\n";
    help_refused_with(
        "lacks.csv", lacks, strlen(lacks), &options,
        "FILE:1: there is no column `height`, a feature of the model; add it, or name the columns "
        "to take instead (onet_read_options.features)");
    /* Names given by the caller are matched to the features by position. */
    options.features = "size,years";
    sets = help_read("b.csv", "years,size,team\n36,1.5,a\n29,2.5,a\n", &options);
    items_are(sets, (float[]){1.5f, 36, 2.5f, 29});
    assert_string_equal(onet_columns_name(sets->columns, 0), "height");
    onet_sets_free(sets);
    onet_columns_free(c);
}

static void names_of_a_file(void **state) {
    onet_sets *sets = help_read("a.csv", "set,name,x,y z,rank\n1,a,1,2,0\n1,b,3,4,1\n", NULL);
    assert_int_equal(sets->width, 2);
    assert_string_equal(onet_columns_name(sets->columns, 0), "x");
    assert_string_equal(onet_columns_name(sets->columns, 1), "y z");
    assert_null(onet_columns_name(sets->columns, 2));
    assert_string_equal(onet_columns_set(sets->columns), "set");
    assert_string_equal(onet_columns_rank(sets->columns), "rank");
    onet_error err = {.text = ""};
    const char *path = help_path("a.safetensors");
    assert_int_equal(onet_sets_write(sets, path, ONET_FORMAT_AUTO, &err), ONET_OK);
    onet_sets *again;
    assert_int_equal(onet_sets_read(&again, path, NULL, &err), ONET_OK);
    assert_string_equal(onet_columns_name(again->columns, 1), "y z");
    assert_string_equal(onet_columns_rank(again->columns), "rank");
    onet_sets_free(again);
    onet_sets_free(sets);
}

static void one_set(void **state) {
    onet_read_options options = {.size = sizeof options, .set_column = ""};
    onet_sets *sets = help_read("cities.csv", "name,x,y\na,1,2\nb,3,4\nc,5,6\n", &options);
    assert_int_equal(sets->count, 1);
    items_are(sets, (float[]){1, 2, 3, 4, 5, 6});
    onet_sets_free(sets);
    options = (onet_read_options){.size = sizeof options, .one_set = 1};
    sets = help_read("cities.csv", "set,x,y\na,1,2\nb,3,4\n", &options);
    assert_int_equal(sets->count, 2); /* one_set has no effect where the file has a set column */
    onet_sets_free(sets);
}

static void delimiters(void **state) {
    onet_read_options options = {.size = sizeof options, .delimiter = ';'};
    onet_sets *sets = help_read("a.csv", "set;x;y\na;1;2\na;3;4\n", &options);
    items_are(sets, (float[]){1, 2, 3, 4});
    onet_sets_free(sets);
    sets = help_read("a.tsv", "set\tx\ty\na\t1\t2\na\t3\t4\n", NULL);
    items_are(sets, (float[]){1, 2, 3, 4});
    onet_sets_free(sets);
    sets = help_read("tabs.csv", "set\tx\ty\na\t1\t2\na\t3\t4\n", NULL);
    items_are(sets, (float[]){1, 2, 3, 4});
    onet_sets_free(sets);
    sets = help_read("no ending", "set;x;y\na;1;2\na;3;4\n", &options); /* else lines of words */
    items_are(sets, (float[]){1, 2, 3, 4});
    onet_sets_free(sets);
    options.delimiter = '"';
    onet_error err = {.text = ""};
    assert_int_equal(onet_sets_read(&sets, help_file("b.csv", "set,x\n1,2\n"), &options, &err), ONET_USAGE);
}

/* ---- JSON with keys ---------------------------------------------------------------------------------- */

static void json_by_key(void **state) {
    const char *text =
        "{\"items\": [{\"age\": 36, \"name\": \"A\", \"height\": 1.5}, {\"height\": 2.5, \"age\": 29, "
        "\"name\": \"B\"}], \"order\": [1, 0]}\n"
        "{\"items\": [{\"name\": \"C\", \"height\": 3.5, \"age\": 41}], \"order\": [0]}\n";
    onet_sets *sets = help_read("a.jsonl", text, NULL);
    items_are(sets, (float[]){36, 1.5f, 29, 2.5f, 41, 3.5f}); /* as the first item has them */
    assert_string_equal(onet_columns_name(sets->columns, 0), "age");
    onet_sets_free(sets);
    onet_columns *c = columns_of(2, people);
    onet_read_options options = {.size = sizeof options, .columns = c};
    sets = help_read("b.jsonl", text, &options);
    items_are(sets, (float[]){1.5f, 36, 2.5f, 29, 3.5f, 41});
    onet_sets_free(sets);
    sets = help_read("c.jsonl", "{\"items\": [[1.5, 36], [2.5, 29]]}\n", &options); /* no names: by place */
    items_are(sets, (float[]){1.5f, 36, 2.5f, 29});
    onet_sets_free(sets);
    options = (onet_read_options){.size = sizeof options, .features = "height"};
    sets = help_read("d.jsonl", text, &options);
    items_are(sets, (float[]){1.5f, 2.5f, 3.5f});
    onet_sets_free(sets);
    sets = help_read("e.jsonl", "{\"items\": [{\"x\": true, \"a\\u0062\": 2}, {\"ab\": 3, \"x\": false}]}\n",
                     NULL);
    items_are(sets, (float[]){1, 2, 0, 3});
    onet_sets_free(sets);
    onet_columns_free(c);
}

/* A name in quotes may have commas, in every format with names; others are taken as they are. */
static void names_with_commas(void **state) {
    const char *table = "set,\"a,b\",a,b,\"\"\"q\",\"\"\"\"\"\"\n1,1,2,3,4,5\n";
    onet_read_options options = {.size = sizeof options, .features = "b,\"a,b\""};
    onet_sets *sets = help_read("a.csv", table, &options);
    assert_int_equal(sets->width, 2);
    items_are(sets, (float[]){3, 1});
    assert_string_equal(onet_columns_name(sets->columns, 1), "a,b");
    onet_sets_free(sets);
    options.features = "\"\"\"q\",\"b\",a,\"\"\"\"\"\"";
    sets = help_read("b.csv", table, &options);
    assert_int_equal(sets->width, 4);
    items_are(sets, (float[]){4, 3, 2, 5});
    onet_sets_free(sets);
    options.features = "\"q,a"; /* not closed */
    sets = help_read("c.csv", table, &options);
    assert_int_equal(sets->width, 2);
    items_are(sets, (float[]){4, 2});
    onet_sets_free(sets);
    options.features = "\"a,b\",b";
    sets = help_read("d.jsonl", "{\"items\": [{\"a\": 1, \"b\": 2, \"a,b\": 3}]}\n", &options);
    assert_int_equal(sets->width, 2);
    items_are(sets, (float[]){3, 2});
    onet_sets_free(sets);
}

static void json_refuses(void **state) {
    onet_columns *c = columns_of(2, people);
    onet_read_options options = {.size = sizeof options, .columns = c};
#define REFUSED(text, options, sentence)                                                                     \
    help_refused_with("bad.jsonl", text, strlen(text), options, "FILE:" sentence)
    REFUSED(
        "{\"items\": [{\"height\": 1}]}", &options,
        "1: field `items`: no item has the key `age`, a feature of the model; add it, or name the keys to "
        "take instead (onet_read_options.features)");
    REFUSED(
        "{\"items\": [{\"height\": 1, \"age\": 2}, {\"height\": 1}]}", &options,
        "1: `items`[1]: feature `age` has no value; fill it in, or use a model that was trained with missing "
        "values (onet_read_options.missing)");
    REFUSED("{\"items\": [{\"height\": 1, \"age\": \"old\"}]}", &options,
            "1: field `items`[0], `age`: not a number; every feature must be a number");
    REFUSED(
        "{\"items\": [{\"x\": 1}, {\"x\": \"1,234\"}]}", NULL,
        "1: field `items`[1], `x`: a number in some items of the set and something else in others; correct "
        "it, or name the features (onet_read_options.features)");
    REFUSED("{\"items\": [{\"x\": 1}, {\"x\": 2, \"x\": 3}]}", NULL,
            "1: field `items`[1], `x`: appears twice; keep one of them");
    REFUSED(
        "{\"items\": [{\"x\": 1}]}\n{\"items\": [{\"x\": 1, \"y\": 2}]}", NULL,
        "2: field `items`[0], `y`: a number, but the first set has none under this key; give it one there, "
        "or name the features (onet_read_options.features)");
    REFUSED("{\"items\": [{\"x\": 1}, [2]]}", NULL,
            "1: field `items`[1]: not an object with keys, as the items before it are");
    REFUSED(
        "{\"items\": [{\"name\": \"a\"}]}", NULL,
        "1: field `items`: no key has numbers, or texts that are a category; give every item at least one "
        "feature, or name the features (onet_read_options.features)");
    REFUSED("{\"items\": [{\"x\": 1e39}]}", NULL,
            "1: field `items`[0], `x`: out of range; features are 32-bit, at most 3.4e38 in size");
#undef REFUSED
    onet_columns_free(c);
}

/* ---- Missing values ---------------------------------------------------------------------------------- */

static void fills(void **state) {
    const char *csv = "set,x,y,rank\na,1,10,0\na,NA,20,1\nb,5,,0\nb,6,30,1\n";
    onet_read_options options = {.size = sizeof options, .missing = ONET_MISSING_MEAN};
    onet_sets *sets = help_read("a.csv", csv, &options);
    items_are(sets, (float[]){1, 10, 4, 20, 5, 20, 6, 30}); /* means 4 and 20 */
    onet_columns *mean = sets->columns;
    sets->columns = NULL;
    onet_sets_free(sets);
    options.missing = ONET_MISSING_INDICATOR;
    sets = help_read("b.csv", csv, &options);
    assert_int_equal(sets->width, 4);
    items_are(sets, (float[]){1, 10, 0, 0, 4, 20, 1, 0, 5, 20, 0, 1, 6, 30, 0, 0});
    assert_string_equal(onet_columns_name(sets->columns, 3), "missing y");
    assert_int_equal(onet_columns_width(sets->columns), 2);
    assert_int_equal(onet_columns_inputs(sets->columns), 4);
    onet_columns *both = sets->columns;
    sets->columns = NULL;
    onet_sets_free(sets);
    /* Other sets get the means of those that were trained on, whatever the format. */
    options = (onet_read_options){.size = sizeof options, .columns = mean};
    sets = help_read("c.csv", "y,set,x\nNaN,1,null\n7,1,8\n", &options);
    items_are(sets, (float[]){4, 20, 8, 7});
    onet_sets_free(sets);
    options.columns = both;
    sets = help_read("d.jsonl", "{\"items\": [[null, 7], [8, NaN]]}\n", &options);
    items_are(sets, (float[]){4, 7, 1, 0, 8, 20, 0, 1});
    onet_sets_free(sets);
    sets = help_read("e.jsonl", "{\"items\": [{\"y\": 7}, {\"x\": 8, \"y\": \"NA\"}]}\n", &options);
    items_are(sets, (float[]){4, 7, 1, 0, 8, 20, 0, 1});
    onet_sets_free(sets);
    onet_columns_free(mean);
    onet_columns_free(both);
}

static void fills_memory(void **state) {
    float items[] = {1, NAN, NAN, 4, 3, 5};
    size_t start[] = {0, 2, 3};
    int32_t order[] = {1, 0, 0};
    onet_sets given = {.count = 2, .width = 2, .start = start, .items = items, .order = order};
    onet_sets *filled;
    onet_error err = {.text = ""};
    assert_int_equal(onet_sets_fill(&filled, &given, NULL, ONET_MISSING_ERROR, &err), ONET_BAD);
    assert_string_equal(err.text,
                        "set 1: `items`[0]: feature [1] has no value, the first of 2 missing values; "
                        "fill it in, or choose how to replace it: mean or indicator");
    assert_string_equal(err.field, "onet_read_options.missing");
    onet_columns *fewer; /* than the sets have features */
    assert_int_equal(onet_columns_new(&fewer, 1, (const char *const[]){"only"}, NULL, NULL, &err), ONET_OK);
    assert_int_equal(onet_sets_fill(&filled, &given, fewer, ONET_MISSING_ERROR, &err), ONET_BAD);
    onet_columns_free(fewer);
    assert_int_equal(onet_sets_fill(&filled, &given, NULL, ONET_MISSING_INDICATOR, &err), ONET_OK);
    items_are(filled, (float[]){1, 4.5f, 0, 1, 2, 4, 1, 0, 3, 5, 0, 0});
    assert_int_equal(filled->order[0], 1);
    onet_sets *again;
    assert_int_equal(onet_sets_fill(&again, &given, filled->columns, ONET_MISSING_ERROR, &err), ONET_OK);
    items_are(again, (float[]){1, 4.5f, 0, 1, 2, 4, 1, 0, 3, 5, 0, 0});
    onet_sets_free(again);
    onet_sets_free(filled);
}

/* ---- In a model -------------------------------------------------------------------------------------- */

static onet_model *trained(const char *csv, onet_missing missing) {
    onet_read_options read = {.size = sizeof read, .missing = missing};
    onet_sets *sets = help_read("train.csv", csv, &read);
    onet_train_options options;
    onet_train_defaults(&options, sizeof options);
    options.settings = (onet_settings){
        .encoder_blocks = 1, .hidden = 4, .encoder_out = 4, .decoder_blocks = 1, .decoder_out = 4};
    options.epochs = 1;
    options.threads = 1;
    options.device = "cpu";
    onet_model *model;
    onet_error err = {.text = ""};
    onet_status status = onet_train(&model, sets, NULL, &options, &err);
    if (status) fail_msg("%s", err.text);
    onet_sets_free(sets);
    return model;
}

static void model_keeps_them(void **state) {
    onet_model *model =
        trained("set,x,y,rank\na,1,10,0\na,NA,20,1\nb,5,20,0\nb,6,30,1\n", ONET_MISSING_INDICATOR);
    onet_error err = {.text = ""};
    char sum[65], sum_again[65];
    const char *path = help_path("model.safetensors");
    assert_int_equal(onet_model_save(model, path, &err), ONET_OK);
    onet_model *again;
    assert_int_equal(onet_model_load(&again, path, &err), ONET_OK);
    const onet_columns *c = onet_model_columns(again);
    assert_int_equal(onet_model_settings(again)->width, 3);
    assert_int_equal(onet_columns_width(c), 2);
    assert_int_equal(onet_columns_missing(c), ONET_MISSING_INDICATOR);
    assert_string_equal(onet_columns_name(c, 2), "missing x");
    assert_string_equal(onet_columns_set(c), "set");
    onet_model_checksum(model, sum);
    onet_model_checksum(again, sum_again);
    assert_string_equal(sum, sum_again);
    /* A missing value is its mean, 4, and its indicator. */
    int32_t order[2], filled_order[2];
    double logprob, filled_logprob;
    assert_int_equal(onet_order(again, (float[]){NAN, 7, 8, 9}, 2, order, &logprob, &err), ONET_OK);
    onet_columns_free(again->columns);
    again->columns = NULL;
    assert_int_equal(onet_order(again, (float[]){4, 7, 1, 8, 9, 0}, 2, filled_order, &filled_logprob, &err),
                     ONET_OK);
    assert_int_equal(order[0], filled_order[0]);
    assert_true(logprob == filled_logprob);
    onet_model_checksum(again, sum_again);
    assert_string_not_equal(sum, sum_again); /* the names decide the answer too */
    onet_model_free(again);
    onet_model_free(model);
}

/* Sets with other feature names are refused, not matched by position. */
static void model_refuses_other_names(void **state) {
    onet_model *model = trained("set,x,y,rank\na,1,10,0\na,2,20,1\n", ONET_MISSING_ERROR);
    onet_sets *sets = help_read("other.csv", "set,y,x\na,1,2\na,3,4\n", NULL);
    onet_orderer *orderer;
    onet_error err = {.text = ""};
    int32_t order[2];
    double logprob;
    onet_answer answer = {.order = order, .logprob = &logprob};
    assert_int_equal(onet_orderer_new(&orderer, model, NULL, &err), ONET_OK);
    assert_int_equal(onet_orderer_run(orderer, sets, &answer, &err), ONET_BAD);
    assert_string_equal(err.text,
                        "feature 1 of the sets is `y`, that of the model is `x`; read the sets with the "
                        "model's columns");
    assert_string_equal(err.field, "onet_read_options.columns");
    onet_sets_free(sets);
    onet_read_options read = {.size = sizeof read, .columns = onet_model_columns(model)};
    sets = help_read("other.csv", "set,y,x\na,1,2\na,3,4\n", &read);
    assert_int_equal(onet_orderer_run(orderer, sets, &answer, &err), ONET_OK);
    onet_sets_free(sets);
    onet_orderer_free(orderer);
    onet_model_free(model);
}

static void bad_columns(void **state) {
    onet_columns *c;
    onet_error err = {.text = ""};
    assert_int_equal(onet_columns_new(&c, 0, NULL, NULL, NULL, &err), ONET_USAGE);
    assert_int_equal(onet_columns_new(&c, 2, (const char *[]){"a", "a"}, NULL, NULL, &err), ONET_BAD);
    assert_string_equal(err.text, "two features are called `a`; rename one of them");
    assert_int_equal(onet_columns_new(&c, 1, (const char *[]){"\xff"}, NULL, NULL, &err), ONET_BAD);
    assert_null(c);
    c = columns_of(2, people);
    onet_sets *sets = help_read("a.csv", "set,x\na,1\na,2\n", NULL);
    assert_int_equal(onet_sets_set_columns(sets, c, &err), ONET_USAGE);
    assert_int_equal(onet_sets_set_columns(sets, NULL, &err), ONET_OK);
    assert_null(sets->columns);
    onet_sets_free(sets);
    onet_columns_free(c);
}

/* What a table has by name, its binary form has too, in whatever order the columns stand there. */
static void binary_by_name(void **state) {
    onet_error err = {.text = ""};
    onet_sets *sets = help_read("a.csv", "set,age,extra,height,rank\na,36,7,1.5,1\na,29,8,2.5,0\n", NULL);
    const char *path = help_path("named.safetensors");
    assert_int_equal(onet_sets_write(sets, path, ONET_FORMAT_AUTO, &err), ONET_OK);
    onet_sets_free(sets);
    onet_columns *c = columns_of(2, people), *other = columns_of(2, (const char *[]){"age", "weight"});
    onet_read_options options = {.size = sizeof options, .columns = c};
    if (onet_sets_read(&sets, path, &options, &err)) fail_msg("%s", err.text);
    assert_int_equal(sets->width, 2);
    items_are(sets, (float[]){1.5f, 36, 2.5f, 29});
    assert_string_equal(onet_columns_name(sets->columns, 0), "height");
    onet_sets_free(sets);
    onet_reader *in;
    onet_record *r;
    int end;
    assert_int_equal(onet_record_new(&r, &err), ONET_OK);
    assert_int_equal(onet_reader_open(&in, path, &options, &err), ONET_OK);
    assert_int_equal(onet_reader_next(in, r, &end, &err), ONET_OK);
    assert_true(onet_record_values(r)[0] == 1.5 && onet_record_values(r)[3] == 29);
    onet_reader_close(in);
    onet_record_free(r);
    options.columns = other;
    assert_int_equal(onet_sets_read(&sets, path, &options, &err), ONET_BAD);
    assert_non_null(
        strstr(err.text, "named.safetensors: no feature is called `weight`, as one of the model's is"));
    options.features = "extra,age"; /* the model's first feature in place of its second one */
    assert_int_equal(onet_sets_read(&sets, path, &options, &err), ONET_USAGE);
    assert_non_null(strstr(err.text, "`age`, the model's feature 1, would stand for its feature 2"));
    options.features = "extra,height"; /* by their place, as in a table */
    if (onet_sets_read(&sets, path, &options, &err)) fail_msg("%s", err.text);
    items_are(sets, (float[]){7, 1.5f, 8, 2.5f});
    assert_string_equal(onet_columns_name(sets->columns, 1), "weight");
    onet_sets_free(sets);
    options.columns = NULL;
    if (onet_sets_read(&sets, path, &options, &err)) fail_msg("%s", err.text);
    assert_string_equal(onet_columns_name(sets->columns, 0), "extra");
    onet_sets_free(sets);
    onet_columns_free(c);
    onet_columns_free(other);
}

static void no_names_to_choose_by(void **state) {
    static const struct {
        const char *file, *text;
        long line;
    } files[] = {{"a.jsonl", "\n{\"items\": [[1, 2]]}\n", 2},
                 {"b.jsonl", "{\"items\": [1, 2]}", 1},
                 {"c.txt", "1 2\n", 1}};
    onet_read_options options = {.size = sizeof options, .features = "x"};
    char sentence[200];
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(sentence, sizeof sentence,
                 "FILE:%ld: the features have no names to choose by; choose none, or use a table or JSON "
                 "with keys (onet_read_options.features)",
                 files[i].line);
        help_refused_with(files[i].file, files[i].text, strlen(files[i].text), &options, sentence);
    }
    onet_sets *sets;
    onet_error err = {.text = ""};
    assert_int_equal(onet_sets_read(&sets, "tests/data/single.npy", &options, &err), ONET_BAD);
    assert_non_null(strstr(err.text, "tests/data/single.npy: the features have no names"));
}

/* If all values that the model knows of a category are numbers, the data's are compared with them as numbers;
 * if it knows none of the data's, an error message says so. */
static void classes_of_numbers(void **state) {
    static const char *const numbers[] = {"g=1", "g=2.50"}, *const words[] = {"g=1", "g=b"};
    static const char *const csv = "set,g\na,1.0\na,2.5\na,1e0\na,b\na,3\n",
                             *const json = "{\"items\": [{\"g\": 1.0}, {\"g\": \"2.5\"}, {\"g\": 1e0}, "
                                           "{\"g\": \"b\"}, {\"g\": 3}]}\n";
    for (int k = 0; k < 2; k++) {
        onet_columns *c = columns_of(2, numbers);
        onet_read_options options = {.size = sizeof options, .columns = c, .set_column = "set"};
        onet_sets *sets = help_read(k ? "a.jsonl" : "a.csv", k ? json : csv, &options);
        items_are(sets, (float[]){1, 0, 0, 1, 1, 0, 0, 0, 0, 0});
        assert_null(onet_columns_unknown(sets->columns));
        onet_sets_free(sets);
        sets = help_read(k ? "b.jsonl" : "b.csv",
                         k ? "{\"items\": [{\"g\": 3}, {\"g\": \"x\"}, {\"g\": null}]}\n"
                           : "set,g\na,3\na,x\na,NA\n",
                         &options);
        assert_non_null(strstr(onet_columns_unknown(sets->columns),
                               ": column `g`: no value is one that the model knows: here are "
                               "\"3\", \"x\", it knows \"1\", \"2.50\""));
        onet_sets_free(sets);
        onet_columns_free(c);
        c = columns_of(2, words);
        options.columns = c;
        sets = help_read(k ? "a.jsonl" : "a.csv", k ? json : csv, &options);
        items_are(sets, (float[]){0, 0, 0, 0, 0, 0, 0, 1, 0, 0});
        onet_sets_free(sets);
        onet_columns_free(c);
    }
}

/* The kind of a column (numbers, dates, truth values), and the kinds that a model refuses. */
static void kinds(void **state) {
    static const struct {
        unsigned seen;
        char kind;
    } together[] = {
        {0, KIND_NUMBER},
        {SEEN_FLAG, KIND_NUMBER},
        {SEEN_FLAG | SEEN_NUMBER, KIND_NUMBER},
        {SEEN_TRUTH, KIND_TRUTH},
        {SEEN_FLAG | SEEN_TRUTH, KIND_TRUTH},
        {SEEN_NUMBER | SEEN_TRUTH, 0},
        {SEEN_DATE, KIND_DATE},
        {SEEN_DATE | SEEN_FLAG, 0},
        {SEEN_DATE | SEEN_NUMBER, 0},
        {SEEN_DATE | SEEN_TRUTH, 0},
    };
    for (size_t i = 0; i < sizeof together / sizeof *together; i++)
        assert_int_equal(kind_of_seen(together[i].seen), together[i].kind);
    onet_columns *c = columns_of(2, people);
    onet_error err = {.text = ""};
    assert_null(columns_refuse(NULL, 0, SEEN_DATE));
    assert_non_null(columns_refuse(c, 0, SEEN_DATE));
    assert_non_null(columns_refuse(c, 0, SEEN_TRUTH));
    assert_null(columns_refuse(c, 0, SEEN_NUMBER));
    assert_int_equal(onet_columns_set_kinds(c, "dt", &err), ONET_OK);
    assert_string_equal(onet_columns_kind(c, 0), "date");
    assert_string_equal(onet_columns_kind(c, 1), "truth value");
    for (unsigned seen = SEEN_FLAG; seen <= SEEN_TRUTH; seen *= 2) {
        assert_int_equal(columns_refuse(c, 0, seen) == NULL, seen == SEEN_DATE);
        assert_int_equal(columns_refuse(c, 1, seen) == NULL, seen == SEEN_FLAG || seen == SEEN_TRUTH);
    }
    onet_columns_free(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(csv_by_name),
        cmocka_unit_test(names_of_a_file),
        cmocka_unit_test(one_set),
        cmocka_unit_test(delimiters),
        cmocka_unit_test(json_by_key),
        cmocka_unit_test(names_with_commas),
        cmocka_unit_test(json_refuses),
        cmocka_unit_test(fills),
        cmocka_unit_test(fills_memory),
        cmocka_unit_test(model_keeps_them),
        cmocka_unit_test(model_refuses_other_names),
        cmocka_unit_test(bad_columns),
        cmocka_unit_test(binary_by_name),
        cmocka_unit_test(no_names_to_choose_by),
        cmocka_unit_test(kinds),
        cmocka_unit_test(classes_of_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, help_clean);
}
