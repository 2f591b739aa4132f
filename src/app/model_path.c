/* Finds the shipped models and the files of the browser page, beside the program or in its installation. */
#include "app/model_path.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/error.h"
#include "engine/base/library.h"

/* Folders to try if /proc does not tell where the program is. */
static const char *const usual[] = {"/usr/local/bin/", "/usr/bin/", "./", NULL};

/* Writes the path of the file in the first of `places` that has it; false: none has. The places are relative
 * to the program's folder and end with NULL. */
static bool find_beside(char *path, size_t size, const char *const *places, const char *name) {
    char folder[PATH_MAX];
    library_folder(folder, PATH_MAX);
    const char *const known[] = {folder, NULL};
    for (const char *const *from = folder[0] ? known : usual; *from; from++)
        for (const char *const *place = places; *place; place++) {
            int need = snprintf(path, size, "%s%s/%s", *from, *place, name);
            if (need > 0 && (size_t)need < size && access(path, R_OK) == 0) return true;
        }
    return false;
}

onet_status model_path(char *path, size_t size, const char *name, onet_error *err) {
    static const char *const places[] = {"models", "../share/ordernet/models", "../share/ordernet", NULL};
    if (find_beside(path, size, places, name)) return ONET_OK;
    char folder[PATH_MAX];
    library_folder(folder, PATH_MAX);
    if (!folder[0])
        return fail(err, ONET_IO,
                    "the model %s was not found, since the program does not know where it is: /proc is not "
                    "mounted; name a model's file",
                    name);
    return fail(err, ONET_IO,
                "the model %s was not found in %smodels nor in %s../share/ordernet/models; name a "
                "model's file",
                name, folder, folder);
}

bool site_path(char *path, size_t size) {
    static const char *const places[] = {"page", "build/page", "../share/ordernet/page", NULL};
    if (!find_beside(path, size, places, "index.html")) return false;
    *strrchr(path, '/') = '\0';
    return true;
}
