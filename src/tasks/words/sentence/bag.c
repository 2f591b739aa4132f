/* Tokenises typed words for the vocabulary: as WikiText's tokeniser cut the text that the shipped models were
 * trained on, if the vocabulary has its signs. Constrains their orders: the tokens of a piece without blanks
 * stay together, a final sign stays last, brackets and quotation marks open before they close. */
#include "tasks/words/sentence/bag.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/arguments.h"
#include "engine/base/ascii.h"
#include "engine/base/memory.h"
#include "engine/base/utf8.h"
#include "engine/words/words.h"

#define APOSTROPHES "'\xe2\x80\x99"
#define HYPHENS     "-\xe2\x80\x90\xe2\x80\x91"
/* Blanks: of ASCII, no-break, of a line of type, ideographic. */
#define BLANKS " \t\n\r\v\f\xc2\xa0\xe2\x80\x82\xe2\x80\x83\xe2\x80\x89\xe2\x80\xaf\xe3\x80\x80"
/* Signs that are words of their own wherever they stand. */
#define SIGNS                                                                                                \
    "/&,;:()[]{}\"!?%$#"                                                                                     \
    "\xe2\x80\x93\xe2\x80\x94\xe2\x80\x9c\xe2\x80\x9d\xe2\x80\x9e\xc2\xab\xc2\xbb\xc2\xb0\xc2\xa3\xe2\x82"   \
    "\xac\xc2\xa5\xe2\x80\xa6"

static size_t character_length(const char *text) {
    unsigned char c = (unsigned char)*text;
    return c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
}

/* Returns the length in bytes of the character (UTF-8) of `list` that text [length] begins with; 0: none. */
static size_t bag_one_of(const char *text, size_t length, const char *list) {
    for (size_t n; *list; list += n) {
        n = character_length(list);
        if (n <= length && !memcmp(text, list, n)) return n;
    }
    return 0;
}

bool bag_is_one_of(const onet_bag *b, size_t i, const char *list) {
    size_t length = strlen(bag_text(b, i));
    return length && bag_one_of(bag_text(b, i), length, list) == length;
}

/* ---- Tokens ------------------------------------------------------------------------------------------ */

static bool has(const onet_bag *b, const char *word) {
    return words_exact(b->words, word, strlen(word)) >= 0;
}

static onet_status emit(onet_bag *b, const char *text, size_t length, onet_error *err) {
    if (b->n >= (size_t)b->most)
        return fail(
            err, ONET_USAGE,
            "%d words at most can be put in order here, signs among them; time grows with the square of "
            "their number",
            b->most);
    if (!array_reserve(&b->text, &b->room, b->length + length + 1, 1) ||
        !array_reserve(&b->token, &b->token_room, b->n + 1, sizeof *b->token) ||
        !array_reserve(&b->row, &b->row_room, b->n + 1, sizeof *b->row) ||
        !array_reserve(&b->constraint, &b->constraint_room, 2 * (b->n + 1), sizeof *b->constraint))
        return fail_memory(err, "the words");
    bag_token *t = &b->token[b->n];
    *t = (bag_token){.at = b->length, .piece = b->pieces};
    b->row[b->n++] = words_find(b->words, text, length, &t->known);
    memcpy(b->text + b->length, text, length);
    b->length += length;
    b->text[b->length++] = 0;
    return ONET_OK;
}

static bool is_ascii_letter(char c) {
    return ascii_lower(c) >= 'a' && ascii_lower(c) <= 'z';
}

/* Whether it is a letter of any script, or a digit. */
static bool is_alphanumeric(char c) {
    return is_ascii_letter(c) || ascii_digit(c) || (unsigned char)c >= 0x80;
}

/* Whether the text is "j." or "j.k.": single letters, each with its full stop. */
static bool is_initials(const char *text, size_t length) {
    if (length % 2) return false;
    for (size_t i = 0; i < length; i += 2)
        if (!is_ascii_letter(text[i]) || text[i + 1] != '.') return false;
    return length > 0;
}

/* Whether it is a word of the vocabulary as it stands. With a full stop only if that is more frequent ("mr.")
 * than the word without ("no."): rows go by frequency. */
static bool stands(const onet_bag *b, const char *text, size_t length) {
    bool known, stem;
    int32_t row = words_find(b->words, text, length, &known);
    if (!known || length < 3 || text[length - 1] != '.' || is_initials(text, length)) return known;
    int32_t without = words_find(b->words, text, length - 1, &stem);
    return !stem || row < without;
}

/* Returns where the word ends and its last signs begin. */
static size_t core_length(const onet_bag *b, const char *text, size_t length) {
    while (length && !stands(b, text, length)) {
        size_t last = 1;
        while (last < length && ((unsigned char)text[length - last] & 0xc0) == 0x80) last++;
        const char *at = text + length - last;
        if (*at == '.') {
            if (is_initials(text, length)) break;
            while (last < length && text[length - last - 1] == '.') last++;
        } else if (bag_one_of(at, last, BAG_CLOSING) != last && bag_one_of(at, last, APOSTROPHES) != last)
            break;
        length -= last;
    }
    return length;
}

/* Adds the signs that core_length left, one by one; full stops in a row are one. */
static onet_status emit_signs(onet_bag *b, const char *text, size_t length, onet_error *err) {
    onet_status status = ONET_OK;
    for (size_t n; length && !status; text += n, length -= n) {
        n = character_length(text);
        while (*text == '.' && n < length && text[n] == '.') n++;
        status = emit(b, text, n, err);
    }
    return status;
}

/* Returns how WikiText spells a sign of n bytes between two characters of a word; NULL: it is no such sign.
 */
static const char *inner_sign(const char *text, size_t at, size_t n, size_t length) {
    if (!at || at + n >= length) return NULL;
    char before = text[at - 1], after = text[at + n];
    if (bag_one_of(text + at, n, HYPHENS) == n)
        return is_alphanumeric(before) && is_alphanumeric(after) ? "@-@" : NULL;
    if (!ascii_digit(before) || !ascii_digit(after)) return NULL;
    if (text[at] == '.') return memchr(text, '.', length) == memrchr(text, '.', length) ? "@.@" : NULL;
    return text[at] == ',' ? "@,@" : NULL;
}

/* Whether a suffix begins here: 's of child's, 't of don't, or n't if the vocabulary has that. */
static bool begins_suffix(const onet_bag *b, const char *text, size_t at, size_t length) {
    if (!at || !is_alphanumeric(text[at - 1])) return false;
    size_t n = bag_one_of(text + at, length - at, APOSTROPHES), after = at + n;
    if (!n && text[at] == 'n') {
        n = bag_one_of(text + at + 1, length - at - 1, APOSTROPHES);
        return n && at + n + 2 == length && text[length - 1] == 't' && has(b, "n't");
    }
    if (!n || after == length || !is_alphanumeric(text[after]) || !has(b, "'s")) return false;
    return text[at - 1] != 'n' || text[after] != 't' || !has(b, "n't");
}

/* Adds the tokens of a word without signs around it. */
static onet_status emit_core(onet_bag *b, const char *text, size_t length, onet_error *err) {
    onet_status status = ONET_OK;
    size_t from = 0;
    if (stands(b, text, length) || memchr(text, '@', length) || memmem(text, length, "://", 3))
        return emit(b, text, length, err);
    for (size_t at = 0, n; at < length && !status; at += n) {
        n = character_length(text + at);
        const char *spelt = inner_sign(text, at, n, length);
        bool sign = !spelt && bag_one_of(text + at, n, SIGNS) == n;
        if (spelt && !has(b, spelt)) spelt = NULL;
        if (!spelt && !sign && !begins_suffix(b, text, at, length)) continue;
        if (at > from) status = emit(b, text + from, at - from, err);
        from = at;
        if (!spelt && !sign) continue;
        if (!status) status = spelt ? emit(b, spelt, strlen(spelt), err) : emit(b, text + at, n, err);
        from = at + n;
    }
    return status || from == length ? status : emit(b, text + from, length - from, err);
}

/* Adds the tokens of what stands between two blanks. */
static onet_status add_piece(onet_bag *b, const char *text, size_t length, onet_error *err) {
    onet_status status = ONET_OK;
    for (size_t n; length && !status; text += n, length -= n) {
        n = bag_one_of(text, length, BAG_OPENING);
        if (!n) n = bag_one_of(text, length, APOSTROPHES);
        if (!n || n == length || stands(b, text, length)) break;
        status = emit(b, text, n, err);
    }
    if (status) return status;
    size_t core = core_length(b, text, length);
    if (core) status = emit_core(b, text, core, err);
    if (!status) status = emit_signs(b, text + core, length - core, err);
    b->pieces++;
    return status;
}

/* ---- Constraints ------------------------------------------------------------------------------------- */

/* Returns the final sign that the sentence ends with: the last that was typed and has nothing but closing
 * signs after it in its piece. n: there is none. */
static size_t final_sign(const onet_bag *b) {
    bool closed = true;
    for (size_t i = b->n; i-- > 0;) {
        if (i + 1 == b->n || !bag_joined(b, i, i + 1)) closed = true;
        if (closed && bag_is_one_of(b, i, BAG_FINAL)) return i;
        closed = closed && (bag_is_one_of(b, i, BAG_CLOSING) || bag_is_one_of(b, i, APOSTROPHES));
    }
    return b->n;
}

/* Returns the next token from i on that is `sign`; with typed != 0 one that was typed without a blank before
 * (-1) or after it (1), as quotation marks are. n: there is none. */
static size_t next_sign(const onet_bag *b, size_t i, const char *sign, int typed) {
    for (; i < b->n; i++) {
        bool before = i && bag_joined(b, i - 1, i), after = i + 1 < b->n && bag_joined(b, i, i + 1);
        if (!strcmp(bag_text(b, i), sign) && (!typed || (before == (typed < 0) && after == (typed > 0))))
            break;
    }
    return i;
}

/* Lets brackets open before they close, and so quotation marks that were typed so: the first with the first,
 * and so on. Only signs of one kind are paired, and none that opens in the piece that stays last: such
 * constraints can always be kept, while those of two kinds may contradict each other, "(a]" and "[b)". */
static void pair_signs(onet_bag *b, size_t last) {
    static const struct {
        const char *open, *close;
        bool typed;
    } pairs[] = {{"(", ")", false},
                 {"[", "]", false},
                 {"\xe2\x80\x9c", "\xe2\x80\x9d", false},
                 {"\"", "\"", true},
                 {"'", "'", true}};
    onet_sets *s = &b->set;
    size_t before = s->constraint_count;
    for (size_t k = 0; k < sizeof pairs / sizeof *pairs && s->constraint_count == before; k++)
        for (size_t open = 0, close = 0;; open++, close++) {
            open = next_sign(b, open, pairs[k].open, pairs[k].typed ? 1 : 0);
            close = next_sign(b, close, pairs[k].close, pairs[k].typed ? -1 : 0);
            if (open == b->n || close == b->n) break;
            int piece = b->token[open].piece;
            if (piece != b->token[close].piece && (last == b->n || piece != b->token[last].piece))
                b->constraint[s->constraint_count++] = (onet_constraint){ONET_BEFORE, open, close};
        }
}

/* Adds the constraints: pieces stay together, and the final sign stays last. A final sign of the last piece
 * may belong to the line rather than to the word before it, so that these two are not joined. */
static void constrain(onet_bag *b) {
    size_t end = final_sign(b), cut = end;
    onet_sets *s = &b->set;
    s->constraint_count = 0;
    while (cut && cut < b->n && bag_joined(b, cut - 1, cut) && bag_is_one_of(b, cut - 1, BAG_FINAL)) cut--;
    if (end == b->n || b->token[end].piece != b->pieces - 1) cut = b->n;
    for (size_t i = 0; i + 1 < b->n; i++)
        if (bag_joined(b, i, i + 1) && i + 1 != cut)
            b->constraint[s->constraint_count++] = (onet_constraint){ONET_NEXT, i, i + 1};
    while (end + 1 < b->n && bag_joined(b, end, end + 1)) end++;
    if (end < b->n) b->constraint[s->constraint_count++] = (onet_constraint){ONET_LAST, end, 0};
    pair_signs(b, end);
}

/* ---- For callers ------------------------------------------------------------------------------------- */

onet_status onet_bag_new(onet_bag **bag, const onet_words *words, onet_error *err) {
    NEED(bag, "bag");
    *bag = NULL;
    NEED(words, "words");
    *bag = calloc(1, sizeof **bag);
    if (!*bag) return fail_memory(err, "the words");
    (*bag)->words = words;
    return ONET_OK;
}

void onet_bag_clear(onet_bag *bag) {
    if (!bag) return;
    bag->length = bag->n = 0;
    bag->pieces = 0;
}

void onet_bag_free(onet_bag *bag) {
    if (!bag) return;
    free(bag->text);
    free(bag->token);
    free(bag->row);
    free(bag->constraint);
    free(bag);
}

onet_status onet_bag_add(onet_bag *bag, const char *text, int most, onet_error *err) {
    NEED(bag, "bag");
    NEED(text, "text");
    if (most < 1) return fail(err, ONET_USAGE, "onet_bag_add: most is %d; it must be 1 or more", most);
    size_t length = strlen(text);
    bag->most = most;
    if (utf8_valid(text, length) < length)
        return fail(err, ONET_BAD, "the words are not UTF-8; is the terminal set to UTF-8?");
    for (size_t at = 0, n; at < length;) {
        if ((n = bag_one_of(text + at, length - at, BLANKS))) {
            at += n;
            continue;
        }
        size_t end = at;
        while (end < length && !bag_one_of(text + end, length - end, BLANKS))
            end += character_length(text + end);
        onet_status status = add_piece(bag, text + at, end - at, err);
        if (status) return status;
        at = end;
    }
    return ONET_OK;
}

int onet_bag_count(const onet_bag *bag) {
    return bag ? (int)bag->n : 0;
}

const char *onet_bag_word(const onet_bag *bag, int i, int *known) {
    if (!bag || i < 0 || (size_t)i >= bag->n) return NULL;
    if (known) *known = bag->token[i].known;
    return bag_text(bag, (size_t)i);
}

const onet_sets *onet_bag_set(onet_bag *bag) {
    if (!bag || !bag->n) return NULL;
    bag->start[1] = bag->n;
    bag->set = (onet_sets){.count = 1,
                           .width = bag->words->width,
                           .start = bag->start,
                           .word = bag->row,
                           .words = bag->words,
                           .constraints = bag->constraint};
    constrain(bag);
    return &bag->set;
}
