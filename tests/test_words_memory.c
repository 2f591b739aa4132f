/* Tests out-of-memory at every allocation while text and vectors become sets: ONET_MEMORY. */
#include "alloc_count.h"
#include "tasks/words/prepare.h"
#include "unit.h"
#include "words_files.h"

static const char text[] =
    "the lobster is blue and red\nthe crab is 1987 zumbing\nthe lobster is not red <unk>\n";
static const char vectors[] = "the 1 0\nlobster 0 1\nis 2 2\nblue 3 0\nred 0 3\nrunning 4 8\n";

static onet_status all_of_it(const prepare_options *o, onet_error *err) {
    prepared made, again = {.sets = NULL};
    onet_status status = prepare_words(&made, o, err);
    if (!status) {
        prepare_options valid = *o;
        valid.vectors = NULL;
        valid.words = made.sets->words;
        status = prepare_words(&again, &valid, err);
    }
    prepare_free(&made);
    prepare_free(&again);
    return status;
}

static void memory_runs_out(void **state) {
    alloc_works_or_skip();
    prepare_options o;
    prepare_defaults(&o);
    o.text = file_with(text);
    o.vectors = file_with(vectors);
    o.lines = "/dev/null";
    onet_error err = {.text = ""};
    assert_int_equal(all_of_it(&o, &err), ONET_OK);
    for (int rest = 0; rest < 2; rest++)
        for (size_t which = 0;; which++) {
            err.text[0] = '\0';
            alloc_fail(which, rest);
            onet_status status = all_of_it(&o, &err);
            int failed = alloc_failed();
            alloc_fail(SIZE_MAX, 0);
            if (!failed) {
                assert_int_equal(status, ONET_OK);
                assert_true(which > 50);
                break;
            }
            assert_int_equal(status, ONET_MEMORY);
            assert_non_null(strstr(err.text, "memory"));
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(memory_runs_out)};
    return cmocka_run_group_tests_name("words: memory", tests, NULL, NULL);
}
