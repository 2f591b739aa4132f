/* Fills the arguments of the batch norms, forward and backward (struct norm_forward, norm_backward; gpu.cuh
 * has the functions that compute a norm from its sums), and computes the norms where ranks share a batch.
 * With a single rank, the kernel that adds up the sums computes the norm. Otherwise it leaves its sums in the
 * host's memory, the host all-reduces them, and a small kernel here computes the norm from the totals.
 *
 * A rank whose GPU fails still takes part in every all-reduce, with NaN, which ends the training of all
 * ranks; a rank that has no set of the batch takes part with zeros. */
#include <math.h>
#include <string.h>

#include "engine/cuda/base/gpu.cuh"

/* cells: of the whole batch, over all ranks. */
static norm_forward forward_of(const gpu *s, norms b, norm_at at, int width, size_t cells) {
    double count = (double)cells;
    return {.b = b,
            .theta = s->weights.theta,
            .at = at,
            .width = width,
            .update = s->base.update,
            .each = 1 / count,
            .sample = count > 1 ? count / (count - 1) : 1,
            .share = s->base.sum ? s->result.share : nullptr};
}

static norm_backward backward_of(const gpu *s, norms b, norm_at at, int width, size_t cells, float *k0,
                                 float *k1) {
    return {.b = b,
            .grad = s->weights.grad,
            .at = at,
            .width = width,
            .each = 1 / (double)cells,
            .k0 = k0,
            .k1 = k1,
            .share = s->base.sum ? s->result.share : nullptr};
}

static norms decoder_norms(const gpu *s, int block) {
    size_t at = (size_t)block * s->C;
    return {s->weights.dec.mean + at, s->weights.dec.inv + at, s->weights.dec.g + at, s->weights.dec.e + at};
}

norm_forward norms_first(const gpu *s, int block) {
    return forward_of(s, s->enc[block].norm1, s->base.sh->enc[block].norm1, s->base.sh->s.hidden,
                      s->base.whole.pairs);
}

norm_forward norms_second(const gpu *s, int block) {
    return forward_of(s, s->enc[block].norm2, s->base.sh->enc[block].norm2, s->base.sh->s.encoder_out,
                      s->base.whole.pairs);
}

norm_forward norms_decoder(const gpu *s, int block) {
    return forward_of(s, decoder_norms(s, block), s->base.sh->dec[block].norm, s->base.sh->s.decoder_out,
                      s->base.whole.step_cells);
}

norm_backward norms_first_back(const gpu *s, int block) {
    const encoder_block *e = &s->enc[block];
    return backward_of(s, e->norm1, s->base.sh->enc[block].norm1, s->base.sh->s.hidden, s->base.whole.pairs,
                       e->c0, e->c1);
}

norm_backward norms_second_back(const gpu *s, int block) {
    const encoder_block *e = &s->enc[block];
    return backward_of(s, e->norm2, s->base.sh->enc[block].norm2, s->base.sh->s.encoder_out,
                       s->base.whole.pairs, e->k0, e->k1);
}

norm_backward norms_decoder_back(const gpu *s, int block) {
    size_t at = (size_t)block * s->C;
    norm_backward p =
        backward_of(s, decoder_norms(s, block), s->base.sh->dec[block].norm, s->base.sh->s.decoder_out,
                    s->base.whole.step_cells, s->weights.dec_k0 + at, s->weights.dec_k1 + at);
    p.bias = s->base.sh->dec[block].bias;
    p.biased = 1;
    return p;
}

/* ---- over all ranks ---- */

__global__ void __launch_bounds__(128) make_total(norm_forward p, const double *sums) {
    int c = blockIdx.x * 128 + threadIdx.x;
    if (c < p.width) norm_make(p, c, sums[c], sums[p.width + c]);
}

__global__ void __launch_bounds__(128) back_total(norm_backward p, const double *sums) {
    int c = blockIdx.x * 128 + threadIdx.x, w = p.width;
    if (c >= w) return;
    norm_back_total(p, c, sums[c], sums[w + c]);
    if (p.biased) norm_bias(p, c, sums[2 * w + c], sums[3 * w + c], sums[4 * w + c]);
}

/* Waits until the sums of this rank are in the host's memory, and all-reduces them. */
static void sum_all(gpu *s, int width) {
    bool there = gpu_ok(s, cudaStreamSynchronize(s->queue.stream), "waiting for the device");
    for (int i = 0; i < 5 * width; i++)
        if (!there || !s->base.B) s->result.share[i] = there ? 0 : (double)NAN;
    s->base.sum(s->base.sum_context, s->result.share, 2 * (size_t)width);
    s->queue.chained = false;
}

void norms_total(gpu *s, norm_forward p) {
    if (!s->base.sum) return;
    sum_all(s, p.width);
    p.share = nullptr;
    LAUNCH(s, s->queue.stream, up(p.width, 128), 128, 0, make_total, p, s->result.share);
}

void norms_total(gpu *s, norm_backward p) {
    if (!s->base.sum) return;
    sum_all(s, p.width);
    p.share = nullptr;
    LAUNCH(s, s->queue.stream, up(p.width, 128), 128, 0, back_total, p, s->result.share);
}
