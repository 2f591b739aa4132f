/* The public C API for files and sets: reads and writes sets with all options or one by one, builds, joins
 * and splits sets in memory, and returns what a model file holds. onet_sets_read, onet_sets_write,
 * onet_model_load and onet_model_save of ordernet.h are enough for most programs.
 *
 *   onet_columns   the names of the features, and the values that replace missing ones
 *   onet_reader    the sets of a file or pipe, one onet_record at a time
 *   onet_writer    writes them, with their predicted orders
 */
#ifndef ORDERNET_IO_H
#define ORDERNET_IO_H

#include "ordernet.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Options ----------------------------------------------------------------------------------------- */

/* What is done with a missing value. */
typedef enum onet_missing {
    ONET_MISSING_ERROR = 0, /* the data are refused */
    ONET_MISSING_MEAN,      /* it gets the mean of the training data */
    ONET_MISSING_INDICATOR  /* the mean too; and for each feature that lacks a value in the training data one
                             * more, after all features, that is 1 where the value is missing and else 0 */
} onet_missing;

struct onet_read_options {
    size_t size; /* sizeof(onet_read_options) */
    onet_format format;
    const char *set_column;  /* CSV; NULL: "set" */
    const char *rank_column; /* CSV; NULL: "rank" */
    const char *features;    /* comma-separated names, in double quotes if they have commas; NULL: all numeric
                              * columns, and those of text that docs/formats.md says become categories */
    int width;               /* Pointer Network text: features per item; 0: 2 */
    const onet_words *words; /* the vocabulary that turns words into items; NULL: items must be numbers */
    /* Reads the bytes instead of the file at path, which then only names them: writes at most `size` of them
     * to buffer and returns how many, 0 at the end, -1 on failure. NULL: the file is read. */
    ptrdiff_t (*bytes)(void *context, void *buffer, size_t size);
    void *context;
    /* The columns of a model (onet_model_columns) or of other sets: features are taken by these names, in
     * this order, from CSV and from JSON with keys. A file without one of them is refused; its other columns
     * are passed through. set_column, rank_column and features override them. Formats without names go by
     * position. NULL: as the file has them. */
    const onet_columns *columns;
    /* What is done with missing values (an empty field, NA, null, NaN), unless `columns` says so. */
    onet_missing missing;
    int one_set;   /* CSV: a file without the set column is one set, as if set_column were "" */
    int delimiter; /* CSV: between two fields; 0: a tab where the name or the header tells, else a comma */
    int mixed;     /* onet_reader_next: items may have one width in one set and another in the next */
    const char *group_column; /* CSV: has the group of a set (onet_record_text), not a feature; NULL: none */
    /* CSV: a second file, with the relations between the items: a row for each ordered pair, with the set
     * column, `from` and `to`, and a column for each relation. NULL: none. */
    const char *pairs;
    /* CSV: the column with the items' names, which `pairs` uses; not a feature. "": none, `pairs` has indices
     * from 0 in each set. NULL: `name` where there is one, else as "". */
    const char *name_column;
    /* The relations of a model (onet_model_relations), or of other sets: columns of `pairs` are taken by
     * these names. NULL: all of them. */
    const char *relations;
    /* What replaces a missing relation (onet_model_relation_fill), one number for each of `relations`; NULL:
     * as `missing` says, where `relations` is NULL. */
    const float *relation_fill;
};

/* All zero except `size`, which suits most files. The strings and objects that options point to must stay
 * valid during the call, for a reader as long as it is open. */
ONET_API void onet_read_defaults(onet_read_options *options, size_t size);

typedef struct onet_write_options {
    size_t size;             /* sizeof(onet_write_options) */
    onet_format format;      /* AUTO: that of the path's name, else of each input */
    const char *set_column;  /* CSV; NULL: "set" */
    const char *rank_column; /* CSV; NULL: "rank" */
    const onet_words *words; /* safetensors: the vocabulary of items that are words; NULL: the input's own */
    /* What an answer adds to a set. */
    int logprob;   /* CSV: a column for the log-probability; JSON Lines always has it */
    int steps;     /* the probability of each step */
    int top;       /* more than 1: that many orders */
    int score;     /* the answers are the sets' own orders: only logprob and step_logprob are added */
    int delimiter; /* CSV: between two fields; 0: a tab where the name ends in .tsv, a comma from .tsv to
                      .csv, else as the sets came */
    int errors;    /* 1: onet_writer_put_error will be called; only for JSON Lines */
    /* How the sets were made, in UTF-8, such as a command; NULL: nothing is said. JSON Lines keeps it as the
     * key `made` of the first set, safetensors in its metadata; other formats have no place for it. */
    const char *made;
} onet_write_options;

/* All zero except `size`, which suits most files. */
ONET_API void onet_write_defaults(onet_write_options *options, size_t size);

ONET_API const onet_choice *onet_formats(void); /* onet_format */
/* The format by the ending of a name, .jsonl, .csv, ...; ONET_USAGE and ONET_FORMAT_AUTO for other endings.
 */
ONET_API onet_status onet_format_of_path(const char *path, onet_format *format, onet_error *err);
/* Copies set after set from one file to another; "-" is standard input or output. Both options may be NULL.
 * What the user wrote besides the sets (other keys, columns, digits) is kept where the format can hold it. */
ONET_API onet_status onet_sets_convert(const char *from, const char *to, const onet_read_options *reading,
                                       const onet_write_options *writing, onet_error *err);

/* ---- Columns ----------------------------------------------------------------------------------------- */

/* The names of the features, where they come from a table or from objects of JSON; the columns with the set
 * and the rank of a row; and the values that replace missing ones. Sets that are read from CSV have columns,
 * and a model that is trained on them keeps a copy. NULL has no features and no names for the functions that
 * ask. */

/* The columns of a table that are features: names [width], each once, in UTF-8, copied; NULL: without names.
 * set, rank: the names of those two columns, or NULL. */
ONET_API onet_status onet_columns_new(onet_columns **columns, int width, const char *const *names,
                                      const char *set, const char *rank, onet_error *err);
ONET_API onet_status onet_columns_copy(onet_columns **copy, const onet_columns *columns, onet_error *err);
ONET_API void onet_columns_free(onet_columns *columns);
/* Features of an item in the user's data. */
ONET_API int onet_columns_width(const onet_columns *columns);
/* Features of an item in sets and for the net: width, and one more for each indicator of missing values. */
ONET_API int onet_columns_inputs(const onet_columns *columns);
/* The name of feature j < onet_columns_inputs; "missing NAME" for an indicator. NULL: not known. */
ONET_API const char *onet_columns_name(const onet_columns *columns, int feature);
/* How many features, from this one on, belong to the same column of text (colour=blue, colour=red, ...); 1
 * for a column of numbers. */
ONET_API int onet_columns_span(const onet_columns *columns, int feature);
/* What the values of a feature were in the data: "number", "date", "truth value" or, of a column of text,
 * "category". */
ONET_API const char *onet_columns_kind(const onet_columns *columns, int feature);
/* Sets what the features were in the data: a letter for each of them, - for a number, d for a date in seconds
 * since 1970, t for a truth value. Data for a model are refused where they have another kind. */
ONET_API onet_status onet_columns_set_kinds(onet_columns *columns, const char *kinds, onet_error *err);
/* The column that names the set of a row, and that of its rank; NULL: not known. */
ONET_API const char *onet_columns_set(const onet_columns *columns);
ONET_API const char *onet_columns_rank(const onet_columns *columns);
/* The columns of text that were not used, joined by ", ", where sets were read from a table without
 * read_options.features; naming them there makes them features. Without those of onet_columns_misspelt.
 * NULL: none. */
ONET_API const char *onet_columns_unused(const onet_columns *columns);
/* The columns that were not used since their texts are numbers, dates or times spelt otherwise (48,85, 5% or
 * 31.12.2024): a sentence each with the first such value, its place, and what to do, ended by a newline.
 * NULL: none. */
ONET_API const char *onet_columns_misspelt(const onet_columns *columns);
/* Of sets that were read with a model's columns: a sentence, ended by a newline, for each category none of
 * whose values is a feature of the model. NULL: none. */
ONET_API const char *onet_columns_unknown(const onet_columns *columns);
ONET_API onet_missing onet_columns_missing(const onet_columns *columns);
/* The number that a text is as a feature, as files are read: 1 and 0 for true and false in any case, for a
 * date of ISO 8601 the seconds since 1970. Returns 0 for any other text, else 1. */
ONET_API int onet_text_value(const char *text, double *value);
/* How to write a number, date or time that is spelt otherwise than files are read (48,85, 5%, 1 000, 10:30),
 * to complete an error message. Lives as long as the program. NULL for any other text. */
ONET_API const char *onet_text_spelling(const char *text);
ONET_API const onet_choice *onet_missings(void); /* onet_missing */

/* Replaces the columns by a copy of `columns`, whose inputs must equal the sets' width; NULL removes them.
 * For sets that the library made. */
ONET_API onet_status onet_sets_set_columns(onet_sets *sets, const onet_columns *columns, onet_error *err);
/* A copy of sets with their missing values (NaN) filled in. columns: those of the model that will order the
 * sets (onet_model_columns), whose means are taken; NULL, for training sets: as `missing` says, with the
 * means of the sets themselves, which the copy's columns keep. ONET_BAD where a value is missing and none
 * may be. */
ONET_API onet_status onet_sets_fill(onet_sets **filled, const onet_sets *sets, const onet_columns *columns,
                                    onet_missing missing, onet_error *err);

/* Values of the data that the features do not tell apart: texts of a category that have no feature of their
 * own (unseen in training, rare or missing), dates finer than a double, unknown words. Column k belongs to
 * the features feature[k] .. feature[k] + span[k] - 1. hash[i * width + k], of item i counted over all sets,
 * is 0 where the features tell the value, 1 where it is missing, else a hash of it. Items whose hashes differ
 * are different in every measure, and in the relation `equal`; the net does not see them. */
struct onet_lost {
    int width;         /* columns: 1 or more */
    int *feature;      /* [width]: of words 0 */
    int *span;         /* [width] */
    uint64_t *hash;    /* [start[count], width] */
    void *reserved[2]; /* zero */
};

/* ---- Sets, one by one -------------------------------------------------------------------------------- */

/* A record is one set as it was read, with what it takes to write it back in its own format: the user's other
 * keys, spacing and digits. What its functions give stays valid until the record is read into again or freed,
 * or its reader is closed. */
typedef struct onet_record onet_record;
ONET_API onet_status onet_record_new(onet_record **record, onet_error *err);
ONET_API void onet_record_free(onet_record *record);
ONET_API int onet_record_size(const onet_record *record);   /* n: items */
ONET_API int onet_record_placed(const onet_record *record); /* those that are not context */
/* Features per item; 0: the items are words, or have relations alone. */
ONET_API int onet_record_width(const onet_record *record);
ONET_API int onet_record_relations(const onet_record *record); /* numbers for each ordered pair of items */
/* The relations' names, one per line; NULL: they have none, as in JSON Lines. */
ONET_API const char *onet_record_relation_names(const onet_record *record);
/* Features [n, width] as the file has them, in double; NaN where a value is missing; NULL: words. */
ONET_API const double *onet_record_values(const onet_record *record);
/* The features as float32; NULL for words, and where memory is short. */
ONET_API const float *onet_record_items(const onet_record *record);
ONET_API const char *onet_record_word(const onet_record *record,
                                      int item);                      /* as the user wrote it; or NULL */
ONET_API const int32_t *onet_record_order(const onet_record *record); /* [n]; NULL: not known */
/* Its line in the file, from 1, or its number in a file without lines. */
ONET_API long onet_record_line(const onet_record *record);
/* The line of an item: its own in CSV, that of the set in other formats. */
ONET_API long onet_record_item_line(const onet_record *record, int item);
ONET_API onet_format onet_record_format(const onet_record *record);
/* The value of the set under a key (JSON Lines) or in a column (CSV, where all rows of the set must agree):
 * text without quotes and escapes, other values as they stand. *text is NULL if it is missing or null; it is
 * valid until the next call. */
ONET_API onet_status onet_record_text(onet_record *record, const char *key, const char **text,
                                      onet_error *err);
/* The value of one item: its field in a column of CSV; in JSON Lines the value under its own key, where
 * items are objects, or its element of an array with one value per item under a key of the set. *text as
 * above. */
ONET_API onet_status onet_record_item_text(onet_record *record, const char *key, int item, const char **text,
                                           onet_error *err);
/* The name of feature j: its column in CSV, its key in JSON; NULL where it has none. */
ONET_API const char *onet_record_feature(const onet_record *record, int feature);

/* A reader gives the sets of a file one by one. JSON Lines, Pointer Network text and lines of words are read
 * as they come through a pipe; the other formats whole, at the first onet_reader_next. */
typedef struct onet_reader onet_reader;
/* path "-" is standard input. Where neither the options nor the name tell the format, waits for the first
 * bytes. The strings and words that the options point to must live as long as the reader. */
ONET_API onet_status onet_reader_open(onet_reader **reader, const char *path,
                                      const onet_read_options *options, onet_error *err);
/* Reads the next set into record; after the last, *end is 1 and record as it was. ONET_BAD, with file and
 * line, for a broken set, for sets of two widths, of words and of numbers, and for a file without sets. The
 * next call then goes on with the set after the bad one, where a line is a set; else it gives *end 1. */
ONET_API onet_status onet_reader_next(onet_reader *reader, onet_record *record, int *end, onet_error *err);
/* The path, or "standard input"; valid until the reader is closed. */
ONET_API const char *onet_reader_name(const onet_reader *reader);
/* 1: onet_reader_next would wait for a pipe or terminal, or read a file whole, so flush answers; else 0. */
ONET_API int onet_reader_waits(onet_reader *reader);
/* SHA-256 of the decompressed file in hex, once onet_reader_next gave *end 1. */
ONET_API void onet_reader_hash(onet_reader *reader, char hex[65]);
/* What onet_columns_unknown would say of the sets read so far; valid until the next call. NULL: nothing. */
ONET_API const char *onet_reader_unknown(onet_reader *reader);
ONET_API void onet_reader_close(onet_reader *reader);

/* A writer takes sets, or answers to them, one by one. For each input: begin, put for each set, end. */
typedef struct onet_writer onet_writer;
/* path "-" is standard output. The file is there whole after onet_writer_commit, or not at all. What the
 * options point to must stay valid as long as the writer. */
ONET_API onet_status onet_writer_open(onet_writer **writer, const char *path,
                                      const onet_write_options *options, onet_error *err);
/* Begins an input: the records to come are of this reader, which must stay open until onet_writer_end; NULL
 * for records made by onet_sets_record. ONET_USAGE where the format cannot hold what the options ask for. */
ONET_API onet_status onet_writer_begin(onet_writer *writer, const onet_reader *reader, onet_error *err);
/* Writes a set with its answer or, answer being NULL, with the order that it has. Sets that came from CSV
 * and go to CSV are written by onet_writer_end, in the order of the rows. */
ONET_API onet_status onet_writer_put(onet_writer *writer, const onet_record *record,
                                     const onet_answer *answer, onet_error *err);
/* Writes, in place of the answer to a set, what was wrong with it: {"line": 7, "error": "..."}, with the
 * set's `id` where it has one. record: as onet_reader_next left it when it failed. Needs options->errors. */
ONET_API onet_status onet_writer_put_error(onet_writer *writer, const onet_record *record, const char *error,
                                           onet_error *err);
/* Ends the input of onet_writer_begin; another may begin. */
ONET_API onet_status onet_writer_end(onet_writer *writer, onet_error *err);
/* Flushes what was put so far to the file or pipe. */
ONET_API onet_status onet_writer_flush(onet_writer *writer, onet_error *err);
/* Puts the file in its place. Frees the writer, whatever is returned. */
ONET_API onet_status onet_writer_commit(onet_writer *writer, onet_error *err);
/* Drops what was written and frees the writer. NULL is allowed, as for every free and close. */
ONET_API void onet_writer_abort(onet_writer *writer);

/* Makes sets without any, to which the functions below add one by one: items of `width` features; 0: as the
 * first set has. Free them with onet_sets_free. docs/api.md has an example. */
ONET_API onet_status onet_sets_new(onet_sets **sets, int width, onet_error *err);
/* Appends a set to sets that the library made: copies items [n, width] and order [n]; order NULL: not known,
 * as then for all sets. ONET_BAD, with the sets as they were, for a set that does not fit the others. */
ONET_API onet_status onet_sets_append(onet_sets *sets, int n, int width, const float *items,
                                      const int32_t *order, onet_error *err);
/* Appends a set of doubles [n, width]: onet_sets.exact keeps the values where float32 rounds one. */
ONET_API onet_status onet_sets_append_doubles(onet_sets *sets, int n, int width, const double *values,
                                              const int32_t *order, onet_error *err);
/* Sets sets->words to a vocabulary that stays its owner's, such as a model's, and must outlive the sets;
 * frees the one that they own. One that the caller assigns to sets->words instead is freed with the sets.
 * words NULL: none. For sets that the library made. */
ONET_API void onet_sets_lend_words(onet_sets *sets, const onet_words *words);
/* Appends a set of words: rows [n] of sets->words, which must be set before (lent or assigned; else
 * ONET_USAGE); order as in onet_sets_append. */
ONET_API onet_status onet_sets_append_words(onet_sets *sets, int n, const int32_t *rows, const int32_t *order,
                                            onet_error *err);
/* Appends the set of a record, with its relations, context items and constraints; with_order 0: without its
 * order. words: the vocabulary in which the record's words are looked up, which the caller puts into
 * sets->words too (lent or assigned); NULL: items must be numbers. */
ONET_API onet_status onet_sets_append_record(onet_sets *sets, const onet_record *record,
                                             const onet_words *words, int with_order, onet_error *err);
/* Copies the sets s with take[s] != 0, in their order; at least one must be taken. */
ONET_API onet_status onet_sets_pick(onet_sets **picked, const onet_sets *sets, const uint8_t *take,
                                    onet_error *err);
/* Joins the sets of parts [count], at least one, one part after the other, into a copy. All have items of
 * one width, or words of one vocabulary, which the first part lends: its vocabulary must outlive the joined
 * sets. */
ONET_API onet_status onet_sets_join(onet_sets **joined, const onet_sets *const *parts, size_t count,
                                    onet_error *err);
/* 1: ranks (the place of each item) seem to have been given as orders: over many sets the features correlate
 * with the inverse of the orders, and not with the orders. Else 0, and for words. */
ONET_API int onet_sets_look_like_ranks(const onet_sets *sets);
/* Divides the sets at random, by the seed, into `parts` parts of nearly equal size: writes the part of each
 * set, from 0, to part [count]. Sets with the same items, in any order, go to one part, so that no model is
 * measured on sets that it has seen; so do the sets of one group, such as a document or a day. group: NULL,
 * or the name of each set's group [count], NULL for a set without one. ONET_USAGE if that leaves fewer than
 * `parts` units to divide. */
ONET_API onet_status onet_sets_divide(size_t *part, const onet_sets *sets, const char *const *group,
                                      int parts, uint64_t seed, onet_error *err);
/* Holds out about `wanted` sets, 1 to count - 1, for validation, and leaves at least one for training: take
 * [count] is 1 for those held out, else 0. Equal sets and groups stay together as above; ONET_USAGE if all
 * must. */
ONET_API onet_status onet_sets_hold_out(uint8_t *take, const onet_sets *sets, const char *const *group,
                                        size_t wanted, uint64_t seed, onet_error *err);
/* Makes `record` set s, for a writer. Valid as long as the sets and until the record is read into again. */
ONET_API onet_status onet_sets_record(const onet_sets *sets, size_t s, onet_record *record, onet_error *err);

/* ---- Model files ------------------------------------------------------------------------------------- */

/* Writes the file of onet_model_save to memory: *bytes [*size], to be freed with onet_bytes_free. */
ONET_API onet_status onet_model_to_bytes(const onet_model *model, void **bytes, size_t *size,
                                         onet_error *err);
ONET_API void onet_bytes_free(void *bytes);
/* A new model from such bytes, which are not kept. */
ONET_API onet_status onet_model_from_bytes(onet_model **model, const void *bytes, size_t size,
                                           onet_error *err);
/* "ranker": a net without blocks (onet_ranker_train); else "network". Lives as long as the program. */
ONET_API const char *onet_model_kind(const onet_model *model);
/* How many parameters it has; trained_only 0: and numbers of norm statistics. */
ONET_API size_t onet_model_parameters(const onet_model *model, int trained_only);
/* SHA-256, in hex, of all that determines an answer: settings, parameters, standardisation, words. Not the
 * training record. */
ONET_API void onet_model_checksum(const onet_model *model, char hex[65]);
/* The columns of its training data (NULL: without names and missing values); the names of its relations, one
 * per line (NULL: none). */
ONET_API const onet_columns *onet_model_columns(const onet_model *model);
ONET_API const char *onet_model_relations(const onet_model *model);
/* How many relations its sets must have. The net has more if some are made from features. */
ONET_API int onet_model_given_relations(const onet_model *model);
/* The list of relations made from features (onet_train_options.relate); NULL: none. */
ONET_API const char *onet_model_relate(const onet_model *model);
/* What replaces a missing relation: a number for each relation; NULL: none may be missing. */
ONET_API const float *onet_model_relation_fill(const onet_model *model);
/* 1: the batch-norm statistics depend on the size of a set (ONET_STATISTICS_MEASURED with
 * ONET_BATCHES_ONE_SIZE); else 0. */
ONET_API int onet_model_sized(const onet_model *model);
/* A value of the training record: "data.sha256", "seed", "steps", "loss", ...; NULL: there is none under
 * this key. Valid until the record is changed. */
ONET_API const char *onet_model_record(const onet_model *model, const char *key);
/* Entry i of the training record, in the order in which they were set: returns its value and writes its key
 * to *key, unless that is NULL; NULL: there are no more. Both are valid until the record is changed. */
ONET_API const char *onet_model_record_at(const onet_model *model, size_t i, const char **key);
/* Sets an entry of the record, such as one of the program's own: key of 1 to 64 lower-case letters, digits,
 * '.', '_' and '-', value text that ends in 0; both are copied. onet_model_save writes it; the checksum
 * does not include it. ONET_USAGE for another key. */
ONET_API onet_status onet_model_set_record(onet_model *model, const char *key, const char *value,
                                           onet_error *err);

/* 1: rounds the weight matrices to half precision, two bytes per number in files instead of four; a matrix
 * with a weight beyond 65504 is not rounded. 0: files have four bytes again; rounded values stay rounded. A
 * loaded model is as its file was. */
ONET_API onet_status onet_model_set_half(onet_model *model, int half, onet_error *err);
ONET_API int onet_model_half(const onet_model *model); /* as last set or loaded */

typedef struct onet_tensor {
    char name[64];      /* as in docs/model.md */
    int dims, shape[3]; /* shape[k] for k < dims */
    int trained;        /* 0: statistics of a norm */
    int reserved[8];    /* zero */
} onet_tensor;
/* Tensor i of the model's file into *tensor; returns 0 when there are no more. */
ONET_API int onet_model_tensor(const onet_model *model, size_t i, onet_tensor *tensor);

#ifdef __cplusplus
}
#endif
#endif
