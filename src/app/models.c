/* The server's models by name: loads them, counts the requests that use each version, and, when model_reload
 * is called (SIGHUP), replaces those whose file has changed. */
#include "app/models.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"
#include "ordernet_io.h"

static onet_status load(model_version **version, const char *path, onet_error *err) {
    model_version *v = calloc(1, sizeof *v);
    *version = NULL;
    if (!v) return fail_memory(err, "a model");
    /* Taken before the file is read, so that a file replaced meanwhile counts as changed at the
     * next reload. */
    onet_status status = ONET_OK;
    if (stat(path, &v->file)) status = fail(err, ONET_IO, "cannot open %s: %s", path, strerror(errno));
    if (!status) status = onet_model_load(&v->model, path, err);
    if (status) {
        free(v);
        return status;
    }
    onet_model_checksum(v->model, v->checksum);
    v->loaded = time(NULL);
    atomic_init(&v->users, 1);
    *version = v;
    return ONET_OK;
}

static bool good_name(const char *name, size_t length) {
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    return length && length <= MODEL_NAME && strspn(name, allowed) >= length;
}

onet_status models_add(models *m, const char *given, onet_error *err) {
    const char *equals = strchr(given, '=');
    size_t length = equals ? (size_t)(equals - given) : 0;
    if (!equals || !equals[1] || !good_name(given, length))
        return fail(err, ONET_USAGE,
                    "option --model takes NAME=FILE, the name of letters, digits, '-', '_' and '.', not '%s'",
                    given);
    if (models_find(m, given, length))
        return fail(err, ONET_USAGE, "two models are called %.*s", (int)length, given);
    if (m->count == MODELS) return fail(err, ONET_USAGE, "at most %d models can be served", MODELS);
    model_slot *slot = &m->slot[m->count];
    if (!(slot->path = strdup(equals + 1))) return fail_memory(err, "a model");
    onet_status status = load(&slot->now, slot->path, err);
    if (status) {
        free(slot->path);
        return status;
    }
    memcpy(slot->name, given, length);
    slot->name[length] = '\0';
    pthread_mutex_init(&slot->lock, NULL);
    atomic_store(&slot->loads, 1);
    m->count++;
    return ONET_OK;
}

void models_free(models *m) {
    for (int i = 0; i < m->count; i++) {
        model_release(m->slot[i].now);
        pthread_mutex_destroy(&m->slot[i].lock);
        free(m->slot[i].path);
    }
    m->count = 0;
}

model_slot *models_find(models *m, const char *name, size_t length) {
    for (int i = 0; i < m->count; i++)
        if (strlen(m->slot[i].name) == length && !memcmp(m->slot[i].name, name, length)) return &m->slot[i];
    return NULL;
}

const char *models_names(const models *m, char *text, size_t size) {
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < m->count && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "", m->slot[i].name);
    return text;
}

model_version *model_acquire(model_slot *slot) {
    pthread_mutex_lock(&slot->lock);
    model_version *version = slot->now;
    atomic_fetch_add(&version->users, 1);
    pthread_mutex_unlock(&slot->lock);
    return version;
}

void model_release(model_version *version) {
    if (!version || atomic_fetch_sub(&version->users, 1) > 1) return;
    onet_model_free(version->model);
    free(version);
}

static bool same_file(const struct stat *a, const struct stat *b) {
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

onet_status model_reload(model_slot *slot, bool *changed, onet_error *err) {
    struct stat file;
    *changed = false;
    /* Only the caller's thread replaces `now`, so that it can be read without the lock. */
    if (!stat(slot->path, &file) && same_file(&file, &slot->now->file)) return ONET_OK;
    *changed = true;
    model_version *fresh, *old = slot->now;
    onet_status status = load(&fresh, slot->path, err);
    if (status) return status;
    pthread_mutex_lock(&slot->lock);
    slot->now = fresh;
    pthread_mutex_unlock(&slot->lock);
    atomic_fetch_add(&slot->loads, 1);
    model_release(old);
    return ONET_OK;
}
