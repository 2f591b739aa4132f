/* Declares the reader and writer of JSON Lines: {"items": [[0.1, 0.2], [0.3, 0.4]], "order": [1, 0]}, one set
 * per line; items may also be words or objects with keys, and an error may stand in place of an answer.
 *
 * A set's line is read in one pass over its text, and an answer is put into that text: the user's other keys,
 * spacing and digits come back as they were; a parsed tree would lose them. */
#ifndef DATA_JSONL_H
#define DATA_JSONL_H

#include "engine/base/file.h"
#include "engine/data/record.h"
#include "ordernet_io.h"

/* ---- Reading (jsonl.c) ------------------------------------------------------------------------------- */

/* Parses r->text, the line of a set. name: the file's, for error messages. */
onet_status jsonl_parse(record *r, const onet_read_options *options, const char *name, onet_error *err);

/* Reads items that are objects (jsonl_keys.c): from .. end is their array, valid JSON. The features are those
 * of options->columns or options->features, else the keys with numbers of this set: own_columns. */
onet_status jsonl_keyed(record *r, const char *from, const char *end, const onet_read_options *options,
                        const char *name, onet_error *err);

/* Whether the member's key is `name`. */
bool jsonl_is(const record *r, const member *m, const char *name);

/* ---- Writing (jsonl_write.c) ------------------------------------------------------------------------- */

/* Writes the set as a line: its own text where it came from JSON Lines, with `order` set to the answer's, or
 * to its own where answer is NULL. */
onet_status jsonl_write(output *out, const record *r, const onet_answer *answer,
                        const onet_write_options *parts, onet_error *err);
/* Writes an error message in place of a set's answer, with the set's `id` and line. */
onet_status jsonl_write_error(output *out, const record *r, const char *error, onet_error *err);

#endif
