#include "train/state.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "data/safetensors.h"

onet_status state_new(train_state *s, size_t params, size_t vectors, int average, onet_error *err) {
    memset(s, 0, sizeof *s);
    s->best_exact = -1;
    s->valid_exact = NAN;
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

void state_share(train_state *s, const world *w) {
    double numbers[] = {(double)s->step, s->loss, s->loss_weight, s->best_exact, s->valid_exact, s->seconds};
    w->broadcast(w, 0, numbers, sizeof numbers);
    s->step = (uint64_t)numbers[0]; /* less than 2^53 */
    s->loss = numbers[1];
    s->loss_weight = numbers[2];
    s->best_exact = numbers[3];
    s->valid_exact = numbers[4];
    s->seconds = numbers[5];
    float *const data[] = {s->theta, s->m, s->v, s->average, s->vec, s->vec_m, s->vec_v, s->vec_average};
    for (int i = 0; i < 8; i++)
        if (data[i]) w->broadcast(w, 0, data[i], (i < 4 ? s->params : s->vectors) * sizeof *data[i]);
}

/* The state's blocks by name; those that are not there are left out. */
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

/* CRC-32 of the blocks: a weight that a disk has altered must not be trained on. */
static void sum_of(const st_tensor *t, size_t count, char text[16]) {
    uLong sum = 0;
    for (size_t i = 0; i < count; i++) sum = crc32_z(sum, t[i].data, t[i].shape[0] * sizeof(float));
    snprintf(text, 16, "%08lx", sum);
}

onet_status checkpoint_write(const train_state *s, const char *settings, const char *path, onet_error *err) {
    st_tensor t[8];
    char sum[16], step[32], log[32], loss[40], weight[40], best[40], valid[40], seconds[40];
    size_t count = blocks(s, t);
    sum_of(t, count, sum);
    snprintf(step, sizeof step, "%" PRIu64, s->step);
    snprintf(log, sizeof log, "%" PRIu64, s->log_bytes);
    snprintf(loss, sizeof loss, "%a", s->loss);
    snprintf(weight, sizeof weight, "%a", s->loss_weight);
    snprintf(best, sizeof best, "%a", s->best_exact);
    snprintf(valid, sizeof valid, "%a", s->valid_exact);
    snprintf(seconds, sizeof seconds, "%a", s->seconds);
    st_pair pairs[] = {{"format", "ordernet-checkpoint"},
                       {"settings", settings},
                       {"step", step},
                       {"loss", loss},
                       {"loss_weight", weight},
                       {"best_exact", best},
                       {"valid_exact", valid},
                       {"log_bytes", log},
                       {"seconds", seconds},
                       {"crc32", sum}};
    return safetensors_write(path, t, count, pairs, sizeof pairs / sizeof *pairs, err);
}

static onet_status number(const safetensors *file, const char *key, double *value, onet_error *err) {
    const char *text = safetensors_metadata(file, key);
    char *end;
    if (text) *value = strtod(text, &end);
    if (!text || end == text || *end)
        return fail(err, ONET_BAD, "%s: `%s` is missing or not a number: this is no checkpoint of ordernet",
                    safetensors_name(file), key);
    return ONET_OK;
}

onet_status checkpoint_read(train_state *s, const char *settings, const char *path, int *found,
                            onet_error *err) {
    safetensors *file = NULL;
    *found = 0;
    if (access(path, F_OK) != 0) return ONET_OK;
    onet_status status = safetensors_open(&file, path, err);
    if (status == ONET_BAD)
        error_prefix(err, "cannot resume: remove the checkpoint, or train without --resume");
    if (status) return status;
    const char *format = safetensors_metadata(file, "format"),
               *theirs = safetensors_metadata(file, "settings");
    if (!format || strcmp(format, "ordernet-checkpoint") || !theirs)
        status = fail(err, ONET_BAD,
                      "%s is not a checkpoint of ordernet: remove it, or train without --resume", path);
    else if (strcmp(theirs, settings))
        status =
            fail(err, ONET_BAD,
                 "%s belongs to a run with other data or settings (%s; now: %s): resume with those, or train "
                 "without --resume",
                 path, theirs, settings);
    double step = 0, loss = 0, weight = 0, best = 0, valid = 0, log = 0, seconds = 0;
    if (!status) status = number(file, "step", &step, err);
    if (!status) status = number(file, "loss", &loss, err);
    if (!status) status = number(file, "loss_weight", &weight, err);
    if (!status) status = number(file, "best_exact", &best, err);
    if (!status) status = number(file, "valid_exact", &valid, err);
    if (!status) status = number(file, "log_bytes", &log, err);
    if (!status) status = number(file, "seconds", &seconds, err);
    if (!status && !(step >= 0 && step < 9e15 && log >= 0 && log < 9e15))
        status = fail(err, ONET_BAD, "%s: a count is out of range: the checkpoint is corrupt", path);
    st_tensor want[8];
    size_t count = blocks(s, want);
    for (size_t i = 0; i < count && !status; i++) {
        const st_tensor *t;
        status = safetensors_expect(file, want[i].name, ST_F32, 1, want[i].shape, &t, err);
        if (!status) status = safetensors_load(file, t, (void *)want[i].data, err);
    }
    const char *meant = safetensors_metadata(file, "crc32");
    char sum[16];
    sum_of(want, count, sum);
    if (!status && meant && strcmp(meant, sum))
        status =
            fail(err, ONET_BAD,
                 "%s is corrupt: its numbers do not have the checksum that it was saved with; remove it, "
                 "or train without --resume",
                 path);
    safetensors_close(file);
    if (status) return status;
    s->step = (uint64_t)step;
    s->log_bytes = (uint64_t)log;
    s->loss = loss;
    s->loss_weight = weight;
    s->best_exact = best;
    s->valid_exact = valid;
    s->seconds = seconds;
    *found = 1;
    return ONET_OK;
}
