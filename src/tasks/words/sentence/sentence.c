/* Writes the ordered words of a bag as a sentence: with blanks where a person would put them around words and
 * signs, and capital letters as in a sentence (common words, listed here, lose theirs), as typed, or none. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/ascii.h"
#include "engine/base/word_form.h"
#include "tasks/words/sentence/bag.h"

/* Words that are written in lower case except at the start of a sentence: from WikiText-2, by
 * experiments/words/lower_case.sh; sorted. */
static const char *const common[] = {
    "a",          "about",        "according",  "additional", "additionally", "after",        "against",
    "album",      "almost",       "along",      "also",       "although",     "among",        "an",
    "and",        "another",      "antimony",   "apart",      "are",          "around",       "as",
    "aside",      "at",           "back",       "based",      "be",           "became",       "because",
    "been",       "before",       "began",      "beginning",  "behind",       "being",        "between",
    "born",       "both",         "but",        "by",         "cadmium",      "called",       "can",
    "cater",      "century",      "come",       "common",     "consequently", "construction", "could",
    "credits",    "critical",     "critics",    "damage",     "despite",      "due",          "during",
    "each",       "early",        "episode",    "europium",   "even",         "eventually",   "every",
    "film",       "finally",      "first",      "five",       "following",    "for",          "former",
    "found",      "four",         "from",       "further",    "furthermore",  "had",          "has",
    "have",       "having",       "he",         "her",        "him",          "his",          "how",
    "however",    "if",           "in",         "including",  "indeed",       "initially",    "inside",
    "instead",    "into",         "is",         "it",         "its",          "just",         "known",
    "large",      "late",         "later",      "like",       "living",       "local",        "located",
    "lowland",    "made",         "males",      "many",       "meanwhile",    "members",      "moment",
    "more",       "most",         "much",       "near",       "nevertheless", "no",           "nonetheless",
    "not",        "now",          "number",     "of",         "on",           "once",         "one",
    "only",       "or",           "originally", "other",      "others",       "out",          "outside",
    "over",       "overall",      "part",       "people",     "prior",        "retrieved",    "reviewers",
    "said",       "season",       "second",     "several",    "she",          "shortly",      "similar",
    "similarly",  "since",        "so",         "some",       "sometimes",    "soon",         "starting",
    "still",      "subsequently", "such",       "than",       "that",         "the",          "their",
    "them",       "then",         "there",      "therefore",  "these",        "they",         "this",
    "those",      "though",       "three",      "through",    "throughout",   "thus",         "time",
    "to",         "together",     "trees",      "true",       "two",          "ultimately",   "under",
    "underneath", "unlike",       "until",      "up",         "upon",         "used",         "using",
    "various",    "was",          "we",         "well",       "were",         "what",         "when",
    "where",      "which",        "while",      "who",        "with",         "within",       "without",
    "work",       "would",        "writing",    "written",    "xenon",        "year",         "years",
    "yet",
};

static int compare(const void *word, const void *entry) {
    return strcmp(word, *(const char *const *)entry);
}

/* Whether a word, given in lower case, is in that list: hardly ever part of a name. */
static bool lower_case_word(const char *lower) {
    return bsearch(lower, common, sizeof common / sizeof *common, sizeof *common, compare) != NULL;
}

const onet_choice *onet_letter_cases(void) {
    static const onet_choice list[] = {
        {"sentence", "a capital at the beginning; common words in lower case; else as typed",
         ONET_CASE_SENTENCE},
        {"keep", "as typed", ONET_CASE_KEEP},
        {"lower", "all in lower case", ONET_CASE_LOWER},
        {0},
    };
    return list;
}

/* ---- Blanks ------------------------------------------------------------------------------------------ */

/* Where blanks may stand beside a token. */
typedef struct spacing {
    bool before, after;
} spacing;

/* Where the writer is. */
typedef struct writer {
    const onet_bag *b;
    const int32_t *order;
    size_t at;
    bool in_quotes, in_single; /* between two " or two ' */
    int singles;               /* ' that are still to come */
    bool begins;               /* the next word begins a sentence */
    char *text;
    size_t room, length;
} writer;

/* Returns the token that is d places further on, "" beyond the ends. */
static const char *near(const writer *w, int d) {
    size_t at = w->at + (size_t)d;
    return at < w->b->n ? bag_text(w->b, (size_t)w->order[at]) : "";
}

static bool ends_in_digit(const char *text) {
    return *text && ascii_digit(text[strlen(text) - 1]);
}

/* Whether the current token was typed directly before (d = 1) or after (d = -1) the one beside it. */
static bool joined(const writer *w, int d) {
    size_t at = w->at + (size_t)d;
    if (at >= w->b->n) return false;
    size_t here = (size_t)w->order[w->at], there = (size_t)w->order[at];
    return d > 0 ? bag_joined(w->b, here, there) : bag_joined(w->b, there, here);
}

/* Returns the spacing of one of a pair of equal marks: it opens or closes by how it was typed, else in turn.
 */
static spacing quotes(const writer *w, bool *open) {
    bool closes = joined(w, -1) ? !joined(w, 1) || *open : !joined(w, 1) && *open;
    *open = !closes;
    return (spacing){!closes, closes};
}

static spacing spacing_of(writer *w) {
    const char *token = near(w, 0);
    size_t i = (size_t)w->order[w->at];
    bool numbers = ends_in_digit(near(w, -1)) && ascii_digit(*near(w, 1));
    if (!strcmp(token, "\"")) return quotes(w, &w->in_quotes);
    if (!strcmp(token, "'")) {
        /* A single one is that of a plural: the players' team. */
        bool pair = w->in_single || w->singles > 1;
        w->singles--;
        return pair ? quotes(w, &w->in_single) : (spacing){false, true};
    }
    if ((strlen(token) == 3 && token[0] == '@' && token[2] == '@') || !strcmp(token, "/"))
        return (spacing){false, false};
    if (!strcmp(token, "\xe2\x80\x93") || !strcmp(token, ":"))
        return (spacing){!numbers && *token != ':', !numbers};
    if (*token == '\'' || !strncmp(token, "\xe2\x80\x99", 3) || !strcmp(token, "n't"))
        return (spacing){false, true};
    if (bag_is_one_of(w->b, i, "$#\xc2\xa3\xe2\x82\xac\xc2\xa5"))
        return (spacing){true, !ascii_digit(*near(w, 1))};
    if (bag_is_one_of(w->b, i, "\xc2\xb0")) return (spacing){!ends_in_digit(near(w, -1)), true};
    if (bag_is_one_of(w->b, i, BAG_OPENING)) return (spacing){true, false};
    return (spacing){!bag_is_one_of(w->b, i, BAG_CLOSING) && strspn(token, ".") != strlen(token), true};
}

/* ---- Letters ----------------------------------------------------------------------------------------- */

static void put(writer *w, const char *text, size_t length) {
    for (size_t i = 0; i < length && w->length + i + 1 < w->room; i++) w->text[w->length + i] = text[i];
    w->length += length;
}

/* Whether the next token is a suffix that makes the current one no name: don't. */
static bool negates(const writer *w) {
    return joined(w, 1) &&
           (!strcmp(near(w, 1), "'t") || !strcmp(near(w, 1), "\xe2\x80\x99t") || !strcmp(near(w, 1), "n't"));
}

static bool has_letter_or_digit(const char *token) {
    for (; *token; token++) {
        char c = ascii_lower(*token);
        if ((c >= 'a' && c <= 'z') || ascii_digit(c)) return true;
    }
    return false;
}

static void put_word(writer *w, const char *token, onet_letters letters) {
    char lower[2 * WORD_LONGEST + 4], title[2 * WORD_LONGEST + 8];
    size_t length = strlen(token);
    bool is_word = has_letter_or_digit(token) || word_has_case(token, length);
    bool begins = w->begins && is_word;
    if (is_word) w->begins = false;
    ptrdiff_t low = letters != ONET_CASE_KEEP && length <= WORD_LONGEST
                        ? word_lower(token, length, lower, sizeof lower - 1)
                        : -1;
    if (low < 0) {
        put(w, token, length);
        return;
    }
    lower[low] = 0;
    ptrdiff_t capital = word_title(lower, (size_t)low, title, sizeof title);
    bool typed_low = (size_t)low == length && !memcmp(lower, token, length);
    bool typed_capital = !typed_low && (size_t)capital == length && !memcmp(title, token, length);
    if (letters == ONET_CASE_SENTENCE && ((begins && typed_low) || !strcmp(token, "i"))) {
        put(w, title, (size_t)capital);
    } else if (letters == ONET_CASE_LOWER ||
               (typed_capital && !begins && (lower_case_word(lower) || negates(w)))) {
        put(w, lower, (size_t)low);
    } else {
        put(w, token, length);
    }
}

size_t onet_bag_write(const onet_bag *bag, const int32_t *order, onet_letters letters, char *text,
                      size_t room) {
    if (text && room) *text = 0;
    if (!bag || !order) return 0;
    writer w = {.b = bag, .order = order, .begins = true, .text = text, .room = text ? room : 0};
    for (size_t i = 0; i < bag->n; i++) {
        if (order[i] < 0 || (size_t)order[i] >= bag->n) return 0;
        w.singles += !strcmp(bag_text(bag, i), "'");
    }
    bool blank = false; /* may stand after the token before */
    for (; w.at < bag->n; w.at++) {
        const char *token = near(&w, 0);
        spacing here = spacing_of(&w);
        if (w.at && blank && here.before && !joined(&w, -1)) put(&w, " ", 1);
        if (token[0] == '@' && token[1] && token[2] == '@' && !token[3])
            put(&w, token + 1, 1); /* a sign inside a word */
        else
            put_word(&w, token, letters);
        bool closed = !joined(&w, 1) || bag_is_one_of(bag, (size_t)order[w.at + 1], BAG_CLOSING);
        if (bag_is_one_of(bag, (size_t)order[w.at], BAG_FINAL) && closed) w.begins = true;
        blank = here.after;
    }
    if (w.room) w.text[w.length < w.room ? w.length : w.room - 1] = 0;
    return w.length;
}
