/* Looks up the rows of words by a hash table, with fallbacks for spellings, parts of words and unknown words;
 * compares, copies and frees vocabularies; the functions of the public API that read one. */
#include "engine/words/words.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/arguments.h"
#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/base/word_form.h"
#include "engine/words/kind.h"
#include "ordernet_words.h"

static uint64_t hash_of(const char *text, size_t length) {
    uint64_t h = 14695981039346656037u; /* FNV-1a */
    for (size_t i = 0; i < length; i++) h = (h ^ (unsigned char)text[i]) * 1099511628211u;
    return h ^ h >> 32;
}

/* Returns the slot that holds the word, or the empty one where it belongs. At most half of the slots are
 * taken. */
static size_t slot_of(const onet_words *words, const char *text, size_t length) {
    size_t slot = (size_t)hash_of(text, length) & (words->slots - 1);
    for (;; slot = (slot + 1) & (words->slots - 1)) {
        int32_t w = words->table[slot];
        if (w < 0) return slot;
        size_t at = words->at[w];
        if (words->at[w + 1] - at == length && !memcmp(words->text + at, text, length)) return slot;
    }
}

bool words_build(onet_words *words) {
    size_t slots = 16;
    while (slots < 2 * (size_t)words->count) slots *= 2;
    int32_t *table = array_new(slots, sizeof *table);
    if (!table) return false;
    free(words->table);
    words->table = table;
    words->slots = slots;
    memset(table, 0xFF, slots * sizeof *table);
    for (int32_t w = 0; w < words->count; w++) {
        size_t slot = slot_of(words, words->text + words->at[w], words->at[w + 1] - words->at[w]);
        if (table[slot] < 0) table[slot] = w;
    }
    return true;
}

bool words_insert(onet_words *words, int32_t row) {
    if (2 * ((size_t)row + 1) > words->slots) return words_build(words);
    words->table[slot_of(words, words->text + words->at[row], words->at[row + 1] - words->at[row])] = row;
    return true;
}

int32_t words_exact(const onet_words *words, const char *text, size_t length) {
    return words->table[slot_of(words, text, length)];
}

static int32_t row_of_kind(const onet_words *words, int kind) {
    int32_t row = words_exact(words, kind_name(kind), strlen(kind_name(kind)));
    if (row < 0) row = words_exact(words, kind_name(kind_other()), strlen(kind_name(kind_other())));
    if (row < 0) row = words_exact(words, "<unk>", 5);
    return row < 0 ? 0 : row;
}

/* For text that WikiText's tokeniser has not split: returns the row of the word inside a word with
 * punctuation ("sentence."), a possessive or a short form ("lobster's", "don't"), or of the last part of a
 * compound ("rock-lobster"). -1 if that word is unknown too. */
static int32_t row_of_core(const onet_words *words, const char *word, size_t length) {
    static const char outside[] = ".,;:!?\"'()[]";
    while (length && word[0] != '\'' && strchr(outside, word[0])) word++, length--; /* 't is a kind */
    while (length && strchr(outside, word[length - 1])) length--;
    int32_t row = words_exact(words, word, length);
    if (row < 0 && length > 2 && !memcmp(word + length - 2, "'s", 2))
        row = words_exact(words, word, length - 2);
    if (row < 0 && length > 3 && !memcmp(word + length - 3, "n't", 3))
        row = words_exact(words, word, length - 3);
    if (row < 0) {
        const char *hyphen = memrchr(word, '-', length);
        if (hyphen && hyphen > word)
            row = words_exact(words, hyphen + 1, length - (size_t)(hyphen + 1 - word));
    }
    return row;
}

int32_t words_find(const onet_words *words, const char *text, size_t length, bool *known) {
    char lower[2 * WORD_LONGEST + 4], plain[2 * WORD_LONGEST + 4];
    *known = false;
    if (length > WORD_LONGEST || kind_reserved(text, length)) return row_of_kind(words, kind_other());
    ptrdiff_t formed = word_lower(text, length, lower, sizeof lower);
    if (formed < 0) return row_of_kind(words, kind_other());
    int32_t row = words_exact(words, lower, (size_t)formed);
    const char *word = lower;
    ptrdiff_t spelt = -1;
    if (row < 0) spelt = word_plain(lower, (size_t)formed, plain, sizeof plain);
    if (spelt >= 0) {
        word = plain;
        formed = spelt;
        row = words_exact(words, word, (size_t)formed);
    }
    *known = row >= 0;
    if (row < 0) row = row_of_core(words, word, (size_t)formed);
    return row >= 0 ? row : row_of_kind(words, kind_of(word, (size_t)formed));
}

bool words_is_kind(const onet_words *words, int32_t row) {
    return kind_reserved(words->text + words->at[row], words->at[row + 1] - words->at[row]);
}

bool words_same(const onet_words *a, const onet_words *b) {
    if (a == b) return true;
    size_t rows = (size_t)a->count + 1;
    return a->count == b->count && !memcmp(a->at, b->at, rows * sizeof *a->at) &&
           !memcmp(a->text, b->text, a->at[a->count]);
}

static void *copy_of(const void *from, size_t count, size_t size) {
    void *copy = array_new(count, size);
    if (copy && count) memcpy(copy, from, count * size);
    return copy;
}

onet_words *words_copy(const onet_words *words) {
    onet_words *copy = calloc(1, sizeof *copy);
    if (!copy) return NULL;
    copy->count = words->count;
    copy->width = words->width;
    copy->slots = words->slots;
    copy->at = copy_of(words->at, (size_t)words->count + 1, sizeof *words->at);
    copy->text = copy_of(words->text, words->at[words->count], 1);
    copy->vectors =
        copy_of(words->vectors, (size_t)words->count * (size_t)words->width, sizeof *words->vectors);
    copy->table = copy_of(words->table, words->slots, sizeof *words->table);
    if (!copy->at || !copy->text || !copy->vectors || !copy->table) {
        words_free(copy);
        return NULL;
    }
    return copy;
}

void words_free(onet_words *words) {
    if (!words) return;
    free(words->at);
    free(words->text);
    free(words->vectors);
    free(words->table);
    free(words);
}

/* ---- For callers ------------------------------------------------------------------------------------- */

int onet_words_count(const onet_words *words) {
    return words ? words->count : 0;
}

int onet_words_width(const onet_words *words) {
    return words ? words->width : 0;
}

const char *onet_words_text(const onet_words *words, int32_t row, size_t *length) {
    if (!words || !length || row < 0 || row >= words->count) return NULL;
    *length = words->at[row + 1] - words->at[row];
    return words->text + words->at[row];
}

const float *onet_words_vector(const onet_words *words, int32_t row) {
    if (!words || row < 0 || row >= words->count) return NULL;
    return words->vectors + (size_t)row * (size_t)words->width;
}

int32_t onet_words_find(const onet_words *words, const char *text, size_t length, int *known) {
    bool own = false;
    int32_t row = words && text ? words_find(words, text, length, &own) : -1;
    if (known) *known = own;
    return row;
}

int32_t onet_words_exact(const onet_words *words, const char *text, size_t length) {
    return words && text ? words_exact(words, text, length) : -1;
}

onet_status onet_words_copy(onet_words **copy, const onet_words *words, onet_error *err) {
    NEED(copy, "copy");
    *copy = NULL;
    NEED(words, "words");
    *copy = words_copy(words);
    return *copy ? ONET_OK : fail_memory(err, "the vocabulary");
}

void onet_words_free(onet_words *words) {
    words_free(words);
}
