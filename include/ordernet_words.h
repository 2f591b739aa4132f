/* The public C API for words: builds vocabularies, makes a set from the words that a person typed, and writes
 * a predicted order as a sentence.
 *
 *   onet_words   a vocabulary: words, and one vector of features for each
 *   onet_bag     what a person typed, as a set of words; an order of them as a sentence
 */
#ifndef ORDERNET_WORDS_H
#define ORDERNET_WORDS_H

#include "ordernet.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Vocabularies ------------------------------------------------------------------------------------ */

/* A vocabulary: words, and for each a row of its table with one vector of features. Items that are words are
 * rows. A word that the vocabulary lacks gets the row of its kind (a number, a word in -ing, ...), if there
 * are such rows, else row 0. */

/* Reads a file of vectors as text, in the format of Stanford's GloVe ("-": standard input; .gz and .xz are
 * decompressed): a row for each word, and rows for unknown words, as onet_words_choose makes them with its
 * defaults, each word being seen once. */
ONET_API onet_status onet_words_read(onet_words **words, const char *path, onet_error *err);
/* Makes a vocabulary from arrays, all copied: text [count] in UTF-8, each word once, none of them empty or
 * with a newline; length [count] in bytes, or NULL for text that ends in NUL; vectors [count, width],
 * finite, or NULL for zeros. Row w is word w. */
ONET_API onet_status onet_words_from(onet_words **words, int count, int width, const char *const *text,
                                     const size_t *length, const float *vectors, onet_error *err);
/* A copy, to be freed too. */
ONET_API onet_status onet_words_copy(onet_words **copy, const onet_words *words, onet_error *err);
ONET_API void onet_words_free(onet_words *words);

ONET_API int onet_words_count(const onet_words *words); /* rows */
ONET_API int onet_words_width(const onet_words *words); /* numbers per vector */
/* The word of a row, in UTF-8, not ended by NUL, its length in bytes going to *length, which must not be
 * NULL; and its vector [width]. NULL: there is no such row. Both are valid as long as the vocabulary. */
ONET_API const char *onet_words_text(const onet_words *words, int32_t row, size_t *length);
ONET_API const float *onet_words_vector(const onet_words *words, int32_t row);
/* The row of a word as a user wrote it: case and spelling are folded; an unknown word gets the row of its
 * kind. *known, unless NULL: whether the row is the word's own. -1 only where words or text is NULL. */
ONET_API int32_t onet_words_find(const onet_words *words, const char *text, size_t length, int *known);
/* The row of exactly this text; -1: there is none. */
ONET_API int32_t onet_words_exact(const onet_words *words, const char *text, size_t length);

/* ---- Sentences --------------------------------------------------------------------------------------- */

/* Words that a person typed, in any order: they are cut into words of a vocabulary, ordered as a set, and
 * written as a sentence. As in WikiText, signs are words of their own ("born," is born and ,), "don't" is don
 * and 't and "well-known" is well @-@ known, if the vocabulary has those; what was typed as one stays
 * together in every order, and a final . ! or ? stays last. */
typedef struct onet_bag onet_bag;

/* The vocabulary must live as long as the bag. */
ONET_API onet_status onet_bag_new(onet_bag **bag, const onet_words *words, onet_error *err);
ONET_API void onet_bag_free(onet_bag *bag);
/* Removes all words. */
ONET_API void onet_bag_clear(onet_bag *bag);
/* Adds the words of a text in UTF-8. ONET_USAGE, with some of them added, if the bag would have more than
 * `most` words; ONET_BAD for text that is not UTF-8. */
ONET_API onet_status onet_bag_add(onet_bag *bag, const char *text, int most, onet_error *err);
/* onet_bag_count: the number of words. onet_bag_word: word i as typed, ended by NUL, valid until the bag is
 * changed; NULL for i out of range. *known, unless NULL: 1 where the vocabulary has it, else 0. */
ONET_API int onet_bag_count(const onet_bag *bag);
ONET_API const char *onet_bag_word(const onet_bag *bag, int i, int *known);
/* The words as a set to be ordered, with what must stay together as constraints. The bag owns it; it is
 * valid until the bag is changed. NULL: there are no words. */
ONET_API const onet_sets *onet_bag_set(onet_bag *bag);

/* SENTENCE: the first word has a capital; words that are common inside sentences (the, after, ...) lose
 * theirs elsewhere; "i" is I; all else is as it was typed. */
typedef enum onet_letters { ONET_CASE_SENTENCE = 0, ONET_CASE_KEEP, ONET_CASE_LOWER } onet_letters;
ONET_API const onet_choice *onet_letter_cases(void); /* onet_letters */
/* Writes the words in an order [n], n being onet_bag_count, as a sentence: no blank before a comma, and so
 * on. Writes at most room - 1 bytes and a NUL to text, which may be NULL if room is 0; returns the length of
 * the whole sentence, 0 for indices out of range. */
ONET_API size_t onet_bag_write(const onet_bag *bag, const int32_t *order, onet_letters letters, char *text,
                               size_t room);

/* ---- Choice of a vocabulary -------------------------------------------------------------------------- */

/* The vectors of words without a row: one for each kind of word, the mean of all vectors, or zeros. */
typedef enum onet_unknown { ONET_UNKNOWN_KINDS = 0, ONET_UNKNOWN_MEAN, ONET_UNKNOWN_ZERO } onet_unknown;
ONET_API const onet_choice *onet_unknowns(void); /* onet_unknown */

typedef struct onet_vocabulary_options {
    size_t size;          /* sizeof(onet_vocabulary_options) */
    onet_unknown unknown; /* default ONET_UNKNOWN_KINDS */
    int limit;            /* rows at most, 31 or more; default 150000 */
    /* Gives a row of its own, with the vector of its kind, to a word without a vector that is seen this often
     * or more; 0: to none. Only with ONET_UNKNOWN_KINDS. Default 10. */
    int own_row;
    /* Words with a vector that are seen this often or less are rare: their mean, of each kind, is the vector
     * of the unknown words of that kind. Default 10. */
    int rare_until;
} onet_vocabulary_options;

ONET_API void onet_vocabulary_defaults(onet_vocabulary_options *options, size_t size);
/* Makes a vocabulary from the words of `vectors` and their vectors, with the rows that matter most for a
 * text first. seen: the distinct words of the text, a vocabulary whose own vectors are ignored
 * (onet_words_from with vectors NULL); times [count of seen]: how often each occurs. All are copied. options
 * NULL: the defaults.
 *
 * The rows, up to the limit: for unknown words, <unk>, @-@, @,@, @.@ if `vectors` lacks them and one for
 * each of the 26 kinds, or a single row if options->unknown is not ONET_UNKNOWN_KINDS; the words of the text
 * that have a vector, most frequent first; those without one that own_row admits; all other words of
 * `vectors`. */
ONET_API onet_status onet_words_choose(onet_words **words, const onet_words *vectors, const onet_words *seen,
                                       const uint64_t *times, const onet_vocabulary_options *options,
                                       onet_error *err);
/* Reads the words of a file of vectors as they stand there, without rows for unknown words. *repeated,
 * unless NULL: the number of lines that repeat an earlier line's word; the first vector is kept. */
ONET_API onet_status onet_vectors_read(onet_words **words, const char *path, size_t *repeated,
                                       onet_error *err);

#ifdef __cplusplus
}
#endif
#endif
