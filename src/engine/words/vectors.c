/* Reads word vectors in GloVe's text format; errors name the line and the column. */
#include "engine/words/vectors.h"

#include <math.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/number.h"
#include "engine/base/utf8.h"
#include "engine/words/builder.h"

/* The arguments of "%.*s" that print at most 40 bytes. */
#define CLIPPED(text, length) (int)((length) > 40 ? 40 : (length)), (text)

static int count_columns(const char *line, size_t length) {
    int columns = 1;
    for (const char *p = line; (p = memchr(p, ' ', length - (size_t)(p - line))); p++) columns++;
    return columns;
}

/* Reads the number in the column that starts at `text`; returns the column's end, or NULL if it is not a
 * finite float. */
static const char *read_number(const char *text, const char *end, float *value) {
    double number;
    const char *after = number_scan(text, end, NUMBER_LOOSE, &number);
    if (after == text || (after < end && *after != ' ')) return NULL;
    *value = (float)number;
    return isfinite(*value) ? after : NULL;
}

/* Whether the line is a header such as "400000 50": two whole numbers and nothing else. */
static bool is_header(const char *line, size_t length) {
    return count_columns(line, length) == 2 && strspn(line, "0123456789 ") == length && line[0] != ' ' &&
           line[length - 1] != ' ';
}

static onet_status bad_column(const char *column, const char *end, int number, onet_error *err) {
    const char *blank = memchr(column, ' ', (size_t)(end - column));
    size_t length = (size_t)((blank ? blank : end) - column);
    if (!length)
        return fail(err, ONET_BAD, "column %d is empty; columns are separated by single blanks", number);
    return fail(err, ONET_BAD, "column %d, \"%.*s\", is not a finite number", number,
                CLIPPED(column, length));
}

/* Adds the word and vector of a line. The `width` numbers are the last columns; a word may have blanks in it.
 */
static onet_status add_line(words_builder *builder, const char *line, size_t length, size_t *repeated,
                            onet_error *err) {
    int width = builder->words->width, columns = count_columns(line, length);
    const char *end = line + length, *column = line;
    if (columns < width + 1)
        return fail(err, ONET_BAD, "%d columns instead of %d: a word and %d numbers", columns, width + 1,
                    width);
    for (int c = 0; c < columns - width; c++) { /* to the first number */
        float value;
        if (c > 0 && read_number(column, end, &value))
            return fail(err, ONET_BAD, "%d columns instead of %d: a word and %d numbers", columns, width + 1,
                        width);
        column = (const char *)memchr(column, ' ', (size_t)(end - column)) + 1;
    }
    size_t word = (size_t)(column - 1 - line);
    if (!word) return fail(err, ONET_BAD, "there is no word before the numbers");
    if (utf8_valid(line, word) < word)
        return fail(err, ONET_BAD, "the word is not UTF-8; convert the file, or take the line out");
    bool added;
    int32_t row = words_builder_add(builder, line, word, &added);
    if (row < 0) return fail_memory(err, "the word vectors");
    *repeated += !added;
    for (int c = 0; c < width; c++) {
        float value;
        const char *after = read_number(column, end, &value);
        if (!after) return bad_column(column, end, columns - width + c + 1, err);
        if (added) builder->words->vectors[(size_t)row * (size_t)width + (size_t)c] = value;
        column = after + 1;
    }
    return ONET_OK;
}

static onet_status read_lines(words_builder *builder, input *in, size_t *repeated, onet_error *err) {
    char *line;
    size_t length;
    long number;
    onet_status status;
    while (!(status = input_line(in, &line, &length, &number, err)) && line) {
        if (length && line[length - 1] == ' ') length--; /* fastText ends its lines so */
        if (number == 1) {
            bool header = is_header(line, length);
            const char *blank = memchr(line, ' ', length);
            double given = 0;
            if (header) number_scan(blank + 1, line + length, NUMBER_LOOSE, &given);
            int columns = header ? 0 : count_columns(line, length) - 1;
            if (header && given >= 1 && given <= MAX_WIDTH) columns = (int)given;
            if (columns < 1 || columns > MAX_WIDTH)
                return fail(
                    err, ONET_BAD,
                    "%s:1: a line of word vectors is a word and 1 to %d numbers, separated by single blanks",
                    input_name(in), MAX_WIDTH);
            if (!words_builder_start(builder, columns)) return fail_memory(err, "the word vectors");
            if (header) continue;
        }
        status = add_line(builder, line, length, repeated, err);
        if (status) {
            error_prefix(err, "%s:%ld", input_name(in), number);
            return status;
        }
    }
    if (status) return status;
    if (!builder->words || !builder->words->count)
        return fail(err, ONET_BAD, "%s: no word vectors in it", input_name(in));
    return ONET_OK;
}

onet_status vectors_from(onet_words **words, input *in, size_t *repeated, onet_error *err) {
    *words = NULL;
    *repeated = 0;
    words_builder builder = {.words = NULL};
    onet_status status = read_lines(&builder, in, repeated, err);
    input_close(in);
    if (!status) {
        *words = words_builder_finish(&builder);
        if (!*words) status = fail_memory(err, "the word vectors");
    }
    words_builder_free(&builder);
    return status;
}

onet_status vectors_read(onet_words **words, const char *path, size_t *repeated, onet_error *err) {
    input *in;
    *words = NULL;
    *repeated = 0;
    onet_status status = input_open(&in, path, err);
    return status ? status : vectors_from(words, in, repeated, err);
}
