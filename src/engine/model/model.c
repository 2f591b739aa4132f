/* Creates and frees a model, sets and looks up entries of its training record, and implements the public
 * accessors of its settings, number of parameters, features, columns, relations and words. */
#include "engine/model/model.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/base/utf8.h"
#include "ordernet_io.h"
#include "ordernet_train.h"

onet_status model_new(onet_model **model, const onet_settings *settings, onet_error *err) {
    *model = NULL;
    onet_model *m = calloc(1, sizeof *m);
    if (!m) return fail_memory(err, "a model");
    onet_status status = net_shape_make(&m->sh, settings, err);
    if (!status) {
        m->theta = array_new(m->sh.total, sizeof *m->theta);
        m->slope = array_new(m->sh.total - m->sh.trained, sizeof *m->slope);
        m->mean = array_new(model_inputs(m), sizeof *m->mean);
        m->scale = array_new(model_inputs(m), sizeof *m->scale);
        if (!m->theta || !m->slope || !m->mean || !m->scale) status = fail_memory(err, "a model");
    }
    if (status) {
        onet_model_free(m);
        return status;
    }
    for (size_t i = 0; i < model_inputs(m); i++) m->scale[i] = 1;
    *model = m;
    return ONET_OK;
}

void onet_model_free(onet_model *m) {
    if (!m) return;
    for (size_t i = 0; i < m->entries; i++) {
        free(m->entry[i].key);
        free(m->entry[i].value);
    }
    free(m->entry);
    free(m->theta);
    free(m->slope);
    free(m->row_size);
    free(m->row);
    free(m->mean);
    free(m->scale);
    words_free(m->words);
    onet_columns_free(m->columns);
    scaling_free(m->scaling);
    relating_free(m->relating);
    free(m->relations);
    free(m->relation_fill);
    free(m);
}

static training_entry *find(const onet_model *m, const char *key) {
    for (size_t i = 0; i < m->entries; i++)
        if (!strcmp(m->entry[i].key, key)) return &m->entry[i];
    return NULL;
}

onet_status model_set_entry(onet_model *m, const char *key, const char *value, onet_error *err) {
    training_entry *entry = find(m, key);
    char *copy = strdup(value), *name = entry ? NULL : strdup(key);
    if (!copy ||
        (!entry && (!name || !array_reserve(&m->entry, &m->entry_room, m->entries + 1, sizeof *m->entry)))) {
        free(copy);
        free(name);
        return fail_memory(err, "the training record");
    }
    /* The model file holds only UTF-8; a file name may be anything else. */
    for (size_t length = strlen(copy), at; (at = utf8_valid(copy, length)) < length;) copy[at] = '?';
    if (entry)
        free(entry->value);
    else {
        entry = &m->entry[m->entries++];
        entry->key = name;
    }
    entry->value = copy;
    return ONET_OK;
}

const onet_settings *onet_model_settings(const onet_model *m) {
    return m ? &m->sh.s : NULL;
}

size_t onet_model_parameters(const onet_model *m, int trained_only) {
    if (!m) return 0;
    return trained_only ? m->sh.trained : m->sh.total;
}

const char *onet_model_record(const onet_model *m, const char *key) {
    const training_entry *entry = m && key ? find(m, key) : NULL;
    return entry ? entry->value : NULL;
}

int onet_model_width(const onet_model *m) {
    return m ? model_width(m) : 0;
}

int onet_model_feature(const onet_model *m, int j, onet_feature *feature) {
    if (!m || !feature || j < 0 || m->words || j >= model_width(m)) return 0;
    const scaling *s = m->scaling;
    scaling_kind kind = s ? (scaling_kind)s->kind[j] : SCALING_PLAIN;
    bool standard = m->mean[j] != 0 || m->scale[j] != 1;
    *feature = (onet_feature){.scale = kind == SCALING_QUANTILE ? ONET_SCALE_QUANTILE
                                       : standard               ? ONET_SCALE_STANDARD
                                                                : ONET_SCALE_NONE,
                              .within = s ? s->within[j] : 0,
                              .centred = kind == SCALING_CENTRED,
                              .exact = s ? s->exact[j] : 0};
    return 1;
}

const onet_columns *onet_model_columns(const onet_model *m) {
    return m ? m->columns : NULL;
}

onet_status model_fill_relations(onet_model *m, const float *fill, onet_error *err) {
    size_t R = (size_t)model_given_relations(m);
    if (!fill || !R) return ONET_OK;
    if (!(m->relation_fill = array_new(R, sizeof *fill))) return fail_memory(err, "the relations");
    memcpy(m->relation_fill, fill, R * sizeof *fill);
    return ONET_OK;
}

const float *onet_model_relation_fill(const onet_model *m) {
    return m ? m->relation_fill : NULL;
}

int onet_model_given_relations(const onet_model *m) {
    return m ? model_given_relations(m) : 0;
}

const char *onet_model_relate(const onet_model *m) {
    return m && m->relating ? m->relating->text : NULL;
}

const char *onet_model_relations(const onet_model *m) {
    return m ? m->relations : NULL;
}

const onet_words *onet_model_words(const onet_model *m) {
    return m ? m->words : NULL;
}
