/* Declares the internal functions for files of sets: readers of one set at a time (reader.c), whole files and
 * records (sets_io.c), and options of writers (writer.c). Used by the engine, its tests and the fuzz targets.
 */
#ifndef DATA_SETS_IO_H
#define DATA_SETS_IO_H

#include "engine/base/file.h"
#include "engine/data/format.h"
#include "engine/data/record.h"

/* ---- Readers (reader.c) ------------------------------------------------------------------------------ */

/* Reads the sets of a file one by one, whatever its format: what ordernet.h does not show of a reader. */

typedef struct onet_reader reader;

/* Checks a caller's options, which may be NULL, into own, and opens what they read from. */
onet_status reader_input(input **in, const char *path, const onet_read_options *options,
                         onet_read_options *own, onet_error *err);
/* onet_reader_open from an input of which nothing was taken yet, with options whose size was checked or that
 * are NULL. onet_reader_close closes the input, and so does a failure here. */
onet_status reader_start(reader **result, input *in, const onet_read_options *options, onet_error *err);

/* All sets at once, held once, of a format that is read whole; *sets is NULL for the others. Instead of the
 * first onet_reader_next. */
onet_status reader_take(reader *in, onet_sets **sets, onet_error *err);
const data_format *reader_format(const reader *in);
/* The vocabulary of a safetensors file of words, after the first onet_reader_next; else NULL. */
const onet_words *reader_words(const reader *in);

/* Sets that lack values are given too, with NaN for these, where the options would refuse them. */
void reader_allow_missing(reader *in);

/* The longest line (or row of CSV) that is taken, in bytes; 256 MiB unless told otherwise. */
void reader_limit(reader *in, size_t bytes);

/* Adds a record to sets; words become rows of the vocabulary, which may be NULL where there are none. Leaves
 * sets->words, and file and line in front of the sentence, to the caller. */
onet_status sets_append_record(onet_sets *sets, const record *r, const onet_words *words, onet_error *err);

/* Set s as a record that came in that format; its items and order stay the sets'. */
onet_status sets_record(const onet_sets *sets, size_t s, onet_format format, record *r, onet_error *err);

typedef struct onet_writer writer;

/* The options as the caller gave them, with defaults for the others, checked. */
onet_status writer_options(onet_write_options *own, const onet_write_options *given, onet_error *err);

#endif
