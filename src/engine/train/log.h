/* The log of a training, in CSV (docs/formats.md). */
#ifndef TRAIN_LOG_H
#define TRAIN_LOG_H

#include <stdio.h>

#include "ordernet.h"

typedef struct train_log {
    const char *path;
    FILE *file; /* NULL: there is no log, and rows go nowhere */
} train_log;

/* Goes on behind the first `bytes` bytes of the log that is there, which a checkpoint knows of; 0 begins a
 * new one. The path must live as long as the log. */
onet_status log_open(train_log *log, const char *path, uint64_t bytes, onet_error *err);
void log_row(const train_log *log, const onet_progress *now, const char *kernels);
/* Brings all rows into the file; how long it is then to *bytes. */
onet_status log_flush(const train_log *log, uint64_t *bytes, onet_error *err);
onet_status log_close(train_log *log, onet_error *err);

#endif
