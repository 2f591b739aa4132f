/* ordernet inspect: prints what a model file contains: settings, features and their scaling, tensors, the
 * weights of a linear ranker. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/command.h"
#include "app/feature_report.h"
#include "app/json_report.h"
#include "engine/base/choice.h"
#include "engine/base/error.h"
#include "engine/base/shown.h"
#include "ordernet_io.h"
#include "ordernet_measure.h"
#include "ordernet_train.h"
#include "ordernet_words.h"

typedef struct inspect_values {
    int json;
} inspect_values;

static const char *shape_text(const onet_tensor *t, char text[64]) {
    int used = snprintf(text, 64, "[%d", t->shape[0]);
    for (int i = 1; i < t->dims; i++) used += snprintf(text + used, 64 - (size_t)used, ", %d", t->shape[i]);
    snprintf(text + used, 64 - (size_t)used, "]");
    return text;
}

/* The names that the model takes its features by, and what it does where one is missing. */
static void print_columns(const onet_columns *columns) {
    char name[SHOWN];
    for (int j = 0; columns && onet_columns_name(columns, j); j++)
        printf("%s%s", j ? ", " : "features         ", shown(name, onet_columns_name(columns, j)));
    if (columns && onet_columns_name(columns, 0)) putchar('\n');
    if (columns && onet_columns_missing(columns))
        printf("missing values   %s\n", choice_name(onet_missings(), (int)onet_columns_missing(columns)));
}

static json_t *json_columns(const onet_columns *columns) {
    json_t *list = json_array();
    for (int j = 0; columns && onet_columns_name(columns, j); j++)
        json_array_append_new(list, json_string(onet_columns_name(columns, j)));
    return list;
}

static void print_blocks(const onet_model *m) {
    const onet_settings *s = onet_model_settings(m);
    printf("encoder          %d blocks, hidden %d, out %d, %s pool\n", s->encoder_blocks, s->hidden,
           s->encoder_out, choice_name(onet_pools(), s->pool));
    printf("decoder          %d blocks, out %d\n", s->decoder_blocks, s->decoder_out);
    printf("statistics       %s\n",
           onet_model_sized(m) ? "by the size of a set" : "the same for sets of any size");
}

/* The name of a feature; those without one are numbered as convert numbers them. */
static const char *feature_name(const onet_model *m, int feature, char text[SHOWN]) {
    const onet_columns *columns = onet_model_columns(m);
    const char *name = columns ? onet_columns_name(columns, feature) : NULL;
    snprintf(text, SHOWN, "x%d", feature + 1);
    return name ? shown(text, name) : text;
}

/* What is done with each feature before the net sees it. */
static void print_features(const onet_model *m) {
    onet_feature f;
    char name[SHOWN], text[FEATURE_TEXT];
    for (int j = 0; onet_model_feature(m, j, &f); j++)
        printf("%s  %-20s %s\n", j ? "" : "\nFeatures:\n", feature_name(m, j, name), feature_text(&f, text));
}

static json_t *json_scale(const onet_model *m) {
    json_t *list = json_array();
    onet_feature f;
    char name[SHOWN];
    for (int j = 0; onet_model_feature(m, j, &f); j++)
        json_array_append_new(list, json_pack("{s:s, s:s, s:b, s:b}", "feature", feature_name(m, j, name),
                                              "scale", choice_name(onet_scales(), (int)f.scale), "centred",
                                              f.centred, "within", f.within));
    return list;
}

/* The feature that an input of the net is made from, and whether the input is its rank within the set: ranks
 * stand behind the features. */
static int feature_of(const onet_model *m, int input, bool *rank) {
    int ranks = input - onet_model_width(m);
    onet_feature feature;
    *rank = ranks >= 0;
    for (int j = 0; *rank && onet_model_feature(m, j, &feature); j++)
        if (feature.within && !ranks--) return j;
    return input;
}

static const char *weight_name(const onet_model *m, int weight, char text[SHOWN]) {
    int inputs = onet_model_settings(m)->width;
    bool rank;
    char name[SHOWN];
    feature_name(m, feature_of(m, weight % inputs, &rank), name);
    snprintf(text, SHOWN, "%s%s%s", name, rank ? ", rank within the set" : "",
             weight < inputs ? "" : ", relative");
    return text;
}

static int weights_of(const onet_model *m) {
    const onet_settings *s = onet_model_settings(m);
    return onet_ranker_weights(m) ? s->width * (s->relative ? 2 : 1) : 0;
}

/* A ranker's score, which is all that it is. */
static void print_score(const onet_model *m) {
    char name[SHOWN];
    printf("\nScore of an item, the sum of its scaled features times:\n");
    for (int j = 0; j < weights_of(m); j++)
        printf("  %-20s %.4g\n", weight_name(m, j, name), (double)onet_ranker_weights(m)[j]);
}

static json_t *json_score(const onet_model *m) {
    json_t *list = json_array();
    char name[SHOWN];
    for (int j = 0; j < weights_of(m); j++)
        json_array_append_new(list, json_pack("{s:s, s:f}", "feature", weight_name(m, j, name), "weight",
                                              (double)onet_ranker_weights(m)[j]));
    return list;
}

static void print_text(const onet_model *m, const char *path) {
    const onet_settings *s = onet_model_settings(m);
    char checksum[65], text[64], a[SHOWN], b[SHOWN];
    onet_model_checksum(m, checksum);
    printf("model            %s\n", shown(a, path));
    printf("kind             %s\n", onet_model_kind(m));
    printf("items            ");
    const onet_words *words = onet_model_words(m);
    if (words)
        printf("words: a vocabulary of %d, vectors of %d\n", onet_words_count(words), s->width);
    else
        printf("%d feature%s%s\n", onet_model_width(m), onet_model_width(m) == 1 ? "" : "s",
               s->relative ? ", as given and relative to the set" : "");
    if (s->relations) printf("relations        %d for each ordered pair of items\n", s->relations);
    print_columns(onet_model_columns(m));
    if (!strcmp(onet_model_kind(m), "network")) print_blocks(m);
    printf("parameters       %zu trained, %zu with running statistics\n", onet_model_parameters(m, 1),
           onet_model_parameters(m, 0));
    printf("weights          %s precision\n", onet_model_half(m) ? "half" : "single");
    printf("checksum         %s\n", checksum);
    printf("kernels here    ");
    for (const char *const *name = onet_kernels_here(); *name; name++) printf(" %s", *name);
    putchar('\n');
    print_features(m);
    if (weights_of(m)) print_score(m);
    printf("\nTraining record:\n");
    const char *key, *value;
    for (size_t i = 0; (value = onet_model_record_at(m, i, &key)); i++)
        printf("  %-20s %s\n", shown(a, key), shown(b, value));
    printf("\nTensors:\n");
    onet_tensor t;
    for (size_t i = 0; onet_model_tensor(m, i, &t); i++) printf("  %-32s %s\n", t.name, shape_text(&t, text));
}

static json_t *json_shape(const onet_tensor *t) {
    json_t *list = json_array();
    for (int i = 0; i < t->dims; i++) json_array_append_new(list, json_integer(t->shape[i]));
    return list;
}

static onet_status print_json(const onet_model *m, const char *path, onet_error *err) {
    const onet_settings *s = onet_model_settings(m);
    char checksum[65];
    onet_model_checksum(m, checksum);
    const onet_words *words = onet_model_words(m);
    const onet_columns *columns = onet_model_columns(m);
    json_t *tensors = json_array(), *record = json_object(), *names = json_array();
    onet_tensor t;
    for (size_t i = 0; onet_model_tensor(m, i, &t); i++)
        json_array_append_new(tensors, json_pack("{s:s, s:o, s:b}", "name", t.name, "shape", json_shape(&t),
                                                 "trained", t.trained));
    const char *key, *value;
    for (size_t i = 0; (value = onet_model_record_at(m, i, &key)); i++)
        json_object_set_new(record, key, json_string(value));
    for (const char *const *name = onet_kernels_here(); *name; name++)
        json_array_append_new(names, json_string(*name));
    json_t *all = json_pack(
        "{s:s, s:s, s:{s:i, s:i, s:i, s:i, s:s, s:i, s:i, s:b}, s:o, s:s, s:i, s:{s:I, s:I}, s:b, s:b, s:s, "
        "s:o, "
        "s:o, s:o}",
        "model", path, "kind", onet_model_kind(m), "settings", "width", s->width, "encoder_blocks",
        s->encoder_blocks, "hidden", s->hidden, "encoder_out", s->encoder_out, "pool",
        choice_name(onet_pools(), s->pool), "decoder_blocks", s->decoder_blocks, "decoder_out",
        s->decoder_out, "relative", s->relative, "features", json_columns(columns), "missing",
        choice_name(onet_missings(), columns ? (int)onet_columns_missing(columns) : ONET_MISSING_ERROR),
        "words", words ? onet_words_count(words) : 0, "parameters", "trained",
        (json_int_t)onet_model_parameters(m, 1), "total", (json_int_t)onet_model_parameters(m, 0), "half",
        onet_model_half(m), "statistics_by_size", onet_model_sized(m), "checksum", checksum, "kernels", names,
        "record", record, "tensors", tensors);
    if (!words) json_object_set_new(all, "scale", json_scale(m));
    if (weights_of(m)) json_object_set_new(all, "score", json_score(m));
    char *text;
    onet_status status = json_finish(&text, all, JSON_INDENT(2), err);
    if (!status) puts(text);
    free(text);
    return status;
}

static onet_status run(void *values, int count, char **operands, onet_error *err) {
    (void)count;
    const inspect_values *v = values;
    onet_model *model = NULL;
    onet_status status = onet_model_load(&model, operands[0], err);
    if (!status && v->json)
        status = print_json(model, operands[0], err);
    else if (!status)
        print_text(model, operands[0]);
    onet_model_free(model);
    return status;
}

static const option options[] = {
    OPTION(FLAG, "json", offsetof(inspect_values, json), .help = "Print JSON."),
    {0},
};

const command cmd_inspect = {
    .name = "inspect",
    .summary = "Say what a model is made of",
    .operands = "MODEL",
    .least = 1,
    .most = 1,
    .about = "Prints the model's settings, the number of its parameters, its training record (the data's "
             "SHA-256, seed, steps, loss, ...), its checksum, the shapes of its tensors, and which kernels "
             "this machine can order with.",
    .examples = "ordernet inspect sets.safetensors",
    .options = options,
    .size = sizeof(inspect_values),
    .run = run,
};
