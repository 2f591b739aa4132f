/* Defines a record: one set as it was read from a file, with what is needed to write it back in its own
 * format. */
#ifndef DATA_RECORD_H
#define DATA_RECORD_H

#include <stdbool.h>

#include "engine/base/number.h"
#include "engine/data/lost.h"
#include "ordernet_io.h"

typedef struct csv_table csv_table;

/* One key of a JSON object and its value. */
typedef struct member {
    size_t name, name_end;   /* keys[name] .. keys[name_end - 1]: the key without escapes */
    size_t value, value_end; /* text[value] .. text[value_end - 1] */
} member;

struct onet_record {
    int n, width;           /* items; features per item, 0 for words */
    double *items;          /* [n, width], NaN where missing; NULL: the items are words */
    bool single;            /* the items came as float32 */
    char **word;            /* [n], UTF-8, as the user wrote them; NULL: the items are features */
    int32_t *order;         /* [n]: the item at place t, then the context items; NULL: not known */
    uint8_t *context;       /* [n]: 1: the item is seen but never placed; NULL: every item is placed */
    int relations;          /* numbers for each ordered pair of items; 0: none */
    const float *pairs;     /* [n, n, relations] */
    const char *pair_names; /* of the relations, one per line; NULL: they have none */
    const onet_lost *lost;  /* hashes of what the features do not distinguish (lost.h), from row lost_from on;
                             * NULL: nothing */
    size_t lost_from;
    onet_constraint *constraints; /* [constraint_count], items counted within the set */
    size_t constraint_count;
    long line; /* of its file, from 1; the number of the set in files that have no lines */

    /* The rest is for src/engine/data alone. */
    onet_format format;
    char *text; /* JSONL, POINTER, TEXT: the line as it stood; NUL-terminated */
    size_t length;
    member *member; /* JSONL: every key */
    int members;
    char *keys;                /* JSONL: the keys without escapes */
    size_t items_end;          /* POINTER: length of the part before `output` */
    bool closed;               /* POINTER: the order came back to its first item */
    onet_columns *own_columns; /* JSONL: columns taken from this set when the options give none; owned by the
                                * record */
    struct jsonl_texts
        *texts; /* JSONL: takes the texts of features; the caller's. NULL: every feature is a number */
    struct unknown_texts *unknown; /* JSONL: notes the texts of categories; the reader's. May be NULL */
    bool found_here;               /* JSONL: the columns are those of the first set, not of a model */
    const onet_columns *columns;   /* of its features; owned by the reader, table or sets; NULL: no names */
    const csv_table *table;        /* CSV: owned by the reader */
    size_t set;                    /* CSV: number of the set in the table */
    /* Memory, kept for the next set read into the same record. */
    double *item_store;
    lost_rows lost_store;
    float *pair_store;
    float *float_store; /* what onet_record_items returned last */
    int32_t *order_store;
    int32_t *index_store;  /* JSONL: the list `context` */
    int32_t *prefix_store; /* JSONL: the list `prefix` */
    uint8_t *context_store;
    onet_constraint *constraint_store;
    char **word_store;
    char *letters; /* the words, each with its end mark */
    char *value;   /* what onet_record_text or onet_record_item_text returned last */
    size_t text_room, item_room, order_room, word_room, letter_room, member_room, key_room, index_room,
        prefix_room, pair_room, context_room, constraint_room, value_room, float_room;
};
typedef struct onet_record record;

/* A record of zeros is empty. */
void record_free(record *r);

/* Copies a line of text into the record, to be parsed, and clears the set that was there. */
onet_status record_line(record *r, onet_format format, const char *text, size_t length, long line,
                        onet_error *err);

/* Returns m, the number of items that are placed. */
int record_placed(const record *r);

/* Takes the `length` indices in order_store as the record's order, once n and the context are known: each
 * placed item of first .. first + n - 1 must appear once. field is what the format calls them. */
onet_status record_take_order(record *r, size_t length, int first, const char *field, const char *name,
                              onet_error *err);

/* Takes the `length` indices in index_store as the record's context items, once n is known. */
onet_status record_take_context(record *r, size_t length, const char *name, onet_error *err);

/* Writes number i of items [n, width] as the shortest text that reads back as the same value; returns its
 * length. */
size_t record_number(const record *r, size_t i, char text[NUMBER_TEXT]);

/* Returns ONET_BAD for a line that is not UTF-8; the message names the byte. */
onet_status record_check_text(const char *text, size_t length, const char *name, long line, onet_error *err);

#endif
