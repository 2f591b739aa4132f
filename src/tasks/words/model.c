/* Loads a model that orders words without relations, and refuses others. */
#include "tasks/words/model.h"

#include <limits.h>

#include "app/model_path.h"
#include "engine/base/error.h"
#include "ordernet_io.h"

onet_status model_load_words(onet_model **model, const char *path, onet_error *err) {
    char shipped[PATH_MAX];
    *model = NULL;
    if (!path) {
        onet_status status = model_path(shipped, sizeof shipped, "words.safetensors", err);
        if (status) return status;
        path = shipped;
    }
    onet_status status = onet_model_load(model, path, err);
    if (!status) status = model_check_words(*model, path, err);
    if (!status) return ONET_OK;
    onet_model_free(*model);
    *model = NULL;
    return status;
}

onet_status model_check_words(const onet_model *model, const char *name, onet_error *err) {
    if (!onet_model_words(model)) return fail(err, ONET_BAD, "%s: its items are numbers, not words", name);
    if (onet_model_given_relations(model))
        return fail(
            err, ONET_BAD,
            "%s was trained on words with relations, such as counts of neighbours, which text does not "
            "have; name another model, or order prepared sets with it",
            name);
    return ONET_OK;
}
