/* The models that the server serves, by name. A reload adds a new version; the old one is freed when the last
 * request that uses it has been answered. */
#ifndef APP_MODELS_H
#define APP_MODELS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <time.h>

#include "ordernet.h"

enum { MODELS = 64, MODEL_NAME = 64 };

typedef struct model_version {
    atomic_int users;
    onet_model *model;
    char checksum[65];
    struct stat file; /* as it was when it was read */
    time_t loaded;
} model_version;

typedef struct model_slot {
    char name[MODEL_NAME + 1]; /* letters, digits, '-', '_' and '.' */
    char *path;
    pthread_mutex_t lock; /* of `now` */
    model_version *now;
    atomic_uint loads; /* how often the file was loaded, for /metrics */
} model_slot;

typedef struct models {
    int count;
    model_slot slot[MODELS];
} models;

/* Loads a model and adds it. given: "NAME=FILE". */
onet_status models_add(models *m, const char *given, onet_error *err);
void models_free(models *m);

/* Returns the model called name [length]; NULL: there is none. */
model_slot *models_find(models *m, const char *name, size_t length);
/* Writes the names, as in "tsp, words", into text [size]; returns text. */
const char *models_names(const models *m, char *text, size_t size);

/* Returns the version for a new request; give it back with model_release. */
model_version *model_acquire(model_slot *slot);
void model_release(model_version *version);

/* Loads the model again if its file has changed; *changed: whether it had. After a failure the old version
 * stays. */
onet_status model_reload(model_slot *slot, bool *changed, onet_error *err);

#endif
