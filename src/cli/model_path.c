/* Finds the shipped models beside the program or in its installation. */
#include "cli/model_path.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"

onet_status model_path(char *path, size_t size, const char *name, onet_error *err) {
    static const char *const places[] = {"models", "../share/ordernet/models", "../share/ordernet"};
    char program[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length < 0) length = 0;
    program[length] = '\0';
    char *slash = strrchr(program, '/');
    if (slash)
        *slash = '\0';
    else
        snprintf(program, sizeof program, ".");
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        int need = snprintf(path, size, "%s/%s/%s", program, places[i], name);
        if (need > 0 && (size_t)need < size && access(path, R_OK) == 0) return ONET_OK;
    }
    return fail(err, ONET_IO,
                "the model %s was not found in %s/models nor in %s/../share/ordernet/models; name one with "
                "--model FILE",
                name, program, program);
}

onet_status model_load_words(onet_model **model, const char *path, onet_error *err) {
    char shipped[PATH_MAX];
    *model = NULL;
    if (!path) {
        onet_status status = model_path(shipped, sizeof shipped, "words.safetensors", err);
        if (status) return status;
        path = shipped;
    }
    onet_status status = onet_model_load(model, path, err);
    if (status || onet_model_words(*model)) return status;
    onet_model_free(*model);
    *model = NULL;
    return fail(err, ONET_BAD, "%s: its items are numbers, not words", path);
}
