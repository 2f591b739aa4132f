/* Computes the size of a batch: numbers of sets, items, pairs and steps, and the largest set. Tells whether
 * it fits in the memory allocated for another size, and returns the larger of two, number by number. */
#include "engine/kernels/backend.h"

void batch_size_add(batch_size *size, int n, int m) {
    size->sets++;
    size->items += (size_t)n;
    size->pairs += (size_t)n * (size_t)n;
    size->steps += (size_t)m;
    size->step_cells += (size_t)m * (size_t)m;
    if (n > size->largest) size->largest = n;
}

batch_size batch_of_one_size(int B, int n) {
    size_t items = (size_t)B * (size_t)n, pairs = items * (size_t)n;
    return (batch_size){
        .sets = B, .items = items, .pairs = pairs, .steps = items, .step_cells = pairs, .largest = n};
}

static size_t most(size_t a, size_t b) {
    return a > b ? a : b;
}

bool batch_size_fits(batch_size size, batch_size room) {
    return size.sets <= room.sets && size.items <= room.items && size.pairs <= room.pairs &&
           size.steps <= room.steps && size.step_cells <= room.step_cells && size.largest <= room.largest;
}

batch_size batch_size_most(batch_size a, batch_size b) {
    return (batch_size){.sets = a.sets > b.sets ? a.sets : b.sets,
                        .items = most(a.items, b.items),
                        .pairs = most(a.pairs, b.pairs),
                        .steps = most(a.steps, b.steps),
                        .step_cells = most(a.step_cells, b.step_cells),
                        .largest = a.largest > b.largest ? a.largest : b.largest};
}
