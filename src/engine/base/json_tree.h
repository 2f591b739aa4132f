/* Reads a JSON text whole and keeps its values as a tree, for readers that need them in another order than
 * they stand in the text; the others use the scanner (json.h), which allocates nothing. */
#ifndef BASE_JSON_TREE_H
#define BASE_JSON_TREE_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/base/json.h"

/* A value. Functions that take one accept NULL, a value that is not there. */
typedef struct json_value {
    char kind;            /* its first character: one of { [ " t f n, or 0 for any number */
    const char *at, *end; /* where it stands in the text */
    size_t count;         /* of items */
    union {
        double number;                  /* infinite if it is out of range */
        const char *text;               /* of a string: without quotes and escapes, ends in NUL */
        const struct json_value *items; /* [count]: the elements; of an object keys and values in turn */
        size_t first;                   /* while it is read: where they begin */
    };
} json_value;

typedef struct json_tree {
    json_value root;
    json_value *values; /* of all arrays and objects, the items of each one after the other */
    char *texts;        /* of all strings */
} json_tree;

/* Reads the value at s->at and nothing but white space behind it. If it returns false, nothing is to be freed
 * and s->expected says what should be at s->at; NULL: there is no memory. The tree points into the text. */
bool json_tree_read(json_tree *tree, json_scan *s);
void json_tree_free(json_tree *tree);

static inline bool json_is(const json_value *v, char kind) {
    return v && v->kind == kind;
}
/* How many elements an array has; 0: it is no array. */
static inline size_t json_elements(const json_value *array) {
    return json_is(array, '[') ? array->count : 0;
}
/* NULL: it is no array, or has not so many. */
static inline const json_value *json_element(const json_value *array, size_t i) {
    return i < json_elements(array) ? &array->items[i] : NULL;
}
/* The value of a key of an object, the last one if the key is there twice. */
const json_value *json_member(const json_value *object, const char *key);
/* Whether an object has the key more than once. */
bool json_is_twice(const json_value *object, const char *key);
/* The text of a string; NULL: it is no string. */
static inline const char *json_text(const json_value *v) {
    return json_is(v, '"') ? v->text : NULL;
}

#endif
