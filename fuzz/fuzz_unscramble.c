/* Fuzz target: lines of words as unscramble reads them, from any bytes. Every token must have a row of the
 * vocabulary, and the number of orders to ask for must be within its limits. From four made-up orders of a
 * line come 1 to TOP sentences, all different, with probabilities above 0 and up to 1. fuzz_bag.c checks
 * that a sentence has the letters of its words. */
#include "bytes.h"
#include "tasks/words/readings.h"

enum { MOST = 12, TOP = 3, FOUND = 4 };

static const onet_words *vocabulary(void) {
    static const char *const text[] = {"<unk>", "the", "city", "don't", "caf\xc3\xa9", "1990", ","};
    static onet_words *words;
    if (!words && onet_words_from(&words, sizeof text / sizeof *text, 2, text, NULL, NULL, NULL)) abort();
    return words;
}

/* Makes sentences of FOUND orders: the order as given, then orders with two words (or none) exchanged. */
static void read_answer(const onet_bag *b, unsigned draw) {
    int32_t order[FOUND * MOST];
    double logprob[FOUND];
    reading *readings;
    onet_error err;
    size_t n = (size_t)onet_bag_count(b);
    for (int k = 0; k < FOUND; k++) {
        for (size_t i = 0; i < n; i++) order[(size_t)k * n + i] = (int32_t)i;
        int32_t *x = &order[(size_t)k * n + draw % n], *y = &order[(size_t)k * n + (draw >> k) % n], z = *x;
        *x = *y;
        *y = z;
        logprob[k] = -1 - k;
    }
    onet_answer answer = {.order = order, .logprob = logprob, .found = FOUND};
    int count, asked = readings_orders(b, TOP, 100);
    if (readings_make(&readings, &count, b, &answer, TOP, ONET_CASE_KEEP, &err)) abort();
    if (count < 1 || count > TOP || asked < TOP || asked > 100) abort();
    for (int k = 0; k < count; k++) {
        if (!(readings[k].probability > 0 && readings[k].probability <= 1)) abort();
        for (int j = 0; j < k; j++)
            if (!strcmp(readings[j].text, readings[k].text)) abort();
    }
    readings_free(readings, count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    bytes b = {data, size};
    input *in = bytes_input(&b);
    onet_bag *words;
    onet_error err = {.text = ""};
    char *line;
    size_t length;
    if (onet_bag_new(&words, vocabulary(), &err)) abort();
    while (!input_line(in, &line, &length, NULL, &err) && line) {
        onet_bag_clear(words);
        onet_status status = onet_bag_add(words, line, MOST, &err);
        int n = onet_bag_count(words);
        if ((status && !err.text[0]) || n > MOST) abort();
        const onet_sets *set = onet_bag_set(words);
        for (int i = 0; i < n; i++)
            if (set->word[i] < 0 || set->word[i] >= onet_words_count(vocabulary()) ||
                !onet_bag_word(words, i, NULL)[0])
                abort();
        if (!status && n) read_answer(words, (unsigned)length);
    }
    onet_bag_free(words);
    input_close(in);
    return 0;
}
