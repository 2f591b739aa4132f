/* Reads and writes the model file, on disk or in memory, and computes a model's checksum: safetensors with
 * every tensor of the net by name, norm statistics, input.mean and input.scale, vocabulary, columns and
 * scaling, and in __metadata__ the settings, the training record and the checksum. Tensors of floats may be
 * F32, F16 or BF16; this program writes F32, and F16 for weights and word vectors in half precision. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/arguments.h"
#include "engine/base/choice.h"
#include "engine/base/error.h"
#include "engine/base/half.h"
#include "engine/base/lines.h"
#include "engine/base/memory.h"
#include "engine/base/sha256.h"
#include "engine/data/columns_file.h"
#include "engine/data/safetensors.h"
#include "engine/data/words_file.h"
#include "engine/model/model.h"
#include "engine/model/settings.h"

enum { MAX_PAIRS = 10000 };

static const char prefix[] = "settings."; /* of the keys of settings in the metadata */

/* Bytes that a compressed model may unpack to: the largest vocabulary with wide vectors fits. */
#define MAX_MODEL ((size_t)(UINT64_C(1) << (SIZE_MAX > UINT32_MAX ? 32 : 30)))

/* The largest size of sets that may have statistics of its own: up to here floats hold every whole number. */
#define MAX_ROW_SIZE 16777216

/* ---- Checksum ---------------------------------------------------------------------------------------- */

static void sum_text(sha256 *sum, const char *text) {
    sha256_add(sum, text, strlen(text) + 1);
}

/* Adds the vectors as the file has them. */
static void sum_words(sha256 *sum, const onet_words *words) {
    size_t left = (size_t)words->count * (size_t)words->width;
    const float *from = words->vectors;
    bool half = words_fit_half(words);
    sum_text(sum, "words");
    while (half && left) {
        uint16_t some[4096];
        size_t n = left < 4096 ? left : 4096;
        half_from_floats(some, from, n);
        sha256_add(sum, some, n * sizeof *some);
        from += n;
        left -= n;
    }
    sha256_add(sum, from, left * sizeof *from);
    for (int w = 0; w < words->count; w++) {
        sha256_add(sum, words->text + words->at[w], words->at[w + 1] - words->at[w]);
        sha256_add(sum, "\n", 1);
    }
}

/* Adds the names of the columns, and the values that replace missing ones. */
static void sum_columns(sha256 *sum, const onet_columns *c) {
    sum_text(sum, "columns");
    for (int j = 0; c->name && j < c->width; j++) sum_text(sum, c->name[j]);
    if (c->set) sum_text(sum, c->set);
    if (c->rank) sum_text(sum, c->rank);
    sum_text(sum, choice_name(onet_missings(), (int)c->missing));
    if (c->fill) sha256_add(sum, c->fill, (size_t)c->width * sizeof *c->fill);
    if (c->flag) sha256_add(sum, c->flag, (size_t)c->width);
}

/* Adds first the settings that every file has, numbers before names; then those of later versions, by key,
 * unless they are 0. */
static void sum_settings(sha256 *sum, const onet_settings *s) {
    char text[16];
    for (int names = 0; names < 2; names++)
        for (const setting *k = settings_list; k < settings_list + SETTINGS; k++)
            if (!k->version && !k->choices == !names) sum_text(sum, setting_text(s, k, text));
    for (const setting *k = settings_list; k < settings_list + SETTINGS; k++) {
        if (!k->version || !*setting_of(s, k)) continue;
        sum_text(sum, k->key);
        if (!k->flag) sum_text(sum, setting_text(s, k, text));
    }
}

void model_checksum(const onet_model *m, char hex[65]) {
    sha256 sum;
    sha256_start(&sum);
    sum_settings(&sum, &m->sh.s);
    if (m->sh.s.relations) sum_text(&sum, m->relations ? m->relations : "");
    if (m->relation_fill)
        sha256_add(&sum, m->relation_fill, (size_t)model_given_relations(m) * sizeof *m->relation_fill);
    if (m->relating) sum_text(&sum, m->relating->text ? m->relating->text : "");
    size_t width = model_inputs(m);
    sha256_add(&sum, m->theta, m->sh.total * sizeof *m->theta);
    sha256_add(&sum, m->mean, width * sizeof *m->mean);
    sha256_add(&sum, m->scale, width * sizeof *m->scale);
    if (m->sized) {
        sha256_add(&sum, m->slope, (m->sh.total - m->sh.trained) * sizeof *m->slope);
        sha256_add(&sum, &m->inverse_size, sizeof m->inverse_size);
        if (m->smallest_size > 0) sha256_add(&sum, &m->smallest_size, sizeof m->smallest_size);
        if (m->rows) {
            sha256_add(&sum, m->row_size, m->rows * sizeof *m->row_size);
            sha256_add(&sum, m->row, m->rows * (m->sh.total - m->sh.trained) * sizeof *m->row);
        }
    }
    if (m->words) sum_words(&sum, m->words);
    if (m->columns) sum_columns(&sum, m->columns);
    if (m->scaling) scaling_sum(&sum, m->scaling);
    if (m->relating && m->relating->scale) scaling_sum(&sum, m->relating->scale);
    sha256_hex(&sum, hex);
}

/* ---- Saving ------------------------------------------------------------------------------------------ */

/* The first format_version with statistics for single sizes, with scaling of features, and with relations
 * that are not those of the sets; settings.c has that of each setting. */
enum { WITH_ROWS = 2, WITH_SCALING = 3, WITH_RELATING = 5 };

/* Metadata: the pairs and the few texts that they point to. */
typedef struct pairs {
    st_pair *pair; /* [count] */
    size_t count;
    char key[SETTINGS][40], value[SETTINGS][16], version[12], sum[65];
    char **keys; /* [entries]: "record.KEY" */
} pairs;

static void pairs_free(pairs *p, size_t entries) {
    for (size_t i = 0; p->keys && i < entries; i++) free(p->keys[i]);
    free(p->keys);
    free(p->pair);
}

static onet_status pairs_make(pairs *p, const onet_model *m, const columns_tensors *columns,
                              onet_error *err) {
    p->pair = array_new(SETTINGS + 11 + m->entries, sizeof *p->pair);
    p->keys = array_new(m->entries, sizeof *p->keys);
    if (!p->pair || !p->keys) return fail_memory(err, "a model's metadata");
    p->pair[p->count++] = (st_pair){"format", "ordernet"};
    /* Programs that do not know what a file has must refuse it. */
    int version = m->relating ? WITH_RELATING : m->scaling ? WITH_SCALING : m->rows ? WITH_ROWS : 1;
    for (const setting *k = settings_list; k < settings_list + SETTINGS; k++)
        if (*setting_of(&m->sh.s, k) && k->version > version) version = k->version;
    snprintf(p->version, sizeof p->version, "%d", version);
    p->pair[p->count++] = (st_pair){"format_version", p->version};
    for (int i = 0; i < SETTINGS; i++) {
        const setting *k = &settings_list[i];
        if (k->version > version) continue;
        snprintf(p->key[i], sizeof p->key[i], "%s%s", prefix, k->key);
        p->pair[p->count++] = (st_pair){p->key[i], setting_text(&m->sh.s, k, p->value[i])};
    }
    if (m->relations) p->pair[p->count++] = (st_pair){"relations.names", m->relations};
    if (m->relating && m->relating->text)
        p->pair[p->count++] = (st_pair){"relations.made", m->relating->text};
    for (size_t i = 0; i < columns->pairs; i++) p->pair[p->count++] = columns->pair[i];
    model_checksum(m, p->sum);
    p->pair[p->count++] = (st_pair){"sha256", p->sum};
    for (size_t i = 0; i < m->entries; i++) {
        if (asprintf(&p->keys[i], "record.%s", m->entry[i].key) < 0) {
            p->keys[i] = NULL;
            return fail_memory(err, "a model's metadata");
        }
        p->pair[p->count++] = (st_pair){p->keys[i], m->entry[i].value};
    }
    return ONET_OK;
}

static st_tensor float_tensor(const tensor *t, const float *data) {
    st_tensor f = {.name = t->name, .type = ST_F32, .dims = t->dims, .data = data};
    for (int i = 0; i < t->dims; i++) f.shape[i] = (size_t)t->shape[i];
    return f;
}

/* Makes the half precision of all parameters: [sh.total] numbers at their offsets; NULL if the model has
 * none. */
static onet_status halves_make(uint16_t **halves, const onet_model *m, onet_error *err) {
    *halves = NULL;
    if (!m->half) return ONET_OK;
    if (!(*halves = array_new(m->sh.total, sizeof **halves))) return fail_memory(err, "saving a model");
    half_from_floats(*halves, m->theta, m->sh.total);
    return ONET_OK;
}

static const size_t one = 1;

/* Checks all numbers, when a model is loaded and before it is saved; bad: the status to return. */
static onet_status check_numbers(const onet_model *m, const char *name, onet_status bad, onet_error *err) {
    const net_shape *sh = &m->sh;
    for (int k = 0; k < sh->tensors; k++) {
        const tensor *t = &sh->tensor[k];
        bool variance = tensor_is_variance(t);
        for (size_t i = 0; i < t->size; i++) {
            float x = m->theta[t->offset + i];
            if (!isfinite(x) || (variance && x < 0))
                return fail(err, bad,
                            "%s: tensor \"%s\" has %g as its number %zu, which cannot be; train the "
                            "model again or use an earlier one",
                            name, t->name, (double)x, i);
        }
    }
    if (m->sized &&
        !(m->inverse_size > 0 && m->inverse_size <= 1 && m->smallest_size >= 0 && isfinite(m->smallest_size)))
        return fail(err, bad,
                    "%s: norm.inverse_size is %g and norm.smallest_size %g, which cannot be; train the model "
                    "again or use an earlier one",
                    name, (double)m->inverse_size, (double)m->smallest_size);
    for (size_t i = 0; m->sized && i < sh->total - sh->trained; i++)
        if (!isfinite(m->slope[i]))
            return fail(err, bad,
                        "%s: a slope of the norms' statistics is not a finite number; train the model again "
                        "or use an earlier one",
                        name);
    for (size_t r = 0; r < m->rows; r++) {
        float size = m->row_size[r];
        if (!(size >= 1 && size <= MAX_ROW_SIZE && size == floorf(size)) || (r && size <= m->row_size[r - 1]))
            return fail(err, bad,
                        "%s: tensor \"norm.sizes\" has %g as its number %zu, where sizes of sets, ascending, "
                        "are expected; train the model again or use an earlier one",
                        name, (double)size, r);
        for (int k = 0; k < sh->tensors; k++) {
            const tensor *t = &sh->tensor[k];
            if (t->trained) continue;
            const float *x = m->row + r * (sh->total - sh->trained) + (t->offset - sh->trained);
            for (size_t i = 0; i < t->size; i++)
                if (!isfinite(x[i]) || (tensor_is_variance(t) && x[i] < 0))
                    return fail(err, bad,
                                "%s: tensor \"norm.statistics\" has %g in its row of %g items, which cannot "
                                "be; train the model again or use an earlier one",
                                name, (double)x[i], (double)size);
        }
    }
    for (size_t i = 0; i < model_inputs(m); i++)
        if (!isfinite(m->mean[i]) || !isfinite(m->scale[i]))
            return fail(err, bad,
                        "%s: input.mean or input.scale of feature %zu is not a finite number; train the "
                        "model again or use an earlier one",
                        name, i);
    for (int r = 0; m->relation_fill && r < model_given_relations(m); r++)
        if (!isfinite(m->relation_fill[r]))
            return fail(err, bad,
                        "%s: relations.fill of relation %d is not a finite number; train the model again or "
                        "use an earlier one",
                        name, r);
    return ONET_OK;
}

/* A model goes to the file `path` or, where that is NULL, to memory: bytes [*size]. */
typedef struct place {
    const char *path;
    void **bytes;
    size_t *size;
} place;

static onet_status save(const onet_model *m, place to, onet_error *err) {
    const net_shape *sh = &m->sh;
    size_t count = 0, width = model_inputs(m);
    pairs p = {0};
    words_tensors w = {0};
    columns_tensors c = {0};
    uint16_t *halves;
    onet_status status = check_numbers(m, to.path ? to.path : "the model", ONET_FAILED, err);
    if (status) return status;
    st_tensor *list = array_new(2 * (size_t)sh->tensors + 12 + 2 * SCALING_TENSORS, sizeof *list);
    tensor *slopes = array_new((size_t)sh->tensors, sizeof *slopes); /* their names */
    if (!list || !slopes) {
        free(list);
        free(slopes);
        return fail_memory(err, "saving a model");
    }
    status = halves_make(&halves, m, err);
    for (int k = 0; k < sh->tensors; k++) {
        const tensor *t = &sh->tensor[k];
        list[count] = float_tensor(t, m->theta + t->offset);
        if (halves && model_tensor_is_half(m, t)) {
            list[count].type = ST_F16;
            list[count].data = halves + t->offset;
        }
        count++;
    }
    for (int k = 0; m->sized && k < sh->tensors; k++) {
        if (sh->tensor[k].trained) continue;
        slopes[k] = model_slope_tensor(&sh->tensor[k]);
        list[count++] = float_tensor(&slopes[k], m->slope + (slopes[k].offset - sh->trained));
    }
    if (m->sized)
        list[count++] = (st_tensor){
            .name = "norm.inverse_size", .type = ST_F32, .dims = 1, .shape = {one}, .data = &m->inverse_size};
    if (m->sized && m->smallest_size > 0)
        list[count++] = (st_tensor){.name = "norm.smallest_size",
                                    .type = ST_F32,
                                    .dims = 1,
                                    .shape = {one},
                                    .data = &m->smallest_size};
    if (m->sized && m->rows) {
        list[count++] = (st_tensor){
            .name = "norm.sizes", .type = ST_F32, .dims = 1, .shape = {m->rows}, .data = m->row_size};
        list[count++] = (st_tensor){.name = "norm.statistics",
                                    .type = ST_F32,
                                    .dims = 2,
                                    .shape = {m->rows, sh->total - sh->trained},
                                    .data = m->row};
    }
    list[count++] =
        (st_tensor){.name = "input.mean", .type = ST_F32, .dims = 1, .shape = {width}, .data = m->mean};
    list[count++] =
        (st_tensor){.name = "input.scale", .type = ST_F32, .dims = 1, .shape = {width}, .data = m->scale};
    if (m->relation_fill)
        list[count++] = (st_tensor){.name = "relations.fill",
                                    .type = ST_F32,
                                    .dims = 1,
                                    .shape = {(size_t)model_given_relations(m)},
                                    .data = m->relation_fill};
    if (m->words && !status) {
        status = words_tensors_make(&w, m->words, true, err);
        list[count++] = w.tensor[0];
        list[count++] = w.tensor[1];
    }
    if (!status) status = columns_tensors_make(&c, m->columns, err);
    for (size_t i = 0; i < c.tensors; i++) list[count++] = c.tensor[i];
    count += scaling_tensors(m->scaling, SCALING_OF_FEATURES, list + count);
    if (m->relating) count += scaling_tensors(m->relating->scale, SCALING_OF_RELATIONS, list + count);
    if (!status) status = pairs_make(&p, m, &c, err);
    if (!status)
        status = to.path ? safetensors_write(to.path, list, count, p.pair, p.count, err)
                         : safetensors_bytes(to.bytes, to.size, list, count, p.pair, p.count, err);
    pairs_free(&p, m->entries);
    words_tensors_free(&w);
    columns_tensors_free(&c);
    free(halves);
    free(slopes);
    free(list);
    return status;
}

onet_status onet_model_save(const onet_model *m, const char *path, onet_error *err) {
    NEED(m, "model");
    NEED(path, "path");
    return save(m, (place){.path = path}, err);
}

onet_status onet_model_to_bytes(const onet_model *m, void **bytes, size_t *size, onet_error *err) {
    NEED(bytes, "bytes");
    NEED(size, "size");
    *bytes = NULL;
    *size = 0;
    NEED(m, "model");
    return save(m, (place){.bytes = bytes, .size = size}, err);
}

void onet_bytes_free(void *bytes) {
    free(bytes);
}

/* ---- Loading ----------------------------------------------------------------------------------------- */

static onet_status read_setting(const safetensors *file, const setting *k, int *to, onet_error *err) {
    char key[40], *end = NULL;
    snprintf(key, sizeof key, "%s%s", prefix, k->key);
    const char *text = safetensors_metadata(file, key);
    if (k->choices) {
        const onet_choice *found = text ? choice_named(k->choices(), text, strlen(text)) : NULL;
        if (!found) return safetensors_newer(file, key, text, err);
        *to = found->value;
        return ONET_OK;
    }
    errno = 0;
    long value = text ? strtol(text, &end, 10) : -1;
    if (!text || end == text || *end || errno || value < 0 || value > INT32_MAX)
        return fail(err, ONET_BAD,
                    "%s: its %s is \"%.40s\" where a whole number is expected; the file is corrupt",
                    safetensors_name(file), key, text ? text : "");
    *to = (int)value;
    return ONET_OK;
}

/* A setting that this version does not know changes the net, whatever the format_version says. */
static onet_status check_known(const safetensors *file, onet_error *err) {
    for (size_t i = 0; i < file->pairs; i++) {
        const char *key = file->metadata[i].key;
        bool known = strncmp(key, prefix, sizeof prefix - 1) != 0;
        for (int k = 0; k < SETTINGS && !known; k++)
            known = !strcmp(key + sizeof prefix - 1, settings_list[k].key);
        if (!known) return safetensors_newer(file, key, file->metadata[i].value, err);
    }
    return ONET_OK;
}

static char newest_version(void) {
    int version = WITH_RELATING;
    for (const setting *k = settings_list; k < settings_list + SETTINGS; k++)
        if (k->version > version) version = k->version;
    return (char)('0' + version);
}

static onet_status read_settings(const safetensors *file, onet_settings *s, onet_error *err) {
    const char *name = safetensors_name(file), *format = safetensors_metadata(file, "format"),
               *version = safetensors_metadata(file, "format_version");
    if (format && !strcmp(format, "ordernet-checkpoint"))
        return fail_field(
            err, ONET_BAD, "onet_train_options.resume",
            "%s is the checkpoint of a training, not a model; resume that training to get the model", name);
    if (!format || strcmp(format, "ordernet"))
        return fail(err, ONET_BAD,
                    "%s is not an OrderNet model (its metadata has no \"format\": \"ordernet\"); "
                    "name a file that training made",
                    name);
    if (!version || strlen(version) != 1 || version[0] < '1' || version[0] > newest_version())
        return safetensors_newer(file, "format_version", version, err);
    onet_status status = check_known(file, err);
    for (const setting *k = settings_list; k < settings_list + SETTINGS && !status; k++)
        if (k->version <= version[0] - '0') status = read_setting(file, k, setting_of(s, k), err);
    return status;
}

/* Checks that all tensors are there before memory is allocated for any: the file must be as long as
 * they are. */
static onet_status check_tensors(const safetensors *file, const net_shape *sh, onet_error *err) {
    const st_tensor *found;
    size_t width = (size_t)(sh->s.width + sh->s.relations);
    onet_status status;
    for (int k = 0; k < sh->tensors; k++) {
        st_tensor meant = float_tensor(&sh->tensor[k], NULL);
        if ((status = safetensors_expect_floats(file, meant.name, meant.dims, meant.shape, &found, err)))
            return status;
    }
    bool sized = safetensors_find(file, "norm.inverse_size");
    for (int k = 0; sized && k < sh->tensors; k++) {
        if (sh->tensor[k].trained) continue;
        tensor slope = model_slope_tensor(&sh->tensor[k]);
        st_tensor meant = float_tensor(&slope, NULL);
        if ((status = safetensors_expect_floats(file, meant.name, meant.dims, meant.shape, &found, err)))
            return status;
    }
    if (sized && (status = safetensors_expect_floats(file, "norm.inverse_size", 1, &one, &found, err)))
        return status;
    if (sized && safetensors_find(file, "norm.smallest_size") &&
        (status = safetensors_expect_floats(file, "norm.smallest_size", 1, &one, &found, err)))
        return status;
    const st_tensor *rows = sized ? safetensors_find(file, "norm.sizes") : NULL;
    if (rows) {
        size_t meant[2] = {rows->shape[0], sh->total - sh->trained};
        if ((status = safetensors_expect_floats(file, "norm.sizes", 1, meant, &found, err)) ||
            (status = safetensors_expect_floats(file, "norm.statistics", 2, meant, &found, err)))
            return status;
    }
    if ((status = safetensors_expect_floats(file, "input.mean", 1, &width, &found, err))) return status;
    return safetensors_expect_floats(file, "input.scale", 1, &width, &found, err);
}

static onet_status read_record(const safetensors *file, onet_model *m, onet_error *err) {
    if (file->pairs > MAX_PAIRS)
        return fail(err, ONET_BAD, "%s: its __metadata__ has over %d pairs; the file is corrupt",
                    safetensors_name(file), MAX_PAIRS);
    for (size_t i = 0; i < file->pairs; i++)
        if (!strncmp(file->metadata[i].key, "record.", 7)) {
            onet_status status = model_set_entry(m, file->metadata[i].key + 7, file->metadata[i].value, err);
            if (status) return status;
        }
    return ONET_OK;
}

/* Reads the relations, once the features that they may be made from are known. */
static onet_status read_relations(const safetensors *file, onet_model *m, onet_error *err) {
    int R = m->sh.s.relations;
    if (!R) return ONET_OK;
    const char *names = safetensors_metadata(file, "relations.names"),
               *made = safetensors_metadata(file, "relations.made");
    relating *r = NULL, *all = NULL;
    onet_status status =
        made ? relating_new(&r, made, 0, NULL, m->words ? 0 : model_width(m), m->columns, err) : ONET_OK;
    if (!status && r && r->made > R) status = ONET_USAGE;
    int given = R - (!status && r ? r->made : 0);
    relating_free(r);
    if (names && (!given || lines_count(names) != given)) status = ONET_USAGE;
    if (!status) status = relating_new(&all, made, given, names, model_width(m), m->columns, err);
    if (status == ONET_USAGE)
        return fail(err, ONET_BAD, "%s is corrupt: its %d relations are not those that it names",
                    safetensors_name(file), R);
    if (!status) status = scaling_read(&all->scale, file, SCALING_OF_RELATIONS, R, err);
    if (status || (!made && !all->scale))
        relating_free(all);
    else
        m->relating = all;
    if (status) return status;
    if (names && !(m->relations = strdup(names))) return fail_memory(err, "a model");
    const st_tensor *fill = safetensors_find(file, "relations.fill");
    size_t numbers = (size_t)given;
    if (!fill) return ONET_OK;
    if ((status = safetensors_expect_floats(file, "relations.fill", 1, &numbers, &fill, err))) return status;
    if (!(m->relation_fill = array_new(numbers, sizeof *m->relation_fill)))
        return fail_memory(err, "a model");
    return safetensors_load_floats(file, fill, m->relation_fill, err);
}

static onet_status read_tensors(const safetensors *file, onet_model *m, onet_error *err) {
    const net_shape *sh = &m->sh;
    onet_status status = ONET_OK;
    for (int k = 0; k < sh->tensors && !status; k++) {
        const tensor *t = &sh->tensor[k];
        const st_tensor *found = safetensors_find(file, t->name);
        status = safetensors_load_floats(file, found, m->theta + t->offset, err);
        if (t->trained && t->dims > 1 && found->type == ST_F16) m->half = true;
    }
    const st_tensor *inverse_size = safetensors_find(file, "norm.inverse_size"),
                    *smallest_size = safetensors_find(file, "norm.smallest_size");
    m->sized = inverse_size != NULL;
    for (int k = 0; m->sized && k < sh->tensors && !status; k++) {
        if (sh->tensor[k].trained) continue;
        tensor slope = model_slope_tensor(&sh->tensor[k]);
        status = safetensors_load_floats(file, safetensors_find(file, slope.name),
                                         m->slope + (slope.offset - sh->trained), err);
    }
    if (m->sized && !status) status = safetensors_load_floats(file, inverse_size, &m->inverse_size, err);
    if (m->sized && smallest_size && !status)
        status = safetensors_load_floats(file, smallest_size, &m->smallest_size, err);
    const st_tensor *rows = m->sized ? safetensors_find(file, "norm.sizes") : NULL;
    if (rows && !status) {
        if (!model_make_rows(m, rows->shape[0]))
            status = fail_memory(err, "a model");
        else if (!(status = safetensors_load_floats(file, rows, m->row_size, err)))
            status = safetensors_load_floats(file, safetensors_find(file, "norm.statistics"), m->row, err);
    }
    if (status ||
        (status = safetensors_load_floats(file, safetensors_find(file, "input.mean"), m->mean, err)) ||
        (status = safetensors_load_floats(file, safetensors_find(file, "input.scale"), m->scale, err)))
        return status;
    if (!safetensors_find(file, "words.text") && !safetensors_find(file, "words.vectors"))
        return (status = scaling_read(&m->scaling, file, SCALING_OF_FEATURES, sh->s.width, err)) ||
                       (status = columns_file_read(&m->columns, file, model_width(m), err))
                   ? status
                   : read_relations(file, m, err);
    if (sh->s.relative)
        return fail(err, ONET_BAD,
                    "%s: its settings.relative is 1, but its items are words; make the file again",
                    safetensors_name(file));
    if ((status = words_file_read(&m->words, file, err))) return status;
    if (m->words->width != sh->s.width)
        return fail(err, ONET_BAD,
                    "%s: words.vectors has %d numbers per word where the net takes %d; make the "
                    "file again",
                    safetensors_name(file), m->words->width, sh->s.width);
    return read_relations(file, m, err);
}

static onet_status check_sum(const safetensors *file, const onet_model *m, onet_error *err) {
    const char *meant = safetensors_metadata(file, "sha256");
    char found[65];
    if (!meant) return ONET_OK;
    model_checksum(m, found);
    if (!strcmp(meant, found)) return ONET_OK;
    return fail(err, ONET_BAD,
                "%s is corrupt: its numbers do not have the checksum that it was saved with; get "
                "the file again",
                safetensors_name(file));
}

static onet_status load(const safetensors *file, onet_model **model, onet_error *err) {
    onet_settings settings = {0};
    onet_status status = read_settings(file, &settings, err);
    if (status) return status;
    net_shape *sh = malloc(sizeof *sh);
    if (!sh) return fail_memory(err, "a model");
    if ((status = net_shape_make(sh, &settings, err))) {
        status = ONET_BAD;
        error_prefix(err, "%s", safetensors_name(file));
        error_field(err, ""); /* the file's, which no option changes */
    } else
        status = check_tensors(file, sh, err);
    free(sh);
    if (!status) status = safetensors_data(file, MAX_MODEL, err);
    if (status || (status = model_new(model, &settings, err)) || (status = read_record(file, *model, err)) ||
        (status = read_tensors(file, *model, err)) ||
        (status = check_numbers(*model, safetensors_name(file), ONET_BAD, err)))
        return status;
    return check_sum(file, *model, err);
}

static onet_status load_and_close(safetensors *file, onet_model **model, onet_error *err) {
    onet_status status = load(file, model, err);
    if (status) {
        onet_model_free(*model);
        *model = NULL;
    }
    safetensors_close(file);
    return status;
}

onet_status onet_model_load(onet_model **model, const char *path, onet_error *err) {
    NEED(model, "model");
    *model = NULL;
    NEED(path, "path");
    safetensors *file;
    onet_status status = safetensors_open(&file, path, err);
    return status ? status : load_and_close(file, model, err);
}

typedef struct rest {
    const unsigned char *at;
    size_t left;
} rest;

static ptrdiff_t take_rest(void *context, void *buffer, size_t size) {
    rest *r = context;
    if (size > r->left) size = r->left;
    if (size) memcpy(buffer, r->at, size);
    r->at += size;
    r->left -= size;
    return (ptrdiff_t)size;
}

onet_status onet_model_from_bytes(onet_model **model, const void *bytes, size_t size, onet_error *err) {
    NEED(model, "model");
    *model = NULL;
    NEED(bytes, "bytes");
    rest r = {bytes, size};
    input *in;
    safetensors *file;
    onet_status status = input_from(&in, "the model", take_rest, &r, err);
    if (status) return status;
    status = safetensors_from(&file, in, err);
    if (!status) status = load_and_close(file, model, err);
    input_close(in);
    return status;
}
