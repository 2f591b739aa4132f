/* Reads the sets of a file one by one, whatever its format. */
#ifndef DATA_READER_H
#define DATA_READER_H

#include "base/file.h"
#include "data/format.h"
#include "data/record.h"

typedef struct reader reader;

/* path "-" is standard input. Looks at the first bytes, and may wait for them, where neither the options nor
 * the name tell the format. options may be NULL and must live as long as the reader. */
onet_status reader_open(reader **result, const char *path, const onet_read_options *options, onet_error *err);
/* The same with an input of which nothing was taken yet; reader_close closes it, and so does a failure here.
 */
onet_status reader_start(reader **result, input *in, const onet_read_options *options, onet_error *err);

/* The next set, into a record that is all zero or was filled before; *end when there is none. Text formats
 * but CSV are read as they come; the others whole, at the first call. Sets of two widths, or of words and of
 * numbers, are ONET_BAD, and so is a file without sets. */
onet_status reader_next(reader *in, record *r, bool *end, onet_error *err);
/* All sets at once, held once, of a format that is read whole; *sets is NULL for the others. Instead of the
 * first reader_next. */
onet_status reader_take(reader *in, onet_sets **sets, onet_error *err);
onet_format reader_format(const reader *in);
const char *reader_name(const reader *in);
/* The vocabulary of a safetensors file of words, after the first reader_next; else NULL. */
const onet_words *reader_words(const reader *in);
/* True when reader_next would have to wait for a pipe or terminal, or will read a file whole: time to flush
 * one's answers. */
bool reader_waits(reader *in);
/* Of the decompressed file, once reader_next came to its end. */
void reader_sha256(reader *in, char hex[65]);
/* NULL is allowed. Records of a CSV file, npz or safetensors file are not to be used any more. */
void reader_close(reader *in);

/* The longest line (or row of CSV) that is taken, in bytes; 256 MiB unless told otherwise. */
void reader_limit(reader *in, size_t bytes);

#endif
