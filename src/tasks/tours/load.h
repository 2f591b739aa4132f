/* Loads travelling-salesman instances: one from a TSPLIB file (the standard benchmark format) or a table of
 * costs, or one per set from a file of sets; cities may be places on the Earth (geo.c). */
#ifndef TOURS_LOAD_H
#define TOURS_LOAD_H

#include <stdbool.h>

#include "ordernet_io.h"
#include "ordernet_tsp.h"

/* The largest distance and coordinate: whole numbers up to here, and tours of them, are exact in a double. */
#define TOUR_LARGEST 1e15

/* How cities are read; all zero, or a NULL pointer to it: points of the plane in any format. */
typedef struct tsp_reading {
    const onet_read_options *read; /* NULL: the defaults */
    bool geo;                      /* the points are longitude and latitude */
    const char *name_column; /* column with the cities' names; "": none; NULL: one of the common names */
    bool keep;               /* every set is to be written back */
    bool matrix;             /* the file is a table of costs, or of sets with a relation: the cost */
    /* Called with a warning of what looks odd but may be intended; NULL: no warnings. */
    void (*note)(const onet_error *text);
} tsp_reading;

/* Makes an instance from float32 points xy [n, 2]. */
onet_status tsp_floats(onet_tsp *t, int n, const float *xy, onet_error *err);

/* The cities of several instances, in double: cities far from 0 and near each other, as UTM
 * coordinates in metres are, would move in float32. All zero: there are none. */
typedef struct tsp_cities {
    size_t count;
    size_t *start;  /* [count + 1] */
    double *xy;     /* [start[count], 2] */
    int32_t *order; /* [start[count]]: a tour within each instance; NULL: not all have one */
    size_t start_room, city_room, order_room;
} tsp_cities;

/* Appends an instance: cities xy [n, 2] and a tour of them, order [n] or NULL. */
onet_status tsp_cities_add(tsp_cities *cities, int n, const double *xy, const int32_t *order,
                           onet_error *err);
void tsp_cities_free(tsp_cities *cities);

/* Writes to at [2] which two features of a set's items are the coordinates of its cities, x first: those
 * called x and y, or longitude and latitude (geo: the latter first), else the only two. False: there are
 * none. */
bool tsp_find_points(const onet_record *r, bool geo, int at[2]);
/* True if the features `at` are called longitude and latitude; then `note` warns that they were read as
 * points of the plane. */
bool tsp_note_degrees(const onet_record *r, const int at[2], const char *file, onet_error *note);
/* Appends the set with the features `at` as the coordinates of its cities. */
onet_status tsp_cities_take(tsp_cities *cities, const onet_record *r, const int at[2], onet_error *err);

static inline int tsp_cities_size(const tsp_cities *cities, size_t i) {
    return (int)(cities->start[i + 1] - cities->start[i]);
}

typedef struct tsp_file {
    size_t count;
    onet_tsp one; /* of a TSPLIB file or a table of costs */
    bool table;   /* it is a table of costs */
    bool sets;    /* it is neither: */
    tsp_cities cities;
    onet_sets *costs; /* sets with a relation, the cost, which have no points: cities.xy is 0; NULL: none */
    bool geo;         /* the points are longitude and latitude, the distances kilometres */
    char list[64];    /* the name of a table that is one list of cities; "" for other files */
    char **names;     /* [cities of all instances]: their names, NULL for one without; NULL: none has one */
    /* The sets as they were read, if they are to be written back, are CSV or have names. */
    onet_reader *in;
    onet_record **records; /* [count] or NULL */
    size_t named, kept;    /* names and records that there are */
} tsp_file;

/* Loads a file. A CSV file without the set column is one set; of more than two columns of numbers those
 * called x and y, or longitude and latitude, are taken. Sets with one relation and at most one feature, which
 * may mark the depot, are instances with these costs. ONET_BAD for items that are neither such nor pairs of
 * numbers, or are no places on the Earth. */
onet_status tsp_load(tsp_file *file, const char *path, const tsp_reading *how, onet_error *err);
void tsp_unload(tsp_file *file);

/* Makes instance i, which the caller frees. Distances take n^2 memory, so make one at a time. */
onet_status tsp_instance_make(const tsp_file *file, size_t i, onet_tsp *t, onet_error *err);
static inline bool tsp_has_points(const tsp_file *file) {
    return file->sets && !file->costs;
}
/* Returns the cities [n, 2] of instance i as they were read: points of the plane, or longitude and latitude;
 * NULL for TSPLIB and costs. */
static inline const double *tsp_points(const tsp_file *file, size_t i) {
    return tsp_has_points(file) ? file->cities.xy + 2 * file->cities.start[i] : NULL;
}
/* Returns the number of the first city: TSPLIB counts nodes from 1, all else from 0. */
static inline int tsp_first_number(const tsp_file *file) {
    return !file->sets && !file->table;
}
/* Returns the names of the cities [n] of instance i; NULL: they have none. */
char *const *tsp_names(const tsp_file *file, size_t i);

/* ---- Places on the Earth (geo.c) --------------------------------------------------------------------- */

/* Makes an instance from places [n, 2], longitude and latitude in degrees. Its distances are kilometres along
 * great circles of a sphere with the Earth's mean radius. Its coordinates are kilometres on a map: the
 * azimuthal equidistant projection about the middle of the cities, north up, in which neither the date line
 * nor a pole is special. The map is true near its middle: across the direction to the middle it is stretched
 * by 1% at 1,560 km from it, by 11% at 5,000 km, and without bound towards the far side of the Earth. */
onet_status geo_instance(onet_tsp *t, int n, const double *places, onet_error *err);

#endif
