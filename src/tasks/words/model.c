/* Loads a model that orders words, and refuses one that orders numbers. */
#include "tasks/words/model.h"

#include <limits.h>

#include "app/model_path.h"
#include "engine/base/error.h"
#include "ordernet_words.h"

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
