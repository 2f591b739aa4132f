/* Declares the table that a CSV file with a header is read into: an item per row, and columns that name its
 * set, give its rank, mark context items, or are features or text. Declares its reader and the steps of
 * reading: header, rows, choice of features, sets, relations; and the access to rows that are written back.
 * The rows of a set need not be adjacent, so a file is read whole. */
#ifndef DATA_CSV_H
#define DATA_CSV_H

#include "engine/base/file.h"
#include "engine/base/names.h"
#include "engine/data/columns.h"
#include "engine/data/record.h"
#include "engine/data/unknown.h"

/* ---- Rows and fields (csv_rows.c) -------------------------------------------------------------------- */

/* The rows and fields of separated text (RFC 4180): quotes, doubled quotes, line breaks within quotes, lines
 * that end in a newline with or without a carriage return. */

typedef struct csv_field {
    size_t at, length; /* in the row's text, quotes included */
} csv_field;

typedef struct csv_rows {
    input *in;
    char separator; /* between two fields */
    size_t limit;   /* bytes that a row may take */
    /* The row that was read last. */
    const char *text; /* without its line ending */
    size_t length;
    long line;        /* where it starts, from 1 */
    csv_field *field; /* [fields] */
    size_t fields;
    bool crlf; /* it ended in carriage return and newline */
    /* Memory. */
    char *buffer;
    size_t from, to, room, field_room;
    long lines; /* complete lines before buffer[from] */
    bool ended;
    char *plain; /* the field that csv_plain gave last */
    size_t plain_room;
} csv_rows;

/* Splits a row, text without its line ending. */
onet_status csv_split(csv_rows *rows, const char *text, size_t length, long line, onet_error *err);
/* Reads the next row that is not blank; *end: there is none. */
onet_status csv_next(csv_rows *rows, bool *end, onet_error *err);
/* Returns the value of a field: no quotes around it, no doubled quotes, and, where it was not quoted, no
 * space around it. Valid until the next call. */
onet_status csv_plain(csv_rows *rows, size_t field, const char **text, size_t *length, onet_error *err);
void csv_rows_free(csv_rows *rows);

typedef enum csv_kind {
    CSV_OPEN, /* a feature or text: what its values are is known at the end */
    CSV_FEATURE,
    CSV_TEXT,
    CSV_SET,
    CSV_RANK,
    CSV_CONTEXT,
    CSV_LOGPROB
} csv_kind;

typedef struct csv_column {
    char *name;
    csv_kind kind;
    int feature; /* CSV_FEATURE, CSV_OPEN: its place among the numbers of a row */
    /* CSV_OPEN: what its values were so far. */
    size_t numbers, texts;
    size_t quoted;       /* numbers in quotes */
    bool text_first;     /* the first value was a text */
    long text_line;      /* where the first text is */
    char text[48];       /* the beginning of it */
    unsigned seen;       /* CSV_FEATURE: SEEN_NUMBER, ... of columns.h: what its values were */
    size_t spelt;        /* texts that are numbers or dates spelt otherwise, as 48,85 or 5% (spelling.h) */
    long spelt_line;     /* where the first of them is */
    char spelt_text[48]; /* the beginning of it */
    size_t dashes;       /* texts that stand for a missing value, as - does */
    /* CSV_OPEN, CSV_FEATURE: values that are missing, and where the first is. */
    size_t missing;
    long missing_line;
    char missing_text[8]; /* what stands there */
    long rounded_line;    /* where the first whole number is that double rounds; 0: nowhere */
    char rounded[48];
    /* Columns of text that are features (csv_classes.h). */
    bool classes;  /* by the values that a model knows */
    bool words;    /* not all of those are numbers */
    bool category; /* by the values that are met here: */
    bool many;     /* more values than are kept */
    names values;
    size_t *code; /* [coded]: the value of each row; SIZE_MAX: missing */
    size_t coded, code_room;
} csv_column;

/* A feature that is 1 where the text of a column is a value, else 0. */
typedef struct csv_class {
    size_t column;
    int feature;
    char *value;
} csv_class;

/* Rows are kept in the order of the sets' first rows, those of a set together. */
struct csv_table {
    char *file;
    char separator;
    size_t rows, sets;
    int width;                      /* while reading: features, and columns that may become such */
    onet_columns *columns_of_items; /* their names, and those of the set and rank columns */
    const onet_columns *model;      /* of the model, where it has names; while reading */
    bool one_set;                   /* there is no column that tells sets apart */
    size_t *start;                  /* [sets + 1] */
    double *items;                  /* [rows, width]; NaN: the value is missing */
    lost_rows lost;   /* hashes of what the features do not distinguish (lost.h); while reading, by columns
                       * and rows of the file */
    int32_t *order;   /* [rows]: within each set, where it is known; else NULL */
    uint8_t *context; /* [rows]: 1: the item is seen but not placed; NULL: all are placed */
    bool *ordered;    /* [sets]: the set has ranks */
    long *line;       /* [rows], in the order of the file: where the row starts */
    size_t *row_of;   /* [rows]: the row's number in the file, from 0 */
    names names;      /* of the sets */
    csv_column *column;
    size_t columns;
    bool crlf;
    /* The text as it stood, where it was to be kept; row 0 is the header, row k + 1 the file's row k. */
    bool kept;
    char *text;
    size_t *text_at;  /* [rows + 2] */
    bool categories;  /* columns that are named as features may be of text */
    bool unasked;     /* so may others, since no features are named */
    csv_class *class; /* [classes] */
    unknown_texts unknown;
    size_t classes, class_room;
    size_t item_room, set_room, rank_room, flag_room, line_room, text_room, text_at_room;
    double *rank;   /* [rows], NaN where empty; while reading */
    char *flag;     /* [rows]: '0', '1', or 0 where empty: the column `context`; while reading */
    size_t *set_of; /* [rows]; while reading */
    /* Relations, from a second file (csv_pairs.c). */
    bool named;       /* items have names there: */
    size_t item_name; /* the column that has them */
    names item_names; /* row by row: the number of the set, as bytes, then the item's name */
    int relations;    /* 0: none */
    float *pairs;     /* [pair_at[sets], relations] */
    size_t *pair_at;  /* [sets + 1]: the pairs before those of a set */
    char *pair_names; /* one per line */
    float *pair_fill; /* [relations]: what replaced missing values; NULL: none may be missing */
};

/* Whether a file's name ends in .tsv, .gz and .xz left aside. */
bool csv_name_of_tabs(const char *name);
/* Finds the separator of a file: from the options, else from its name or its header. */
onet_status csv_separator(input *in, const onet_read_options *options, char *separator, onet_error *err);
/* Reads the rest of the input. keep: the text too, for csv_kept_row and to be written back. */
onet_status csv_read(csv_table **table, input *in, char separator, const onet_read_options *options,
                     bool keep, size_t limit, onet_error *err);
void csv_free(csv_table *table);
/* Notes the hash of a value of column k that the features do not distinguish (lost.h); row: of the file.
 * False when memory is short. */
bool csv_lose(csv_table *table, size_t k, size_t row, uint64_t hash);
/* Makes r set s; its memory stays the table's. */
void csv_record(const csv_table *table, size_t s, onet_format format, record *r);

/* Makes sets of the table; they take over its arrays. */
onet_status csv_take(onet_sets **sets, csv_table *table, onet_error *err);

/* ---- The steps of csv_read --------------------------------------------------------------------------- */

/* Finds what each column of the header is, as far as its name and the options tell (csv_header.c). */
onet_status csv_read_header(csv_table *table, csv_rows *rows, const onet_read_options *options,
                            onet_error *err);
/* Adds the next row to the table (csv_values.c). */
onet_status csv_read_row(csv_table *table, csv_rows *rows, onet_error *err);
/* After the last row: decides which columns are features, and removes the others from the items
 * (csv_features.c). */
onet_status csv_settle_features(csv_table *table, const onet_read_options *options, onet_error *err);
/* Puts the rows of each set together, and orders its items by rank (csv_sets.c). */
onet_status csv_gather_sets(csv_table *table, onet_error *err);

/* Removes white space around a name, in quotes or not. */
void csv_trim(const char **text, size_t *length);
/* Returns what to write in place of a number or date that is spelt otherwise (spelling.h), or of a dash for a
 * missing value; NULL for other texts. */
const char *csv_advice(const char *text);

/* ---- Relations (csv_pairs.c) ------------------------------------------------------------------------- */

/* Notes the name of the item in the row that is being read, whose set is known. */
onet_status csv_pairs_note(csv_table *table, long line, const char *name, size_t length, onet_error *err);
/* Reads the relations of the table, whose sets are known, from the file options->pairs. */
onet_status csv_pairs_read(csv_table *table, const onet_read_options *options, size_t limit, onet_error *err);

/* ---- Writing (csv_write.c) --------------------------------------------------------------------------- */

/* Splits the kept row of item k (as the table counts them) into its fields. */
onet_status csv_kept_row(const csv_table *table, size_t k, csv_rows *rows, onet_error *err);

#endif
