/* ordernet merge: combines several models into one that orders by the mean of their logits (an ensemble). */
#include <stdlib.h>

#include "app/command.h"
#include "engine/base/error.h"
#include "engine/base/file.h"

typedef struct merge_values {
    const char *out;
} merge_values;

static onet_status run(void *values, int count, char **operands, onet_error *err) {
    const merge_values *v = values;
    onet_model *model[ONET_MAX_MERGED] = {NULL}, *merged = NULL;
    onet_status status = ONET_OK;
    for (int i = 0; i < count && !status; i++)
        if (output_replaces(v->out, operands[i]))
            status = fail(err, ONET_USAGE, "%s would be overwritten by --out %s; name another file",
                          operands[i], v->out);
    for (int i = 0; i < count && !status; i++) status = onet_model_load(&model[i], operands[i], err);
    if (!status) status = onet_model_merge(&merged, (const onet_model *const *)model, (size_t)count, err);
    if (!status) status = onet_model_save(merged, v->out, err);
    onet_model_free(merged);
    for (int i = 0; i < count; i++) onet_model_free(model[i]);
    return status;
}

static const option options[] = {
    OPTION(STRING, "out", offsetof(merge_values, out), .required = true, .argument = "FILE",
           .help = "Where the merged model is written."),
    {0},
};

const command cmd_merge = {
    .name = "merge",
    .summary = "Make one model from several",
    .operands = "MODEL MODEL ...",
    .least = 2,
    .most = ONET_MAX_MERGED,
    .about = "Writes a model that orders by the mean of the logits of several models. Models that were "
             "trained on the same data with other seeds err in different sets, so that together they are "
             "right more often than one of them. They must have the same number of blocks, the same pool "
             "and the same features in their data; their widths add up, and --relative and --within may "
             "differ. The merged model is an ordinary one. Ordering "
             "with a merge of three takes about seven times as long.",
    .examples = "ordernet merge m1.safetensors m2.safetensors m3.safetensors --out m.safetensors\n"
                "ordernet train --data sets.jsonl --models 3 --model m.safetensors     # trains and merges",
    .options = options,
    .size = sizeof(merge_values),
    .run = run,
};
