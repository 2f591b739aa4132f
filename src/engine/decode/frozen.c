/* Folds the statistics of the batch norms into the weights, once per set size, and caches the folded weights.
 */
#include "engine/decode/frozen.h"

#include <stdlib.h>

#include "engine/base/memory.h"

/* ---- one size ---- */

static void frozen_free(frozen *f) {
    if (!f) return;
    for (int b = 0; b < MAX_BLOCKS; b++) {
        norm_free(&f->enc_norm[b]);
        norm_free(&f->dec_norm[b]);
        free(f->enc_w[b]);
        free(f->enc_b[b]);
        free(f->dec_w[b]);
        free(f->dec_bias[b]);
    }
    free(f->head_v);
    free(f);
}

static bool freeze_encoder(frozen *f, const real *statistics) {
    const net_shape *sh = &f->model->sh;
    const real *theta = f->model->theta;
    size_t H = (size_t)f->w.H, O = (size_t)f->w.O;
    for (int b = 0; b < sh->s.encoder_blocks; b++) {
        norm first = {0};
        bool ok = norm_new(&first, f->w.H) && norm_new(&f->enc_norm[b], f->w.O) &&
                  real_new(&f->enc_w[b], H * O) && real_new(&f->enc_b[b], O);
        if (ok) {
            norm_frozen(&first, sh, theta, statistics, sh->enc[b].norm1, sh->s.hidden);
            norm_frozen(&f->enc_norm[b], sh, theta, statistics, sh->enc[b].norm2, sh->s.encoder_out);
            fold_second(&f->w.enc[b], &first, f->w.H, f->w.O, f->enc_w[b], f->enc_b[b], NULL);
        }
        norm_free(&first);
        if (!ok) return false;
    }
    return true;
}

static bool freeze_decoder(frozen *f, const real *statistics) {
    const net_shape *sh = &f->model->sh;
    size_t C = (size_t)f->w.C;
    int N = sh->s.decoder_blocks;
    if (!real_new(&f->head_v, (size_t)N * C)) return false;
    for (int m = 0; m < N; m++) {
        if (!norm_new(&f->dec_norm[m], f->w.C) || !real_new(&f->dec_w[m], 3 * (size_t)(f->w.E + m) * C * C) ||
            !real_new(&f->dec_bias[m], 3 * C))
            return false;
        norm_frozen(&f->dec_norm[m], sh, f->model->theta, statistics, sh->dec[m].norm, sh->s.decoder_out);
        fold_conv(&f->w.dec[m], f->dec_norm, f->w.E, m, f->w.C, f->dec_w[m], f->dec_bias[m]);
        for (size_t c = 0; c < C; c++)
            f->head_v[(size_t)m * C + c] = f->w.head_v[(size_t)m * C + c] * f->dec_norm[m].g[c];
    }
    return true;
}

static frozen *frozen_new(const freezer *z, int n) {
    frozen *f = calloc(1, sizeof *f);
    real *statistics = array_new(z->model->sh.total - z->model->sh.trained, sizeof *statistics);
    bool ok = f && statistics;
    if (ok) {
        f->model = z->model;
        f->k = z->k;
        f->n = n;
        f->w = z->w;
        f->start_q = z->start_q;
        model_statistics(z->model, n, statistics);
        ok = freeze_encoder(f, statistics) && freeze_decoder(f, statistics);
    }
    free(statistics);
    if (ok) return f;
    frozen_free(f);
    return NULL;
}

/* ---- all of them ---- */

bool freezer_new(freezer *z, const onet_model *model, const kernels *k) {
    *z = (freezer){.model = model, .k = k};
    const net_shape *sh = &model->sh;
    if (!weights_new(&z->w, sh, false) || !real_new(&z->start_q, (size_t)z->w.Q)) return false;
    for (int job = 0; job < z->w.jobs; job++) weights_fill(&z->w, model->theta, job);
    k->gemm(1, z->w.Q, sh->D, model->theta + sh->start, 0, 1, packed(z->w.rows, sh->D), z->start_q,
            (size_t)z->w.Q, 0);
    return true;
}

/* Frees the frozen weights of all sizes. */
static void clear(freezer *z) {
    for (int i = 0; i < z->count; i++) frozen_free(z->size[i]);
    z->count = 0;
}

void freezer_free(freezer *z) {
    clear(z);
    weights_free(&z->w);
    free(z->start_q);
    *z = (freezer){0};
}

const frozen *freezer_find(const freezer *z, int n) {
    if (!z->model->sized) n = 0;
    for (int i = 0; i < z->count; i++)
        if (z->size[i]->n == n) return z->size[i];
    return NULL;
}

const frozen *freezer_prepare(freezer *z, int n) {
    const frozen *found = freezer_find(z, n);
    if (found) return found;
    if (z->count == FROZEN_SIZES) clear(z);
    frozen *f = frozen_new(z, z->model->sized ? n : 0);
    if (f) z->size[z->count++] = f;
    return f;
}
