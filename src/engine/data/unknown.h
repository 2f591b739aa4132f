/* Detects, in data that a model is to order, categories of which the model knows no value, and describes them
 * to the user: the values may be spelt otherwise or the column be another one, and the model then orders
 * without it. */
#ifndef DATA_UNKNOWN_H
#define DATA_UNKNOWN_H

#include "engine/data/columns.h"

typedef struct unknown_column {
    bool known; /* some value was one of the model's */
    int texts;  /* others, as far as they are kept: */
    char text[80];
} unknown_column;

/* A struct of zeros is empty. */
typedef struct unknown_texts {
    int width;
    unknown_column *column; /* [width]: at the first feature of each category; NULL: there are none */
} unknown_texts;

/* Whether the text is this value of a category. numbers: all values of the category are numbers, and compared
 * as such: 1 is 1.0. */
bool unknown_same(const char *value, const char *text, size_t length, bool numbers);
bool unknown_is_number(const char *text, size_t length);

/* Makes room for the features of a model, which may be NULL. */
onet_status unknown_start(unknown_texts *u, const onet_columns *model, onet_error *err);
/* Notes a text of the category that begins with this feature. u may be NULL or without room. */
void unknown_note(unknown_texts *u, int feature, bool known, const char *text, size_t length);
/* Adds to *said, which may be NULL, a message for each category without a known value, ended by a newline.
 * file: its name. */
onet_status unknown_say(const unknown_texts *u, const onet_columns *model, const char *file, char **said,
                        onet_error *err);
void unknown_free(unknown_texts *u);

#endif
