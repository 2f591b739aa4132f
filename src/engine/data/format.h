/* Describes the data formats. Each is one struct, in the file that reads and writes it, and one line of
 * data_formats: its name, how to recognise it, what it can hold, how it is read and written. The options of
 * the commands, their help, and the checks come from there. Also declares the readers and writers of npz and
 * of binary sets (safetensors), and the parser of text. */
#ifndef DATA_FORMAT_H
#define DATA_FORMAT_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/base/file.h"
#include "engine/data/record.h"
#include "ordernet_io.h"

/* What a format may or may not hold. */
typedef enum format_part {
    HOLDS_NUMBERS = 1,
    HOLDS_WORDS = 2,
    HOLDS_CONTEXT = 4,     /* items that are seen and not placed */
    HOLDS_CONSTRAINTS = 8, /* of sets without an answer: an answer keeps to them */
    HOLDS_SIZES = 16,      /* sets of several sizes in one file */
    HOLDS_STEPS = 32,      /* of an answer: the probability of each step */
    HOLDS_SEVERAL = 64,    /* of an answer: several orders */
    HOLDS_SCORE = 128,     /* the log-probability of a set's own order */
    HOLDS_ERRORS = 256,    /* what was wrong with a set, in place of its answer */
    HOLDS_MISSING = 512,   /* features without a value */
    HOLDS_PAIRS = 1024     /* relations between items */
} format_part;

typedef struct data_format {
    onet_format format;
    const char *name;
    const char *help;       /* what it is, in a few words */
    const char *endings[4]; /* endings of file names, the default first */
    unsigned holds;         /* of format_part */
    /* Whether a file that begins so is of this format. data: its first line at least, or a good piece of it.
     */
    bool (*recognise)(const char *data, size_t size);

    /* Reading. Either a line is a set: parses the record's text; name is the file's. */
    onet_status (*parse)(record *r, const onet_read_options *options, const char *name, onet_error *err);
    /* Or a file is read whole. limit: bytes of its longest line. */
    onet_status (*read)(onet_sets **sets, input *in, const onet_read_options *options, size_t limit,
                        onet_error *err);
    /* Where its text is to be written back, as a table that keeps the text; NULL: it is not. */
    onet_status (*read_table)(csv_table **table, input *in, const onet_read_options *options, size_t limit,
                              onet_error *err);

    /* Writing. Either set after set; answer is NULL for a set that keeps its own order. *state is the
     * format's own, NULL at first, and freed by stop. end: at the end of each input. */
    onet_status (*put)(output *out, void **state, const record *r, const onet_answer *answer,
                       const onet_write_options *options, onet_error *err);
    onet_status (*end)(output *out, void *state, const onet_write_options *options, onet_error *err);
    void (*stop)(void *state);
    /* Or all sets at once. made: onet_write_options.made. */
    onet_status (*write)(const onet_sets *sets, const char *path, const char *made, onet_error *err);
} data_format;

/* Ends with NULL. A file is of the first format that recognises it. */
extern const data_format *const data_formats[];

/* Returns NULL for ONET_FORMAT_AUTO and for a number that is no format. */
const data_format *format_find(onet_format format);
/* Returns the format that a file's name tells, ignoring .gz and .xz at its end; NULL if it tells none. */
const data_format *format_of_name(const char *path);
/* Returns the format that a file's first bytes tell; NULL if they tell none. */
enum { FORMAT_BYTES = 4096 }; /* enough to tell it, or the separator of a table */
const data_format *format_of_bytes(const char *data, size_t size);
/* Sets *found to the format of a file to be written: `format`, or if that is AUTO the one of the path's
 * ending. ONET_USAGE if there is none. */
onet_status format_to_write(const char *path, onet_format format, const data_format **found, onet_error *err);

/* Returns ONET_OK if the format can hold all of `needs` (of format_part), else `otherwise`, with an error
 * message that names the formats that can. */
onet_status format_must_hold(const data_format *format, unsigned needs, onet_status otherwise,
                             onet_error *err);

/* Finds the first line of a text, or as much of it as is there, without a byte-order mark and blanks before
 * it; returns false if there is none, a NUL byte shows that it is not text, or it declares XML. *whole: its
 * end is there. */
bool format_first_line(const char *data, size_t size, const char **line, const char **end, bool *whole);

/* ---- npz.c ------------------------------------------------------------------------------------------- */

/* NumPy's .npz: a zip of items.npy [sets, n, width] and, where they are known, order.npy and context.npy
 * [sets, n]; sets of several sizes one behind the other, with sizes.npy [sets]. docs/formats.md has all that
 * is read. */

onet_status npz_read(onet_sets **sets, input *in, onet_error *err);
/* ONET_BAD for words and constraints, which the format cannot hold; `made` is ignored. */
onet_status npz_write(const onet_sets *sets, const char *path, const char *made, onet_error *err);

/* ---- sets_binary.c ----------------------------------------------------------------------------------- */

/* The project's own binary form of sets: a safetensors file with sizes (I32 [sets]), items (F32 [items,
 * width]) or word (I32 [items]) with words.text and words.vectors, and order (I32 [items]) where it is known.
 * Mixed sizes, no parsing of numbers. */

onet_status sets_binary_read(onet_sets **sets, input *in, onet_error *err);
/* made: how the sets were made, for the metadata; may be NULL. */
onet_status sets_binary_write(const onet_sets *sets, const char *path, const char *made, onet_error *err);

/* ---- text.c ------------------------------------------------------------------------------------------ */

/* Plain text: one bag of words per line, separated by spaces. In training data, the right order is that of
 * the line. */

onet_status text_parse(record *r, const char *name, onet_error *err);

#endif
