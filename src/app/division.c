/* Draws a random order of sets, moves randomly drawn sets from the training data to the validation data, and
 * reads and numbers the group of each set, so that the sets of one group stay on one side. Also shuffles the
 * items of sets that are given in their right order, which the input order could otherwise give away. */
#include "app/division.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/base/names.h"
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

/* Moves each of n rows of `bytes` bytes from i to place[i]. */
static void move_rows(void *rows, size_t n, size_t bytes, const size_t *place, char *scratch) {
    if (!rows || !bytes) return;
    memcpy(scratch, rows, n * bytes);
    for (size_t i = 0; i < n; i++) memcpy((char *)rows + place[i] * bytes, scratch + i * bytes, bytes);
}

static bool is_right_order(const int32_t *order, size_t n) {
    size_t t = 0;
    while (t < n && order[t] == (int32_t)t) t++;
    return t == n;
}

/* All or none: shuffling only those that are right would make chance look worse than it is. */
static bool needs_shuffle(const onet_sets *sets) {
    if (!sets->lost || !sets->order || sets->context || sets->constraint_count || sets->pairs) return false;
    for (size_t s = 0; s < sets->count; s++)
        if (!is_right_order(sets->order + sets->start[s], onet_sets_size(sets, s))) return false;
    return true;
}

onet_status shuffle_right_orders(onet_sets *sets, onet_error *err) {
    if (!needs_shuffle(sets)) return ONET_OK;
    size_t most = 1, width = (size_t)sets->width, columns = (size_t)sets->lost->width;
    for (size_t s = 0; s < sets->count; s++)
        if (onet_sets_size(sets, s) > most) most = onet_sets_size(sets, s);
    size_t *place = array_new(most, sizeof *place);
    char *scratch = array_new(most, (width > columns ? width : columns) * sizeof(double));
    onet_status status = place && scratch ? ONET_OK : fail_memory(err, "shuffling the items");
    for (size_t s = 0; s < sets->count && !status; s++) {
        size_t from = sets->start[s], n = onet_sets_size(sets, s);
        rng r;
        rng_seed(&r, s, UINT64_C(0x7368756600000000));
        rng_permutation(&r, place, n);
        if (sets->items)
            move_rows(sets->items + from * width, n, width * sizeof *sets->items, place, scratch);
        if (sets->exact)
            move_rows(sets->exact + from * width, n, width * sizeof *sets->exact, place, scratch);
        if (sets->word) move_rows(sets->word + from, n, sizeof *sets->word, place, scratch);
        move_rows(sets->lost->hash + from * columns, n, columns * sizeof *sets->lost->hash, place, scratch);
        for (size_t t = 0; t < n; t++) sets->order[from + t] = (int32_t)place[t];
    }
    free(place);
    free(scratch);
    return status;
}

onet_status copy_shuffled(onet_sets **copy, const onet_sets *sets, onet_error *err) {
    *copy = NULL;
    if (!needs_shuffle(sets)) return ONET_OK;
    uint8_t *take = array_new(sets->count, 1);
    if (!take) return fail_memory(err, "shuffling the items");
    memset(take, 1, sets->count);
    onet_status status = onet_sets_pick(copy, sets, take, err);
    free(take);
    return status ? status : shuffle_right_orders(*copy, err);
}

onet_status division_hold_out(onet_sets **data, onet_sets **valid, const char *const *group, size_t count,
                              uint64_t seed, onet_error *err) {
    size_t all = (*data)->count;
    onet_sets *rest = NULL;
    uint8_t *take = array_new(all, 1);
    onet_status status = take ? ONET_OK : fail_memory(err, "the validation sets");
    if (!status) status = onet_sets_hold_out(take, *data, group, count, seed, err);
    if (!status) status = onet_sets_pick(valid, *data, take, err);
    for (size_t s = 0; s < all && !status; s++) take[s] = !take[s];
    if (!status) status = onet_sets_pick(&rest, *data, take, err);
    if (!status) {
        onet_sets_free(*data);
        *data = rest;
    }
    free(take);
    return status;
}

void groups_free(char **group, size_t count) {
    for (size_t s = 0; group && s < count; s++) free(group[s]);
    free(group);
}

static onet_status read_names(char **group, size_t count, onet_reader *in, const char *column,
                              onet_error *err) {
    onet_record *r = NULL;
    const char *text;
    int end = 0;
    size_t s = 0, named = 0;
    onet_status status = onet_record_new(&r, err);
    while (!status && !(status = onet_reader_next(in, r, &end, err)) && !end && s < count) {
        status = onet_record_text(r, column, &text, err);
        if (!status && text && !(group[s] = strdup(text))) status = fail_memory(err, "the groups");
        named += !status && text;
        s++;
    }
    onet_record_free(r);
    if (!status && (!end || s < count))
        status = fail(err, ONET_BAD, "%s has changed while it was read; try again", onet_reader_name(in));
    if (!status && !named)
        status = fail(err, ONET_BAD, "%s: no set has a key or column `%s` to group by; check --group-column",
                      onet_reader_name(in), column);
    return status;
}

onet_status groups_read(char ***group, size_t count, const char *path, const onet_read_options *options,
                        onet_error *err) {
    struct stat file;
    onet_reader *in = NULL;
    onet_read_options reading = *options;
    *group = NULL;
    if (!strcmp(path, "-") || (!stat(path, &file) && !S_ISREG(file.st_mode)))
        return fail(err, ONET_USAGE,
                    "--group-column reads the data twice: give them as a file, not as a pipe");
    /* Missing values were filled in when the sets were read. */
    if (!reading.columns && !reading.missing) reading.missing = ONET_MISSING_MEAN;
    char **found = array_new(count, sizeof *found);
    onet_status status = found ? onet_reader_open(&in, path, &reading, err) : fail_memory(err, "the groups");
    if (!status) status = read_names(found, count, in, options->group_column, err);
    onet_reader_close(in);
    if (status)
        groups_free(found, count);
    else
        *group = found;
    return status;
}

onet_status groups_number(size_t **number, char *const *group, size_t count, onet_error *err) {
    names seen = {0};
    size_t alone = 0;
    *number = array_new(count, sizeof **number);
    bool good = *number != NULL;
    for (size_t s = 0; s < count && good; s++) {
        good = !group[s] || names_add(&seen, group[s], strlen(group[s]), &(*number)[s]);
        if (!group[s]) (*number)[s] = count - ++alone;
    }
    names_free(&seen);
    if (good) return ONET_OK;
    free(*number);
    *number = NULL;
    return fail_memory(err, "the groups");
}
