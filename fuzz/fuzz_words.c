/* Fuzz target: looks up words as a user may write them for unscramble: each must get a row of the vocabulary,
 * the same one each time; the exact lookup must find a row of the vocabulary or none. */
#include "bytes.h"
#include "engine/base/utf8.h"
#include "engine/words/words.h"
#include "ordernet_words.h"

static onet_words *vocabulary(void) {
    static const char *const text[] = {"the",           "lobster",     "don't",        "rock", "city's",
                                       "M\xc3\xbcller", "caf\xc3\xa9", "<unk>",        "@-@",  "1990",
                                       "running",       "colour",      "\xe2\x82\xac", "-"};
    onet_words *words;
    if (onet_words_from(&words, sizeof text / sizeof *text, 2, text, NULL, NULL, NULL)) abort();
    return words;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static onet_words *words;
    if (!words) words = vocabulary();
    const char *p = (const char *)data, *end = p + size;
    if (utf8_valid(p, size) < size) return 0; /* refused before any word is looked for */
    while (p < end) {
        const char *stop = p;
        while (stop < end && *stop != ' ' && *stop != '\n') stop++;
        size_t length = (size_t)(stop - p);
        int known, known_again;
        int32_t row = onet_words_find(words, p, length, &known),
                again = onet_words_find(words, p, length, &known_again);
        if (row < 0 || row >= onet_words_count(words) || row != again || known != known_again) abort();
        int32_t exact = onet_words_exact(words, p, length);
        if (exact >= onet_words_count(words)) abort();
        p = stop + 1;
    }
    return 0;
}
