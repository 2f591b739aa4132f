/* Reads the sets of a file one by one, whatever its format. */
#ifndef DATA_READER_H
#define DATA_READER_H

#include "data/record.h"

typedef struct reader reader;

/* path "-" is standard input. Looks at the first bytes, and may wait for them, where neither the options nor
 * the name tell the format. options may be NULL and must live as long as the reader. */
onet_status reader_open(reader **result, const char *path, const onet_read_options *options, onet_error *err);
/* The next set, into a record that is all zero or was filled before; *end when there is none. Text formats
 * but CSV are read as they come; the others whole, at the first call. Sets of two widths, or of words and of
 * numbers, are ONET_BAD, and so is a file without sets. */
onet_status reader_next(reader *in, record *r, bool *end, onet_error *err);
onet_format reader_format(const reader *in);
const char *reader_name(const reader *in);
/* True when reader_next would have to wait for a pipe or terminal: time to flush one's answers. */
bool reader_waits(reader *in);
/* Of the decompressed file, once reader_next came to its end. */
void reader_sha256(reader *in, char hex[65]);
/* NULL is allowed. Records of a CSV file, npz or safetensors file are not to be used any more. */
void reader_close(reader *in);

/* The format that a file's name tells, .gz and .xz at its end left aside; AUTO when it does not. */
onet_format format_of_name(const char *path);
const char *format_name(onet_format format);
/* By its name ("jsonl", "csv", "pointer", "npz", "safetensors", "text"); false when there is none such. */
bool format_find(const char *name, onet_format *format);

#endif
