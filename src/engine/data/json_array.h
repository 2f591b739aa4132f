/* Reads sets from a JSON array, [{"items": ...}, ...], over any number of lines: returns one object after the
 * other, as if it were a line of JSON Lines. */
#ifndef DATA_JSON_ARRAY_H
#define DATA_JSON_ARRAY_H

#include <stdbool.h>

#include "engine/base/file.h"

typedef struct json_array {
    bool open, ended;
    char *copy; /* of the line at hand: the input's own may move between two sets */
    size_t copy_room;
    const char *at, *end; /* what is left of it */
    long line;            /* its number */
    /* The object that was read last: without the line breaks. */
    char *text;
    size_t length, room;
    long begins; /* the line that it begins in */
} json_array;

/* Whether a line begins an array of sets. */
bool json_array_begins(const char *line, size_t length);
/* Starts reading at that line, which is line `number` of the input. */
onet_status json_array_open(json_array *a, const char *line, size_t length, long number, onet_error *err);
/* Reads the next object into a->text; *end: there is none. limit: the most bytes of an object. */
onet_status json_array_next(json_array *a, input *in, size_t limit, bool *end, onet_error *err);
void json_array_free(json_array *a);

#endif
