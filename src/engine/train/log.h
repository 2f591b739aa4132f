/* The log of a training, in CSV (docs/formats.md). */
#ifndef TRAIN_LOG_H
#define TRAIN_LOG_H

#include <stdio.h>

#include "ordernet.h"

typedef struct train_log {
    const char *path;
    FILE *file; /* NULL: there is no log, and rows go nowhere */
} train_log;

/* Continues the existing log after its first `bytes` bytes, which the checkpoint knows; 0 begins a new log.
 * The path must live as long as the log. */
onet_status log_open(train_log *log, const char *path, uint64_t bytes, onet_error *err);
void log_row(const train_log *log, const onet_progress *now, const char *kernels);
/* Writes all rows to the file, and its length to *bytes. */
onet_status log_flush(const train_log *log, uint64_t *bytes, onet_error *err);
onet_status log_close(train_log *log, onet_error *err);

#endif
