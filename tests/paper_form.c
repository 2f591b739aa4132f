/* Computes the forward pass exactly as the paper writes it, in double: a slow and simple reference for the
 * engine. */
#include "paper_form.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct net {
    const net_shape *sh;
    const double *theta;
    double *running; /* NULL, or the statistics to update */
    const double *e; /* [B, all, all, R] */
    int all;
    bool training;
} net;

static double *numbers(size_t count) {
    double *out = calloc(count ? count : 1, sizeof *out);
    if (!out) {
        fputs("paper_form: no memory\n", stderr);
        abort();
    }
    return out;
}

/* out[r] = relu(weight in[r] + bias) for each row. in: [rows, I], weight: [O, I], out: [rows, O] */
static double *conv_relu(const double *in, size_t rows, int I, const double *weight, const double *bias,
                         int O) {
    double *out = numbers(rows * (size_t)O);
    for (size_t r = 0; r < rows; r++)
        for (int o = 0; o < O; o++) {
            double sum = bias[o];
            for (int i = 0; i < I; i++)
                sum += weight[(size_t)o * (size_t)I + (size_t)i] * in[r * (size_t)I + (size_t)i];
            out[r * (size_t)O + (size_t)o] = sum > 0 ? sum : 0;
        }
    return out;
}

/* Batch norm in place over all rows. z: [rows, width] */
static void norm(const net *w, norm_at at, double *z, size_t rows, int width) {
    const double eps = 1e-5, momentum = 0.1;
    for (int c = 0; c < width; c++) {
        double *column = z + c, mean = w->theta[at.mean + (size_t)c], var = w->theta[at.var + (size_t)c];
        if (w->training) {
            double sum = 0, squares = 0;
            for (size_t r = 0; r < rows; r++) sum += column[r * (size_t)width];
            double batch_mean = sum / (double)rows;
            for (size_t r = 0; r < rows; r++) {
                double off = column[r * (size_t)width] - batch_mean;
                squares += off * off;
            }
            if (w->running) {
                double unbiased = squares / (rows > 1 ? (double)rows - 1 : 1);
                double *to = w->running - w->sh->trained; /* so that offsets of the block apply */
                to[at.mean + (size_t)c] = (1 - momentum) * mean + momentum * batch_mean;
                to[at.var + (size_t)c] = (1 - momentum) * var + momentum * unbiased;
            }
            mean = batch_mean;
            var = squares / (double)rows;
        }
        double gamma = w->theta[at.gamma + (size_t)c], beta = w->theta[at.beta + (size_t)c];
        for (size_t r = 0; r < rows; r++) {
            double *value = &column[r * (size_t)width];
            *value = (*value - mean) / sqrt(var + eps) * gamma + beta;
        }
    }
}

/* Returns the encoder's input, [B, n, sh->inputs], of items x: [B, n, d]. */
static double *inputs(const net_shape *sh, int B, int n, const double *x) {
    size_t d = (size_t)sh->s.width, wide = (size_t)sh->inputs, items = (size_t)n;
    double *out = numbers((size_t)B * items * wide);
    for (size_t r = 0; r < (size_t)B * items; r++) memcpy(out + r * wide, x + r * d, d * sizeof *x);
    for (size_t b = 0; sh->s.relative && b < (size_t)B; b++)
        for (size_t c = 0; c < d; c++) {
            const double *column = x + b * items * d + c;
            double mean = 0, variance = 0;
            for (size_t i = 0; i < items; i++) mean += column[i * d] / n;
            for (size_t i = 0; i < items; i++)
                variance += (column[i * d] - mean) * (column[i * d] - mean) / n;
            for (size_t i = 0; i < items && variance > 1e-12; i++)
                out[(b * items + i) * wide + d + c] = (column[i * d] - mean) / sqrt(variance);
        }
    return out;
}

/* x: [B, n, d_k] -> [B, n, d_k + O]; x is freed. */
static double *encoder_block(const net *w, int block, int B, int n, double *x) {
    const encoder_at *at = &w->sh->enc[block];
    int d = at->in, H = w->sh->s.hidden, O = w->sh->s.encoder_out;
    int R = w->sh->s.relations, columns = 2 * d + 2 * R;
    size_t pairs = (size_t)B * (size_t)n * (size_t)n;
    double *z = numbers(pairs * (size_t)columns); /* [B, n, n, 2*d + 2*R] */
    for (size_t r = 0; r < pairs; r++) {
        size_t b = r / (size_t)n / (size_t)n, i = r / (size_t)n % (size_t)n, j = r % (size_t)n;
        for (int c = 0; c < d; c++) {
            z[r * (size_t)columns + (size_t)c] = x[(b * (size_t)n + i) * (size_t)d + (size_t)c];
            z[r * (size_t)columns + (size_t)(d + c)] = x[(b * (size_t)n + j) * (size_t)d + (size_t)c];
        }
        for (int c = 0; c < R; c++) {
            size_t back = (b * (size_t)n + j) * (size_t)n + i;
            z[r * (size_t)columns + (size_t)(2 * d + c)] = w->e[r * (size_t)R + (size_t)c];
            z[r * (size_t)columns + (size_t)(2 * d + R + c)] = w->e[back * (size_t)R + (size_t)c];
        }
    }
    double *u =
        conv_relu(z, pairs, columns, w->theta + at->weight1, w->theta + at->bias1, H); /* [B, n, n, H] */
    norm(w, at->norm1, u, pairs, H);
    double *v = conv_relu(u, pairs, H, w->theta + at->weight2, w->theta + at->bias2, O); /* [B, n, n, O] */
    norm(w, at->norm2, v, pairs, O);

    size_t items = (size_t)B * (size_t)n;
    double *out = numbers(items * (size_t)(d + O));
    for (size_t r = 0; r < items; r++) {
        double *row = out + r * (size_t)(d + O);
        memcpy(row, x + r * (size_t)d, (size_t)d * sizeof *row);
        for (int o = 0; o < O; o++) {
            double most = -INFINITY, sum = 0;
            for (size_t j = 0; j < (size_t)n; j++) {
                double value = j == r % (size_t)n ? 0 : v[(r * (size_t)n + j) * (size_t)O + (size_t)o];
                most = fmax(most, value);
                sum += value;
            }
            row[d + o] = w->sh->s.pool == ONET_POOL_MAX ? most : sum / n;
        }
    }
    free(x);
    free(z);
    free(u);
    free(v);
    return out;
}

/* grid: [B, n items, n steps, in] -> [B, n, n, in + 2*C]; grid is freed. */
static double *decoder_block(const net *w, int block, int B, int n, double *grid) {
    const decoder_at *at = &w->sh->dec[block];
    int in = at->in, C = w->sh->s.decoder_out, out_width = in + 2 * C;
    size_t cells = (size_t)B * (size_t)n * (size_t)n;
    /* The last three steps of each cell side by side, in the weight's order [in, 3]; zeros before the first
     * step. */
    double *window = numbers(cells * 3 * (size_t)in);
    for (size_t r = 0; r < cells; r++)
        for (int tap = 0; tap < 3; tap++) {
            int t = (int)(r % (size_t)n), back = 2 - tap;
            if (t < back) continue;
            for (size_t c = 0; c < (size_t)in; c++)
                window[(r * (size_t)in + c) * 3 + (size_t)tap] = grid[(r - (size_t)back) * (size_t)in + c];
        }
    double *v =
        conv_relu(window, cells, 3 * in, w->theta + at->weight, w->theta + at->bias, C); /* [B, n, n, C] */
    norm(w, at->norm, v, cells, C);

    double *out = numbers(cells * (size_t)out_width);
    for (size_t r = 0; r < cells; r++) {
        size_t b = r / (size_t)n / (size_t)n, t = r % (size_t)n;
        double *cell = out + r * (size_t)out_width;
        memcpy(cell, grid + r * (size_t)in, (size_t)in * sizeof *cell);
        for (int c = 0; c < C; c++) {
            double most = -INFINITY;
            for (size_t i = 0; i < (size_t)n; i++)
                most = fmax(most, v[((b * (size_t)n + i) * (size_t)n + t) * (size_t)C + (size_t)c]);
            cell[in + c] = v[r * (size_t)C + (size_t)c];
            cell[in + C + c] = most;
        }
    }
    free(grid);
    free(window);
    free(v);
    return out;
}

/* Returns the step at which each item is placed. y: [B, n] -> [B, n] */
static int *places(int B, int n, const int32_t *y) {
    int *place = calloc((size_t)B * (size_t)n, sizeof *place);
    if (!place) abort();
    for (int b = 0; b < B; b++)
        for (int t = 0; t < n; t++) place[b * n + y[b * n + t]] = t;
    return place;
}

/* S: [B, n items, n steps, 2*D + R] of encoded items x: [B, n, D] */
static double *source_target(const net *w, int B, int n, const double *x, const int32_t *y,
                             const int *place) {
    int D = w->sh->D, R = w->sh->s.relations, base = w->sh->base;
    double *grid = numbers((size_t)B * (size_t)n * (size_t)n * (size_t)base);
    for (int b = 0; b < B; b++)
        for (int i = 0; i < n; i++)
            for (int t = 0; t < n; t++) {
                if (place[b * n + i] < t) continue; /* placed before: the cell stays zero */
                double *cell = grid + ((size_t)(b * n + i) * (size_t)n + (size_t)t) * (size_t)base;
                const double *source = x + (size_t)(b * n + i) * (size_t)D;
                const double *target =
                    t == 0 ? w->theta + w->sh->start : x + (size_t)(b * n + y[b * n + t - 1]) * (size_t)D;
                memcpy(cell, source, (size_t)D * sizeof *cell);
                memcpy(cell + D, target, (size_t)D * sizeof *cell);
                for (int c = 0; c < R && t; c++)
                    cell[2 * D + c] =
                        w->e[((size_t)(b * w->all + y[b * n + t - 1]) * (size_t)w->all + (size_t)i) *
                                 (size_t)R +
                             (size_t)c];
            }
    return grid;
}

void paper_forward_double(const net_shape *sh, const double *theta, double *running, int B, int n,
                          const double *x, const int32_t *y, int training, double *logits, double *loss) {
    paper_forward_placed(sh, theta, running, B, n, n, x, NULL, y, training, logits, loss);
}

void paper_forward_placed(const net_shape *sh, const double *theta, double *running, int B, int all, int n,
                          const double *x, const double *e, const int32_t *y, int training, double *logits,
                          double *loss) {
    net w = {sh, theta, running, e, all, training != 0};
    double *encoded = inputs(sh, B, all, x);
    for (int k = 0; k < sh->s.encoder_blocks; k++) encoded = encoder_block(&w, k, B, all, encoded);
    for (size_t b = 1; b < (size_t)B; b++) /* the placed items of all sets together */
        memmove(encoded + b * (size_t)n * (size_t)sh->D, encoded + b * (size_t)all * (size_t)sh->D,
                (size_t)n * (size_t)sh->D * sizeof *encoded);

    int *place = places(B, n, y);
    double *grid = source_target(&w, B, n, encoded, y, place);
    for (int m = 0; m < sh->s.decoder_blocks; m++) grid = decoder_block(&w, m, B, n, grid);

    double total = 0;
    for (int b = 0; b < B; b++)
        for (int t = 0; t < n; t++) {
            double *row = logits + ((size_t)b * (size_t)n + (size_t)t) * (size_t)n, most = -INFINITY, sum = 0;
            for (int i = 0; i < n; i++) {
                const double *cell =
                    grid + ((size_t)(b * n + i) * (size_t)n + (size_t)t) * (size_t)sh->head_in;
                row[i] = theta[sh->head_bias];
                for (int c = 0; c < sh->head_in; c++) row[i] += theta[sh->head_weight + (size_t)c] * cell[c];
                if (place[b * n + i] >= t) most = fmax(most, row[i]);
            }
            for (int i = 0; i < n; i++)
                if (place[b * n + i] >= t) sum += exp(row[i] - most);
            total += most + log(sum) - row[y[b * n + t]];
        }
    *loss = total / ((double)B * n);
    free(encoded);
    free(place);
    free(grid);
}

void paper_forward(const net_shape *sh, const float *theta, double *running, int B, int n, const float *x,
                   const int32_t *y, int training, double *logits, double *loss) {
    size_t input = (size_t)B * (size_t)n * (size_t)sh->s.width;
    double *wide_theta = numbers(sh->total), *wide_x = numbers(input);
    for (size_t i = 0; i < sh->total; i++) wide_theta[i] = theta[i];
    for (size_t i = 0; i < input; i++) wide_x[i] = x[i];
    paper_forward_double(sh, wide_theta, running, B, n, wide_x, y, training, logits, loss);
    free(wide_theta);
    free(wide_x);
}
