/* Merges several networks into one, whose logits are the mean of theirs: checks that they agree, puts them
 * side by side, block by block, with zeros between them, and joins their features, scaling and training
 * records. The weights of a part for features that it does not see are zero. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/arguments.h"
#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/data/columns.h"
#include "engine/model/model.h"
#include "engine/model/settings.h"

/* A part of the merged network; H, O, C: the merged channels at which those of the part begin. */
typedef struct part {
    const onet_model *one;
    onet_model *all;
    int H, O, C;
    int *input;  /* [one->sh.inputs]: for each input of this part: its input channel in the merged net */
    float share; /* of the logit */
} part;

/* ---- do they go together? ---- */

static onet_status check_settings(const onet_settings *a, const onet_settings *b, int number,
                                  onet_error *err) {
    for (const setting *k = settings_list; k < settings_list + SETTINGS; k++) {
        char one[16], other[16];
        if (k->in_parts && *setting_of(a, k) != *setting_of(b, k))
            return fail(err, ONET_BAD, "%s is %s in model 1 and %s in model %d; they must be equal", k->what,
                        setting_text(a, k, one), setting_text(b, k, other), number);
    }
    return ONET_OK;
}

static bool same_words(const onet_words *a, const onet_words *b) {
    if (!a || !b) return a == b;
    return words_same(a, b) &&
           !memcmp(a->vectors, b->vectors, (size_t)a->count * (size_t)a->width * sizeof *a->vectors);
}

static bool same_missing(const onet_columns *a, const onet_columns *b) {
    onet_missing of_a = a ? a->missing : ONET_MISSING_ERROR, of_b = b ? b->missing : ONET_MISSING_ERROR;
    if (of_a != of_b || of_a == ONET_MISSING_ERROR) return of_a == of_b;
    size_t width = (size_t)a->width;
    return a->width == b->width && !memcmp(a->fill, b->fill, width * sizeof *a->fill) &&
           !a->flag == !b->flag && (!a->flag || !memcmp(a->flag, b->flag, width));
}

/* Whether the relations have the same names, and missing ones get the same values. */
static bool same_relations(const onet_model *a, const onet_model *b) {
    if (!relating_same(a->relating, b->relating) || !a->relation_fill != !b->relation_fill ||
        (a->relations && b->relations && strcmp(a->relations, b->relations)))
        return false;
    return !a->relation_fill || !memcmp(a->relation_fill, b->relation_fill,
                                        (size_t)model_given_relations(a) * sizeof *a->relation_fill);
}

static bool same_scale(const onet_model *a, size_t i, const onet_model *b, size_t j) {
    return a->mean[i] == b->mean[j] && a->scale[i] == b->scale[j];
}

/* Index, among the model's inputs, of the rank-within-set input of feature j; -1: none. */
static int rank_of(const onet_model *m, int j) {
    const scaling *s = m->scaling;
    if (!s || !s->within[j]) return -1;
    int at = s->width;
    for (int i = 0; i < j; i++) at += s->within[i];
    return at;
}

/* Whether features and relations are standardised and scaled in the same way. The ranks within the set may be
 * those of other features. */
static bool same_features(const onet_model *a, const onet_model *b) {
    for (int j = 0; j < model_width(a); j++) {
        int rank_a = rank_of(a, j), rank_b = rank_of(b, j);
        if (!same_scale(a, (size_t)j, b, (size_t)j) ||
            (rank_a >= 0 && rank_b >= 0 && !same_scale(a, (size_t)rank_a, b, (size_t)rank_b)))
            return false;
    }
    for (size_t r = 0; r < (size_t)a->sh.s.relations; r++)
        if (!same_scale(a, (size_t)a->sh.s.width + r, b, (size_t)b->sh.s.width + r)) return false;
    return scaling_agrees(a->scaling, b->scaling);
}

/* Checks each pair of parts: two that agree with a third, which lacks something, need not agree with each
 * other in it. */
static onet_status check_pair(const onet_model *a, int first, const onet_model *b, int number,
                              onet_error *err) {
    int feature;
    if (!same_features(a, b) || !same_relations(a, b))
        return fail_field(err, ONET_BAD, "onet_train_options.models",
                          "model %d and model %d see their items differently (standardisation or relations): "
                          "train both on the same data, or both at once",
                          first, number);
    if (a->columns && b->columns && columns_differ(a->columns, b->columns, &feature))
        return fail(err, ONET_BAD,
                    "feature %d of model %d has another name in model %d: train both on the same data",
                    feature + 1, first, number);
    return ONET_OK;
}

static onet_status check(const onet_model *a, const onet_model *b, int number, onet_error *err) {
    onet_status status = check_settings(&a->sh.s, &b->sh.s, number, err);
    if (status) return status;
    if (model_width(a) != model_width(b))
        return fail(err, ONET_BAD,
                    "the number of features per item is %d in model 1 and %d in model %d; they must be equal",
                    model_width(a), model_width(b), number);
    if (!same_missing(a->columns, b->columns) || !same_words(a->words, b->words))
        return fail_field(err, ONET_BAD, "onet_train_options.models",
                          "model 1 and model %d see their items differently (missing values or words): train "
                          "both on the same data, or both at once",
                          number);
    if (a->sized != b->sized ||
        (a->sized &&
         (a->inverse_size != b->inverse_size || a->smallest_size != b->smallest_size || a->rows != b->rows ||
          (a->rows && memcmp(a->row_size, b->row_size, a->rows * sizeof *a->row_size)))))
        return fail_field(
            err, ONET_BAD, "onet_train_options.statistics",
            "the norm statistics of model 1 and of model %d are for other sizes of sets: train both on the "
            "same data with the same statistics",
            number);
    return ONET_OK;
}

/* ---- where a part's channels stand ---- */

/* Returns the merged channel of column c of an item's features after some encoder blocks. */
static int feature_at(const part *p, int c) {
    int inputs = p->one->sh.inputs, O = p->one->sh.s.encoder_out;
    if (c < inputs) return p->input[c];
    c -= inputs;
    return p->all->sh.inputs + c / O * p->all->sh.s.encoder_out + p->O + c % O;
}

/* Returns the merged channel of column c of the input of a decoder block or the head: x', y', relations, then
 * v and its pool of each block before. */
static int channel_at(const part *p, int c) {
    int D = p->one->sh.D, C = p->one->sh.s.decoder_out;
    if (c < 2 * D) return c / D * p->all->sh.D + feature_at(p, c % D);
    c -= 2 * D;
    if (c < p->one->sh.s.relations) return 2 * p->all->sh.D + c;
    c -= p->one->sh.s.relations;
    return p->all->sh.base + c / C * p->all->sh.s.decoder_out + p->C + c % C;
}

/* Returns the channel, the last one that the first encoder block adds, that belongs to no part. It is 0 for
 * all items and 1 in the start vector: what the weights of a part make of its own start vector's input
 * features, which all parts share, is the weight of this channel. */
static int start_channel(const onet_model *all) {
    return all->sh.inputs + all->sh.s.encoder_out - 1;
}

/* ---- filling it in ---- */

static void put_vector(const part *p, size_t to, size_t from, int count, int at) {
    memcpy(p->all->theta + to + at, p->one->theta + from, (size_t)count * sizeof(float));
}

static void put_norm(const part *p, const norm_at *to, const norm_at *from, int count, int at) {
    const net_shape *one = &p->one->sh, *all = &p->all->sh;
    put_vector(p, to->gamma, from->gamma, count, at);
    put_vector(p, to->beta, from->beta, count, at);
    put_vector(p, to->mean, from->mean, count, at);
    put_vector(p, to->var, from->var, count, at);
    memcpy(p->all->slope + (to->mean - all->trained) + at, p->one->slope + (from->mean - one->trained),
           (size_t)count * sizeof(float));
    memcpy(p->all->slope + (to->var - all->trained) + at, p->one->slope + (from->var - one->trained),
           (size_t)count * sizeof(float));
    for (size_t r = 0; r < p->one->rows; r++) {
        float *row = p->all->row + r * (all->total - all->trained) + at;
        const float *own = p->one->row + r * (one->total - one->trained);
        memcpy(row + (to->mean - all->trained), own + (from->mean - one->trained),
               (size_t)count * sizeof *row);
        memcpy(row + (to->var - all->trained), own + (from->var - one->trained), (size_t)count * sizeof *row);
    }
}

static void put_encoder(const part *p, int k) {
    const net_shape *one = &p->one->sh, *all = &p->all->sh;
    const encoder_at *from = &one->enc[k], *to = &all->enc[k];
    int H = one->s.hidden, O = one->s.encoder_out;
    for (int h = 0; h < H; h++) {
        float *row = p->all->theta + to->weight1 + (size_t)(p->H + h) * (size_t)to->columns;
        const float *own = p->one->theta + from->weight1 + (size_t)h * (size_t)from->columns;
        for (int side = 0; side < 2; side++)
            for (int c = 0; c < from->in; c++)
                row[side * to->in + feature_at(p, c)] = own[side * from->in + c];
        for (int r = 0; r < 2 * one->s.relations; r++) row[2 * to->in + r] = own[2 * from->in + r];
    }
    for (int o = 0; o < O; o++)
        put_vector(p, to->weight2 + (size_t)(p->O + o) * (size_t)all->s.hidden,
                   from->weight2 + (size_t)o * (size_t)H, H, p->H);
    put_vector(p, to->bias1, from->bias1, H, p->H);
    put_vector(p, to->bias2, from->bias2, O, p->O);
    put_norm(p, &to->norm1, &from->norm1, H, p->H);
    put_norm(p, &to->norm2, &from->norm2, O, p->O);
}

/* Adds a row of weights [channels, taps], times `factor`. */
static void put_row(const part *p, size_t to, size_t from, int channels, int taps, float factor) {
    const net_shape *one = &p->one->sh, *all = &p->all->sh;
    float *row = p->all->theta + to;
    const float *own = p->one->theta + from, *start = p->one->theta + one->start;
    for (int c = 0; c < channels; c++)
        for (int l = 0; l < taps; l++) row[channel_at(p, c) * taps + l] += factor * own[c * taps + l];
    for (int l = 0; l < taps; l++) {
        double sum = 0;
        for (int c = 0; c < one->inputs; c++) sum += (double)own[(one->D + c) * taps + l] * (double)start[c];
        row[(all->D + start_channel(p->all)) * taps + l] += (float)((double)factor * sum);
    }
}

static void put_decoder(const part *p, int m) {
    const decoder_at *from = &p->one->sh.dec[m], *to = &p->all->sh.dec[m];
    int C = p->one->sh.s.decoder_out;
    for (int c = 0; c < C; c++)
        put_row(p, to->weight + (size_t)(p->C + c) * (size_t)to->in * 3,
                from->weight + (size_t)c * (size_t)from->in * 3, from->in, 3, 1);
    put_vector(p, to->bias, from->bias, C, p->C);
    put_norm(p, &to->norm, &from->norm, C, p->C);
}

static void put_part(const part *p) {
    const net_shape *one = &p->one->sh, *all = &p->all->sh;
    for (int k = 0; k < one->s.encoder_blocks; k++) put_encoder(p, k);
    for (int m = 0; m < one->s.decoder_blocks; m++) put_decoder(p, m);
    for (int c = one->inputs; c < one->D; c++)
        p->all->theta[all->start + (size_t)feature_at(p, c)] = p->one->theta[one->start + (size_t)c];
    put_row(p, all->head_weight, one->head_weight, one->head_in, 1, p->share);
    p->all->theta[all->head_bias] += p->share * p->one->theta[one->head_bias];
}

/* Finds the merged channels of the features that a part sees: those of the sets, ranks within the set, and
 * both relative to the set. */
static void find_inputs(part *p) {
    int given = model_width(p->one), width = p->one->sh.s.width;
    for (int j = 0; j < given; j++) {
        int rank = rank_of(p->one, j);
        p->input[j] = j;
        if (rank >= 0) p->input[rank] = rank_of(p->all, j);
    }
    for (int c = width; c < p->one->sh.inputs; c++) p->input[c] = p->all->sh.s.width + p->input[c - width];
}

/* Makes a scaling with the ranks within the set of all models; NULL if none has a scaling. */
static onet_status merge_scaling(scaling **all, const onet_model *const *models, size_t count,
                                 onet_error *err) {
    *all = NULL;
    for (size_t i = 0; i < count; i++) {
        const scaling *s = models[i]->scaling;
        onet_status status = *all ? ONET_OK : scaling_copy(all, s, err);
        if (status) return status;
        for (int j = 0; s && j < s->width; j++) {
            (*all)->inputs += s->within[j] && !(*all)->within[j];
            (*all)->within[j] |= s->within[j];
        }
    }
    return ONET_OK;
}

/* Copies mean and scale of what the part sees. */
static void take_scales(onet_model *to, const onet_model *from) {
    for (int j = 0; j < model_width(from); j++) {
        int own = rank_of(from, j), at = rank_of(to, j);
        to->mean[j] = from->mean[j];
        to->scale[j] = from->scale[j];
        if (own < 0) continue;
        to->mean[at] = from->mean[own];
        to->scale[at] = from->scale[own];
    }
    size_t bytes = (size_t)from->sh.s.relations * sizeof *to->mean;
    memcpy(to->mean + to->sh.s.width, from->mean + from->sh.s.width, bytes);
    memcpy(to->scale + to->sh.s.width, from->scale + from->sh.s.width, bytes);
}

static onet_status take_inputs(onet_model *to, const onet_model *from, onet_error *err) {
    if (from->relations && !(to->relations = strdup(from->relations)))
        return fail_memory(err, "the relations");
    onet_status related = relating_copy(&to->relating, from->relating, err);
    if (!related) related = model_fill_relations(to, from->relation_fill, err);
    if (related) return related;
    to->sized = from->sized;
    to->inverse_size = from->inverse_size;
    to->smallest_size = from->smallest_size;
    if (!model_make_rows(to, from->rows)) return fail_memory(err, "the norms' statistics");
    if (from->rows) memcpy(to->row_size, from->row_size, from->rows * sizeof *to->row_size);
    if (from->words && !(to->words = words_copy(from->words))) return fail_memory(err, "the words");
    return from->columns ? onet_columns_copy(&to->columns, from->columns, err) : ONET_OK;
}

/* Whether the library wrote this entry about the run that trained one part, which does not hold for a merged
 * model. In the list, a key that ends in '.' stands for all that begin with it. */
static bool is_of_a_run(const char *key) {
    static const char *const own[] = {"data.sets",  "seed",      "batch",  "run",         "kernels",
                                      "statistics", "precision", "valid.", "weights",     "kind",
                                      "penalty",    "loss",      "steps",  "temperature", "merged."};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        size_t length = strlen(own[i]);
        if (own[i][length - 1] == '.' ? !strncmp(key, own[i], length) : !strcmp(key, own[i])) return true;
    }
    return false;
}

/* Notes the checksum of each merged model, and keeps the entries that all of them have with the same value.
 */
static onet_status take_records(onet_model *to, const onet_model *const *models, size_t count,
                                onet_error *err) {
    onet_status status = ONET_OK;
    for (size_t i = 0; i < count && !status; i++) {
        char key[48], sum[65];
        snprintf(key, sizeof key, "merged.%zu.sha256", i + 1);
        model_checksum(models[i], sum);
        status = model_set_entry(to, key, sum, err);
        const char *from = onet_model_record(models[i], "from.sha256");
        snprintf(key, sizeof key, "merged.%zu.from.sha256", i + 1);
        if (from && !status) status = model_set_entry(to, key, from, err);
    }
    for (size_t k = 0; k < models[0]->entries && !status; k++) {
        const char *key = models[0]->entry[k].key, *value = models[0]->entry[k].value;
        bool kept = !is_of_a_run(key);
        for (size_t i = 1; i < count && kept; i++) {
            const char *other = onet_model_record(models[i], key);
            kept = other && !strcmp(value, other);
        }
        if (kept) status = model_set_entry(to, key, value, err);
    }
    return status;
}

onet_status onet_model_merge(onet_model **merged, const onet_model *const *models, size_t count,
                             onet_error *err) {
    NEED(merged, "merged");
    *merged = NULL;
    NEED(models, "models");
    if (count < 1 || count > ONET_MAX_MERGED)
        return fail(err, ONET_USAGE, "%zu models are to be merged: 1 to %d are possible", count,
                    ONET_MAX_MERGED);
    onet_settings s = {0};
    for (size_t i = 0; i < count; i++) {
        NEED(models[i], "a model");
        onet_status status = check(models[0], models[i], (int)i + 1, err);
        for (size_t j = 0; j < i && !status; j++)
            status = check_pair(models[j], (int)j + 1, models[i], (int)i + 1, err);
        if (status) return status;
        const onet_settings *of = &models[i]->sh.s;
        if (i == 0) {
            s = *of;
            s.encoder_out++; /* start_channel */
            continue;
        }
        s.hidden += of->hidden;
        s.encoder_out += of->encoder_out;
        s.decoder_out += of->decoder_out;
        s.relative |= of->relative;
    }
    if (!s.encoder_blocks) return fail(err, ONET_BAD, "networks without encoder blocks cannot be merged");
    scaling *seen;
    onet_model *m = NULL;
    onet_status status = merge_scaling(&seen, models, count, err);
    if (!status && seen) s.width = seen->inputs;
    if (!status) status = model_new(&m, &s, err);
    if (status) {
        scaling_free(seen);
        return status;
    }
    m->scaling = seen;
    part p = {.all = m, .share = (float)(1.0 / (double)count)};
    status = take_inputs(m, models[0], err);
    if (!status && !(p.input = array_new((size_t)m->sh.inputs, sizeof *p.input)))
        status = fail_memory(err, "the merged model");
    if (status) {
        onet_model_free(m);
        return status;
    }
    /* The variances of the channel that no part has must not be 0. */
    size_t statistics = m->sh.total - m->sh.trained;
    for (size_t i = 0; i < statistics; i++) m->theta[m->sh.trained + i] = 1;
    for (size_t i = 0; i < m->rows * statistics; i++) m->row[i] = 1;
    m->theta[m->sh.start + (size_t)start_channel(m)] = 1;
    for (size_t i = 0; i < count; i++) {
        p.one = models[i];
        take_scales(m, p.one);
        find_inputs(&p);
        put_part(&p);
        p.H += p.one->sh.s.hidden;
        p.O += p.one->sh.s.encoder_out;
        p.C += p.one->sh.s.decoder_out;
    }
    free(p.input);
    status = take_records(m, models, count, err);
    if (status)
        onet_model_free(m);
    else
        *merged = m;
    return status;
}
