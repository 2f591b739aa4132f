/* Makes the names of the files beside a model: m.safetensors has m.best.safetensors, m.log.csv and so on, and
 * of several models that are trained together the first is m.1.safetensors. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/train/train.h"
#include "ordernet_train.h"

/* Returns the length of the model's path without .safetensors. */
static size_t stem_length(const char *model_path) {
    static const char own[] = ".safetensors";
    size_t length = strlen(model_path), cut = sizeof own - 1;
    return length > cut && !strcmp(model_path + length - cut, own) ? length - cut : length;
}

size_t onet_train_path(char *path, size_t room, const char *model_path, onet_train_file file) {
    static const char *const ending[] = {[ONET_TRAIN_BEST] = TRAIN_BEST,
                                         [ONET_TRAIN_CHECKPOINT] = TRAIN_CHECKPOINT,
                                         [ONET_TRAIN_LOG] = TRAIN_LOG,
                                         [ONET_TRAIN_LOCK] = TRAIN_LOCK};
    if (path && room) path[0] = 0;
    if (!model_path || (!path && room) || (unsigned)file > ONET_TRAIN_LOCK) return 0;
    size_t length = stem_length(model_path);
    return (size_t)snprintf(path, room, "%.*s%s", (int)length, model_path, ending[file]);
}

size_t onet_train_model_path(char *path, size_t room, const char *model_path, int number) {
    if (path && room) path[0] = 0;
    if (!model_path || (!path && room) || number < 1 || number > ONET_MAX_MERGED) return 0;
    return (size_t)snprintf(path, room, "%.*s.%d.safetensors", (int)stem_length(model_path), model_path,
                            number);
}

char *train_beside(const char *model_path, const char *ending) {
    size_t length = stem_length(model_path);
    char *path = malloc(length + strlen(ending) + 1);
    if (!path) return NULL;
    memcpy(path, model_path, length);
    strcpy(path + length, ending);
    return path;
}

char *train_path_of_model(const char *model_path, int number) {
    size_t room = onet_train_model_path(NULL, 0, model_path, number) + 1;
    char *path = malloc(room);
    if (path) onet_train_model_path(path, room, model_path, number);
    return path;
}
