/* A bag of words that a person typed: tokenised for the vocabulary (bag.c), ordered by a search that keeps
 * each piece's tokens together, and written as a sentence (sentence.c). */
#ifndef WORDS_SENTENCE_BAG_H
#define WORDS_SENTENCE_BAG_H

#include <stdbool.h>

#include "ordernet_words.h"

typedef struct bag_token {
    size_t at; /* its text in bag.text, ended by NUL */
    int piece; /* tokens that were typed without a blank between them have the same, and stand side by side */
    bool known; /* it has a row of its own */
} bag_token;

struct onet_bag {
    const onet_words *words; /* lent */
    char *text;
    size_t length, room;
    bag_token *token; /* [n] */
    size_t n, token_room;
    int most; /* n at most, for the text that is being added */
    int pieces;
    int32_t *row; /* [n] */
    size_t row_room;
    onet_constraint *constraint;
    size_t constraint_room; /* 2 n at least */
    size_t start[2];
    onet_sets set;
};

static inline const char *bag_text(const onet_bag *b, size_t i) {
    return b->text + b->token[i].at;
}

/* Whether both are of one piece, the second directly after the first. */
static inline bool bag_joined(const onet_bag *b, size_t first, size_t second) {
    return second == first + 1 && b->token[first].piece == b->token[second].piece;
}

/* Signs that may follow a word without a blank, and signs that may stand before one; . and ' are not among
 * them. */
#define BAG_CLOSING                                                                                          \
    ",;:!?)]}\"%"                                                                                            \
    "\xc2\xb0\xe2\x80\x9d\xe2\x80\x99\xc2\xbb\xe2\x80\xa6\xe3\x80\x82\xe3\x80\x81\xef\xbc\x8c\xef\xbc\x81"   \
    "\xef\xbc\x9f"
#define BAG_OPENING                                                                                          \
    "([{\"$#\xc2\xa3\xe2\x82\xac\xc2\xa5\xe2\x80\x9c\xe2\x80\x9e\xe2\x80\x98\xc2\xab\xc2\xbf\xc2\xa1"
/* . ! ? and those of Chinese and Japanese. */
#define BAG_FINAL ".!?\xe3\x80\x82\xef\xbc\x81\xef\xbc\x9f"

/* Whether the token is one character of the list, and nothing more. */
bool bag_is_one_of(const onet_bag *b, size_t i, const char *list);

#endif
