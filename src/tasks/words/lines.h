/* The lines of a text: the first words of each paragraph, lower-cased. WikiText's raw format and ready lines
 * of words are read alike: blank lines and headers (" = Title = ") are passed over, and lines with fewer
 * words than the least asked for. Words are what stands between blanks. */
#ifndef SENTENCES_LINES_H
#define SENTENCES_LINES_H

#include "engine/base/file.h"
#include "ordernet.h"

enum { LINES_MOST_WORDS = 1000 };

typedef struct lines {
    input *in;
    int least, most; /* words that a line must have, and words taken from it */
    int words;       /* of the line that lines_next came to */
    /* That line: word k is text[at[k]] .. text[at[k+1]-2], a blank after each. */
    char *text;
    size_t *at; /* [most + 1] */
    size_t room;
    long number; /* of the line in its file, from 1 */
    size_t read, blank, headers, shorter, kept;
} lines;

/* path may be .gz, .xz or "-". lines_close may be called in any case. */
onet_status lines_open(lines *l, const char *path, int least, int most, onet_error *err);
/* Goes on to the next line that is kept; *more is false at the end. */
onet_status lines_next(lines *l, bool *more, onet_error *err);
void lines_close(lines *l);

#endif
