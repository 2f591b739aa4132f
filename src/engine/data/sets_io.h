/* Whole files of sets in and out, and from one format to another. */
#ifndef DATA_SETS_IO_H
#define DATA_SETS_IO_H

#include "engine/data/reader.h"

/* Adds a record to sets; words become rows of the vocabulary, which may be NULL where there are none. Leaves
 * sets->words, and file and line in front of the sentence, to the caller. */
onet_status sets_append_record(onet_sets *sets, const record *r, const onet_words *words, onet_error *err);

/* Set s as a record that came in that format; its items and order stay the sets'. */
onet_status sets_record(const onet_sets *sets, size_t s, onet_format format, record *r, onet_error *err);

/* onet_sets_read from an input of which nothing was taken yet; it is closed. */
onet_status sets_read(onet_sets **result, input *in, const onet_read_options *options, onet_error *err);

typedef struct onet_writer writer;

/* The options as the caller gave them, with defaults for the others, checked. */
onet_status writer_options(onet_write_options *own, const onet_write_options *given, onet_error *err);

#endif
