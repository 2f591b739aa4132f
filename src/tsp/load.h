/* Instances from a file: one from TSPLIB, or one for every set of the engine's formats. */
#ifndef TSP_LOAD_H
#define TSP_LOAD_H

#include "tsp/instance.h"

typedef struct tsp_file {
    size_t count;
    tsp_instance one; /* TSPLIB */
    onet_sets *sets;  /* the others; NULL for TSPLIB */
} tsp_file;

/* options may be NULL. ONET_BAD for items that are not pairs of numbers. */
onet_status tsp_load(tsp_file *file, const char *path, const onet_read_options *options, onet_error *err);
void tsp_unload(tsp_file *file);

/* Instance i, for the caller to free: distances take n^2 room, so one is made at a time. */
onet_status tsp_get(const tsp_file *file, size_t i, tsp_instance *t, onet_error *err);

#endif
