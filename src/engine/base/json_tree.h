/* Reads a JSON text whole and keeps its values as a tree, for readers that need them in another order than
 * they stand in the text; the others use the scanner (json.h), which allocates nothing. */
#ifndef BASE_JSON_TREE_H
#define BASE_JSON_TREE_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/base/json.h"

/* A value. Functions that take one accept NULL, a value that is not there. */
typedef struct json_value {
    char kind;            /* its first character: one of { [ " t f n, or '0' for any number */
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

/* Reads the value at s->at and nothing but white space behind it. On failure it returns false, frees what it
 * allocated, and s->expected says what should be at s->at; NULL: out of memory. The tree points into the
 * text. */
bool json_tree_read(json_tree *tree, json_scan *s);
void json_tree_free(json_tree *tree);

static inline bool json_is(const json_value *v, char kind) {
    return v && v->kind == kind;
}
/* Returns the number of elements of an array; 0 if it is not an array. */
static inline size_t json_elements(const json_value *array) {
    return json_is(array, '[') ? array->count : 0;
}
/* Returns element i; NULL if it is not an array, or has fewer elements. */
static inline const json_value *json_element(const json_value *array, size_t i) {
    return i < json_elements(array) ? &array->items[i] : NULL;
}
/* Returns the value of a key of an object (the last one if the key is there twice); NULL if there is none. */
const json_value *json_member(const json_value *object, const char *key);
/* Whether an object has the key more than once. */
bool json_is_twice(const json_value *object, const char *key);
/* Returns the text of a string; NULL if it is not a string. */
static inline const char *json_text(const json_value *v) {
    return json_is(v, '"') ? v->text : NULL;
}

#endif
