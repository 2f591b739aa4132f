/* Draws a random order of the sets from a seed: a permutation of their numbers. */
#include "app/division.h"

#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/base/rng.h"

onet_status pick_places(size_t **out, size_t count, uint64_t seed, onet_error *err) {
    size_t *place = array_new(count, sizeof *place);
    if (!place) return fail_memory(err, "the draw of the sets");
    rng r;
    rng_seed(&r, seed, UINT64_C(0x7069636b00000000));
    rng_permutation(&r, place, count);
    *out = place;
    return ONET_OK;
}
