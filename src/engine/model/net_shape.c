/* Checks the settings of a network and lists its tensors with their places in the parameter block. */
#include "engine/model/net_shape.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/model/settings.h"

/* Appends a tensor; trained ones are laid out in a first pass, running statistics in a second. */
static size_t add(net_shape *sh, bool trained, size_t *at, int dims, int a, int b, int c, const char *format,
                  ...) __attribute__((format(printf, 8, 9)));
static size_t add(net_shape *sh, bool trained, size_t *at, int dims, int a, int b, int c, const char *format,
                  ...) {
    tensor *t = &sh->tensor[sh->tensors++];
    va_list args;
    va_start(args, format);
    vsnprintf(t->name, sizeof t->name, format, args);
    va_end(args);
    t->dims = dims;
    t->shape[0] = a;
    t->shape[1] = b;
    t->shape[2] = c;
    t->size = (size_t)a * (size_t)(dims > 1 ? b : 1) * (size_t)(dims > 2 ? c : 1);
    t->offset = *at;
    t->trained = trained;
    *at += t->size;
    return t->offset;
}

bool tensor_is_variance(const tensor *t) {
    const char *suffix = strrchr(t->name, '.');
    return suffix && !strcmp(suffix, ".running_var");
}

onet_status net_shape_make(net_shape *sh, const onet_settings *s, onet_error *err) {
    onet_status status = settings_check(s, err);
    if (status) return status;
    memset(sh, 0, sizeof *sh);
    sh->s = *s;
    int H = s->hidden, O = s->encoder_out, C = s->decoder_out, R = s->relations;
    sh->inputs = s->relative ? 2 * s->width : s->width;
    sh->D = sh->inputs + s->encoder_blocks * O;
    sh->base = 2 * sh->D + R;
    size_t at = 0;
    for (int k = 0; k < s->encoder_blocks; k++) {
        encoder_at *e = &sh->enc[k];
        e->in = sh->inputs + k * O;
        e->columns = 2 * e->in + 2 * R;
        e->weight1 = add(sh, true, &at, 2, H, e->columns, 0, "encoder.%d.conv1.weight", k);
        e->bias1 = add(sh, true, &at, 1, H, 0, 0, "encoder.%d.conv1.bias", k);
        e->norm1.gamma = add(sh, true, &at, 1, H, 0, 0, "encoder.%d.norm1.weight", k);
        e->norm1.beta = add(sh, true, &at, 1, H, 0, 0, "encoder.%d.norm1.bias", k);
        e->weight2 = add(sh, true, &at, 2, O, H, 0, "encoder.%d.conv2.weight", k);
        e->bias2 = add(sh, true, &at, 1, O, 0, 0, "encoder.%d.conv2.bias", k);
        e->norm2.gamma = add(sh, true, &at, 1, O, 0, 0, "encoder.%d.norm2.weight", k);
        e->norm2.beta = add(sh, true, &at, 1, O, 0, 0, "encoder.%d.norm2.bias", k);
    }
    sh->start = add(sh, true, &at, 1, sh->D, 0, 0, "decoder.start");
    for (int m = 0; m < s->decoder_blocks; m++) {
        decoder_at *b = &sh->dec[m];
        b->in = sh->base + 2 * C * m;
        b->weight = add(sh, true, &at, 3, C, b->in, 3, "decoder.%d.conv.weight", m);
        b->bias = add(sh, true, &at, 1, C, 0, 0, "decoder.%d.conv.bias", m);
        b->norm.gamma = add(sh, true, &at, 1, C, 0, 0, "decoder.%d.norm.weight", m);
        b->norm.beta = add(sh, true, &at, 1, C, 0, 0, "decoder.%d.norm.bias", m);
    }
    sh->head_in = sh->base + 2 * C * s->decoder_blocks;
    sh->head_weight = add(sh, true, &at, 2, 1, sh->head_in, 0, "head.weight");
    sh->head_bias = add(sh, true, &at, 1, 1, 0, 0, "head.bias");
    sh->trained = at;
    for (int k = 0; k < s->encoder_blocks; k++) {
        encoder_at *e = &sh->enc[k];
        e->norm1.mean = add(sh, false, &at, 1, H, 0, 0, "encoder.%d.norm1.running_mean", k);
        e->norm1.var = add(sh, false, &at, 1, H, 0, 0, "encoder.%d.norm1.running_var", k);
        e->norm2.mean = add(sh, false, &at, 1, O, 0, 0, "encoder.%d.norm2.running_mean", k);
        e->norm2.var = add(sh, false, &at, 1, O, 0, 0, "encoder.%d.norm2.running_var", k);
    }
    for (int m = 0; m < s->decoder_blocks; m++) {
        decoder_at *b = &sh->dec[m];
        b->norm.mean = add(sh, false, &at, 1, C, 0, 0, "decoder.%d.norm.running_mean", m);
        b->norm.var = add(sh, false, &at, 1, C, 0, 0, "decoder.%d.norm.running_var", m);
    }
    sh->total = at;
    return ONET_OK;
}
