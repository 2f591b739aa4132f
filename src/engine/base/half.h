/* Converts the 16-bit floating-point numbers of files: half precision (IEEE 754 binary16) from and to float,
 * one by one or as arrays; bfloat16 (the upper half of a float) only to float. All arithmetic is done in
 * float. */
#ifndef BASE_HALF_H
#define BASE_HALF_H

#include <stddef.h>
#include <stdint.h>

#define HALF_MAX 65504.0f

/* Rounds to the nearest, ties to even; too large becomes infinite, NaN stays NaN. */
uint16_t half_from_float(float x);
/* Both are exact. */
float half_to_float(uint16_t h);
float bfloat_to_float(uint16_t b);

/* Convert arrays. The results equal those of the functions above, except for the payload bits of a NaN.
 * half_to_floats: `from` may be unaligned, and may be the second half of the memory of `to`. */
void half_to_floats(float *to, const void *from, size_t count);
void half_from_floats(uint16_t *to, const float *from, size_t count);

#endif
