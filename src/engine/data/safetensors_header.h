/* Parses the JSON header of a safetensors file into its tensors and metadata. safetensors.c calls the parser;
 * safetensors_write.c, which writes headers, uses only the helpers for sizes and sorting. */
#ifndef DATA_SAFETENSORS_HEADER_H
#define DATA_SAFETENSORS_HEADER_H

#include "engine/data/safetensors.h"

/* Fills in the file's tensors (sorted by name) and metadata from the header, whose text stays in use for the
 * names. Every tensor is checked against the `data_size` bytes that follow the header; SIZE_MAX: their
 * number is not known yet. */
onet_status st_header_parse(safetensors *file, char *text, size_t length, size_t data_size, onet_error *err);

/* Sets *bytes to the size of the type times the shape; returns false if that overflows. */
bool st_bytes(const st_tensor *tensor, size_t *bytes);

/* Compares two tensors by name, for qsort and bsearch. */
int st_by_name(const void *a, const void *b);

#endif
