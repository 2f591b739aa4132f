#include "cli/ordering.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"

onet_status answer_room_make(answer_room *r, const onet_sets *sets, int top, bool steps, onet_error *err) {
    size_t items = sets->start[sets->count] - sets->start[0], orders, places;
    if (!size_mul(sets->count, (size_t)top, &orders) || !size_mul(items, (size_t)top, &places) ||
        !array_reserve(&r->answers, &r->room, sets->count, sizeof *r->answers) ||
        !array_reserve(&r->order, &r->order_room, places, sizeof *r->order) ||
        !array_reserve(&r->logprob, &r->logprob_room, orders, sizeof *r->logprob) ||
        (steps && !array_reserve(&r->step, &r->step_room, places, sizeof *r->step)))
        return fail_memory(err, "the answers");
    for (size_t s = 0; s < sets->count; s++) {
        size_t at = (sets->start[s] - sets->start[0]) * (size_t)top;
        r->answers[s] = (onet_answer){.order = r->order + at,
                                      .logprob = r->logprob + s * (size_t)top,
                                      .step = steps ? r->step + at : NULL};
    }
    return ONET_OK;
}

void answer_room_free(answer_room *r) {
    free(r->answers);
    free(r->order);
    free(r->logprob);
    free(r->step);
}
