/* Device memory: of the net, of its batches and of the sets. */
#include <stdlib.h>

#include <algorithm>

#include "engine/cuda/common/step.cuh"
#include "engine/cuda/layers/mixed.cuh"

/* Both on the net's own stream: what is asked of the default stream may be done later than what this one is
 * asked next. */
static onet_status upload(gpu *s, void *to, const void *from, size_t bytes, onet_error *err) {
    if (bytes && gpu_ok(s, cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, s->stream),
                        "copying to the device"))
        gpu_ok(s, cudaStreamSynchronize(s->stream), "waiting for the device");
    return gpu_status(s, err);
}
static void clear(gpu *s, void *memory, size_t bytes) {
    gpu_ok(s, cudaMemsetAsync(memory, 0, bytes, s->stream), "clearing memory");
}

/* ---- the net ---- */

static void place_fixed(gpu *s, arena &a) {
    const shape *sh = s->base.sh;
    size_t H = s->H, O = s->O, C = s->C, N = s->N, square = 3 * C * C * pairs(s->N);
    a.place(s->theta, sh->total);
    a.place(s->grad, sh->total);
    a.place(s->m, sh->total);
    a.place(s->v, sh->total);
    a.place(s->average, sh->total);
    a.place(s->mean, sh->s.width);
    a.place(s->scale, sh->s.width);
    for (int k = 0; k < s->M; k++) {
        encoder_block *e = &s->enc[k];
        a.place(e->w1, 2 * H * columns_of(sh, k).width);
        a.place(e->norm1, H);
        a.place(e->norm2, O);
        a.place(e->k0, O);
        a.place(e->k1, O);
        a.place(e->c0, H);
        a.place(e->c1, H);
    }
    a.place(s->dec, N * C);
    a.place(s->dec_k0, N * C);
    a.place(s->dec_k1, N * C);
    a.place(s->rows, (size_t)s->Q * columns_of(sh, s->M).width);
    a.place(s->conv, square);
    a.place(s->conv_t, square);
    a.place(s->pool, square);
    a.place(s->pool_t, square);
    a.place(s->counters, 512);
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
    a.place(s->chunks, s->chunk_count);
    a.place(s->norm_part, s->chunk_count);
    a.place(s->results, RESULTS);
}

/* One entry per CHUNK parameters of a tensor, with the kind of their gradient. */
static int make_chunks(const shape *sh, chunk *out) {
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
    const shape *sh = s->base.sh;
    size_t widest = (size_t)std::max(s->H, std::max(s->O, s->C));
    s->chunk_count = make_chunks(sh, nullptr);
    arena a = {};
    place_fixed(s, a);
    chunk *chunks = (chunk *)calloc((size_t)s->chunk_count, sizeof *chunks);
    onet_status status = ONET_OK;
    if (!chunks || !allocate(&s->fixed, a.used) ||
        cudaMallocHost((void **)&s->results_host, RESULTS * sizeof(double)) != cudaSuccess ||
        cudaMallocHost((void **)&s->share, 5 * widest * sizeof(double)) != cudaSuccess)
        status = fail_memory(err, "the net on the GPU");
    if (!status) {
        clear(s, s->fixed, a.used);
        a = {(unsigned char *)s->fixed, 0};
        place_fixed(s, a);
        make_chunks(sh, chunks);
        status = upload(s, s->chunks, chunks, (size_t)s->chunk_count * sizeof *chunks, err);
    }
    free(chunks);
    return status;
}

/* ---- the batch ---- */

static void place_batch(gpu *s, arena &a) {
    const shape *sh = s->base.sh;
    size_t H = s->H, O = s->O, C = s->C, N = s->N, D = s->D, Q = s->Q, R = s->room.items, B = s->room.sets,
           T = s->room.steps, cells = s->room.step_cells, square = 3 * C * C * pairs(s->N);
    for (int k = 0; k < s->M; k++) {
        encoder_block *e = &s->enc[k];
        a.place(e->ac, R * 2 * H);
        a.place(e->u, s->room.pairs * O);
        a.place(e->best, R * O);
        a.place(e->arg, R * O);
        if (!k) a.place(s->enc[0].sum, R * 2 * H);
        e->sum = s->enc[0].sum;
        a.place(e->dac, R * 2 * H);
        a.place(e->g, B * H * O);
        a.place(e->g_total, H * O);
        a.place(e->weight_part, SPLITS * 2 * H * (sh->enc[k].in + 1));
    }
    a.place(s->pos, R);
    a.place(s->order, T);
    a.place(s->right, T);
    a.place(s->row_at, R);
    a.place(s->step_set, T);
    a.place(s->x, (R + 1) * D);
    a.place(s->dx, (R + 1) * D);
    a.place(s->gd, R * O);
    a.place(s->q, (R + 1) * Q);
    a.place(s->dq, (R + 1) * Q);
    a.place(s->r, N * cells * C);
    a.place(s->dv, N * cells * C);
    a.place(s->dec_v, N * cells * C);
    a.place(s->dpre, N * cells * C);
    a.place(s->dec_pool, N * T * C);
    a.place(s->dstep, N * T * C);
    a.place(s->praw, N * T * C);
    a.place(s->parg, N * T * C);
    a.place(s->step_dv, N * T * C);
    a.place(s->step_count, N * T * C);
    a.place(s->step_r, N * T * C);
    a.place(s->logit, cells);
    a.place(s->dlogit, cells);
    a.place(s->item_d, R);
    a.place(s->start_part, B * 3 * N * C);
    a.place(s->head_part, B * (N * C + D));
    a.place(s->head_total, N * C + D);
    size_t splits = std::max<int>(CONV_SPLITS, s->multiprocessors);
    a.place(s->conv_part, splits * square);
    a.place(s->pool_part, splits * square);
    a.place(s->rows_part, SPLITS * Q * sh->D);
    size_t groups = up(s->H, 32), part = groups * 64 * (R / 32 + B + 2);
    a.place(s->part, std::max(part, std::max(2 * O, 5 * C) * (R + 1)));
    a.place(s->part_f, B * (H + O));
    a.place(s->loss_part, B);
}

static void close_slots(gpu *s) {
    for (int i = 0; i < SLOTS; i++) {
        if (s->slots[i].sent) cudaEventDestroy(s->slots[i].sent);
        if (s->slots[i].host) cudaFreeHost(s->slots[i].host);
        s->slots[i].sent = nullptr;
        s->slots[i].host = nullptr;
    }
}

/* Memory of the host for what ranks send each other. */
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

/* Can the kernels work on such a batch? A thread block must hold at least a few rows of a set, and cells
 * are counted in int. */
static bool fits(const gpu *s, batch_size size) {
    int B = size.sets, n = size.largest;
    pair_plan pair;
    conv_plan conv;
    back_plan back;
    return (double)std::max(size.pairs * s->O, size.step_cells * s->C) <= 2e9 &&
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
    cudaStreamSynchronize(s->stream);
    step_drop_graphs(s);
    drop(&s->batch);
    drop((void **)&s->sent);
    close_slots(s);
    arena a = {};
    place_batch(s, a);
    s->batch_bytes = a.used;
    /* What a step sends: Adam's numbers, indices, and for words their rows, distinct word by distinct word.
     */
    size_t R = s->room.items, ints = s->room.sets + 3 * R + 1;
    s->send_bytes = HEADER + ints * 4;
    bool ok = mixed_reserve(s, s->room) && allocate(&s->batch, a.used) &&
              allocate((void **)&s->sent, s->send_bytes);
    for (int i = 0; i < SLOTS && ok; i++)
        ok = cudaEventCreateWithFlags(&s->slots[i].sent, cudaEventDisableTiming) == cudaSuccess &&
             cudaMallocHost((void **)&s->slots[i].host, s->send_bytes) == cudaSuccess;
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
    s->adam = (adam_numbers *)s->sent;
    s->index = (uint32_t *)(s->sent + HEADER);
    s->word_first = (int32_t *)(s->index + s->room.sets);
    s->word_row = s->word_first + R + 1;
    s->word_id = s->word_row + R;
    return ONET_OK;
}

/* ---- the sets ---- */

onet_status memory_data(net *t, const onet_sets *sets, const float *mean, const float *scale,
                        int train_vectors, onet_error *err) {
    gpu *s = (gpu *)t;
    int d = t->sh->s.width;
    if (sets->width != d)
        return fail(err, ONET_BAD, "the sets have items of width %d, the net takes %d", sets->width, d);
    if (!sets->order) return fail(err, ONET_BAD, "training needs sets with their right order");
    cudaSetDevice(s->device);
    cudaStreamSynchronize(s->stream);
    step_drop_graphs(s);
    drop(&s->dataset);
    size_t items = sets->start[sets->count], words = sets->word ? (size_t)sets->words->count * d : 0;
    s->sets = nullptr;
    s->train_vectors = train_vectors && sets->word;
    arena a = {};
    for (int pass = 0; pass < 2; pass++) {
        a.used = 0;
        a.place(s->start, sets->count + 1);
        a.place(s->items, sets->word ? 0 : items * d);
        a.place(s->relative, t->relative ? items * d : 0);
        a.place(s->word, sets->word ? items : 0);
        a.place(s->order_all, items);
        a.place(s->target, t->target ? items : 0);
        a.place(s->table, words);
        if (pass) break;
        if (!allocate(&s->dataset, a.used))
            return fail_field(err, ONET_MEMORY, "onet_train_options.device",
                              "the sets need %.1f GB, more than the GPU has free: train on the CPU",
                              (double)a.used * 1e-9);
        a.base = (unsigned char *)s->dataset;
    }
    if (!sets->word) s->word = nullptr;
    if (!t->relative) s->relative = nullptr;
    if (!t->target) s->target = nullptr;
    onet_status status = upload(s, s->start, sets->start, (sets->count + 1) * sizeof *s->start, err);
    if (!status && sets->word) status = upload(s, s->word, sets->word, items * sizeof *s->word, err);
    if (!status && sets->word) status = upload(s, s->table, sets->words->vectors, words * sizeof(float), err);
    if (!status && !sets->word) status = upload(s, s->items, sets->items, items * d * sizeof(float), err);
    if (!status && t->relative) status = upload(s, s->relative, t->relative, items * d * sizeof(float), err);
    if (!status) status = upload(s, s->order_all, sets->order, items * sizeof *s->order_all, err);
    if (!status && t->target) status = upload(s, s->target, t->target, items * sizeof *s->target, err);
    float *both = (float *)malloc(2 * (size_t)d * sizeof(float));
    if (!both) return fail_memory(err, "the features' mean and scale");
    for (int c = 0; c < d; c++) {
        both[c] = mean ? mean[c] : 0;
        both[d + c] = scale ? scale[c] : 1;
    }
    if (!status) status = upload(s, s->mean, both, d * sizeof(float), err);
    if (!status) status = upload(s, s->scale, both + d, d * sizeof(float), err);
    free(both);
    if (!status && s->train_vectors && !s->vectors) {
        a = {};
        for (int pass = 0; pass < 2; pass++) {
            a.used = 0;
            a.place(s->vectors, words);
            a.place(s->vectors_m, words);
            a.place(s->vectors_v, words);
            a.place(s->vectors_average, words);
            if (!pass && !allocate(&s->vector_memory, a.used)) {
                s->vectors = nullptr;
                return fail(err, ONET_MEMORY, "the GPU has not enough memory for the words' vectors");
            }
            a.base = (unsigned char *)s->vector_memory;
        }
        s->vector_count = words;
        clear(s, s->vector_memory, a.used);
        status = upload(s, s->vectors, sets->words->vectors, words * sizeof(float), err);
    }
    if (!status) s->sets = sets;
    return status;
}

/* ---- closing ---- */

void memory_close(gpu *s) {
    step_drop_graphs(s);
    free(s->graphs);
    close_slots(s);
    mixed_close(s);
    drop(&s->fixed);
    drop(&s->batch);
    drop(&s->dataset);
    drop(&s->vector_memory);
    drop((void **)&s->sent);
    if (s->results_host) cudaFreeHost(s->results_host);
    if (s->share) cudaFreeHost(s->share);
    if (s->out.memory) cudaFreeHost(s->out.memory);
}
