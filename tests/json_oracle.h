/* Tells what jansson says about a line of JSON Lines: the reference for tests and fuzz targets of the
 * project's own reader. */
#ifndef TESTS_JSON_ORACLE_H
#define TESTS_JSON_ORACLE_H

#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Returns 1 if the key `pairs` of a set of n items (0: of any number) holds valid relations, 0 if not, -1:
 * undecided; *n: the number of items that they are for. */
static inline int json_oracle_pairs(const json_t *pairs, size_t *n) {
    int result = 1;
    size_t rows = json_array_size(pairs), width = 0;
    if (!rows || (*n && *n != rows)) return 0;
    *n = rows;
    for (size_t i = 0; i < rows; i++) {
        const json_t *row = json_array_get(pairs, i);
        if (!json_is_array(row) || json_array_size(row) != rows) return 0;
        for (size_t j = 0; j < rows; j++) {
            const json_t *pair = json_array_get(row, j);
            bool list = json_is_array(pair), diagonal = i == j;
            size_t own = list ? json_array_size(pair) : 1;
            if (diagonal && (rows > 1 || !list)) continue;
            if (diagonal) return own && own <= 16; /* which tells how many relations there are */
            if (!width) width = own;
            if (!own || own > 16 || own != width) return 0;
            for (size_t r = 0; r < own; r++) {
                const json_t *x = list ? json_array_get(pair, r) : pair;
                double value = json_real_value(x);
                if (!json_is_real(x) || fabs(value) >= 0x1.ffffffp127) return 0;
                if (fabs(value) >= 0x1p53) /* whole numbers that double rounds are refused */
                    result = -1;
                else if (value == floor(value) && (double)(float)value != value)
                    return 0;
            }
        }
    }
    return result;
}

/* Returns what jsonl_parse must find in a line, according to jansson: 1 a set, 0 not a set, -1 undecided. */
static inline int json_oracle(const char *line, size_t length, json_t **set) {
    json_error_t error;
    *set = NULL;
    if (memchr(line, 0, length)) return 0; /* no JSON text has a NUL; jansson takes one behind a number */
    *set = json_loadb(line, length, JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL, &error);
    if (!*set) {
        /* Our reader does not check numbers that it passes through, and lets nested objects have a key twice.
         */
        enum json_error_code code = json_error_code(&error);
        if (memmem(line, length, "NaN", 3)) return -1;      /* a missing value, which is no JSON */
        if (memmem(line, length, "Infinity", 8)) return -1; /* ignored on the diagonal of pairs */
        return code == json_error_numeric_overflow || code == json_error_duplicate_key ? -1 : 0;
    }
    json_t *items = json_object_get(*set, "items"), *first = json_array_get(items, 0);
    json_t *pairs = json_object_get(*set, "pairs");
    size_t width = json_array_size(first), n = json_array_size(items);
    if (json_is_null(pairs)) pairs = NULL;
    if (items ? !n : !pairs) return 0;
    if (json_is_object(first)) return -1; /* tests/test_columns.c */
    for (size_t i = 0; i < json_array_size(items); i++) {
        json_t *item = json_array_get(items, i);
        bool number = json_is_real(item) || json_is_null(item); /* null: a missing value */
        if (number && (json_is_real(first) || json_is_null(first))) {
            if (json_is_real(item) && fabs(json_real_value(item)) >= 0x1.ffffffp127) return 0;
            if (json_is_real(item) && fabs(json_real_value(item)) >= 0x1p53)
                return -1; /* whole numbers that double rounds are refused */
            continue;
        }
        if (json_typeof(item) != json_typeof(first)) return 0;
        if (json_is_string(item) && !json_string_length(item)) return 0;
        if (!json_is_array(item) && !json_is_string(item)) return 0;
        if (json_is_array(item) && (!width || json_array_size(item) != width)) return 0;
        for (size_t j = 0; j < json_array_size(item); j++)
            if (!json_is_null(json_array_get(item, j)) &&
                (!json_is_real(json_array_get(item, j)) ||
                 fabs(json_real_value(json_array_get(item, j))) >= 0x1.ffffffp127))
                return 0;
            else if (fabs(json_real_value(json_array_get(item, j))) >= 0x1p53)
                return -1;
    }
    int related = pairs ? json_oracle_pairs(pairs, &n) : 1;
    if (related < 1) return related;
    json_t *order = json_object_get(*set, "order"), *context = json_object_get(*set, "context");
    if (json_is_null(order)) order = NULL;
    if (json_is_null(context)) context = NULL;
    if (order && !json_is_array(order)) return 0;
    if (context && !json_is_array(context)) return 0;
    if (order && json_array_size(order) + json_array_size(context) != n) return 0;
    if (json_array_size(context) >= n) return 0;
    /* tests/test_constraints.c has an oracle of its own for these. */
    static const char *const constraint[] = {"first", "last", "prefix", "before", "next"};
    int result = 1;
    for (size_t k = 0; k < sizeof constraint / sizeof *constraint; k++)
        if (json_object_get(*set, constraint[k])) result = -1;
    if (!order && !context) return result;
    /* JSON_DECODE_INT_AS_REAL above hides which numbers are whole: decode again without it. */
    json_t *again = json_loadb(line, length, 0, &error);
    if (!again || n > 64) {
        json_decref(again);
        return -1;
    }
    uint64_t seen = 0;
    for (size_t t = 0; t < json_array_size(context) + json_array_size(order); t++) {
        size_t seen_only = json_array_size(context);
        json_t *index = t < seen_only ? json_array_get(json_object_get(again, "context"), t)
                                      : json_array_get(json_object_get(again, "order"), t - seen_only);
        json_int_t i = json_is_integer(index) ? json_integer_value(index) : -1;
        if (i < 0 || i >= (json_int_t)n || seen >> i & 1) result = 0;
        if (result) seen |= (uint64_t)1 << i;
    }
    json_decref(again);
    return result;
}

#endif
