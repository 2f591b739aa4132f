/* A growing text buffer with functions that append bytes, formatted text and JSON values; the server's
 * answers are written into it. */
#ifndef APP_TEXT_H
#define APP_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zeroed: empty. Free data with free(). Once memory runs out, `failed` stays set and nothing more is added.
 */
typedef struct text {
    char *data; /* [length], not ended by NUL */
    size_t length, room;
    bool failed;
} text;

void text_add(text *t, const char *bytes, size_t length);
void text_put(text *t, const char *string);
void text_printf(text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Appends a JSON string. Bytes that are not UTF-8 become U+FFFD; control characters and those that mean
 * something in HTML are escaped, so that no reader takes it for markup. */
void text_string(text *t, const char *string, size_t length);
/* Appends [1,0,2]. */
void text_order(text *t, const int32_t *order, size_t length);
/* Appends a number as the command writes a log-probability; null if it is not finite. */
void text_double(text *t, double value);
void text_floats(text *t, const float *value, size_t length);

#endif
