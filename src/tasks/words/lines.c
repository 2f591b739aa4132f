/* Reads the first words of each line of a text, lower-cased. */
#include "tasks/words/lines.h"

#include <stdlib.h>

#include "engine/base/error.h"
#include "engine/base/fold.h"
#include "engine/base/memory.h"

onet_status lines_open(lines *l, const char *path, int least, int most, onet_error *err) {
    *l = (lines){.least = least, .most = most};
    if (least < 1 || least > most || most > LINES_MOST_WORDS)
        return fail(err, ONET_USAGE, "a line gives 1 to %d words, not %d", LINES_MOST_WORDS, most);
    l->at = array_new((size_t)most + 1, sizeof *l->at);
    if (!l->at) return fail_memory(err, "a line of text");
    return input_open(&l->in, path, err);
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

/* Lower-cases the next word of the line and puts it after those that l->text already holds. */
static onet_status add_word(lines *l, int k, const char *word, size_t length, onet_error *err) {
    size_t used = l->at[k];
    if (!array_reserve(&l->text, &l->room, used + fold_room(length) + 1, 1))
        return fail_memory(err, "a line of text");
    ptrdiff_t folded = fold_lower(word, length, l->text + used, l->room - used - 1);
    if (folded < 0)
        return fail(err, ONET_BAD, "%s:%ld: word %d is not UTF-8; convert the text to UTF-8 first",
                    input_name(l->in), l->number, k + 1);
    l->text[used + (size_t)folded] = ' ';
    l->at[k + 1] = used + (size_t)folded + 1;
    return ONET_OK;
}

static onet_status take_words(lines *l, const char *p, const char *end, bool *kept, onet_error *err) {
    *kept = false;
    while (p < end && is_blank(*p)) p++;
    while (end > p && is_blank(end[-1])) end--;
    if (p == end) {
        l->blank++;
        return ONET_OK;
    }
    if (end - p >= 3 && *p == '=' && p[1] == ' ' && end[-1] == '=' && end[-2] == ' ') {
        l->headers++;
        return ONET_OK;
    }
    l->at[0] = 0;
    for (l->words = 0; l->words < l->most; l->words++) {
        while (p < end && is_blank(*p)) p++;
        if (p == end) break;
        const char *word = p;
        while (p < end && !is_blank(*p)) p++;
        onet_status status = add_word(l, l->words, word, (size_t)(p - word), err);
        if (status) return status;
    }
    if (l->words < l->least) {
        l->shorter++;
        return ONET_OK;
    }
    l->kept++;
    *kept = true;
    return ONET_OK;
}

onet_status lines_next(lines *l, bool *more, onet_error *err) {
    char *line;
    size_t length;
    onet_status status;
    *more = false;
    while (!(status = input_line(l->in, &line, &length, &l->number, err)) && line) {
        l->read++;
        status = take_words(l, line, line + length, more, err);
        if (status || *more) return status;
    }
    return status;
}

void lines_close(lines *l) {
    input_close(l->in);
    free(l->text);
    free(l->at);
    *l = (lines){.in = NULL};
}
