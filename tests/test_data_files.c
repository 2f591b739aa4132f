/* Tests files and streams of sets: conversion between the formats for numbers, each to each; other fields of
 * a record, which pass through; conversions that are refused; lines that are too long; answers before the end
 * of a pipe; sets of words. */
#include "data_help.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>

#include "engine/words/vectors.h"
#include "engine/words/words.h"
#include "ordernet_words.h"

static const char sample[] = "{\"items\": [[0.1, 2], [-3.5, 4e-7]], \"order\": [1, 0]}\n"
                             "{\"items\": [[16777216, 3.4028235e+38], [1, 1]], \"order\": [0, 1]}\n";

static void same_sets(const onet_sets *a, const onet_sets *b) {
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->width, b->width);
    assert_memory_equal(a->start, b->start, (a->count + 1) * sizeof *a->start);
    assert_memory_equal(a->items, b->items, a->start[a->count] * (size_t)a->width * sizeof *a->items);
    assert_int_equal(!a->order, !b->order);
    if (a->order) assert_memory_equal(a->order, b->order, a->start[a->count] * sizeof *a->order);
}

static void goes_round(void **state) {
    static const char *const name[] = {"r.jsonl",       "r.csv",      "r.txt",   "r.npz",
                                       "r.safetensors", "s.jsonl.gz", "s.csv.gz"};
    static const onet_format format[] = {ONET_FORMAT_JSONL, ONET_FORMAT_CSV,         ONET_FORMAT_POINTER,
                                         ONET_FORMAT_NPZ,   ONET_FORMAT_SAFETENSORS, ONET_FORMAT_JSONL,
                                         ONET_FORMAT_CSV};
    enum { KINDS = sizeof name / sizeof *name };
    onet_error err = {.text = ""};
    onet_sets *first = help_read("first.jsonl", sample, NULL), *again;
    for (int ordered = 1; ordered >= 0; ordered--) {
        for (int from = 0; from < KINDS; from++) {
            assert_int_equal(onet_sets_write(first, help_path(name[from]), format[from], &err), ONET_OK);
            for (int to = 0; to < KINDS; to++) {
                char out[40];
                snprintf(out, sizeof out, "to-%s", name[to]);
                onet_write_options options = {.size = sizeof options, .format = format[to]};
                onet_status status =
                    onet_sets_convert(help_path(name[from]), help_path(out), NULL, &options, &err);
                if (status) print_error("%s to %s: %s\n", name[from], name[to], err.text);
                assert_int_equal(status, ONET_OK);
                assert_int_equal(onet_sets_read(&again, help_path(out), NULL, &err), ONET_OK);
                same_sets(first, again);
                onet_sets_free(again);
            }
        }
        free(first->order);
        first->order = NULL;
    }
    onet_sets_free(first);
}

static void passes_through(void **state) {
    help_converts("a.jsonl",
                  "{\"id\": \"k1\", \"items\": [[1, 2], [3, 4]], \"names\": [\"a,b\", \"c\"], \"n\": 7}\n",
                  "b.csv", "set,x1,x2,id,names,n\n0,1,2,k1,\"a,b\",\"7\"\n0,3,4,k1,c,\"7\"\n");
    help_converts(
        "a.csv", "set,x,name,rank\nu,1,\"a \"\"b\"\"\",5\nv,2,z,0\nu,3,y,1\n", "b.jsonl",
        "{\"set\": \"u\", \"items\": [[1], [3]], \"order\": [1, 0], \"name\": [\"a \\\"b\\\"\", \"y\"]}\n"
        "{\"set\": \"v\", \"items\": [[2]], \"order\": [0], \"name\": [\"z\"]}\n");
    help_converts("a.jsonl",
                  "{\"set\": \"u\", \"items\": [[1], [3]], \"order\": [1, 0], \"name\": [\"a\", null]}\n",
                  "b.csv", "set,x1,name,rank\nu,1,a,1\nu,3,,0\n");
    help_converts("a.csv", "set,x,name,rank\nu,1,\"a\",5\nu,3,y,1\n", "b.csv",
                  "set,x,name,rank\nu,1,\"a\",1\nu,3,y,0\n");
    help_converts("a.jsonl", "{ \"items\":[1.50] , \"id\":1 }\n", "b.jsonl",
                  "{ \"items\":[1.50] , \"id\":1 }\n");
}

static void refuses_to_convert(void **state) {
    onet_error err;
    const char *twice = help_file("a.jsonl", "{\"set\": 1, \"items\": [1]}\n{\"set\": 1, \"items\": [2]}\n");
    assert_int_equal(onet_sets_convert(twice, help_path("b.csv"), NULL, NULL, &err), ONET_BAD);
    assert_non_null(strstr(err.text, "a.jsonl:2: the set's name `1` is empty or that of an earlier set"));
    assert_int_equal(access(help_path("b2.csv"), F_OK), -1);
    const char *words = help_file("a.jsonl", "{\"items\": [\"a\", \"b\"]}\n");
    assert_int_equal(onet_sets_convert(words, help_path("c.csv"), NULL, NULL, &err), ONET_BAD);
    assert_non_null(strstr(err.text, "a.jsonl:1: csv cannot hold words; use jsonl, safetensors or text"));
    assert_int_equal(access(help_path("c.csv"), F_OK), -1); /* no partial file */
    assert_int_equal(onet_sets_convert(words, help_path("c.out"), NULL, NULL, &err), ONET_USAGE);
    assert_non_null(strstr(err.text, "which format to write; end it in .jsonl"));
    assert_int_equal(onet_sets_convert(help_path("none.jsonl"), help_path("c.csv"), NULL, NULL, &err),
                     ONET_IO);
    const char *held = help_file("m.jsonl", "{\"items\": [1], \"first\": 0}\n");
    assert_int_equal(onet_sets_convert(held, help_path("c.npz"), NULL, NULL, &err), ONET_BAD);
    assert_int_equal(access(help_path("c.npz"), F_OK), -1);
}

static void refuses_long_lines(void **state) {
    enum { LENGTH = 3 << 20 };
    onet_error err;
    char *text = malloc(LENGTH + 1);
    for (int kind = 0; kind < 2; kind++) {
        memset(text, ' ', LENGTH);
        memcpy(text, kind ? "set,x\n1,\"" : "{\"items\": [1,", kind ? 9 : 13);
        text[LENGTH] = 0;
        reader *in;
        record r = {0};
        int end;
        assert_int_equal(onet_reader_open(&in, help_file(kind ? "l.csv" : "l.jsonl", text), NULL, &err),
                         ONET_OK);
        reader_limit(in, 1 << 20);
        assert_int_equal(onet_reader_next(in, &r, &end, &err), ONET_BAD);
        assert_non_null(strstr(
            err.text, kind ? "l.csv:2: the row is longer than 1048576 bytes; look for an unclosed quote"
                           : "l.jsonl:1: the line is longer than 1048576 bytes; expected one set per line"));
        onet_reader_close(in);
        record_free(&r);
    }
    free(text);
}

/* ---- Streams ----------------------------------------------------------------------------------------- */

/* Converts as a thread, so that the test holds both ends of the pipes. */
typedef struct stream {
    const char *from, *to;
    onet_status status;
    onet_error err;
} stream;

static void *convert(void *arg) {
    stream *s = arg;
    onet_write_options options = {.size = sizeof options, .format = ONET_FORMAT_JSONL};
    s->status = onet_sets_convert(s->from, s->to, NULL, &options, &s->err);
    return NULL;
}

static void answers_before_the_end(void **state) {
    stream s = {.from = strdup(help_path("in.fifo")), .to = strdup(help_path("out.fifo"))};
    assert_int_equal(mkfifo(s.from, 0600), 0);
    assert_int_equal(mkfifo(s.to, 0600), 0);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, convert, &s), 0);
    int in = open(s.from, O_WRONLY);
    const char *line[] = {"{\"items\": [1, 2]}\n", "{\"items\": [3]}\n"};
    int out = -1;
    for (int i = 0; i < 2; i++) {
        char got[100];
        size_t length = strlen(line[i]), have = 0;
        assert_int_equal(write(in, line[i], length), length);
        if (out < 0) out = open(s.to, O_RDONLY);
        while (have < length) { /* the input stays open: only a flush can bring this */
            ssize_t n = read(out, got + have, sizeof got - have);
            assert_true(n > 0);
            have += (size_t)n;
        }
        assert_memory_equal(got, line[i], length);
    }
    close(in);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(s.status, ONET_OK);
    close(out);
    free((void *)s.from);
    free((void *)s.to);
}

/* ---- Words ------------------------------------------------------------------------------------------- */

static void reads_words(void **state) {
    onet_words *words;
    size_t repeated;
    onet_error err = {.text = ""};
    assert_int_equal(vectors_read(&words, help_file("vectors.txt", "the 1 2\ncat 3 4\n"), &repeated, &err),
                     ONET_OK);
    onet_read_options options = {.size = sizeof options, .words = words};
    onet_sets *sets = help_read("w.jsonl", "{\"items\": [\"cat\", \"The\"], \"order\": [1, 0]}\n", &options),
              *again;
    assert_int_equal(sets->count, 1);
    assert_int_equal(sets->width, 2);
    assert_null(sets->items);
    assert_non_null(sets->words);
    assert_ptr_not_equal(sets->words, words);
    assert_int_equal(sets->word[0], onet_words_find(words, "cat", 3, NULL));
    assert_int_equal(sets->word[1], onet_words_find(words, "the", 3, NULL));
    assert_int_equal(onet_sets_write(sets, help_path("w.safetensors"), ONET_FORMAT_AUTO, &err), ONET_OK);
    assert_int_equal(onet_sets_read(&again, help_path("w.safetensors"), NULL, &err), ONET_OK);
    assert_memory_equal(again->word, sets->word, 2 * sizeof *sets->word);
    onet_sets_free(again);
    onet_sets_free(sets);
    const char *lines = help_path("w.lines.jsonl");
    assert_int_equal(onet_sets_convert(help_path("w.safetensors"), lines, NULL, NULL, &err), ONET_OK);
    char *got = help_content(lines);
    assert_string_equal(got, "{\"items\": [\"cat\", \"the\"], \"order\": [1, 0]}\n");
    free(got);
    sets = help_read("w.txt", "the cat\ncat the\n", &options);
    assert_int_equal(sets->count, 2);
    assert_int_equal(sets->order[3], 1);
    onet_sets_free(sets);
    words_free(words);
    /* Words need no vectors to be copied, and come back from a vocabulary. */
    help_converts("w.jsonl", "{\"items\": [\"b\", \"A\"], \"order\": [1, 0]}\n", "w.out.jsonl",
                  "{\"items\": [\"b\", \"A\"], \"order\": [1, 0]}\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(goes_round),
        cmocka_unit_test(passes_through),
        cmocka_unit_test(refuses_to_convert),
        cmocka_unit_test(refuses_long_lines),
        cmocka_unit_test(answers_before_the_end),
        cmocka_unit_test(reads_words),
    };
    return cmocka_run_group_tests(tests, NULL, help_clean);
}
