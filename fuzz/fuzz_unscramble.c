/* Lines of words as unscramble reads them, from any bytes: each word is kept as it was written and has a row
 * of the vocabulary; orders that read the same are one reading. */
#include <math.h>

#include "bytes.h"
#include "sentences/bag.h"

enum { MOST = 12, TOP = 3, FOUND = 4 };

static const onet_words *vocabulary(void) {
    static const char *const text[] = {"<unk>", "the", "city", "don't", "caf\xc3\xa9", "1990", ","};
    static onet_words *words;
    if (!words && onet_words_from(&words, sizeof text / sizeof *text, 2, text, NULL, NULL, NULL)) abort();
    return words;
}

/* An answer of FOUND orders: as given, and some with two words exchanged. */
static void read_answer(const bag *b, unsigned draw) {
    int32_t order[FOUND * MOST];
    double logprob[FOUND], sum = 0;
    bag_reading readings[TOP];
    for (int k = 0; k < FOUND; k++) {
        for (size_t i = 0; i < b->n; i++) order[(size_t)k * b->n + i] = (int32_t)i;
        int32_t *x = &order[(size_t)k * b->n + draw % b->n],
                *y = &order[(size_t)k * b->n + (draw >> k) % b->n], z = *x;
        *x = *y;
        *y = z;
        logprob[k] = -1 - k;
    }
    onet_answer answer = {.order = order, .logprob = logprob, .found = FOUND};
    int count = bag_readings(b, &answer, TOP, readings), asked = bag_orders(b, TOP, 100);
    if (count < 1 || count > TOP || asked < TOP || asked > 100) abort();
    for (int k = 0; k < count; k++) sum += readings[k].probability;
    if (!(sum > 0 && sum < 1)) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    bytes b = {data, size};
    input *in = bytes_input(&b);
    bag words = {.n = 0};
    onet_error err = {""};
    char *line;
    size_t length;
    while (!input_line(in, &line, &length, NULL, &err) && line) {
        words.n = 0;
        onet_status status = bag_add(&words, line, vocabulary(), MOST, &err);
        if (status && !err.text[0]) abort();
        if (words.n > MOST) abort();
        for (size_t i = 0; i < words.n; i++) {
            if (words.row[i] < 0 || words.row[i] >= onet_words_count(vocabulary())) abort();
            if (!words.word[i][0] || strpbrk(words.word[i], " \t")) abort();
        }
        if (!status && words.n) read_answer(&words, (unsigned)length);
    }
    bag_free(&words);
    input_close(in);
    return 0;
}
