/* Reads the sets of a file one by one, whatever its format: what ordernet.h does not show of a reader. */
#ifndef DATA_READER_H
#define DATA_READER_H

#include "engine/base/file.h"
#include "engine/data/format.h"
#include "engine/data/record.h"

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

#endif
