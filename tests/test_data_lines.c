/* Tests the Pointer Network text format (read, written, refused), plain text as sets of words, and the
 * detection of a file's format. */
#include "data_help.h"

#include "engine/data/format.h"

static void reads_pointer_text(void **state) {
    onet_sets *sets = help_read("a.txt",
                                "0.5 1 2 3 4 5 output 2 3 1 2 \n"
                                "\n"
                                "1\t2 3 4 output 2 1\r\n"
                                "7 8 output 1 1\n",
                                NULL);
    assert_int_equal(sets->count, 3);
    assert_int_equal(sets->width, 2);
    const int32_t order[] = {1, 2, 0, 1, 0, 0};
    assert_memory_equal(sets->order, order, sizeof order);
    const float items[] = {0.5f, 1, 2, 3, 4, 5, 1, 2, 3, 4, 7, 8};
    assert_memory_equal(sets->items, items, sizeof items);
    onet_sets_free(sets);
    onet_read_options options = {.size = sizeof options, .width = 3};
    sets = help_read("a.txt", "1 2 3 4 5 6\n1 2 3 output\n", &options);
    assert_int_equal(sets->width, 3);
    assert_null(sets->order);
    onet_sets_free(sets);
}

static void refuses_pointer_text(void **state) {
#define REFUSED(text, sentence)                                                                              \
    help_refused_with("bad.txt", text, strlen(text), &options, "FILE:1: " sentence)
    onet_read_options options = {.size = sizeof options, .format = ONET_FORMAT_POINTER};
    REFUSED("1 2 3 output 1", "3 numbers before `output` do not make items of 2 features; "
                              "say how many an item has (onet_read_options.width)");
    REFUSED("output 1", "an empty set; give it an item or leave the line out");
    REFUSED("1 2 x 4",
            "field `items`[2]: \"x\" is not a number; the format is x1 y1 x2 y2 ... output 1 2 ...");
    REFUSED("1 nan", "field `items`[1]: \"nan\" is not a finite number; give a number or leave the set out");
    REFUSED("1 1e50",
            "field `items`[1]: \"1e50\" is out of range; features are 32-bit, at most 3.4e38 in size");
    REFUSED("1 2 3 4 output 1 0", "field `output`[1]: 0 is not the index of an item; they go from 1 to 2");
    REFUSED("1 2 3 4 output 1 3", "field `output`[1]: 3 is not the index of an item; they go from 1 to 2");
    REFUSED("1 2 3 4 output 1 1",
            "field `output`[1]: item 1 appears twice; give the index of each item once");
    REFUSED("1 2 3 4 output 1 2 2",
            "field `output`: 3 indices for 2 items; give the index of each item once");
    REFUSED("1 2 3 4 output 1", "field `output`: 1 index for 2 items; give the index of each item once");
    REFUSED("1 2 3 4 output 1 -2", "field `output`[1]: \"-2\" is not the index of an item");
    REFUSED("1 2 3 4 output 1 2 more", "field `output`[2]: \"more\" is not the index of an item");
    REFUSED("1 2\xFF", "byte 4 of the line (0xff) is not UTF-8; convert the file to UTF-8");
#undef REFUSED
}

/* The output keeps the digits, and the closing index if there was one. */
static void writes_pointer_text(void **state) {
    const char *text = "0.50 1e0  2 3 output 2 1 2\n1 2 3 4 output 1 2\n5 6\n";
    onet_error err;
    const char *out = help_path("b.txt");
    onet_write_options options = {.size = sizeof options, .format = ONET_FORMAT_POINTER};
    assert_int_equal(onet_sets_convert(help_file("a.txt", text), out, NULL, &options, &err), ONET_OK);
    char *got = help_content(out);
    assert_string_equal(got, text);
    free(got);
}

static void reads_words(void **state) {
    record r = {0};
    onet_error err;
    const char *line = "  The caf\xC3\xA9 , \t is  open ";
    assert_int_equal(record_line(&r, ONET_FORMAT_TEXT, line, strlen(line), 1, &err), ONET_OK);
    assert_int_equal(text_parse(&r, "line", &err), ONET_OK);
    assert_int_equal(r.n, 5);
    assert_string_equal(r.word[0], "The");
    assert_string_equal(r.word[1], "caf\xC3\xA9");
    assert_string_equal(r.word[4], "open");
    assert_int_equal(r.order[4], 4);
    record_free(&r);
    help_refused("bad.txt", "the cat\n",
                 "FILE:1: the items are words of plain text, and there are no vectors for words; if these "
                 "are other data, name their format (onet_read_options.words onet_read_options.format)");
    help_refused("bad.txt", "the c\xE9t\n",
                 "FILE:1: byte 6 of the line (0xe9) is not UTF-8; convert the file to UTF-8");
    onet_read_options text = {.size = sizeof text, .format = ONET_FORMAT_TEXT};
    help_refused_with("bad.txt", "a\0b\n", 4, &text, "FILE:1: a NUL byte in the line; this is not text");
}

static onet_format number_of(const data_format *format) {
    return format ? format->format : ONET_FORMAT_AUTO;
}

static void tells_formats(void **state) {
    static const struct {
        const char *name;
        onet_format format;
    } names[] = {{"a/b.jsonl", ONET_FORMAT_JSONL}, {"b.CSV.gz", ONET_FORMAT_CSV},
                 {"b.npz", ONET_FORMAT_NPZ},       {"b.safetensors.xz", ONET_FORMAT_SAFETENSORS},
                 {"b.txt", ONET_FORMAT_AUTO},      {"csv", ONET_FORMAT_AUTO}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_int_equal(number_of(format_of_name(names[i].name)), names[i].format);
#define BYTES(text) text, sizeof text - 1
    static const struct {
        const char *data;
        size_t size;
        onet_format format;
    } bytes[] = {{BYTES(" {\"items\""), ONET_FORMAT_JSONL},
                 {BYTES("set,x,y\n1,2,3\n"), ONET_FORMAT_CSV},
                 {BYTES("0.5 0.25 output 1\n"), ONET_FORMAT_POINTER},
                 {BYTES("0.5 0.25 0.1"), ONET_FORMAT_POINTER},
                 {BYTES("the cat , it sat\n"), ONET_FORMAT_TEXT},
                 {BYTES("set;x;rank\na;1,5;0\n"), ONET_FORMAT_CSV},
                 {BYTES("\xEF\xBB\xBFset;x\r\na;1"), ONET_FORMAT_CSV},
                 {BYTES("cat; dog\none; two\n"), ONET_FORMAT_TEXT},
                 {BYTES("cat;dog\none two\n"), ONET_FORMAT_TEXT},
                 {BYTES("cat;dog"), ONET_FORMAT_TEXT},
                 {BYTES("PK\3\4..."), ONET_FORMAT_NPZ},
                 {BYTES("\x40\0\0\0\0\0\0\0{\"items\""), ONET_FORMAT_SAFETENSORS},
                 {BYTES("\x7f\x45\x4c\x46\0\0"), ONET_FORMAT_AUTO}};
#undef BYTES
    for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++)
        assert_int_equal(number_of(format_of_bytes(bytes[i].data, bytes[i].size)), bytes[i].format);
    assert_string_equal(format_find(ONET_FORMAT_POINTER)->name, "pointer");
    assert_null(format_find(ONET_FORMAT_AUTO));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_pointer_text),  cmocka_unit_test(refuses_pointer_text),
        cmocka_unit_test(writes_pointer_text), cmocka_unit_test(reads_words),
        cmocka_unit_test(tells_formats),
    };
    return cmocka_run_group_tests(tests, NULL, help_clean);
}
