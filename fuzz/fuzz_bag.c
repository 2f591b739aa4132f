/* Fuzz target: text as a user may type it for unscramble. It is tokenised, its constraints must be
 * satisfiable, and it is written in order and in reverse; the result must have all letters and digits, and
 * may be tokenised again. */
#include "bytes.h"
#include "engine/base/utf8.h"
#include "engine/data/constraints.h"
#include "engine/words/words.h"
#include "ordernet_words.h"

enum { MOST = 400 };

static onet_words *vocabulary(void) {
    static const char *const text[] = {
        "the", "@-@", "@,@", "@.@",         "don", "'t", "'s",    ".",     ",",    "\"",
        "mr.", "mr",  "no",  "no.",         "(",   ")",  "u.s.",  "...",   "'",    "well",
        "!",   "?",   "i",   "caf\xc3\xa9", "/",   ":",  "known", "<unk>", "born", "\xe2\x80\x93"};
    onet_words *words;
    if (onet_words_from(&words, sizeof text / sizeof *text, 2, text, NULL, NULL, NULL)) abort();
    return words;
}

static size_t letters(const char *text) {
    size_t count = 0;
    for (; *text; text++) {
        char c = (char)(*text | 32);
        count += (c >= 'a' && c <= 'z') || (*text >= '0' && *text <= '9');
    }
    return count;
}

static void write_order(const onet_bag *bag, const int32_t *order, onet_letters how, onet_bag *again) {
    size_t words = 0, room = onet_bag_write(bag, order, how, NULL, 0) + 1;
    char *text = malloc(room);
    onet_error err;
    if (!text || onet_bag_write(bag, order, how, text, room) + 1 != room || strlen(text) + 1 != room) abort();
    if (utf8_valid(text, room - 1) < room - 1) abort();
    for (int i = 0; i < onet_bag_count(bag); i++) words += letters(onet_bag_word(bag, i, NULL));
    if (how == ONET_CASE_KEEP && letters(text) != words) abort();
    onet_bag_clear(again);
    onet_status status = onet_bag_add(again, text, 4 * MOST, &err);
    if (status && status != ONET_USAGE) abort();
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static onet_words *words;
    static onet_bag *bag, *again;
    onet_error err;
    if (!words) {
        words = vocabulary();
        if (onet_bag_new(&bag, words, &err) || onet_bag_new(&again, words, &err)) abort();
    }
    char *text = malloc(size + 1);
    if (!text) return 0;
    memcpy(text, data, size);
    text[size] = 0;
    onet_bag_clear(bag);
    onet_status status = onet_bag_add(bag, text, MOST, &err);
    int n = onet_bag_count(bag);
    if ((status == ONET_BAD) != (utf8_valid(text, strlen(text)) < strlen(text))) abort();
    free(text);
    if (status || !n) return 0;
    const onet_sets *set = onet_bag_set(bag);
    constraint_graph g;
    if (constraint_graph_make(&g, set->constraints, set->constraint_count, 0, n, NULL, &err)) abort();
    constraint_graph_free(&g);
    int32_t order[MOST], reverse[MOST];
    for (int i = 0; i < n; i++) {
        order[i] = reverse[n - 1 - i] = i;
        if (set->word[i] < 0 || set->word[i] >= onet_words_count(words)) abort();
    }
    for (int how = ONET_CASE_SENTENCE; how <= ONET_CASE_LOWER; how++) {
        write_order(bag, order, (onet_letters)how, again);
        write_order(bag, reverse, (onet_letters)how, again);
    }
    return 0;
}
