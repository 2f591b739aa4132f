/* Reads arrays in NumPy's .npy format (a header in text, then the numbers): booleans, integers and floats of
 * up to 64 bits, in any byte order and layout; used by npz.c. */
#ifndef DATA_NPY_H
#define DATA_NPY_H

#include <stdbool.h>

#include "engine/base/file.h"
#include "engine/data/zip.h"

enum { NPY_DIMS = 8 };

typedef struct npy {
    const char *name; /* items, order, ... */
    const char *file;
    zip_member *member; /* the archive member that holds the bytes; NULL: `in` is a bare .npy file */
    input *in;
    size_t at, size; /* of the input: bytes taken, and all */
    char type[16];   /* <f4, ... */
    bool fortran;
    int dims;
    size_t shape[NPY_DIMS];
    size_t count; /* numbers */
    /* Of relations, which may not be whole numbers that float rounds: whether the one at this place in C
     * order is ignored. NULL: these are not relations. */
    bool (*ignored)(void *context, size_t place);
    void *context;
} npy;

/* Reads the header of a->member or a->in into the other fields, and checks that the file has as many bytes as
 * the shape needs. */
onet_status npy_open(npy *a, onet_error *err);
/* Writes the shape, such as "(20, 5, 2)"; returns text. */
const char *npy_shape(const npy *a, char text[128]);

/* Reads all numbers, [count] in C order. NaN is left as it is; ONET_BAD for what is beyond a float, and for
 * whole numbers that it rounds if a->ignored is set. */
onet_status npy_floats(npy *a, float *to, onet_error *err);
/* Whether the type of the array holds more than float32 does: 64 bits, or whole numbers of 32 bits. */
bool npy_is_rounded(const npy *a);
/* As npy_floats, but not rounded to float32. */
onet_status npy_doubles(npy *a, double *to, onet_error *err);
/* Reads whole numbers; ONET_BAD for other numbers and those beyond 32 bits. */
onet_status npy_ints(npy *a, int32_t *to, onet_error *err);
/* Reads flags: 0 and 1 as they are, NPY_NO_FLAG for other numbers. */
enum { NPY_NO_FLAG = 2 };
onet_status npy_flags(npy *a, uint8_t *to, onet_error *err);

#endif
