/* Divides the sets of a search into a test part and the parts to choose by, and copies the sets of each part
 * and those to train on. */
#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/base/rng.h"
#include "engine/data/divide.h"
#include "engine/data/pick.h"
#include "engine/tune/tuner.h"

#include <stdlib.h>

enum {
    LEAST_SETS = 25,     /* five parts of five */
    MOST_IN_PART = 1500, /* sets; the others are always trained on */
    GLANCE_SETS = 200    /* the most sets on which a trial is measured while it runs */
};

onet_status tune_divide(tuner *s, onet_error *err) {
    size_t count = s->sets->count;
    if (count < LEAST_SETS)
        return fail(err, ONET_BAD, "%zu sets are too few to choose settings by: give %d at least", count,
                    LEAST_SETS);
    if (s->how.group)
        for (size_t i = 0; i < count; i++)
            if (s->how.group[i] >= count)
                return fail(err, ONET_USAGE,
                            "onet_tune: the groups of %zu sets must be numbered from 0 to %zu at most", count,
                            count - 1);
    size_t *of, groups, have[PARTS + 1] = {0};
    onet_status status = bundles_find(&of, &groups, s->sets, NULL, s->how.group, err);
    if (status) return status;
    size_t most = (count + PARTS) / (PARTS + 1);
    if (most > MOST_IN_PART) most = MOST_IN_PART;
    size_t *order = array_new(groups, sizeof *order), *size = array_new(groups, sizeof *size);
    int8_t *part = array_new(groups, sizeof *part);
    s->part_of = array_new(count, sizeof *s->part_of);
    if (!order || !size || !part || !s->part_of) status = fail_memory(err, "the parts");
    if (!status) {
        rng r;
        rng_seed(&r, s->base.seed, UINT64_C(0x74756e6500000000));
        for (size_t i = 0; i < groups; i++) {
            size_t j = (size_t)rng_below(&r, i + 1);
            order[i] = order[j];
            order[j] = i;
        }
        for (size_t i = 0; i < count; i++) size[of[i]]++;
        for (size_t i = 0; i < groups; i++) {
            int least = 0;
            for (int p = 1; p <= PARTS; p++)
                if (have[p] < have[least]) least = p;
            part[order[i]] = have[least] < most ? (int8_t)least : -1;
            if (have[least] < most) have[least] += size[order[i]];
        }
        for (size_t i = 0; i < count; i++) s->part_of[i] = part[of[i]];
        for (int p = 0; p <= PARTS && !status; p++)
            if (!have[p])
                status = fail(err, ONET_BAD,
                              "there %s %zu distinct set%s or group%s: choosing settings needs at least %d",
                              groups == 1 ? "is" : "are", groups, groups == 1 ? "" : "s",
                              groups == 1 ? "" : "s", PARTS + 1);
    }
    free(of);
    free(order);
    free(size);
    free(part);
    return status;
}

onet_status tune_take_parts(tuner *s, onet_error *err) {
    uint8_t *take = array_new(s->sets->count, 1);
    onet_status status = take ? ONET_OK : fail_memory(err, "the parts");
    for (int p = 0; p <= TEST && !status; p++) {
        for (size_t i = 0; i < s->sets->count; i++) take[i] = s->part_of[i] == p;
        status = pick_sets(&s->part[p], s->sets, take, err);
        for (size_t i = 0; i < s->sets->count; i++) take[i] = s->part_of[i] != p && s->part_of[i] != TEST;
        if (!status) status = pick_sets(&s->rest[p], s->sets, take, err);
    }
    if (!status) { /* spread over the part: a file may be sorted */
        size_t count = s->part[0]->count, most = count < GLANCE_SETS ? count : GLANCE_SETS;
        for (size_t i = 0; i < count; i++) take[i] = (i + 1) * most / count > i * most / count;
        status = pick_sets(&s->glanced, s->part[0], take, err);
    }
    free(take);
    return status;
}
