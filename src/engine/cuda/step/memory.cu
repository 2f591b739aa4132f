/* Allocates and fills the memory of the CUDA backend: on the device for the net, its batches and the data
 * set, and pinned on the host for what is sent to the device or to other ranks; refuses batches that do not
 * fit the kernels or the memory. Also cuts the parameters into the optimiser's chunks. */
#include <stdlib.h>

#include <algorithm>

#include "engine/cuda/step/step.cuh"

extern "C" {
#include "engine/data/sets.h"
}

/* upload and clear use the net's own stream: a copy on the default stream might run after later work on this
 * one. */
static onet_status upload(gpu *s, void *to, const void *from, size_t bytes, onet_error *err) {
    if (bytes && gpu_ok(s, cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, s->queue.stream),
                        "copying to the device"))
        gpu_ok(s, cudaStreamSynchronize(s->queue.stream), "waiting for the device");
    return gpu_status(s, err);
}
static void clear(gpu *s, void *memory, size_t bytes) {
    gpu_ok(s, cudaMemsetAsync(memory, 0, bytes, s->queue.stream), "clearing memory");
}

/* ---- the net ---- */

static void place_fixed(gpu *s, arena &a) {
    const net_shape *sh = s->base.sh;
    size_t H = s->H, O = s->O, C = s->C, N = s->N, square = 3 * C * C * pairs(s->N);
    a.place(s->weights.theta, sh->total);
    a.place(s->weights.grad, sh->total);
    a.place(s->weights.m, sh->total);
    a.place(s->weights.v, sh->total);
    a.place(s->weights.average, sh->total);
    a.place(s->weights.mean, sh->s.width + sh->s.relations);
    a.place(s->weights.scale, sh->s.width + sh->s.relations);
    for (int k = 0; k < s->M; k++) {
        encoder_block *e = &s->enc[k];
        a.place(e->w1, 2 * H * columns_of(sh, k).width);
        a.place(s->related.w[k], 2 * sh->s.relations * H);
        a.place(e->norm1, H);
        a.place(e->norm2, O);
        a.place(e->k0, O);
        a.place(e->k1, O);
        a.place(e->c0, H);
        a.place(e->c1, H);
        a.place(s->half.block[k].w1, 2 * H * half_columns_of(s, k).width);
        a.place(s->half.block[k].w2, O * H);
        a.place(s->half.block[k].w2_back, O * H);
        a.place(s->half.block[k].w2_turned, O * H);
        a.place(s->half.block[k].bias2, O);
    }
    a.place(s->weights.dec, N * C);
    a.place(s->weights.dec_k0, N * C);
    a.place(s->weights.dec_k1, N * C);
    a.place(s->weights.rows, (size_t)s->Q * columns_of(sh, s->M).width);
    a.place(s->half.rows, (size_t)s->Q * half_columns_of(s, s->M).width);
    a.place(s->weights.conv, square);
    a.place(s->weights.conv_t, square);
    a.place(s->weights.pool, square);
    a.place(s->weights.pool_t, square);
    a.place(s->related.last, 3 * N * sh->s.relations * C);
    a.place(s->result.counters, 512);
    if (gpu_narrow_net(s)) {
        narrow_memory *w = &s->narrow;
        size_t blocks = s->multiprocessors, D16 = up(sh->D, 16) * 16;
        for (int k = 0; k < s->M; k++) {
            size_t in16 = up(sh->enc[k].in, 16) * 16;
            a.place(w->w1[k], in16 * 2 * H);
            a.place(w->w1_back[k], in16 * 2 * H);
            a.place(w->bias1[k], 2 * H);
        }
        a.place(w->rows_t, D16 * s->Q);
        a.place(w->rows_b, D16 * s->Q);
        a.place(w->exchange.words, 2 * blocks * EXCHANGE_MOST);
        a.place(w->exchange.answer, 4 * EXCHANGE_MOST);
        a.place(w->exchange.epoch, 1);
        a.place(w->bias_part, blocks * N * C);
        a.place(w->conv_total, square);
        a.place(w->pool_total, square);
        a.place(w->start_d, blocks * s->D);
    }
    a.place(s->result.chunks, s->result.chunk_count);
    a.place(s->result.norm_part, s->result.chunk_count);
    a.place(s->result.results, RESULTS);
}

/* Writes one entry per CHUNK parameters of a tensor, with the kind of their gradient; returns their number.
 * out NULL: only counts. */
static int make_chunks(const net_shape *sh, chunk *out) {
    int count = 0;
    for (int t = 0; t < sh->tensors; t++) {
        const tensor *x = &sh->tensor[t];
        if (!x->trained) continue;
        int kind = GRAD_IN_PLACE, block = 0;
        for (int k = 0; k < sh->s.encoder_blocks; k++) {
            const encoder_at *e = &sh->enc[k];
            if (x->offset < e->weight1 || x->offset > e->norm2.beta) continue;
            block = k;
            if (x->offset == e->weight1) kind = GRAD_WEIGHT1;
            if (x->offset == e->bias1) kind = GRAD_BIAS1;
            if (x->offset == e->weight2) kind = GRAD_WEIGHT2;
        }
        for (int m = 0; m < sh->s.decoder_blocks; m++)
            if (x->offset == sh->dec[m].weight) {
                kind = GRAD_CONV;
                block = m;
            }
        if (x->offset == sh->head_weight) kind = GRAD_HEAD;
        if (x->offset == sh->head_bias) kind = GRAD_ZERO;
        if (x->offset == sh->start && !sh->s.decoder_blocks) kind = GRAD_ZERO;
        for (size_t at = 0; at < x->size; at += CHUNK, count++)
            if (out)
                out[count] = {.first = (unsigned)at,
                              .count = (unsigned)std::min<size_t>(CHUNK, x->size - at),
                              .kind = kind,
                              .block = block,
                              .tensor = (unsigned)x->offset};
    }
    return count;
}

onet_status memory_open(gpu *s, onet_error *err) {
    const net_shape *sh = s->base.sh;
    size_t widest = (size_t)std::max(s->H, std::max(s->O, s->C));
    s->result.chunk_count = make_chunks(sh, nullptr);
    arena a = {};
    place_fixed(s, a);
    chunk *chunks = (chunk *)calloc((size_t)s->result.chunk_count, sizeof *chunks);
    onet_status status = ONET_OK;
    if (!chunks || !allocate(&s->fixed, a.used) ||
        cudaMallocHost((void **)&s->result.results_host, RESULTS * sizeof(double)) != cudaSuccess ||
        cudaMallocHost((void **)&s->result.share, 5 * widest * sizeof(double)) != cudaSuccess)
        status = fail_memory(err, "the net on the GPU");
    if (!status) {
        clear(s, s->fixed, a.used);
        a = {(unsigned char *)s->fixed, 0};
        place_fixed(s, a);
        make_chunks(sh, chunks);
        status = upload(s, s->result.chunks, chunks, (size_t)s->result.chunk_count * sizeof *chunks, err);
    }
    free(chunks);
    return status;
}

/* ---- the batch ---- */

static void place_batch(gpu *s, arena &a) {
    const net_shape *sh = s->base.sh;
    size_t H = s->H, O = s->O, C = s->C, N = s->N, D = s->D, Q = s->Q, R = s->room.items, B = s->room.sets,
           T = s->room.steps, cells = s->room.step_cells, square = 3 * C * C * pairs(s->N),
           both = 2 * sh->s.relations, back = (size_t)back_tiles_most(s, (int)B);
    for (int k = 0; k < s->M; k++) {
        encoder_block *e = &s->enc[k];
        a.place(e->ac, R * 2 * H);
        a.place(e->u, s->room.pairs * O);
        a.place(e->best, R * O);
        a.place(e->arg, R * O);
        if (!k) a.place(s->enc[0].sum, R * 2 * H);
        e->sum = s->enc[0].sum;
        a.place(e->dac, R * 2 * H);
        a.place(e->g, back * H * O);
        a.place(e->g_total, H * O);
        a.place(e->weight_part, SPLITS * 2 * H * (sh->enc[k].in + 1));
        a.place(s->related.w_part[k], CONV_SPLITS * both * H);
    }
    a.place(s->step.pos, R);
    a.place(s->step.order, T);
    a.place(s->step.right, T);
    a.place(s->step.dropout_key, R);
    a.place(s->related.e, s->room.pairs * both);
    a.place(s->ragged.row_at, R);
    a.place(s->ragged.step_set, T);
    a.place(s->step.x, (R + 1) * D);
    a.place(s->half.x, (R + 1) * half_columns_of(s, s->M).width);
    a.place(s->step.dx, (R + 1) * D);
    a.place(s->step.gd, R * O);
    a.place(s->step.sum_more, BACK_MORE * R * H);
    a.place(s->step.q, (R + 1) * Q);
    a.place(s->step.dq, (R + 1) * Q);
    a.place(s->step.r, N * cells * C);
    a.place(s->step.dv, N * cells * C);
    a.place(s->step.dec_v, N * cells * C);
    a.place(s->step.dpre, N * cells * C);
    a.place(s->step.dec_pool, N * T * C);
    a.place(s->step.dstep, N * T * C);
    a.place(s->step.praw, N * T * C);
    a.place(s->step.parg, N * T * C);
    a.place(s->step.step_dv, N * T * C);
    a.place(s->step.step_count, N * T * C);
    a.place(s->step.step_r, N * T * C);
    a.place(s->step.logit, cells);
    a.place(s->step.dlogit, cells);
    a.place(s->step.item_d, R);
    a.place(s->step.start_part, B * 3 * N * C);
    a.place(s->step.head_part, B * (N * C + D));
    a.place(s->step.head_total, N * C + D);
    size_t splits = std::max<int>(CONV_SPLITS, s->multiprocessors);
    a.place(s->step.conv_part, splits * square);
    a.place(s->step.pool_part, splits * square);
    a.place(s->step.rows_part, SPLITS * Q * sh->D);
    a.place(s->related.last_part, both ? (size_t)CONV_SPLITS * last_width(s) : 0);
    size_t groups = up(s->H, 32), part = groups * 64 * (R / 32 + B + 2);
    a.place(s->step.part, std::max(part, std::max(2 * O, 5 * C) * (R + 1)));
    a.place(s->step.part_f, back * (H + O));
    a.place(s->step.loss_part, B);
}

static void close_slots(gpu *s) {
    for (int i = 0; i < SLOTS; i++) {
        if (s->send.slots[i].sent) cudaEventDestroy(s->send.slots[i].sent);
        if (s->send.slots[i].host) cudaFreeHost(s->send.slots[i].host);
        s->send.slots[i].sent = nullptr;
        s->send.slots[i].host = nullptr;
    }
}

/* Allocates host memory for what ranks all-reduce. */
static bool place_out(gpu *s) {
    size_t R = s->room.items, d = (size_t)s->base.sh->s.width;
    if (s->out.memory) cudaFreeHost(s->out.memory);
    s->out.memory = nullptr;
    arena a = {};
    for (int pass = 0; pass < 2; pass++) {
        a.used = 0;
        a.place(s->out.grad, s->base.sh->trained);
        a.place(s->out.here, R * d);
        a.place(s->out.word_d, R * d);
        a.place(s->out.word, R);
        if (!pass && cudaMallocHost(&s->out.memory, a.used) != cudaSuccess) {
            s->out.memory = nullptr;
            return false;
        }
        a.base = (unsigned char *)s->out.memory;
    }
    return true;
}

/* Returns whether the kernels can work on such a batch: a thread block must hold at least a few rows of a
 * set, and cells are counted in int. */
static bool fits(const gpu *s, batch_size size) {
    int B = size.sets, n = size.largest;
    pair_plan pair;
    conv_plan conv;
    back_plan back;
    size_t of_pair = std::max(s->O, 2 * s->base.sh->s.relations);
    return (double)std::max(size.pairs * of_pair, size.step_cells * s->C) <= 2e9 &&
           pair_plan_make(s, B, n, &pair) && conv_plan_make(s, B, n, &conv) && back_plan_make(s, B, n, &back);
}

static onet_status too_large(const gpu *s, int B, int n, onet_error *err) {
    bool alone = fits(s, batch_of_one_size(1, n));
    int low = 0, high = alone ? B : n; /* low fits, high does not */
    while (high - low > 1) {
        int middle = low + (high - low) / 2;
        (fits(s, alone ? batch_of_one_size(middle, n) : batch_of_one_size(1, middle)) ? low : high) = middle;
    }
    if (alone)
        return fail_field(
            err, ONET_USAGE, "onet_train_options.batch onet_train_options.device",
            "on a GPU this net trains with %d sets of %d items per batch at most, not %d: take smaller "
            "batches, or train on the CPU",
            low, n, B);
    return fail_field(err, ONET_USAGE, "onet_train_options.device",
                      "on a GPU this net trains on sets of %d items at most, not %d: train on the CPU", low,
                      n);
}

onet_status memory_reserve(net *t, batch_size size, onet_error *err) {
    gpu *s = (gpu *)t;
    int n = size.largest, B = size.sets;
    if (B < 1 || n < 1) return fail(err, ONET_USAGE, "a batch needs at least one set of one item");
    if (!fits(s, size)) return too_large(s, B, n, err);
    if (batch_size_fits(size, s->room)) return ONET_OK;
    s->room = batch_size_most(size, s->room);
    cudaSetDevice(s->device);
    cudaStreamSynchronize(s->queue.stream);
    step_drop_graphs(s);
    drop(&s->batch);
    drop((void **)&s->send.sent);
    close_slots(s);
    arena a = {};
    place_batch(s, a);
    s->send.batch_bytes = a.used;
    /* What a step sends: Adam's numbers, indices, and for words their rows, distinct word by distinct word.
     */
    size_t R = s->room.items, ints = s->room.sets + 3 * R + 1;
    s->send.send_bytes = HEADER + ints * 4;
    bool ok = mixed_reserve(s, s->room) && allocate(&s->batch, a.used) &&
              allocate((void **)&s->send.sent, s->send.send_bytes);
    for (int i = 0; i < SLOTS && ok; i++)
        ok = cudaEventCreateWithFlags(&s->send.slots[i].sent, cudaEventDisableTiming) == cudaSuccess &&
             cudaMallocHost((void **)&s->send.slots[i].host, s->send.send_bytes) == cudaSuccess;
    if (ok && t->sum) ok = place_out(s);
    if (!ok) {
        cudaGetLastError();
        s->room = {};
        return fail(err, ONET_MEMORY,
                    "the GPU has not enough memory for a batch of %d sets of %d items: try a smaller batch",
                    B, n);
    }
    a = {(unsigned char *)s->batch, 0};
    place_batch(s, a);
    s->send.adam = (adam_numbers *)s->send.sent;
    s->send.index = (uint32_t *)(s->send.sent + HEADER);
    s->send.word_first = (int32_t *)(s->send.index + s->room.sets);
    s->send.word_row = s->send.word_first + R + 1;
    s->send.word_id = s->send.word_row + R;
    return ONET_OK;
}

/* ---- the sets ---- */

onet_status memory_data(net *t, const onet_sets *sets, const float *mean, const float *scale,
                        int train_vectors, onet_error *err) {
    gpu *s = (gpu *)t;
    int d = t->sh->s.width, E = t->sh->s.relations;
    if (!sets->order) return fail(err, ONET_BAD, "training needs sets with their right order");
    if (sets_relations(sets) != E)
        return fail(err, ONET_BAD, "the sets have %d relations, the net takes %d", sets_relations(sets), E);
    cudaSetDevice(s->device);
    cudaStreamSynchronize(s->queue.stream);
    step_drop_graphs(s);
    drop(&s->dataset);
    size_t items = sets->start[sets->count], words = sets->word ? (size_t)sets->words->count * d : 0,
           pairs = E && items ? sets->pairs->row[items - 1] + sets_size(sets, sets->count - 1) : 0;
    s->given.sets = nullptr;
    s->given.train_vectors = train_vectors && sets->word;
    arena a = {};
    for (int pass = 0; pass < 2; pass++) {
        a.used = 0;
        a.place(s->given.start, sets->count + 1);
        a.place(s->given.items, sets->word ? 0 : items * d);
        a.place(s->given.relative, t->relative ? items * d : 0);
        a.place(s->related.value, pairs * E);
        a.place(s->related.row, E ? items : 0);
        a.place(s->given.word, sets->word ? items : 0);
        a.place(s->given.order_all, items);
        a.place(s->given.target, t->target ? items : 0);
        a.place(s->given.table, words);
        if (pass) break;
        if (!allocate(&s->dataset, a.used))
            return fail_field(err, ONET_MEMORY, "onet_train_options.device",
                              "the sets need %.1f GB, more than the GPU has free: train on the CPU",
                              (double)a.used * 1e-9);
        a.base = (unsigned char *)s->dataset;
    }
    if (!sets->word) s->given.word = nullptr;
    if (!t->relative) s->given.relative = nullptr;
    if (!t->target) s->given.target = nullptr;
    onet_status status =
        upload(s, s->given.start, sets->start, (sets->count + 1) * sizeof *s->given.start, err);
    if (!status && sets->word)
        status = upload(s, s->given.word, sets->word, items * sizeof *s->given.word, err);
    if (!status && sets->word)
        status = upload(s, s->given.table, sets->words->vectors, words * sizeof(float), err);
    if (!status && !sets->word)
        status = upload(s, s->given.items, sets->items, items * d * sizeof(float), err);
    if (!status && t->relative)
        status = upload(s, s->given.relative, t->relative, items * d * sizeof(float), err);
    if (!status) status = upload(s, s->given.order_all, sets->order, items * sizeof *s->given.order_all, err);
    if (!status && t->target)
        status = upload(s, s->given.target, t->target, items * sizeof *s->given.target, err);
    if (!status && pairs)
        status = upload(s, s->related.value, sets->pairs->value, pairs * E * sizeof(float), err);
    if (!status && pairs)
        status = upload(s, s->related.row, sets->pairs->row, items * sizeof *s->related.row, err);
    int inputs = d + E;
    float *both = (float *)malloc(2 * (size_t)inputs * sizeof(float));
    if (!both) return fail_memory(err, "the features' mean and scale");
    for (int c = 0; c < inputs; c++) {
        both[c] = mean ? mean[c] : 0;
        both[inputs + c] = scale ? scale[c] : 1;
    }
    if (!status) status = upload(s, s->weights.mean, both, inputs * sizeof(float), err);
    if (!status) status = upload(s, s->weights.scale, both + inputs, inputs * sizeof(float), err);
    free(both);
    if (!status && s->given.train_vectors && !s->given.vectors) {
        a = {};
        for (int pass = 0; pass < 2; pass++) {
            a.used = 0;
            a.place(s->given.vectors, words);
            a.place(s->given.vectors_m, words);
            a.place(s->given.vectors_v, words);
            a.place(s->given.vectors_average, words);
            if (!pass && !allocate(&s->vector_memory, a.used)) {
                s->given.vectors = nullptr;
                return fail(err, ONET_MEMORY, "the GPU has not enough memory for the words' vectors");
            }
            a.base = (unsigned char *)s->vector_memory;
        }
        s->given.vector_count = words;
        clear(s, s->vector_memory, a.used);
        status = upload(s, s->given.vectors, sets->words->vectors, words * sizeof(float), err);
    }
    if (!status) s->given.sets = sets;
    return status;
}

/* ---- closing ---- */

void memory_close(gpu *s) {
    step_drop_graphs(s);
    free(s->queue.graphs);
    close_slots(s);
    mixed_close(s);
    drop(&s->fixed);
    drop(&s->batch);
    drop(&s->dataset);
    drop(&s->vector_memory);
    drop((void **)&s->send.sent);
    if (s->result.results_host) cudaFreeHost(s->result.results_host);
    if (s->result.share) cudaFreeHost(s->result.share);
    if (s->out.memory) cudaFreeHost(s->out.memory);
}
