/* Declares the internal functions for files of sets: a reader that returns the sets one by one or a whole
 * file (reader.c), conversions between records and sets (sets_io.c), and the options of writers (writer.c).
 * Used by the engine, its tests and the fuzz targets. */
#ifndef DATA_SETS_IO_H
#define DATA_SETS_IO_H

#include "engine/base/file.h"
#include "engine/data/format.h"
#include "engine/data/record.h"

/* ---- Readers (reader.c) ------------------------------------------------------------------------------ */

/* Reads the sets of a file one by one, whatever its format: what ordernet.h does not show of a reader. */

typedef struct onet_reader reader;

/* Copies the caller's options, which may be NULL, to own, and opens the input: the callback in the options,
 * or the path. */
onet_status reader_input(input **in, const char *path, const onet_read_options *options,
                         onet_read_options *own, onet_error *err);
/* As onet_reader_open, from an input of which nothing was read yet, with options whose size was checked or
 * that are NULL. onet_reader_close closes the input, and so does a failure here. */
onet_status reader_start(reader **result, input *in, const onet_read_options *options, onet_error *err);

/* Reads all sets at once, if the format is read whole; *sets is NULL for other formats. To be called instead
 * of onet_reader_next. */
onet_status reader_take(reader *in, onet_sets **sets, onet_error *err);
const data_format *reader_format(const reader *in);
/* Returns the vocabulary of a safetensors file of words, after the first onet_reader_next; else NULL. */
const onet_words *reader_words(const reader *in);

/* From now on sets with missing values are returned too, with NaN for these, even if the options refuse them.
 */
void reader_allow_missing(reader *in);

/* Sets the longest line (or row of CSV) that is read, in bytes; 256 MiB by default. */
void reader_limit(reader *in, size_t bytes);

/* Adds a record to sets; words become rows of the vocabulary, which may be NULL if the items are numbers.
 * Leaves sets->words, and file and line in front of the error message, to the caller. */
onet_status sets_append_record(onet_sets *sets, const record *r, const onet_words *words, onet_error *err);

/* Makes r set s, as if it was read in that format. Items, words and constraints are copied; order, context
 * and relations stay the sets'. */
onet_status sets_record(const onet_sets *sets, size_t s, onet_format format, record *r, onet_error *err);

typedef struct onet_writer writer;

/* Copies the caller's options to own, with defaults for fields that they lack, and checks them. */
onet_status writer_options(onet_write_options *own, const onet_write_options *given, onet_error *err);

#endif
