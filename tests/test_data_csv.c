/* Tests CSV: reading (rows of a set anywhere in the file, RFC 4180's quotes and line ends, context items,
 * errors), what formats without context items or constraints refuse, the CSV output of `order`, and CSV files
 * that are joined or appended to. */
#include "data_help.h"

static void reads(void **state) {
    onet_sets *sets = help_read("a.csv",
                                "set,name,x,rank,y\n"
                                "a,\"one, \"\"1\"\"\",1,20,0.5\n"
                                "b,\"two\nlines\", +.5 ,1,2.\n"
                                "a,three,3,-4,\"1e1\"\n"
                                "\n"
                                "\"a\",4,4,5.5,7\n",
                                NULL);
    assert_int_equal(sets->count, 2);
    assert_int_equal(sets->width, 2);
    const size_t start[] = {0, 3, 4};
    assert_memory_equal(sets->start, start, sizeof start);
    const float items[] = {1, 0.5f, 3, 10, 4, 7, 0.5f, 2};
    assert_memory_equal(sets->items, items, sizeof items);
    const int32_t order[] = {1, 2, 0, 0}; /* the ranks sort the rows */
    assert_memory_equal(sets->order, order, sizeof order);
    onet_sets_free(sets);
}

static void reads_with_options(void **state) {
    onet_read_options options = {
        .size = sizeof options, .set_column = "group", .rank_column = "place", .features = "z,x"};
    onet_sets *sets = help_read("a.csv", "\xEF\xBB\xBFgroup,x,y,z\r\n1,2,3,4\r\n1,5,6,7", &options);
    assert_int_equal(sets->count, 1);
    assert_int_equal(sets->width, 2);
    assert_null(sets->order);
    const float items[] = {4, 2, 7, 5}; /* in the order in which the features are named */
    assert_memory_equal(sets->items, items, sizeof items);
    onet_sets_free(sets);
}

static void leaves_empty_ranks_open(void **state) {
    onet_sets *sets = help_read("a.csv", "set,x,rank,logprob\n1,2,,-3\n1,5,,-3\n", NULL);
    assert_null(sets->order);
    assert_int_equal(sets->width, 1);
    onet_sets_free(sets);
}

static void reads_context(void **state) {
    /* Rows without a rank, where others of the set have one; or marked by a column. */
    onet_sets *sets = help_read("a.csv", "set,x,rank\na,1,7\na,2,\nb,3,0\na,4,\na,5,2\n", NULL);
    const uint8_t context[] = {0, 1, 1, 0, 0};
    const int32_t order[] = {3, 0, 1, 2, 0};
    assert_memory_equal(sets->context, context, sizeof context);
    assert_memory_equal(sets->order, order, sizeof order);
    onet_sets_free(sets);
    sets = help_read("a.csv", "set,x,context\na,1,0\na,2,1\nb,3,\na,4,1\na,5,\n", NULL);
    assert_memory_equal(sets->context, context, sizeof context);
    assert_null(sets->order);
    assert_int_equal(sets->width, 1);
    onet_sets_free(sets);
    sets = help_read("a.csv", "set,x,context\na,1,0\na,2,1\n",
                     &(onet_read_options){.size = sizeof(onet_read_options), .features = "x,context"});
    assert_null(sets->context);
    assert_int_equal(sets->width, 2);
    onet_sets_free(sets);
    help_converts("a.csv", "set,x,rank\na,1,1\na,2,\na,3,0\n", "a.jsonl",
                  "{\"set\": \"a\", \"items\": [[1], [2], [3]], \"context\": [1], \"order\": [2, 0]}\n");
    help_converts("a.jsonl",
                  "{\"set\": \"a\", \"items\": [[1], [2], [3]], \"context\": [1], \"order\": [2, 0]}\n",
                  "a.csv", "set,x1,rank\na,1,1\na,2,\na,3,0\n");
    help_converts("a.jsonl", "{\"items\": [[1], [2], [3]], \"context\": [1]}\n{\"items\": [[4]]}\n", "a.csv",
                  "set,x1,context\n0,1,0\n0,2,1\n0,3,0\n1,4,0\n");
}

static void cannot_hold(void **state) {
    static const struct {
        const char *text, *to, *sentence;
    } cases[] = {
        {"{\"items\": [[1, 2], [3, 4]], \"context\": [1]}", "pointer",
         "pointer cannot hold context items; use jsonl, csv, npz or safetensors"},
        {"{\"items\": [\"a\", \"b\"], \"context\": [1]}", "text",
         "text cannot hold context items; use jsonl or safetensors"},
        {"{\"items\": [[1, 2], [3, 4]], \"last\": 1}", "pointer",
         "pointer cannot hold constraints; use jsonl or safetensors"},
        {"{\"items\": [[1, 2], [3, 4]], \"last\": 1}", "csv",
         "csv cannot hold constraints; use jsonl or safetensors"},
        {"{\"items\": [[4]]}\n{\"items\": [[1], [2]], \"context\": [1]}", "csv",
         "the set has context items and no order, but the first set, which decides the columns, is not such "
         "a set; put such a set first, or write jsonl"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        onet_error err = {.text = ""};
        onet_write_options options = {.size = sizeof options,
                                      .format = !strcmp(cases[i].to, "pointer") ? ONET_FORMAT_POINTER
                                                : !strcmp(cases[i].to, "csv")   ? ONET_FORMAT_CSV
                                                                                : ONET_FORMAT_TEXT};
        const char *from = help_file("from.jsonl", cases[i].text), *to = help_path("to");
        assert_int_equal(onet_sets_convert(from, to, NULL, &options, &err), ONET_BAD);
        assert_non_null(strstr(err.text, cases[i].sentence));
        assert_int_equal(access(to, F_OK), -1);
    }
}

/* The interleaved rows of many sets are grouped by set. */
static void groups(void **state) {
    enum { SETS = 50, ITEMS = 7 };
    char *text = malloc(SETS * ITEMS * 40), *p = text + sprintf(text, "x,set,y\n");
    for (int i = 0; i < ITEMS; i++)
        for (int s = 0; s < SETS; s++) {
            int t = i % 2 ? SETS - 1 - s : s;
            p += sprintf(p, "%d,set%d,%d\n", t, t, i);
        }
    onet_sets *sets = help_read("a.csv", text, NULL);
    assert_int_equal(sets->count, SETS);
    for (int s = 0; s < SETS; s++)
        for (int i = 0; i < ITEMS; i++) {
            const float *item = sets->items + (sets->start[s] + (size_t)i) * 2;
            assert_true(item[0] == (float)s && item[1] == (float)i);
        }
    onet_sets_free(sets);
    free(text);
}

static void refuses(void **state) {
#define REFUSED(text, sentence) help_refused("bad.csv", text, "FILE" sentence)
#define CHOICE                                                                                               \
    "; fill it in, choose how to replace it (mean or indicator), or name other features "                    \
    "(onet_read_options.missing onet_read_options.features)"
    REFUSED("", ": the file is empty; expected a header and at least one row");
    REFUSED("set,x\n", ": a header and no rows; give at least one set");
    REFUSED("group,x\n1,2\n",
            ":1: there is no column `set` to tell the sets apart; name the column that does, "
            "or '' where the file is one set (onet_read_options.set_column)");
    REFUSED("set,x,x\n1,2,3\n", ":1: column `x` stands in the header twice; rename one of them");
    REFUSED(
        "set,name\n1,a\n",
        ": no column of numbers; give every item at least one feature, or name columns of text as features");
    REFUSED("set,x,y\n1,2,3\n1,2\n", ":3: 2 fields where the header has 3; give every row as many");
    REFUSED("set,x\n1,2\n1,nan\n", ":3: column `x`: \"nan\" is a missing value" CHOICE);
    REFUSED("set,x\n1,-inf\n",
            ":2: column `x`: \"-inf\" is not a finite number; give a number or leave the set out");
    REFUSED("set,x\n1,2\n1,two\n", ":3: column `x`: \"two\" is not a number, but 1 other is; correct it, or "
                                   "name the features (onet_read_options.features)");
    /* One value that is not a number must not turn a column of numbers into text. */
    REFUSED(
        "set,x,y\n1,none so far,1\n1,2,2\n1,3,4\n",
        ":2: column `x`: \"none so far\" is not a number, but 2 others are; correct it, or name the features "
        "(onet_read_options.features)");
    REFUSED(
        "set,x\n1,\"1,234\"\n1,2\n1,\"5,678.5\"\n1,3\n1,4\n",
        ":2: column `x`: \"1,234\" is not a number, the first of 2 such values, but 3 others are; write it "
        "without the commas");
    REFUSED("set,x\n1,2\n1,\n", ":3: column `x`: \"\" is a missing value" CHOICE);
    REFUSED("set,x,y\n1,2,\n1,2,3\n", ":2: column `y`: \"\" is a missing value" CHOICE);
    REFUSED("set,x,y\n1,NA,1\n1,2,3\n2,4,n/a\n3,?,3\n",
            ":2: column `x`: \"NA\" is a missing value, the first of 3 missing values in 2 columns" CHOICE);
    REFUSED("set,x\n1,1e39\n",
            ":2: column `x`: \"1e39\" is out of range; features are 32-bit, at most 3.4e38 in size");
    REFUSED("set,x\n,1\n", ":2: column `set`: \"\" is empty; every row names its set");
    REFUSED("set,x,rank\n1,2,first\n", ":2: column `rank`: \"first\" is not a number; correct it");
    REFUSED("set,x,rank\n1,2,0\n2,2,0\n1,3,0\n",
            ":4: column `rank`: the same rank as line 2 of the same set; give each row its own");
    REFUSED("set,x,rank,context\n1,2,0,0\n1,3,,0\n",
            ":3: column `rank`: empty, but `context` is 0 and other rows of the set have a rank; fill it in");
    REFUSED("set,x,rank,context\n1,2,0,0\n1,3,1,1\n",
            ":3: column `rank`: a rank, but `context` is 1 and such items are not placed; leave one of them "
            "empty");
    REFUSED("set,x,context\n1,2,0\n2,3,1\n",
            ":3: all rows of the set are context; leave the set out or place one");
    REFUSED("set,x,context\n1,2,yes\n",
            ":2: column `context`: \"yes\" is neither 0 nor 1 (seen but not placed); correct it, or name the "
            "features (onet_read_options.features)");
    REFUSED("set,x,rank\n1,2,0\n2,3,\n",
            ":3: the set has no ranks, but that of line 2 has; give all sets ranks or none");
    REFUSED("set,x\n1,2\n1,\"3\n1,4\n", ":3: the row has a quote without a second one that closes it");
    REFUSED("set,n,x\n1,a\"b\",4\n",
            ":2: field 2: a quote in the middle; put quotes around the field and double those inside");
    REFUSED("set,n,x\n1,\"a\nb\"c,4\n",
            ":3: field 2: a quote in the middle; put quotes around the field and double those inside");
    REFUSED("set,n,x\n1,\"a\n\xC3(\",4\n", ":3: a byte (0xc3) that is not UTF-8; convert the file to UTF-8");
#undef REFUSED
    onet_read_options missing = {.size = sizeof missing, .features = "x,z"},
                      twice = {.size = sizeof twice, .features = "x,x"},
                      own = {.size = sizeof own, .features = "x,set"};
    const char *text = "set,x\n1,2\n";
    help_refused_with("bad.csv", text, strlen(text), &missing,
                      "FILE:1: there is no column `z`, which is named as a feature; check the names "
                      "(onet_read_options.features)");
    help_refused_with("bad.csv", text, strlen(text), &twice,
                      "FILE:1: column `x` is named as a feature twice, or is the column of sets or ranks; "
                      "name each feature once");
    help_refused_with("bad.csv", text, strlen(text), &own,
                      "FILE:1: column `set` is named as a feature twice, or is the column of sets or ranks; "
                      "name each feature once");
}

/* Reads, gives each set the order n-1 .. 0 and the log-probability of minus its size, and compares. */
static void answers(const char *text, bool logprob, const char *expected) {
    reader *in;
    writer *w;
    record r = {0};
    int end;
    onet_error err = {.text = ""};
    onet_write_options options = {.size = sizeof options, .format = ONET_FORMAT_CSV, .logprob = logprob};
    const char *path = help_path("answer.csv");
    assert_int_equal(onet_reader_open(&in, help_file("a.csv", text), NULL, &err), ONET_OK);
    assert_int_equal(onet_writer_open(&w, path, &options, &err), ONET_OK);
    assert_int_equal(onet_writer_begin(w, in, &err), ONET_OK);
    while (!onet_reader_next(in, &r, &end, &err) && !end) {
        int32_t order[10];
        double value = -r.n;
        for (int t = 0; t < r.n; t++) order[t] = r.n - 1 - t;
        onet_answer answer = {.found = 1, .order = order, .logprob = &value};
        assert_int_equal(onet_writer_put(w, &r, &answer, &err), ONET_OK);
    }
    assert_true(end);
    assert_int_equal(onet_writer_end(w, &err), ONET_OK);
    assert_int_equal(onet_writer_commit(w, &err), ONET_OK);
    onet_reader_close(in);
    record_free(&r);
    char *got = help_content(path);
    assert_string_equal(got, expected);
    free(got);
}

static void writes_answers(void **state) {
    answers("set,x,note\na,1,\"q \"\"x\"\"\"\nb,2,\"l\n2\"\na,3,\n", false,
            "set,x,note,rank\na,1,\"q \"\"x\"\"\",1\nb,2,\"l\n2\",0\na,3,,0\n");
    answers("set,x,context\na,1,1\na,2,\n", false, "set,x,context,rank\na,1,1,\na,2,,0\n");
    answers("set,rank,x\r\na,,1\r\na,,2", false, "set,rank,x\r\na,1,1\r\na,0,2\r\n");
    answers("logprob,set,rank,x\n,a,7,1\n,a,3,2\n", true, "logprob,set,rank,x\n-2,a,1,1\n-2,a,0,2\n");
    answers("set,x\n1,1\n1,2\n", true, "set,x,rank,logprob\n1,1,1,-2\n1,2,0,-2\n");
}

/* Puts a file into w with its own order; the status of the first call that fails. */
static onet_status append(writer *w, const char *path, onet_error *err) {
    reader *in;
    record r = {0};
    int end;
    assert_int_equal(onet_reader_open(&in, path, NULL, err), ONET_OK);
    assert_int_equal(onet_writer_begin(w, in, err), ONET_OK);
    onet_status status = ONET_OK;
    while (!status && !onet_reader_next(in, &r, &end, err) && !end)
        status = onet_writer_put(w, &r, NULL, err);
    onet_error other;
    onet_status ended = onet_writer_end(w, status ? &other : err);
    if (!status) status = ended;
    onet_reader_close(in);
    record_free(&r);
    return status;
}

static void joins_files(void **state) {
    writer *w;
    onet_error err = {.text = ""};
    const char *path = help_path("joined.csv");
    assert_int_equal(onet_writer_open(&w, path, NULL, &err), ONET_OK);
    assert_int_equal(append(w, help_file("a.csv", "set,x,rank\n1,2,5\n1,3,4\n"), &err), ONET_OK);
    assert_int_equal(append(w, help_file("b.csv", "set,x,rank\n2,7,1\n"), &err), ONET_OK);
    assert_int_equal(append(w, help_file("c.csv", "set,x,rank\n3,7,1\n1,7,1\n"), &err), ONET_BAD);
    assert_non_null(strstr(err.text, "the set \"1\" stands in a file before"));
    assert_int_equal(append(w, help_file("c.csv", "set,y\n4,7\n"), &err), ONET_BAD);
    assert_non_null(strstr(err.text, "c.csv: its columns are not those of the file before it"));
    assert_int_equal(onet_writer_commit(w, &err), ONET_OK);
    char *got = help_content(path);
    assert_string_equal(got, "set,x,rank\n1,2,1\n1,3,0\n2,7,0\n");
    free(got);
}

/* Sets that are appended to those of a file, whose arrays are just as large as they need to be. */
static void appends_to_a_file(void **state) {
    onet_error err;
    onet_sets *sets = help_read("a.csv", "set,x,rank\n1,2,1\n1,3,0\n2,4,0\n", NULL);
    const float items[] = {7, 8, 9};
    const int32_t order[] = {2, 0, 1};
    for (int k = 0; k < 40; k++) assert_int_equal(onet_sets_append(sets, 3, 1, items, order, &err), ONET_OK);
    assert_int_equal(sets->count, 42);
    for (size_t k = 2; k < 42; k++) {
        assert_int_equal(sets->start[k], 3 + 3 * (k - 2));
        assert_true(sets->items[sets->start[k] + 1] == 8);
        assert_int_equal(sets->order[sets->start[k]], 2);
    }
    assert_true(sets->items[2] == 4);
    onet_sets_free(sets);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(appends_to_a_file),
        cmocka_unit_test(reads),
        cmocka_unit_test(reads_with_options),
        cmocka_unit_test(leaves_empty_ranks_open),
        cmocka_unit_test(reads_context),
        cmocka_unit_test(cannot_hold),
        cmocka_unit_test(groups),
        cmocka_unit_test(refuses),
        cmocka_unit_test(writes_answers),
        cmocka_unit_test(joins_files),
    };
    return cmocka_run_group_tests(tests, NULL, help_clean);
}
