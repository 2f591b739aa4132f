/* Returns facts about a model for the public API: its checksum, its kind, network or ranker (a net without
 * blocks), a ranker's weights, whether its norm statistics depend on the set size, the entries of its
 * training record, and the name and shape of each tensor. A program may set entries of the record. */
#include <stdio.h>
#include <string.h>

#include "engine/base/arguments.h"
#include "engine/base/error.h"
#include "engine/model/model.h"
#include "ordernet_io.h"
#include "ordernet_train.h"

const char *onet_model_record_at(const onet_model *m, size_t i, const char **key) {
    if (!m || i >= m->entries) return NULL;
    if (key) *key = m->entry[i].key;
    return m->entry[i].value;
}

onet_status onet_model_set_record(onet_model *m, const char *key, const char *value, onet_error *err) {
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789._-";
    enum { LONGEST = 64 };
    NEED(m, "model");
    NEED(key, "key");
    NEED(value, "value");
    size_t length = strspn(key, allowed);
    if (!length || length > LONGEST || key[length])
        return fail(err, ONET_USAGE,
                    "the key of a record has 1 to %d lower-case letters, digits, '.', '_' and '-'", LONGEST);
    return model_set_entry(m, key, value, err);
}

void onet_model_checksum(const onet_model *m, char hex[65]) {
    if (!hex) return;
    hex[0] = 0;
    if (m) model_checksum(m, hex);
}

const char *onet_model_kind(const onet_model *m) {
    if (!m) return NULL;
    return model_is_ranker(m) ? "ranker" : "network";
}

const float *onet_ranker_weights(const onet_model *m) {
    return m && model_is_ranker(m) ? m->theta + m->sh.head_weight : NULL;
}

int onet_model_sized(const onet_model *m) {
    return m && m->sized;
}

static int describe(onet_tensor *to, const tensor *t) {
    *to = (onet_tensor){.dims = t->dims, .trained = t->trained};
    snprintf(to->name, sizeof to->name, "%s", t->name);
    memcpy(to->shape, t->shape, sizeof to->shape);
    return 1;
}

int onet_model_tensor(const onet_model *m, size_t i, onet_tensor *to) {
    if (!m || !to) return 0;
    const net_shape *sh = &m->sh;
    size_t tensors = (size_t)sh->tensors, slopes = 0;
    if (i < tensors) return describe(to, &sh->tensor[i]);
    i -= tensors;
    for (size_t k = 0; m->sized && k < tensors; k++) {
        if (sh->tensor[k].trained || slopes++ < i) continue;
        tensor slope = model_slope_tensor(&sh->tensor[k]);
        return describe(to, &slope);
    }
    i -= slopes;
    tensor rest[12 + 2 * SCALING_TENSORS];
    size_t count = 0;
    int width = sh->s.width;
    if (m->sized) rest[count++] = (tensor){.name = "norm.inverse_size", .dims = 1, .shape = {1}};
    if (m->sized && m->smallest_size > 0)
        rest[count++] = (tensor){.name = "norm.smallest_size", .dims = 1, .shape = {1}};
    if (m->sized && m->rows) {
        int rows = (int)m->rows, numbers = (int)(sh->total - sh->trained);
        rest[count++] = (tensor){.name = "norm.sizes", .dims = 1, .shape = {rows}};
        rest[count++] = (tensor){.name = "norm.statistics", .dims = 2, .shape = {rows, numbers}};
    }
    int inputs = width + sh->s.relations;
    rest[count++] = (tensor){.name = "input.mean", .dims = 1, .shape = {inputs}};
    rest[count++] = (tensor){.name = "input.scale", .dims = 1, .shape = {inputs}};
    if (m->relation_fill)
        rest[count++] = (tensor){.name = "relations.fill", .dims = 1, .shape = {model_given_relations(m)}};
    if (m->words) {
        int words = m->words->count;
        int letters = (int)m->words->at[words] + words - 1; /* a newline between two words */
        rest[count++] = (tensor){.name = "words.vectors", .dims = 2, .shape = {words, width}};
        rest[count++] = (tensor){.name = "words.text", .dims = 1, .shape = {letters}};
    }
    const onet_columns *c = m->columns;
    if (c && c->name) {
        int letters = 0;
        for (int j = 0; j < c->width; j++) letters += (int)strlen(c->name[j]) + 1;
        rest[count++] = (tensor){.name = "columns.names", .dims = 1, .shape = {letters}};
    }
    if (c && c->fill) rest[count++] = (tensor){.name = "missing.fill", .dims = 1, .shape = {c->width}};
    if (c && c->flag) rest[count++] = (tensor){.name = "missing.flag", .dims = 1, .shape = {c->width}};
    st_tensor own[2 * SCALING_TENSORS];
    size_t scalings = scaling_tensors(m->scaling, SCALING_OF_FEATURES, own);
    if (m->relating) scalings += scaling_tensors(m->relating->scale, SCALING_OF_RELATIONS, own + scalings);
    for (size_t k = 0; k < scalings; k++, count++) {
        rest[count] = (tensor){.dims = 1, .shape = {(int)own[k].shape[0]}};
        snprintf(rest[count].name, sizeof rest[count].name, "%s", own[k].name);
    }
    return i < count ? describe(to, &rest[i]) : 0;
}
