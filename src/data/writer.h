/* Writes sets and answers, in the format that they came in or in another. */
#ifndef DATA_WRITER_H
#define DATA_WRITER_H

#include "data/reader.h"

typedef struct onet_writer writer;

#endif
