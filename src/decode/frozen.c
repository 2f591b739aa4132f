#include "decode/frozen.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static bool get(real **p, size_t count) {
    return (*p = array_new(count, sizeof(real))) != NULL;
}

bool frozen_new(frozen *f, const onet_model *model, const kernels *k) {
    memset(f, 0, sizeof *f);
    f->model = model;
    f->k = k;
    const shape *sh = &model->sh;
    const real *theta = model->theta;
    if (!weights_new(&f->w, sh, false)) return false;
    for (int task = 0; task < f->w.tasks; task++) weights_fill(&f->w, theta, task);
    size_t H = (size_t)f->w.H, O = (size_t)f->w.O, C = (size_t)f->w.C;
    for (int b = 0; b < sh->s.encoder_blocks; b++) {
        norm first = {0};
        bool ok = norm_new(&first, f->w.H) && norm_new(&f->enc_norm[b], f->w.O) && get(&f->enc_w[b], H * O) &&
                  get(&f->enc_b[b], O);
        if (ok) {
            norm_running(&first, theta, sh->enc[b].norm1, sh->s.hidden);
            norm_running(&f->enc_norm[b], theta, sh->enc[b].norm2, sh->s.encoder_out);
            fold_second(&f->w.enc[b], &first, f->w.H, f->w.O, f->enc_w[b], f->enc_b[b], NULL);
        }
        norm_free(&first);
        if (!ok) return false;
    }
    int N = sh->s.decoder_blocks;
    if (!get(&f->head_v, (size_t)N * C) || !get(&f->start_q, (size_t)f->w.Q)) return false;
    for (int m = 0; m < N; m++) {
        if (!norm_new(&f->dec_norm[m], f->w.C) || !get(&f->dec_w[m], 3 * (size_t)m * C * C) ||
            !get(&f->dec_bias[m], 3 * C))
            return false;
        norm_running(&f->dec_norm[m], theta, sh->dec[m].norm, sh->s.decoder_out);
        fold_conv(&f->w.dec[m], f->dec_norm, m, f->w.C, f->dec_w[m], f->dec_bias[m]);
        for (size_t c = 0; c < C; c++)
            f->head_v[(size_t)m * C + c] = f->w.head_v[(size_t)m * C + c] * f->dec_norm[m].g[c];
    }
    k->gemm(1, f->w.Q, sh->D, theta + sh->start, 0, 1, packed(f->w.rows, sh->D), f->start_q, (size_t)f->w.Q,
            0);
    return true;
}

void frozen_free(frozen *f) {
    weights_free(&f->w);
    for (int b = 0; b < MAX_BLOCKS; b++) {
        norm_free(&f->enc_norm[b]);
        norm_free(&f->dec_norm[b]);
        free(f->enc_w[b]);
        free(f->enc_b[b]);
        free(f->dec_w[b]);
        free(f->dec_bias[b]);
    }
    free(f->head_v);
    free(f->start_q);
    memset(f, 0, sizeof *f);
}
