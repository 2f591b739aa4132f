/* Tests the public reader's access to a record's other JSON keys and CSV columns, as text. */
#include "data_help.h"

/* The values of the key in each set, joined by spaces, - for none. */
static void gives(const char *name, const char *text, const char *key, const char *expected) {
    onet_reader *in;
    onet_record *r;
    onet_error err = {.text = ""};
    char got[500] = "";
    int end;
    assert_int_equal(onet_reader_open(&in, help_file(name, text), NULL, &err), ONET_OK);
    assert_int_equal(onet_record_new(&r, &err), ONET_OK);
    for (;;) {
        const char *value;
        assert_int_equal(onet_reader_next(in, r, &end, &err), ONET_OK);
        if (end) break;
        assert_int_equal(onet_record_text(r, key, &value, &err), ONET_OK);
        strcat(got, value ? value : "-");
        strcat(got, " ");
    }
    assert_string_equal(got, expected);
    onet_record_free(r);
    onet_reader_close(in);
}

static void keys(void **state) {
    const char *text =
        "{\"items\": [1], \"id\": \"a\\\"\\u00e9\"}\n{\"items\": [1], \"id\": 7.50}\n"
        "{\"items\": [1], \"id\": null}\n{\"items\": [1]}\n{\"items\": [1], \"id\": [1, \"x\"]}\n"
        "{\"items\": [1], \"id\": true}\n{\"items\": [1], \"\\u0069d\": \"\"}\n";
    gives("a.jsonl", text, "id", "a\"\xC3\xA9 7.50 - - [1, \"x\"] true  ");
    gives("a.jsonl", text, "none", "- - - - - - - ");
    gives("a.txt", "1 2 output 1\n", "output", "- ");
}

static void columns(void **state) {
    const char *text = "set,x,kind\na,1,\"b, \"\"c\"\"\"\nd,2,\na,3,\"b, \"\"c\"\"\"\n";
    gives("a.csv", text, "kind", "b, \"c\" - ");
    gives("a.csv", text, "set", "a d ");
    gives("a.csv", text, "none", "- - ");
    gives("a.csv", "set,x,kind\na,1,k\n", "x", "1 ");

    onet_reader *in;
    onet_record *r;
    onet_error err = {.text = ""};
    const char *value, *path = help_file("b.csv", "set,x,y,kind\na,1,2,k\na,3,4,m\n");
    int end;
    assert_int_equal(onet_reader_open(&in, path, NULL, &err), ONET_OK);
    assert_int_equal(onet_record_new(&r, &err), ONET_OK);
    assert_null(onet_record_feature(r, 0));
    assert_int_equal(onet_reader_next(in, r, &end, &err), ONET_OK);
    assert_int_equal(onet_record_text(r, "kind", &value, &err), ONET_BAD);
    assert_null(value);
    assert_non_null(strstr(err.text, ":3: column `kind`: \"m\" here and \"k\" in line 2 of the same set"));
    assert_string_equal(onet_record_feature(r, 0), "x");
    assert_string_equal(onet_record_feature(r, 1), "y");
    assert_null(onet_record_feature(r, 2));
    onet_record_free(r);
    onet_reader_close(in);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(keys), cmocka_unit_test(columns)};
    return cmocka_run_group_tests(tests, NULL, help_clean);
}
