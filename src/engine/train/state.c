/* Allocates the state of a training run, shares it among ranks, and reads and writes it as a checkpoint file.
 */
#include "engine/train/run.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zlib.h>

#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/base/number.h"
#include "engine/data/safetensors.h"
#include "engine/train/identity.h"

/* The numbers of a state, as a checkpoint names them. */
static const struct {
    const char *key;
    size_t at;
} numbers[] = {{"loss", offsetof(train_state, loss)},
               {"loss_weight", offsetof(train_state, loss_weight)},
               {"valid_exact", offsetof(train_state, valid_exact)},
               {"valid_loglik", offsetof(train_state, valid_loglik)},
               {"best_loglik", offsetof(train_state, best_loglik)},
               {"seconds", offsetof(train_state, seconds)}},
  counts[] = {{"step", offsetof(train_state, step)},
              {"best_epoch", offsetof(train_state, best_epoch)},
              {"log_bytes", offsetof(train_state, log_bytes)}};

enum { NUMBERS = sizeof numbers / sizeof *numbers, COUNTS = sizeof counts / sizeof *counts };

static double *number_of(train_state *s, int i) {
    return (double *)((char *)s + numbers[i].at);
}

static uint64_t *count_of(train_state *s, int i) {
    return (uint64_t *)((char *)s + counts[i].at);
}

onet_status state_new(train_state *s, size_t params, size_t vectors, int average, onet_error *err) {
    memset(s, 0, sizeof *s);
    s->valid_exact = s->valid_loglik = s->best_loglik = NAN;
    s->params = params;
    s->vectors = vectors;
    float **block[] = {&s->theta, &s->m, &s->v, &s->average, &s->vec, &s->vec_m, &s->vec_v, &s->vec_average};
    for (int i = 0; i < 8; i++) {
        if ((i % 4 == 3 && !average) || (i >= 4 && !vectors)) continue;
        if (!(*block[i] = array_new(i < 4 ? params : vectors, sizeof(float)))) {
            state_free(s);
            return fail_memory(err, "the state of the training");
        }
    }
    return ONET_OK;
}

void state_free(train_state *s) {
    float *all[] = {s->theta, s->m, s->v, s->average, s->vec, s->vec_m, s->vec_v, s->vec_average};
    for (int i = 0; i < 8; i++) free(all[i]);
    memset(s, 0, sizeof *s);
}

void state_share_numbers(train_state *s, const world *w) {
    for (int i = 0; i < NUMBERS; i++) w->broadcast(w, 0, number_of(s, i), sizeof(double));
    for (int i = 0; i < COUNTS; i++) w->broadcast(w, 0, count_of(s, i), sizeof(uint64_t));
}

void state_share(train_state *s, const world *w) {
    state_share_numbers(s, w);
    float *const data[] = {s->theta, s->m, s->v, s->average, s->vec, s->vec_m, s->vec_v, s->vec_average};
    for (int i = 0; i < 8; i++)
        if (data[i]) w->broadcast(w, 0, data[i], (i < 4 ? s->params : s->vectors) * sizeof *data[i]);
}

/* Lists the state's blocks by name, without those that are NULL; returns how many. */
static size_t blocks(const train_state *s, st_tensor *t) {
    static const char *const name[] = {"theta",   "adam.m",         "adam.v",         "average",
                                       "vectors", "vectors.adam.m", "vectors.adam.v", "vectors.average"};
    float *const data[] = {s->theta, s->m, s->v, s->average, s->vec, s->vec_m, s->vec_v, s->vec_average};
    size_t count = 0;
    for (int i = 0; i < 8; i++) {
        if (!data[i]) continue;
        t[count++] = (st_tensor){.name = name[i],
                                 .type = ST_F32,
                                 .dims = 1,
                                 .shape = {i < 4 ? s->params : s->vectors},
                                 .data = data[i]};
    }
    return count;
}

/* Writes the CRC-32 of the blocks: a weight that a disk has altered must not be trained on. */
static void sum_blocks(const st_tensor *t, size_t count, char text[16]) {
    uLong sum = 0;
    for (size_t i = 0; i < count; i++) sum = crc32_z(sum, t[i].data, t[i].shape[0] * sizeof(float));
    snprintf(text, 16, "%08lx", sum);
}

static const char own_sum[] = "crc32.metadata", version[] = "2";

/* Writes the CRC-32 of all metadata except itself: an altered step or learning rate must not be used either.
 */
static void sum_pairs(const st_pair *pair, size_t pairs, char text[16]) {
    uLong sum = 0;
    for (size_t i = 0; i < pairs; i++) {
        if (!strcmp(pair[i].key, own_sum)) continue;
        sum = crc32_z(sum, (const Bytef *)pair[i].key, strlen(pair[i].key) + 1);
        sum = crc32_z(sum, (const Bytef *)pair[i].value, strlen(pair[i].value) + 1);
    }
    snprintf(text, 16, "%08lx", sum);
}

onet_status checkpoint_write(const train_state *s, const char *identity, const char *path, onet_error *err) {
    enum { OTHERS = 5 };
    st_tensor t[8];
    char sum[16], sum_of_pairs[16], text[NUMBERS + COUNTS][40];
    size_t count = blocks(s, t);
    sum_blocks(t, count, sum);
    st_pair pairs[OTHERS + NUMBERS + COUNTS] = {{"format", "ordernet-checkpoint"},
                                                {"format_version", version},
                                                {"settings", identity},
                                                {"crc32", sum},
                                                {own_sum, sum_of_pairs}};
    train_state own = *s;
    for (int i = 0; i < NUMBERS + COUNTS; i++) {
        if (i < NUMBERS)
            number_print(text[i], sizeof text[i], "%a", *number_of(&own, i));
        else
            snprintf(text[i], sizeof text[i], "%" PRIu64, *count_of(&own, i - NUMBERS));
        pairs[OTHERS + i] = (st_pair){i < NUMBERS ? numbers[i].key : counts[i - NUMBERS].key, text[i]};
    }
    sum_pairs(pairs, sizeof pairs / sizeof *pairs, sum_of_pairs);
    return safetensors_write(path, t, count, pairs, sizeof pairs / sizeof *pairs, err);
}

static onet_status read_number(const safetensors *file, const char *key, double *value, onet_error *err) {
    const char *text = safetensors_metadata(file, key);
    char *end;
    if (text) *value = number_parse(text, &end);
    if (!text || end == text || *end)
        return fail(err, ONET_BAD,
                    "%s: `%s` is missing or not a number: this is not a checkpoint of ordernet",
                    safetensors_name(file), key);
    return ONET_OK;
}

static onet_status read_numbers(const safetensors *file, train_state *s, onet_error *err) {
    onet_status status = ONET_OK;
    for (int i = 0; i < NUMBERS && !status; i++)
        status = read_number(file, numbers[i].key, number_of(s, i), err);
    for (int i = 0; i < COUNTS && !status; i++) {
        double value = 0;
        status = read_number(file, counts[i].key, &value, err);
        if (!status && !(value >= 0 && value < 9e15))
            status = fail(err, ONET_BAD, "%s: `%s` is out of range: the checkpoint is corrupt",
                          safetensors_name(file), counts[i].key);
        if (!status) *count_of(s, i) = (uint64_t)value;
    }
    return status;
}

static onet_status corrupt(const char *path, onet_error *err) {
    return fail_field(
        err, ONET_BAD, "onet_train_options.keep",
        "%s is corrupt: it does not have the checksum that it was saved with; remove it, or train anew",
        path);
}

/* Checks that the file is a checkpoint of this version, and its metadata are as they were written. */
static onet_status check_metadata(const safetensors *file, const char *path, onet_error *err) {
    const char *format = safetensors_metadata(file, "format"),
               *theirs = safetensors_metadata(file, "format_version"),
               *meant = safetensors_metadata(file, own_sum);
    char sum[16];
    if (!format || strcmp(format, "ordernet-checkpoint") || !safetensors_metadata(file, "settings"))
        return fail_field(err, ONET_BAD, "onet_train_options.resume",
                          "%s is not a checkpoint of ordernet: remove it, or do not resume", path);
    if (!theirs || strcmp(theirs, version))
        return fail_field(
            err, ONET_BAD, "onet_train_options.keep",
            "%s is of another version of ordernet (its format_version is %.20s, not %s): finish the "
            "training with that version, or train anew",
            path, theirs ? theirs : "missing", version);
    sum_pairs(file->metadata, file->pairs, sum);
    return meant && !strcmp(meant, sum) ? ONET_OK : corrupt(path, err);
}

static onet_status read_blocks(const safetensors *file, train_state *s, const char *path, onet_error *err) {
    st_tensor want[8];
    size_t count = blocks(s, want);
    for (size_t i = 0; i < count; i++) {
        const st_tensor *t;
        onet_status status = safetensors_expect(file, want[i].name, ST_F32, 1, want[i].shape, &t, err);
        if (!status) status = safetensors_load(file, t, (void *)want[i].data, err);
        if (status) return status;
    }
    const char *meant = safetensors_metadata(file, "crc32");
    char sum[16];
    sum_blocks(want, count, sum);
    return meant && !strcmp(meant, sum) ? ONET_OK : corrupt(path, err);
}

/* Reads the state of an open checkpoint; `s` keeps its own numbers until all is read. */
static onet_status read_checkpoint(train_state *s, const safetensors *file, const char *identity,
                                   uint64_t *steps, onet_error *err) {
    const char *path = safetensors_name(file);
    train_state read = *s;
    onet_status status = check_metadata(file, path, err);
    if (!status) status = identity_check(safetensors_metadata(file, "settings"), identity, path, steps, err);
    if (!status) status = read_numbers(file, &read, err);
    if (!status) status = read_blocks(file, s, path, err);
    if (!status) *s = read;
    return status;
}

onet_status checkpoint_read(train_state *s, const char *identity, const char *path, uint64_t *steps,
                            int *found, onet_error *err) {
    safetensors *file = NULL;
    *found = 0;
    if (access(path, F_OK) != 0) return ONET_OK;
    onet_status status = safetensors_open(&file, path, err);
    if (status == ONET_BAD) {
        error_prefix(err, "cannot resume: remove the checkpoint, or train anew");
        error_field(err, "onet_train_options.keep");
    }
    if (status) return status;
    status = read_checkpoint(s, file, identity, steps, err);
    safetensors_close(file);
    *found = !status;
    return status;
}
