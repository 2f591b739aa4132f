/* Manages the files of a training run: takes the lock, resumes from the checkpoint, opens the log, removes
 * the checkpoint and best model of an older run, writes checkpoints, and loads the best model at the end. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/clock.h"
#include "engine/base/error.h"
#include "engine/train/options.h"
#include "engine/train/run.h"
#include "engine/train/train.h"

onet_status files_find(run *r, onet_error *err) {
    if (!r->o.model_path) return ONET_OK;
    char *path = train_beside(r->o.model_path, TRAIN_LOCK);
    onet_status status = path ? lock_acquire(&r->files.lock, path, r->o.model_path, err)
                              : fail_memory(err, "the names of the files");
    free(path);
    if (!status) status = train_check_files(&r->o, err);
    if (status) return status;
    r->files.checkpoint = train_beside(r->o.model_path, TRAIN_CHECKPOINT);
    r->files.best = train_beside(r->o.model_path, TRAIN_BEST);
    r->files.log_path = train_beside(r->o.model_path, TRAIN_LOG);
    if (!r->files.checkpoint || !r->files.best || !r->files.log_path)
        return fail_memory(err, "the names of the files");
    int found = 0;
    uint64_t before = 0;
    if (r->o.resume &&
        (status = checkpoint_read(&r->s, r->identity, r->files.checkpoint, &before, &found, err)))
        return status;
    if (found) r->files.saved_step = r->s.step;
    if (found && before != r->when.steps) {
        r->told.steps_before = before;
        r->told.resumed_at = r->s.step;
    }
    return ONET_OK;
}

onet_status files_start(run *r, onet_error *err) {
    if (!r->files.log_path) return ONET_OK;
    onet_status status = log_open(&r->files.log, r->files.log_path, r->s.log_bytes, err);
    const char *old[] = {r->s.best_epoch ? NULL : r->files.best,
                         r->files.saved_step == UINT64_MAX ? r->files.checkpoint : NULL};
    for (int i = 0; i < 2 && !status; i++)
        if (old[i] && remove(old[i]) && errno != ENOENT)
            status = fail(err, ONET_IO, "cannot remove %s, of an older run: %s", old[i], strerror(errno));
    return status;
}

onet_status files_save_checkpoint(run *r, onet_error *err) {
    const backend *ops = r->net->ops;
    onet_status status = r->unread ? run_read_losses(r, err) : ONET_OK;
    if (!status) status = run_fetch(r, err);
    if (!status) status = ops->get(r->net, NET_M, r->s.m, err);
    if (!status) status = ops->get(r->net, NET_V, r->s.v, err);
    if (!status && r->s.vec) status = ops->get(r->net, NET_VECTORS_M, r->s.vec_m, err);
    if (!status && r->s.vec) status = ops->get(r->net, NET_VECTORS_V, r->s.vec_v, err);
    if (status) return status;
    for (size_t i = 0; i < r->s.params; i++)
        if (!isfinite(r->s.theta[i]))
            return fail_field(err, ONET_FAILED, DIVERGED_FIELDS,
                              "a parameter is no longer a number at step %" PRIu64 ": " DIVERGED, r->s.step);
    if (!r->files.checkpoint) return ONET_OK;
    if ((status = log_flush(&r->files.log, &r->s.log_bytes, err))) return status;
    r->s.seconds = r->told.seconds_before + clock_seconds() - r->told.started;
    status = checkpoint_write(&r->s, r->identity, r->files.checkpoint, err);
    if (!status) r->files.saved_step = r->s.step;
    r->files.last_checkpoint = clock_seconds();
    return status;
}

onet_status files_best(run *r, onet_error *err) {
    if (r->files.best_bytes)
        return onet_model_from_bytes(r->o.best, r->files.best_bytes, r->files.best_size, err);
    return r->files.best ? onet_model_load(r->o.best, r->files.best, err) : ONET_OK;
}
