/* Writes the log of a training run as CSV; a resumed run continues after the last whole row. */
#include "engine/train/run.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/error.h"
#include "engine/base/number.h"

static onet_status cannot_write(const train_log *log, onet_error *err) {
    if (errno == ENOMEM) return fail_memory(err, "the log");
    return fail(err, ONET_IO, "cannot write %s: %s; make room or name another place", log->path,
                strerror(errno));
}

/* Returns the end of the last whole row among the first `most` bytes: after a crash the file may lack some of
 * them. */
static off_t whole_rows(FILE *file, uint64_t most) {
    off_t end = 0, at = 0;
    for (int c; (uint64_t)at < most && (c = getc(file)) != EOF;) {
        at++;
        if (c == '\n') end = at;
    }
    return end;
}

onet_status log_open(train_log *log, const char *path, uint64_t bytes, onet_error *err) {
    *log = (train_log){path, bytes ? fopen(path, "r+") : NULL};
    off_t end = log->file ? whole_rows(log->file, bytes) : 0;
    if (!log->file) log->file = fopen(path, "w"); /* a log that was removed begins anew too */
    /* Rows written after the checkpoint are cut off: they are written again. */
    if (!log->file || ftruncate(fileno(log->file), end) || fseeko(log->file, end, SEEK_SET))
        return cannot_write(log, err);
    if (!end)
        fprintf(
            log->file,
            "step,epoch,loss,learning_rate,valid_exact,valid_loglik,examples_per_second,seconds,kernels\n");
    return ONET_OK;
}

/* Writes ",0.5", or "," for a number that is not known; returns text. */
static const char *cell(char text[32], const char *format, double value) {
    if (isnan(value))
        snprintf(text, 32, ",");
    else
        number_print(text, 32, format, value);
    return text;
}

void log_row(const train_log *log, const onet_progress *now, const char *kernel_set) {
    char text[6][32];
    if (!log->file) return;
    fprintf(log->file, "%" PRIu64 ",%d%s%s%s%s%s%s,%s\n", now->step, now->epoch,
            cell(text[0], ",%.6f", now->loss), cell(text[1], ",%.6g", now->learning_rate),
            cell(text[2], ",%.6f", now->valid_exact), cell(text[3], ",%.6f", now->valid_loglik),
            cell(text[4], ",%.1f", now->examples_per_second), cell(text[5], ",%.2f", now->seconds),
            kernel_set);
}

onet_status log_flush(const train_log *log, uint64_t *bytes, onet_error *err) {
    if (!log->file) return ONET_OK;
    if (fflush(log->file)) return cannot_write(log, err);
    *bytes = (uint64_t)ftello(log->file);
    return ONET_OK;
}

onet_status log_close(train_log *log, onet_error *err) {
    FILE *file = log->file;
    log->file = NULL;
    return file && fclose(file) ? cannot_write(log, err) : ONET_OK;
}
