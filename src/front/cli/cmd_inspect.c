/* ordernet inspect: prints what a model file contains (settings, features and their scaling, tensors, the
 * weights of a linear ranker), or the columns of a file of sets and what training would do with each. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/command.h"
#include "app/feature_report.h"
#include "app/json_report.h"
#include "engine/base/choice.h"
#include "engine/base/error.h"
#include "engine/base/lines.h"
#include "engine/base/shown.h"
#include "ordernet_io.h"
#include "ordernet_measure.h"
#include "ordernet_train.h"
#include "ordernet_words.h"

typedef struct inspect_values {
    int json;
    onet_read_options read;
} inspect_values;

static void defaults(void *values) {
    inspect_values *v = values;
    onet_read_defaults(&v->read, sizeof v->read);
}

static const char *shape_text(const onet_tensor *t, char text[64]) {
    int used = snprintf(text, 64, "[%d", t->shape[0]);
    for (int i = 1; i < t->dims; i++) used += snprintf(text + used, 64 - (size_t)used, ", %d", t->shape[i]);
    snprintf(text + used, 64 - (size_t)used, "]");
    return text;
}

/* Prints the names of the model's features, and what it does with missing values. */
static void print_columns(const onet_columns *columns) {
    char name[SHOWN], kind[COLUMN_KIND];
    for (int j = 0, span; columns && onet_columns_name(columns, j); j += span) {
        span = column_text(columns, j, name, kind);
        printf("%s%s", j ? ", " : "features         ", name);
    }
    if (columns && onet_columns_name(columns, 0)) putchar('\n');
    if (columns && onet_columns_missing(columns))
        printf("missing values   %s\n", choice_name(onet_missings(), (int)onet_columns_missing(columns)));
}

/* all: the names of the relations, one per line; NULL: they have none. */
static void print_relations(int count, const char *all) {
    const char *name;
    char text[SHOWN];
    printf("relations        %d for each ordered pair of items", count);
    for (int r = 0; all && r < count; r++) {
        size_t length = lines_find(all, r, &name);
        printf("%s%s", r ? ", " : ": ", shown_text(text, sizeof text, name, length));
    }
    putchar('\n');
}

static json_t *json_relations(const onet_model *m) {
    const char *all = onet_model_relations(m), *name;
    json_t *list = json_array();
    for (int r = 0; all && r < onet_model_given_relations(m); r++) {
        size_t length = lines_find(all, r, &name);
        json_array_append_new(list, json_stringn(name, length));
    }
    return list;
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

/* Returns the name of a feature; without names x1, x2, ..., as convert writes them. */
static const char *feature_name(const onet_model *m, int feature, char text[SHOWN]) {
    const onet_columns *columns = onet_model_columns(m);
    const char *name = columns ? onet_columns_name(columns, feature) : NULL;
    snprintf(text, SHOWN, "x%d", feature + 1);
    return name ? shown(text, name) : text;
}

/* Prints what the values of a column are, and what is done with them before the net sees them. */
static int print_column(const onet_columns *columns, int j, const onet_feature *f) {
    char name[SHOWN], kind[COLUMN_KIND], text[FEATURE_TEXT];
    int span = column_text(columns, j, name, kind);
    printf("  %-*s %-24s %s", shown_width(name, 20), name, kind, feature_text(f, text));
    const char *separator = ": ";
    for (int k = j; k < j + span && span > 1; k++, separator = ", ") {
        const char *value = strchr(onet_columns_name(columns, k), '=') + 1;
        printf("%s%s", separator, shown(name, value));
    }
    return span;
}

static void print_features(const onet_model *m) {
    onet_feature f;
    for (int j = 0; onet_model_feature(m, j, &f);) {
        if (!j) printf("\nFeatures:\n");
        j += print_column(onet_model_columns(m), j, &f);
        putchar('\n');
    }
}

static json_t *json_scale(const onet_model *m) {
    json_t *list = json_array();
    onet_feature f;
    char name[SHOWN];
    for (int j = 0; onet_model_feature(m, j, &f); j++)
        json_array_append_new(list,
                              json_pack("{s:s, s:s, s:s, s:b, s:b}", "feature", feature_name(m, j, name),
                                        "kind", onet_columns_kind(onet_model_columns(m), j), "scale",
                                        choice_name(onet_scales(), (int)f.scale), "centred", f.centred,
                                        "within", f.within));
    return list;
}

/* Returns the feature that an input of the net is made from; *rank: whether the input is its rank within the
 * set. The inputs are the features, then the ranks. */
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

static void print_score(const onet_model *m) {
    char name[SHOWN];
    printf("\nScore of an item: the sum of weight x scaled feature. Weights:\n");
    for (int j = 0; j < weights_of(m); j++) {
        const char *shown_name = weight_name(m, j, name);
        printf("  %-*s %.4g\n", shown_width(shown_name, 20), shown_name, (double)onet_ranker_weights(m)[j]);
    }
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
    if (onet_model_relate(m)) printf("made relations   %s\n", shown(a, onet_model_relate(m)));
    if (onet_model_given_relations(m))
        print_relations(onet_model_given_relations(m), onet_model_relations(m));
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
    if (s->relations) {
        json_object_set_new(json_object_get(all, "settings"), "relations", json_integer(s->relations));
        json_object_set_new(all, "relations", json_relations(m));
        if (onet_model_relate(m)) json_object_set_new(all, "relate", json_string(onet_model_relate(m)));
    }
    if (!words) json_object_set_new(all, "scale", json_scale(m));
    if (weights_of(m)) json_object_set_new(all, "score", json_score(m));
    char *text;
    onet_status status = json_finish(&text, all, JSON_INDENT(2), err);
    if (!status) puts(text);
    free(text);
    return status;
}

/* ---- Data -------------------------------------------------------------------------------------------- */

static json_t *json_data(const onet_sets *sets, const onet_feature *feature, const char *path) {
    json_t *list = json_array();
    char name[SHOWN], kind[COLUMN_KIND];
    for (int j = 0; j < sets->width;) {
        const onet_feature *f = &feature[j];
        int span = column_text(sets->columns, j, name, kind);
        json_array_append_new(list, json_pack("{s:s, s:s, s:i, s:s, s:b, s:b, s:b}", "column", name, "kind",
                                              onet_columns_kind(sets->columns, j), "features", span, "scale",
                                              choice_name(onet_scales(), (int)f->scale), "centred",
                                              f->centred, "within", f->within, "crowded", f->crowded));
        j += span;
    }
    const char *unused = onet_columns_unused(sets->columns), *misspelt = onet_columns_misspelt(sets->columns);
    return json_pack("{s:s, s:I, s:I, s:b, s:o, s:s, s:s}", "data", path, "sets", (json_int_t)sets->count,
                     "items", (json_int_t)sets->start[sets->count], "orders", sets->order != NULL, "columns",
                     list, "unused", unused ? unused : "", "misspelt", misspelt ? misspelt : "");
}

static void print_data(const onet_sets *sets, const onet_feature *feature, const char *path) {
    char name[SHOWN];
    size_t least = SIZE_MAX, most = 0;
    for (size_t s = 0; s < sets->count; s++) {
        size_t n = sets->start[s + 1] - sets->start[s];
        if (n < least) least = n;
        if (n > most) most = n;
    }
    printf("data             %s\n", shown(name, path));
    printf("sets             %zu of %zu", sets->count, least);
    if (least < most) printf(" to %zu", most);
    printf(" items%s\n", sets->order ? ", in their right order" : "");
    if (sets->pairs) print_relations(sets->pairs->width, sets->pairs->names);
    if (sets->width) printf("\nColumns, and what training does with them by default:\n");
    for (int j = 0; j < sets->width;) {
        const onet_feature *f = &feature[j];
        j += print_column(sets->columns, j, f);
        puts(f->crowded ? " (heavy tails or far clusters)" : "");
    }
    print_unused(sets->columns);
    print_misspelt(sets->columns, stdout, "not used: ");
}

/* Returns the order of the file, context items last: onet_train_features needs an order, but does not use it.
 */
static int32_t *any_order(const onet_sets *sets) {
    int32_t *order = calloc(sets->start[sets->count], sizeof *order), *to = order;
    for (size_t s = 0; order && s < sets->count; s++)
        for (int context = 0; context < 2; context++)
            for (size_t i = sets->start[s]; i < sets->start[s + 1]; i++)
                if ((sets->context && sets->context[i]) == context) *to++ = (int32_t)(i - sets->start[s]);
    return order;
}

/* Prints the columns of a file of sets, and what a training would do with each. */
static onet_status inspect_data(const inspect_values *v, const onet_sets *sets, const char *path,
                                onet_error *err) {
    onet_train_options o;
    onet_train_defaults(&o, sizeof o);
    onet_feature *feature = calloc((size_t)sets->width + 1, sizeof *feature);
    onet_sets view = *sets;
    int32_t *order = sets->order ? NULL : any_order(sets);
    if (!sets->order) view.order = order;
    onet_status status = feature && view.order ? ONET_OK : fail_memory(err, "the features");
    if (!status) status = onet_train_features(feature, &view, &o, NULL, err);
    if (!status && v->json) {
        char *text;
        status = json_finish(&text, json_data(sets, feature, path), JSON_INDENT(2), err);
        if (!status) puts(text);
        free(text);
    } else if (!status)
        print_data(sets, feature, path);
    free(order);
    free(feature);
    return status;
}

static bool ends_in(const char *path, const char *end) {
    size_t length = strlen(path), own = strlen(end);
    if (length > 3 && (!strcmp(path + length - 3, ".gz") || !strcmp(path + length - 3, ".xz"))) length -= 3;
    return length > own && !strncmp(path + length - own, end, own);
}

/* Whether a file's name ends as that of sets of numbers; a .safetensors file may be sets or a model. */
static bool named_as_data(const char *path) {
    static const char *const ends[] = {".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".npz"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (ends_in(path, ends[i])) return true;
    return false;
}

/* Whether the file begins as a model does: with the length of a header in JSON. */
static bool begins_as_model(const char *path) {
    unsigned char first[9];
    FILE *f = fopen(path, "rb");
    bool model = f && fread(first, 1, sizeof first, f) == sizeof first && first[8] == '{' &&
                 memchr(first, 0, sizeof first);
    if (f) fclose(f);
    return model;
}

/* The error for a file that is not a model. read: the status of reading it as sets, with the error `other`.
 */
static onet_status fail_other(const char *path, onet_status read, const onet_error *other, onet_error *err) {
    if (ends_in(path, ".safetensors") || begins_as_model(path)) return ONET_BAD; /* err already says why */
    if (read) {
        *err = *other;
        error_prefix(err, "%s is not a model; as a file of sets", path);
        return read;
    }
    return fail(err, ONET_BAD,
                "%s is not a model, and as sets it is plain text: words, which have no columns; if it is "
                "other data, name its format (--format)",
                path);
}

static onet_status run(void *values, int count, char **operands, onet_error *err) {
    (void)count;
    const inspect_values *v = values;
    onet_model *model = NULL;
    onet_sets *sets = NULL;
    bool data = named_as_data(operands[0]) || v->read.format;
    onet_status status = data ? ONET_OK : onet_model_load(&model, operands[0], err);
    if (data || status == ONET_BAD) { /* a safetensors file of sets, not of a model */
        onet_error other;
        onet_status read = onet_sets_read(&sets, operands[0], &v->read, data ? err : &other);
        if (data || (!read && (!sets->word || ends_in(operands[0], ".safetensors"))))
            status = read;
        else
            status = fail_other(operands[0], read, &other, err);
    }
    if (!status && sets && sets->word)
        status = fail(err, ONET_USAGE,
                      "%s holds sets of words: inspect describes columns, and words have none", operands[0]);
    else if (!status && sets)
        status = inspect_data(v, sets, operands[0], err);
    else if (!status && v->json)
        status = print_json(model, operands[0], err);
    else if (!status)
        print_text(model, operands[0]);
    onet_sets_free(sets);
    onet_model_free(model);
    return status;
}

static const option options[] = {
    OPTION(FLAG, "json", offsetof(inspect_values, json), .help = "Print JSON."),
    {.group = "Data format"},
    OPTIONS_READ(offsetof(inspect_values, read)),
    OPTION(CHOICE, "missing", offsetof(inspect_values, read.missing), .argument = "HOW",
           .choices = onet_missings, .help = "What training would do with missing values."),
    {0},
};

const command cmd_inspect = {
    .name = "inspect",
    .summary = "Show what a model or a file of sets contains",
    .operands = "FILE",
    .least = 1,
    .most = 1,
    .about = "Prints the model's settings, the number of its parameters, its training record (the data's "
             "SHA-256, seed, steps, loss, ...), its checksum, the shapes of its tensors, and which kernels "
             "this machine can order with.\n\n"
             "Of a file of sets it prints each column: a number, a date, a truth value or a category, how "
             "'ordernet train' would scale it, and what it would not use.",
    .examples = "ordernet inspect sets.safetensors\n"
                "ordernet inspect sets.csv",
    .options = options,
    .size = sizeof(inspect_values),
    .defaults = defaults,
    .run = run,
};
