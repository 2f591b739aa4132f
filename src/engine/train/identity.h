/* Tells whether two training runs are the same run: by the data as they were read, and every setting that
 * affects the result. A checkpoint of another run is not resumed. */
#ifndef TRAIN_IDENTITY_H
#define TRAIN_IDENTITY_H

#include "ordernet.h"

enum { IDENTITY_TEXT = 2048 };

/* Writes "items=HASH orders=HASH ... batch=32 ... steps=400" to text. settings: the net's. from: the checksum
 * of the model to begin with, or "". valid may be NULL. */
void identity_make(char text[IDENTITY_TEXT], const onet_sets *train, const onet_sets *valid,
                   const onet_settings *settings, const onet_train_options *options, const char *from,
                   uint64_t steps);

/* Compares the line in the checkpoint at `path` with that of the run now. ONET_BAD, naming what differs, if
 * they are not the same run. A run with more steps is the same run, continued: *steps_before is how many it
 * had. */
onet_status identity_check(const char *checkpoint, const char *now, const char *path, uint64_t *steps_before,
                           onet_error *err);

#endif
