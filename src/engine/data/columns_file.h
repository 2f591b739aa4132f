/* Stores columns in a safetensors file: columns.names (U8, the names, each ended by a NUL), missing.fill
 * (F32, [width]) and missing.flag (U8, [width]); in its metadata columns.set, columns.rank, columns.kinds (a
 * letter per feature, if some are no numbers) and missing. */
#ifndef DATA_COLUMNS_FILE_H
#define DATA_COLUMNS_FILE_H

#include "engine/data/columns.h"
#include "engine/data/safetensors.h"

/* Reads columns; *columns is NULL if the file has none. inputs: the number of features, with indicators, that
 * they must have. */
onet_status columns_file_read(onet_columns **columns, const safetensors *file, int inputs, onet_error *err);

/* The tensors and metadata to write, valid as long as this struct and the columns. */
typedef struct columns_tensors {
    st_tensor tensor[3];
    st_pair pair[4];
    size_t tensors, pairs;
    char *text;
} columns_tensors;

/* columns may be NULL: there is nothing to write then. */
onet_status columns_tensors_make(columns_tensors *t, const onet_columns *columns, onet_error *err);
void columns_tensors_free(columns_tensors *t);

#endif
