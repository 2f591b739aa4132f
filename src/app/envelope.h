/* The body of a request, taken apart: the members of a JSON object and the elements of an array, as spans of
 * the text. What stands in a span is read by whoever knows its meaning: the sets by the library's reader. */
#ifndef APP_ENVELOPE_H
#define APP_ENVELOPE_H

#include <stdbool.h>

#include "ordernet.h"

typedef struct span {
    char *at;
    size_t length;
} span;

enum { ENVELOPE_MEMBERS = 64 };

typedef struct envelope {
    int count;
    span key[ENVELOPE_MEMBERS]; /* without its quotes, escapes as they stand */
    span value[ENVELOPE_MEMBERS];
} envelope;

/* The members of the object that the body is. ONET_BAD for a body that is none, for a key that is there
 * twice, and for more members than there is room for. A span may still hold broken JSON inside. */
onet_status envelope_members(envelope *e, char *body, size_t length, onet_error *err);
/* The value of a key; NULL: there is none. */
const span *envelope_find(const envelope *e, const char *key);

/* The elements of the array in `list` into elements [most]; ONET_BAD if it is none or empty, ONET_FAILED if
 * it has more. what: the key, for the sentence. */
onet_status envelope_elements(const span *list, span *elements, size_t most, size_t *count, const char *what,
                              onet_error *err);

#endif
