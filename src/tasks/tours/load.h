/* Instances from a file: one from a TSPLIB file, or one per set from a file of sets. */
#ifndef TOURS_LOAD_H
#define TOURS_LOAD_H

#include "ordernet_io.h"
#include "ordernet_tsp.h"
#include <stdbool.h>

/* How cities are read; all zero, or NULL in its place: points of the plane in any format. */
typedef struct tsp_reading {
    const onet_read_options *read; /* NULL: the defaults */
    bool geo;                      /* the points are longitude and latitude */
    const char *name_column;       /* that the cities are called by; "": none; NULL: a usual one */
    /* Told of what is odd and may be meant, with file and line; NULL: it is passed over. */
    void (*note)(const char *text);
} tsp_reading;

/* An instance from float32 points xy [n, 2]. */
onet_status tsp_floats(onet_tsp *t, int n, const float *xy, onet_error *err);

typedef struct tsp_file {
    size_t count;
    onet_tsp one;    /* of a TSPLIB file */
    onet_sets *sets; /* of other formats, points x, y; NULL for TSPLIB */
    bool geo;        /* the points are longitude and latitude, the distances kilometres */
    char list[64];   /* the name of a table that is one list of cities; "": it is none */
    char **names; /* [cities of all sets]: what they are called, each NULL where it is not; NULL: none is */
    /* The sets as they were read, where they have text to be written back: CSV, and sets with names. */
    onet_reader *in;
    onet_record **records; /* [count] or NULL */
    size_t named, kept;    /* names and records that there are */
} tsp_file;

/* A CSV file without the set column is one set; of more than two columns of numbers those called x and y, or
 * longitude and latitude, are taken. ONET_BAD for items that are not pairs of numbers, or no places on the
 * Earth. */
onet_status tsp_load(tsp_file *file, const char *path, const tsp_reading *how, onet_error *err);
void tsp_unload(tsp_file *file);

/* Makes instance i, which the caller frees. Distances take n^2 memory, so make one at a time. */
onet_status tsp_get(const tsp_file *file, size_t i, onet_tsp *t, onet_error *err);
/* The names of its cities, [n]; NULL: they have none. */
char *const *tsp_names(const tsp_file *file, size_t i);

#endif
