/* Writes sets and answers, in the format that they came in or in another. */
#ifndef DATA_WRITER_H
#define DATA_WRITER_H

#include "engine/data/reader.h"

typedef struct onet_writer writer;

/* The options as the caller gave them, with defaults for the others, checked. */
onet_status writer_options(onet_write_options *own, const onet_write_options *given, onet_error *err);

#endif
