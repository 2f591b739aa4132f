/* Names the kinds of unknown words, and determines the kind of a word from its digits, signs and ending. */
#include "engine/words/kind.h"

#include <string.h>

enum kind {
    YEAR,
    NUMBER,
    ORDINAL,
    DECADE,
    CODE,
    SYMBOL,
    APOSTROPHE,
    INITIALS,
    HYPHEN,
    SCRIPT,
    ING,
    ED,
    LY,
    TION,
    IST,
    EST,
    ER,
    AL,
    IC,
    IAN,
    IDAE,
    US,
    S,
    A,
    I,
    OTHER,
    KINDS
};

static const char *const names[KINDS] = {
    [YEAR] = "<kind:year>",             /* 1987 */
    [NUMBER] = "<kind:number>",         /* 12345, 3.5, 10:30, $40 */
    [ORDINAL] = "<kind:ordinal>",       /* 154th */
    [DECADE] = "<kind:decade>",         /* 1870s */
    [CODE] = "<kind:code>",             /* csi5, x.25 */
    [SYMBOL] = "<kind:symbol>",         /* no letter, no digit */
    [APOSTROPHE] = "<kind:apostrophe>", /* 't, 'brien: what a tokeniser leaves after an apostrophe */
    [INITIALS] = "<kind:initials>",     /* e.j.h. */
    [HYPHEN] = "<kind:hyphen>",         /* -w, mid- */
    [SCRIPT] = "<kind:script>",         /* letters that are not Latin */
    [ING] = "<kind:ing>",
    [ED] = "<kind:ed>",
    [LY] = "<kind:ly>",
    [TION] = "<kind:tion>", /* nouns of quality and action */
    [IST] = "<kind:ist>",
    [EST] = "<kind:est>",
    [ER] = "<kind:er>",
    [AL] = "<kind:al>", /* adjectives */
    [IC] = "<kind:ic>",
    [IAN] = "<kind:ian>",   /* peoples and surnames */
    [IDAE] = "<kind:idae>", /* families of animals and plants */
    [US] = "<kind:us>",     /* Latin names */
    [S] = "<kind:s>",       /* plurals */
    [A] = "<kind:a>",
    [I] = "<kind:i>",
    [OTHER] = "<kind:other>", /* all else: mostly names */
};

/* The first ending that fits is taken. */
static const struct {
    const char *ending;
    enum kind kind;
} endings[] = {
    {"ing", ING},   {"ed", ED},    {"ly", LY},    {"tion", TION}, {"sion", TION}, {"ment", TION},
    {"ness", TION}, {"ity", TION}, {"ism", TION}, {"ist", IST},   {"est", EST},   {"er", ER},
    {"or", ER},     {"al", AL},    {"ous", AL},   {"ive", AL},    {"able", AL},   {"less", AL},
    {"ful", AL},    {"ic", IC},    {"an", IAN},   {"ese", IAN},   {"idae", IDAE}, {"aceae", IDAE},
    {"us", US},     {"um", US},    {"is", US},    {"ss", OTHER},  {"s", S},       {"a", A},
    {"i", I},       {"o", I},
};
enum { ENDINGS = sizeof endings / sizeof *endings, SHORTEST_STEM = 3 };

int kind_count(void) {
    return KINDS;
}

const char *kind_name(int kind) {
    return names[kind];
}

int kind_other(void) {
    return OTHER;
}

bool kind_reserved(const char *word, size_t length) {
    return length >= 6 && !memcmp(word, "<kind:", 6);
}

static bool ends_in(const char *word, size_t length, const char *ending, size_t stem) {
    size_t n = strlen(ending);
    return length >= n + stem && !memcmp(word + length - n, ending, n);
}

static int kind_with_digits(const char *word, size_t length, size_t digits, size_t letters) {
    if (digits == length && length == 4 && (word[0] == '1' || (word[0] == '2' && word[1] == '0')))
        return YEAR;
    if (!letters) return NUMBER;
    if (digits + 2 == length && (ends_in(word, length, "th", 1) || ends_in(word, length, "st", 1) ||
                                 ends_in(word, length, "nd", 1) || ends_in(word, length, "rd", 1)))
        return ORDINAL;
    if (digits + 1 == length && word[length - 1] == 's') return DECADE;
    return CODE;
}

/* Whether a letter of more than one byte starts here. C2 leads Latin-1's signs, E2 punctuation, arrows and
 * mathematics; U+00D7 and U+00F7 are signs among letters. */
static bool leads_letter(const char *text, size_t length) {
    const unsigned char *c = (const unsigned char *)text;
    if (c[0] < 0xC3 || c[0] == 0xE2) return false;
    return !(c[0] == 0xC3 && length > 1 && (c[1] == 0x97 || c[1] == 0xB7));
}

int kind_of(const char *word, size_t length) {
    size_t digits = 0, letters = 0, dots = 0, hyphens = 0;
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)word[i];
        digits += c >= '0' && c <= '9';
        letters += c >= 'a' && c <= 'z';
        dots += c == '.';
        hyphens += c == '-';
        letters += leads_letter(word + i, length - i);
    }
    if (digits) return kind_with_digits(word, length, digits, letters);
    if (!letters) return SYMBOL;
    if (word[0] == '\'' || word[0] == '`') return APOSTROPHE;
    if (dots) return INITIALS;
    if (hyphens) return HYPHEN;
    unsigned char first = (unsigned char)word[0];
    if (first >= 0xCD && first != 0xE1 && first != 0xE2) return SCRIPT; /* U+0370 and up; U+1Exx is Latin */
    for (int i = 0; i < ENDINGS; i++)
        if (ends_in(word, length, endings[i].ending, SHORTEST_STEM)) return (int)endings[i].kind;
    return OTHER;
}
