/* Transposes, splits, pads and packs the parameters for the CPU kernels; computes batch norms from stored
 * statistics, and folds norms into weights. */
#include "engine/kernels/weights.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Returns the next `count` numbers of the block, aligned for vectors. */
static real *next_numbers(weights *w, size_t count) {
    real *p = w->block ? w->block + w->taken : NULL;
    w->taken += (count + 15) / 16 * 16;
    return p;
}

/* Gives each array its place; without a block, finds how large the block must be. */
static void place(weights *w, bool backward) {
    const net_shape *sh = w->sh;
    w->taken = 0;
    for (int k = 0; k < sh->s.encoder_blocks; k++) {
        encoder_weights *e = &w->enc[k];
        int in = sh->enc[k].in;
        e->first = next_numbers(w, packed_size(in, 2 * w->H));
        e->bias1 = next_numbers(w, 2 * (size_t)w->H);
        e->second = next_numbers(w, (size_t)w->H * w->O);
        e->bias2 = next_numbers(w, (size_t)w->O);
        e->sign = next_numbers(w, (size_t)w->O);
        if (w->E) e->related = next_numbers(w, 2 * (size_t)sh->s.relations * w->H);
        if (backward) e->first_t = next_numbers(w, packed_size(2 * w->H, pad(in)));
    }
    for (int m = 0; m < sh->s.decoder_blocks; m++) {
        decoder_weights *d = &w->dec[m];
        size_t square = 3 * (size_t)m * w->C * w->C, planes = square + 3 * (size_t)(w->E * w->C * w->C);
        d->v = next_numbers(w, planes);
        d->p = next_numbers(w, square);
        if (backward) d->p_t = next_numbers(w, square);
        if (backward) d->v_t = next_numbers(w, planes);
        d->bias = next_numbers(w, (size_t)w->C);
        d->sign = next_numbers(w, (size_t)w->C);
    }
    w->rows = next_numbers(w, packed_size(sh->D, w->Q));
    if (backward) w->rows_t = next_numbers(w, packed_size(w->Q, w->D));
    w->head_x = next_numbers(w, (size_t)w->D);
    w->head_v = next_numbers(w, (size_t)sh->s.decoder_blocks * w->C);
    w->head_e = next_numbers(w, (size_t)w->C);
}

bool weights_new(weights *w, const net_shape *sh, bool backward) {
    memset(w, 0, sizeof *w);
    int M = sh->s.encoder_blocks, N = sh->s.decoder_blocks;
    w->sh = sh;
    w->H = pad(sh->s.hidden);
    w->O = pad(sh->s.encoder_out);
    w->C = pad(sh->s.decoder_out);
    w->D = pad(sh->D);
    w->Q = 6 * w->C * N;
    w->E = sh->s.relations > 0;
    w->jobs = M + N + 1;
    place(w, backward);
    if (!real_new(&w->block, w->taken)) return false;
    place(w, backward);
    return true;
}

void weights_free(weights *w) {
    free(w->block);
    memset(w, 0, sizeof *w);
}

static void fill_encoder(weights *w, const real *theta, int k) {
    const encoder_at *at = &w->sh->enc[k];
    encoder_weights *e = &w->enc[k];
    int H = w->sh->s.hidden, O = w->sh->s.encoder_out, in = at->in;
    for (int h = 0; h < H; h++) {
        const real *row = theta + at->weight1 + (size_t)h * at->columns;
        for (int side = 0; side < 2; side++) {
            const real *from = row + side * in;
            int col = side * w->H + h;
            real *to = packed_at(e->first, in, 0, col);
            for (int c = 0; c < in; c++) to[(size_t)c * PANEL] = from[c];
            if (e->first_t)
                for (int c = 0; c < in; c++) *packed_at(e->first_t, 2 * w->H, col, c) = from[c];
        }
        for (int r = 0; r < at->columns - 2 * in; r++) e->related[(size_t)r * w->H + h] = row[2 * in + r];
    }
    memcpy(e->bias1, theta + at->bias1, (size_t)H * sizeof(real));
    for (int o = 0; o < O; o++) {
        for (int h = 0; h < H; h++) e->second[(size_t)h * w->O + o] = theta[at->weight2 + (size_t)o * H + h];
        e->bias2[o] = theta[at->bias2 + o];
        e->sign[o] = theta[at->norm2.gamma + o] < 0 ? -1 : 1;
    }
}

static void fill_decoder(weights *w, const real *theta, int m) {
    const decoder_at *at = &w->sh->dec[m];
    decoder_weights *d = &w->dec[m];
    int C = w->sh->s.decoder_out, D = w->sh->D, P = w->C, E = w->E;
    for (int c = 0; c < C; c++) {
        const real *from = theta + at->weight + (size_t)c * at->in * 3; /* [in, 3] */
        for (int side = 0; side < 2; side++)
            for (int l = 0; l < 3; l++) {
                int col = ((m * 2 + side) * 3 + l) * P + c;
                const real *f = from + (size_t)side * D * 3 + (2 - l);
                real *to = packed_at(w->rows, D, 0, col);
                for (int x = 0; x < D; x++) to[(size_t)x * PANEL] = f[(size_t)x * 3];
                if (w->rows_t)
                    for (int x = 0; x < D; x++) *packed_at(w->rows_t, w->Q, col, x) = f[(size_t)x * 3];
            }
        for (int e = 0; e < w->sh->s.relations; e++)
            for (int l = 0; l < 3; l++) {
                real f = from[((size_t)2 * D + e) * 3 + (2 - l)];
                d->v[((size_t)l * P + e) * P + c] = f;
                if (d->v_t) d->v_t[((size_t)l * P + c) * P + e] = f;
            }
        for (int b = 0; b < m; b++)
            for (int e = 0; e < C; e++)
                for (int l = 0; l < 3; l++) {
                    const real *f = from + ((size_t)w->sh->base + (size_t)2 * C * b + e) * 3 + (2 - l);
                    d->v[(((size_t)(E + b) * 3 + l) * P + e) * P + c] = *f;
                    real p = f[(size_t)C * 3];
                    d->p[((size_t)l * m * P + (size_t)b * P + e) * P + c] = p;
                    if (d->v_t) d->v_t[(((size_t)(E + b) * 3 + l) * P + c) * P + e] = *f;
                    if (d->p_t) d->p_t[((size_t)l * P + c) * m * P + (size_t)b * P + e] = p;
                }
        d->bias[c] = theta[at->bias + c];
        d->sign[c] = theta[at->norm.gamma + c] < 0 ? -1 : 1;
    }
}

void weights_fill(weights *w, const real *theta, int job) {
    int M = w->sh->s.encoder_blocks, N = w->sh->s.decoder_blocks, C = w->sh->s.decoder_out;
    if (job < M)
        fill_encoder(w, theta, job);
    else if (job < M + N)
        fill_decoder(w, theta, job - M);
    else {
        const real *head = theta + w->sh->head_weight;
        memcpy(w->head_x, head, (size_t)w->sh->D * sizeof(real));
        for (int m = 0; m < N; m++)
            memcpy(w->head_v + (size_t)m * w->C, head + w->sh->base + 2 * C * m, (size_t)C * sizeof(real));
        memcpy(w->head_e, head + 2 * w->sh->D, (size_t)w->sh->s.relations * sizeof(real));
    }
}

bool norm_new(norm *b, int width) {
    return real_new(&b->mean, (size_t)width) && real_new(&b->inv, (size_t)width) &&
           real_new(&b->g, (size_t)width) && real_new(&b->e, (size_t)width);
}

void norm_free(norm *b) {
    free(b->mean);
    free(b->inv);
    free(b->g);
    free(b->e);
    *b = (norm){0};
}

void norm_frozen(norm *b, const net_shape *sh, const real *theta, const real *statistics, norm_at at,
                 int width) {
    const real *mean = statistics + (at.mean - sh->trained), *var = statistics + (at.var - sh->trained);
    for (int c = 0; c < width; c++) {
        double inv = 1 / sqrt((double)var[c] + NORM_EPSILON), g = (double)theta[at.gamma + c] * inv;
        b->mean[c] = mean[c];
        b->inv[c] = (real)inv;
        b->g[c] = (real)g;
        b->e[c] = (real)((double)theta[at.beta + c] - (double)mean[c] * g);
    }
}

void fold_second(const encoder_weights *e, const norm *b, int H, int O, real *wf, real *bf, real *wf_t) {
    for (int o = 0; o < O; o++) bf[o] = e->bias2[o];
    for (int h = 0; h < H; h++)
        for (int o = 0; o < O; o++) {
            real w = e->second[(size_t)h * O + o];
            wf[(size_t)h * O + o] = w * b->g[h];
            bf[o] += w * b->e[h];
            if (wf_t) wf_t[(size_t)o * H + h] = w * b->g[h];
        }
}

void fold_conv(const decoder_weights *d, const norm *earlier, int E, int m, int C, real *wf, real *bias) {
    for (int c = 0; c < 3 * C; c++) bias[c] = d->bias[c % C];
    memcpy(wf, d->v, 3 * (size_t)(E * C * C) * sizeof *wf); /* relations have no norm */
    for (int b = 0; b < m; b++)
        for (int l = 0; l < 3; l++)
            for (int e = 0; e < C; e++) {
                size_t at = (((size_t)(E + b) * 3 + l) * C + e) * C;
                real g = earlier[b].g[e], shift = earlier[b].e[e];
                for (int c = 0; c < C; c++) {
                    real w = d->v[at + c];
                    wf[at + c] = w * g;
                    /* Before step 0 the norm's output is zero, its shift too: lag l counts from t = l on. */
                    for (int t = l; t < 3; t++) bias[t * C + c] += w * shift;
                }
            }
}
