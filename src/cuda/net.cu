/* The net on a GPU: opening, memory, data, and one graph launch a step. The operations of the table only note
 * what is wanted; optimise (or whoever asks for a result) launches it all at once. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>

#include "launch.cuh"
#include "words.cuh"

static const size_t HEADER = 256; /* bytes for the numbers of Adam, before a step's indices */

bool gpu_note(char failed[256], cudaError_t e, const char *what) {
    if (e == cudaSuccess) return !failed[0];
    if (!failed[0]) snprintf(failed, 256, "%s: %s", what, cudaGetErrorString(e));
    return false;
}

bool gpu_ok(gpu *s, cudaError_t e, const char *what) {
    return gpu_note(s->failed, e, what);
}

void gpu_fork(gpu *s, int i) {
    gpu_ok(s, cudaEventRecord(s->fork, s->stream), "event");
    gpu_ok(s, cudaStreamWaitEvent(s->side[i], s->fork, 0), "event");
    s->forked[i] = 1;
}

void gpu_join(gpu *s, int i) {
    if (!s->forked[i]) return;
    gpu_ok(s, cudaEventRecord(s->join[i], s->side[i]), "event");
    gpu_ok(s, cudaStreamWaitEvent(s->stream, s->join[i], 0), "event");
    s->forked[i] = 0;
    s->chained = false;
}

static onet_status status_of(const gpu *s, onet_error *err) {
    if (!s->failed[0]) return ONET_OK;
    return fail(err, ONET_FAILED, "the GPU failed (%s): try again, or use --device cpu", s->failed);
}

/* ---- memory ---- */

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
    a.place(s->rows, (size_t)s->Q * sh->D);
    a.place(s->conv, square);
    a.place(s->conv_t, square);
    a.place(s->pool, square);
    a.place(s->pool_t, square);
    a.place(s->counters, 512);
    if (gpu_narrow_net(s)) {
        narrow_memory *w = &s->narrow;
        size_t blocks = s->multiprocessors, D4 = up(sh->D, 4) * 4;
        for (int k = 0; k < s->M; k++) {
            size_t in4 = up(sh->enc[k].in, 4) * 4;
            a.place(w->w1[k], (in4 + 1) * 2 * H);
            a.place(w->w1_back[k], in4 * 2 * H);
        }
        a.place(w->rows_t, D4 * s->Q);
        a.place(w->rows_b, D4 * s->Q);
        a.place(w->exchange.words, 2 * blocks * EXCHANGE_MOST);
        a.place(w->exchange.answer, 4 * EXCHANGE_MOST);
        a.place(w->exchange.epoch, 1);
        a.place(w->bias_part, blocks * N * C);
        a.place(w->conv_total, square);
        a.place(w->pool_total, square);
    }
    a.place(s->chunks, s->chunk_count);
    a.place(s->norm_part, s->chunk_count);
    a.place(s->results, 2);
}

static void place_batch(gpu *s, arena &a) {
    const shape *sh = s->base.sh;
    size_t H = s->H, O = s->O, C = s->C, N = s->N, D = s->D, Q = s->Q, R = s->rows_max, B = s->sets_max,
           cells = s->cells_max, square = 3 * C * C * pairs(s->N);
    for (int k = 0; k < s->M; k++) {
        encoder_block *e = &s->enc[k];
        a.place(e->ac, R * 2 * H);
        a.place(e->u, cells * O);
        a.place(e->best, R * O);
        a.place(e->arg, R * O);
        a.place(e->total, R * 2 * H);
        a.place(e->count, R * 2 * H);
        a.place(e->sum, R * 2 * H);
        a.place(e->dac, R * 2 * H);
        a.place(e->g, B * H * O);
        a.place(e->g_total, H * O);
        a.place(e->weight_part, SPLITS * 2 * H * (sh->enc[k].in + 1));
    }
    a.place(s->pos, R);
    a.place(s->order, R);
    a.place(s->x, (R + 1) * D);
    a.place(s->dx, (R + 1) * D);
    a.place(s->gd, R * O);
    a.place(s->q, (R + 1) * Q);
    a.place(s->dq, (R + 1) * Q);
    a.place(s->r, N * cells * C);
    a.place(s->dv, N * cells * C);
    a.place(s->praw, N * R * C);
    a.place(s->parg, N * R * C);
    a.place(s->step_dv, N * R * C);
    a.place(s->step_count, N * R * C);
    a.place(s->step_r, N * R * C);
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

static void drop_graphs(gpu *s) {
    for (int i = 0; i < s->graph_count; i++) cudaGraphExecDestroy(s->graphs[i].exec);
    s->graph_count = 0;
}

/* One entry for each stretch of CHUNK parameters, and how their gradient is found. */
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
                out[count] = {(unsigned)at, (unsigned)std::min<size_t>(CHUNK, x->size - at), kind, block,
                              (unsigned)x->offset};
    }
    return count;
}

static void close_slots(gpu *s) {
    for (int i = 0; i < SLOTS; i++) {
        if (s->slots[i].sent) cudaEventDestroy(s->slots[i].sent);
        if (s->slots[i].host) cudaFreeHost(s->slots[i].host);
        s->slots[i] = {};
    }
}

static void close_gpu(net *t) {
    gpu *s = (gpu *)t;
    if (!s) return;
    cudaSetDevice(s->device);
    cudaDeviceSynchronize();
    drop_graphs(s);
    free(s->graphs);
    close_slots(s);
    drop(&s->fixed);
    drop(&s->batch);
    drop(&s->dataset);
    drop(&s->vector_memory);
    drop((void **)&s->sent);
    if (s->results_host) cudaFreeHost(s->results_host);
    if (s->share) cudaFreeHost(s->share);
    if (s->out.memory) cudaFreeHost(s->out.memory);
    for (int i = 0; i < SIDES; i++) {
        if (s->side[i]) cudaStreamDestroy(s->side[i]);
        if (s->join[i]) cudaEventDestroy(s->join[i]);
    }
    if (s->stream) cudaStreamDestroy(s->stream);
    if (s->fork) cudaEventDestroy(s->fork);
    free(s);
}

/* Memory of the host for what processes send each other. */
static bool place_out(gpu *s) {
    size_t R = s->rows_max, d = (size_t)s->base.sh->s.width;
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

/* Can the kernels work on such a batch? A block holds a few rows of a set at least, and cells are counted in
 * int. */
static bool fits(const gpu *s, int B, int n) {
    pair_plan pair;
    conv_plan conv;
    back_plan back;
    return (double)B * n * n * std::max(s->O, s->C) <= 2e9 && pair_plan_make(s, B, n, &pair) &&
           conv_plan_make(s, B, n, &conv) && back_plan_make(s, B, n, &back);
}

static onet_status too_large(const gpu *s, int B, int n, onet_error *err) {
    bool alone = fits(s, 1, n);
    int low = 0, high = alone ? B : n; /* low fits, high does not */
    while (high - low > 1) {
        int middle = low + (high - low) / 2;
        (fits(s, alone ? middle : 1, alone ? n : middle) ? low : high) = middle;
    }
    if (alone)
        return fail(err, ONET_USAGE,
                    "on a GPU this net trains with %d sets of %d items a batch at most, not %d: use a "
                    "smaller --batch, "
                    "or --device cpu",
                    low, n, B);
    return fail(err, ONET_USAGE,
                "on a GPU this net trains on sets of %d items at most, not %d: use --device cpu", low, n);
}

static onet_status reserve(net *t, int B, int n, onet_error *err) {
    gpu *s = (gpu *)t;
    if (B < 1 || n < 1) return fail(err, ONET_USAGE, "a batch needs at least one set of one item");
    size_t rows = (size_t)B * n, cells = rows * n;
    if (!fits(s, B, n)) return too_large(s, B, n, err);
    if (rows <= s->rows_max && cells <= s->cells_max && (size_t)B <= s->sets_max) return ONET_OK;
    s->rows_max = std::max(rows, s->rows_max);
    s->cells_max = std::max(cells, s->cells_max);
    s->sets_max = std::max((size_t)B, s->sets_max);
    cudaSetDevice(s->device);
    cudaStreamSynchronize(s->stream);
    drop_graphs(s);
    drop(&s->batch);
    drop((void **)&s->sent);
    close_slots(s);
    arena a = {};
    place_batch(s, a);
    s->batch_bytes = a.used;
    /* What a step sends: Adam's numbers, indices, and for words their rows, distinct word by distinct word.
     */
    size_t R = s->rows_max, ints = s->sets_max + 3 * R + 1;
    s->send_bytes = HEADER + ints * 4;
    bool ok = get(&s->batch, a.used) && get((void **)&s->sent, s->send_bytes);
    for (int i = 0; i < SLOTS && ok; i++)
        ok = cudaEventCreateWithFlags(&s->slots[i].sent, cudaEventDisableTiming) == cudaSuccess &&
             cudaMallocHost((void **)&s->slots[i].host, s->send_bytes) == cudaSuccess;
    if (ok && t->sum) ok = place_out(s);
    if (!ok) {
        cudaGetLastError();
        s->rows_max = s->cells_max = s->sets_max = 0;
        return fail(err, ONET_MEMORY,
                    "the GPU has not enough memory for a batch of %d sets of %d items: try a smaller batch",
                    B, n);
    }
    a = {(unsigned char *)s->batch, 0};
    place_batch(s, a);
    s->adam = (adam_numbers *)s->sent;
    s->index = (uint32_t *)(s->sent + HEADER);
    s->word_first = (int32_t *)(s->index + s->sets_max);
    s->word_row = s->word_first + R + 1;
    s->word_id = s->word_row + R;
    return ONET_OK;
}

static onet_status upload(gpu *s, void *to, const void *from, size_t bytes, onet_error *err) {
    if (bytes) gpu_ok(s, cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice), "copying to the device");
    return status_of(s, err);
}

static onet_status data(net *t, const onet_sets *sets, const float *mean, const float *scale,
                        int train_vectors, onet_error *err) {
    gpu *s = (gpu *)t;
    int d = t->sh->s.width;
    if (sets->width != d)
        return fail(err, ONET_BAD, "the sets have items of width %d, the net takes %d", sets->width, d);
    if (!sets->order) return fail(err, ONET_BAD, "training needs sets with their right order");
    cudaSetDevice(s->device);
    cudaStreamSynchronize(s->stream);
    drop_graphs(s);
    drop(&s->dataset);
    size_t items = sets->start[sets->count], words = sets->word ? (size_t)sets->words->count * d : 0;
    s->sets = nullptr;
    s->train_vectors = train_vectors && sets->word;
    arena a = {};
    for (int pass = 0; pass < 2; pass++) {
        a.used = 0;
        a.place(s->start, sets->count + 1);
        a.place(s->items, sets->word ? 0 : items * d);
        a.place(s->word, sets->word ? items : 0);
        a.place(s->order_all, items);
        a.place(s->table, words);
        if (pass) break;
        if (!get(&s->dataset, a.used))
            return fail(err, ONET_MEMORY,
                        "the sets need %.1f GB, more than the GPU has free: use --device cpu",
                        (double)a.used * 1e-9);
        a.base = (unsigned char *)s->dataset;
    }
    if (!sets->word) s->word = nullptr;
    onet_status status = upload(s, s->start, sets->start, (sets->count + 1) * sizeof *s->start, err);
    if (!status && sets->word) status = upload(s, s->word, sets->word, items * sizeof *s->word, err);
    if (!status && sets->word) status = upload(s, s->table, sets->words->vectors, words * sizeof(float), err);
    if (!status && !sets->word) status = upload(s, s->items, sets->items, items * d * sizeof(float), err);
    if (!status) status = upload(s, s->order_all, sets->order, items * sizeof *s->order_all, err);
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
            if (!pass && !get(&s->vector_memory, a.used)) {
                s->vectors = nullptr;
                return fail(err, ONET_MEMORY, "the GPU has not enough memory for the words' vectors");
            }
            a.base = (unsigned char *)s->vector_memory;
        }
        s->vector_count = words;
        gpu_ok(s, cudaMemset(s->vector_memory, 0, a.used), "clearing memory");
        status = upload(s, s->vectors, sets->words->vectors, words * sizeof(float), err);
    }
    if (!status) s->sets = sets;
    return status;
}

/* ---- a step ---- */

/* The operations. A process that has no set of the batch launches nothing, but takes part in the sums. */

static void step_take(gpu *s) {
    if (gpu_narrow_operation(s, NARROW_TAKE, 0)) return;
    if (s->base.B) gpu_take(s);
}

static void step_begin(gpu *s) {
    if (gpu_narrow_operation(s, NARROW_BEGIN, 0)) return;
    if (s->base.B) gpu_pack(s);
}

static void step_encoder(gpu *s, int block) {
    if (gpu_narrow_operation(s, NARROW_ENCODER, block)) return;
    if (s->base.B) gpu_encoder_rows(s, block);
    norms_total(s, norms_first(s, block));
    if (s->base.B) gpu_encoder_pairs(s, block);
    norms_total(s, norms_second(s, block));
}

static void step_rows(gpu *s) {
    if (gpu_narrow_operation(s, NARROW_ROWS, 0)) return;
    if (s->base.B) gpu_decoder_rows_forward(s);
}

static void step_decoder(gpu *s, int block) {
    if (gpu_narrow_operation(s, NARROW_CONV, block)) return;
    if (s->base.B) gpu_decoder_forward(s, block);
    norms_total(s, norms_decoder(s, block));
}

static void step_head(gpu *s) {
    if (gpu_narrow_operation(s, NARROW_HEAD, 0)) return;
    if (s->base.B)
        gpu_head(s);
    else
        gpu_ok(s, cudaMemsetAsync(s->results, 0, sizeof *s->results, s->stream), "clearing memory");
}

static void step_decoder_backward(gpu *s, int block) {
    if (gpu_narrow_operation(s, NARROW_CONV_BACK, block)) return;
    if (s->base.B) gpu_decoder_backward(s, block);
    norms_total(s, norms_decoder_back(s, block));
}

static void step_rows_backward(gpu *s) {
    if (gpu_narrow_operation(s, NARROW_ROWS_BACK, 0)) return;
    if (s->base.B) gpu_decoder_rows_backward(s);
    if (s->M) norms_total(s, norms_second_back(s, s->M - 1));
}

static void step_encoder_backward(gpu *s, int block) {
    if (gpu_narrow_operation(s, NARROW_ENCODER_BACK, block)) return;
    if (s->base.B) gpu_encoder_pairs_backward(s, block);
    norms_total(s, norms_first_back(s, block));
    if (s->base.B) gpu_encoder_rows_backward(s, block);
    if (block) norms_total(s, norms_second_back(s, block - 1));
}

static void step_finish(gpu *s) {
    if (s->base.B) gpu_finish(s);
}

static void enqueue(gpu *s, int parts) {
    s->chained = false;
    int M = s->M, N = s->N;
    if (gpu_narrow(s, parts & (FORWARD | BACKWARD))) {
        if (parts & BACKWARD) gpu_finish(s);
        parts &= OPTIMISE;
    }
    if (parts & FORWARD) {
        step_take(s);
        step_begin(s);
        for (int k = 0; k < M; k++) step_encoder(s, k);
        step_rows(s);
        for (int m = 0; m < N; m++) step_decoder(s, m);
        step_head(s);
    }
    if (parts & BACKWARD) {
        for (int m = N - 1; m >= 0; m--) step_decoder_backward(s, m);
        step_rows_backward(s);
        for (int k = M - 1; k >= 0; k--) step_encoder_backward(s, k);
        step_finish(s);
    }
    if (parts & OPTIMISE) gpu_adam(s);
    for (int i = 0; i < SIDES; i++) gpu_join(s, i);
}

static cudaGraphExec_t graph_for(gpu *s, int parts) {
    const net *t = &s->base;
    for (int i = 0; i < s->graph_count; i++) {
        const graph *g = &s->graphs[i];
        if (g->B == t->B && g->n == t->n && g->all == t->all && g->update == t->update && g->parts == parts)
            return g->exec;
    }
    enum { MOST = 512 };
    if (s->graph_count == MOST) {
        cudaStreamSynchronize(s->stream);
        drop_graphs(s);
    }
    cudaGraph_t made = nullptr;
    cudaGraphExec_t exec = nullptr;
    if (!gpu_ok(s, cudaStreamBeginCapture(s->stream, cudaStreamCaptureModeThreadLocal), "capture"))
        return nullptr;
    enqueue(s, parts);
    if (!gpu_ok(s, cudaStreamEndCapture(s->stream, &made), "capture")) return nullptr;
    gpu_ok(s, cudaGraphInstantiate(&exec, made, 0), "graph");
    cudaGraphDestroy(made);
    if (s->failed[0]) return nullptr;
    if (!s->graphs) s->graphs = (graph *)calloc(MOST, sizeof *s->graphs);
    if (!s->graphs) {
        snprintf(s->failed, sizeof s->failed, "not enough memory");
        return nullptr;
    }
    s->graphs[s->graph_count++] = {t->B, t->n, t->all, t->update, parts, exec};
    return exec;
}

/* The next piece of pinned memory; waits when the host is SLOTS steps ahead. */
static void open_slot(gpu *s) {
    s->slot_now = (s->slot_now + 1) % SLOTS;
    gpu_ok(s, cudaEventSynchronize(s->slots[s->slot_now].sent), "waiting for the device");
    s->slot_open = true;
}

static void send_slot(gpu *s) {
    slot *k = &s->slots[s->slot_now];
    size_t bytes = HEADER;
    if (s->slot_full) bytes = s->train_vectors ? s->send_bytes : HEADER + (size_t)s->base.B * 4;
    if (!s->slot_open) return;
    gpu_ok(s, cudaMemcpyAsync(s->sent, k->host, bytes, cudaMemcpyHostToDevice, s->stream), "sending");
    gpu_ok(s, cudaEventRecord(k->sent, s->stream), "event");
    s->slot_open = s->slot_full = s->chained = false;
}

/* Launches what is waiting, and `more` with it. Where processes share a batch it is no graph, since the host
 * adds up each norm's sums, and it runs even when the device has failed, since the others wait for this
 * process's part. */
static void launch(gpu *s, int more) {
    int parts = s->waiting | more;
    s->waiting = 0;
    if (!parts || (s->failed[0] && !s->base.sum)) return;
    send_slot(s);
    if (s->base.sum) {
        enqueue(s, parts);
        return;
    }
    cudaGraphExec_t exec = graph_for(s, parts);
    if (exec) gpu_ok(s, cudaGraphLaunch(exec, s->stream), "launch");
}

/* Where a step's words begin in the memory of its slot. */
static int32_t *slot_words(const gpu *s, unsigned char *host) {
    return (int32_t *)(host + HEADER) + s->sets_max;
}

static void take_op(net *t, const uint32_t *index, int B, int n) {
    gpu *s = (gpu *)t;
    launch(s, 0);
    t->B = B;
    if (!t->sum) t->all = B;
    t->n = n;
    s->index_host = index;
    if (s->failed[0]) return;
    open_slot(s);
    if (s->failed[0]) return;
    unsigned char *host = s->slots[s->slot_now].host;
    memcpy(host + HEADER, index, (size_t)B * sizeof *index);
    adam_numbers a = {};
    s->slot_full = true;
    if (s->train_vectors && !t->sum) a.words = words_list(s, slot_words(s, host));
    memcpy(host, &a, sizeof a);
    if (!s->eager) return;
    gpu_ok(s, cudaMemsetAsync(s->batch, 0xff, s->batch_bytes, s->stream), "clearing memory");
    send_slot(s);
    step_take(s);
}

static void begin(net *t) {
    gpu *s = (gpu *)t;
    if (s->eager)
        step_begin(s);
    else
        s->waiting |= FORWARD;
}

static void encoder_forward(net *t, int block) {
    gpu *s = (gpu *)t;
    if (s->eager) step_encoder(s, block);
}

static void rows_forward(net *t) {
    gpu *s = (gpu *)t;
    if (s->eager) step_rows(s);
}

static void decoder_forward(net *t, int block) {
    gpu *s = (gpu *)t;
    if (s->eager) step_decoder(s, block);
}

static void head_op(net *t) {
    gpu *s = (gpu *)t;
    if (s->eager) step_head(s);
}

static void decoder_backward(net *t, int block) {
    gpu *s = (gpu *)t;
    if (s->eager)
        step_decoder_backward(s, block);
    else
        s->waiting |= BACKWARD;
}

static void rows_backward(net *t) {
    gpu *s = (gpu *)t;
    if (!s->eager) {
        s->waiting |= BACKWARD;
        return;
    }
    step_rows_backward(s);
    if (!s->M) step_finish(s);
}

static void encoder_backward(net *t, int block) {
    gpu *s = (gpu *)t;
    if (!s->eager) return;
    step_encoder_backward(s, block);
    if (!block) step_finish(s);
}

/* Brings the results over; NaN when the device failed. */
static double result(gpu *s, int which) {
    gpu_ok(
        s,
        cudaMemcpyAsync(s->results_host, s->results, 2 * sizeof(double), cudaMemcpyDeviceToHost, s->stream),
        "copying from the device");
    gpu_ok(s, cudaStreamSynchronize(s->stream), "waiting for the device");
    return s->failed[0] ? (double)NAN : s->results_host[which];
}

static void optimise(net *t, const adam_step *step, double clip, double *norm) {
    gpu *s = (gpu *)t;
    if (t->sum) {
        launch(s, 0);
        gpu_share_gradient(s);
    } else if (s->failed[0]) {
        if (norm) *norm = (double)NAN;
        return;
    }
    unsigned char *host = s->slots[s->slot_now].host;
    int words = ((const adam_numbers *)host)->words;
    if (!s->slot_open) { /* the step has been launched for its loss: Adam's numbers go alone */
        open_slot(s);
        host = s->slots[s->slot_now].host;
    }
    if (t->sum && s->train_vectors) {
        words = words_share(s, slot_words(s, host));
        s->slot_full = true;
    }
    adam_numbers a = {(float)step->scale,
                      (float)step->beta1,
                      (float)step->beta2,
                      (float)(1 - step->beta1),
                      (float)(1 - step->beta2),
                      (float)step->epsilon,
                      (float)(1 - step->decay),
                      (float)(step->rate / step->correction1),
                      (float)(1 / sqrt(step->correction2)),
                      (float)clip,
                      words};
    memcpy(host, &a, sizeof a);
    if (s->eager) {
        send_slot(s);
        gpu_adam(s);
    } else
        launch(s, OPTIMISE);
    if (norm) *norm = result(s, 1);
}

static void average(net *t, double decay) {
    gpu *s = (gpu *)t;
    launch(s, 0);
    gpu_average(s, decay);
}

static double loss(net *t) {
    gpu *s = (gpu *)t;
    launch(s, 0);
    double mean = result(s, 0); /* this process's part of it */
    if (t->sum) t->sum(t->sum_context, &mean, 1);
    return mean;
}

static float *block_of(gpu *s, net_block what, size_t *count) {
    *count = what >= NET_VECTORS ? s->vector_count : s->base.sh->total;
    switch (what) {
    case NET_THETA:
        return s->theta;
    case NET_GRAD:
        return s->grad;
    case NET_M:
        return s->m;
    case NET_V:
        return s->v;
    case NET_AVERAGE:
        return s->average;
    case NET_VECTORS:
        return s->vectors;
    case NET_VECTORS_M:
        return s->vectors_m;
    case NET_VECTORS_V:
        return s->vectors_v;
    case NET_VECTORS_AVERAGE:
        return s->vectors_average;
    }
    return nullptr;
}

static onet_status put(net *t, net_block what, const float *from, onet_error *err) {
    gpu *s = (gpu *)t;
    size_t count;
    cudaSetDevice(s->device);
    launch(s, 0);
    float *to = block_of(s, what, &count);
    gpu_ok(s, cudaMemcpyAsync(to, from, count * sizeof(float), cudaMemcpyHostToDevice, s->stream), "put");
    gpu_ok(s, cudaStreamSynchronize(s->stream), "waiting for the device");
    return status_of(s, err);
}

static onet_status get_block(net *t, net_block what, float *to, onet_error *err) {
    gpu *s = (gpu *)t;
    size_t count;
    cudaSetDevice(s->device);
    launch(s, 0);
    const float *from = block_of(s, what, &count);
    gpu_ok(s, cudaMemcpyAsync(to, from, count * sizeof(float), cudaMemcpyDeviceToHost, s->stream), "get");
    gpu_ok(s, cudaStreamSynchronize(s->stream), "waiting for the device");
    return status_of(s, err);
}

static const block_ops ops = {"cuda",
                              close_gpu,
                              reserve,
                              data,
                              put,
                              get_block,
                              take_op,
                              begin,
                              encoder_forward,
                              rows_forward,
                              decoder_forward,
                              head_op,
                              decoder_backward,
                              rows_backward,
                              encoder_backward,
                              optimise,
                              average,
                              loss};

/* ---- opening ---- */

onet_status gpu_find(int *device, onet_error *err) {
    int count = 0;
    cudaError_t e = cudaGetDeviceCount(&count);
    if (e == cudaErrorInsufficientDriver)
        return fail(err, ONET_FAILED,
                    "the NVIDIA driver is missing, or older than CUDA %d.%d needs: install a newer one",
                    CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
    if (e != cudaSuccess || !count)
        return fail(err, ONET_FAILED, "there is no CUDA device (%s): use --device cpu",
                    e == cudaSuccess ? "none found" : cudaGetErrorString(e));
    if (*device < 0) *device = (-1 - *device) % count;
    if (*device >= count)
        return fail(err, ONET_USAGE, "there is no device cuda:%d: the last one is cuda:%d", *device,
                    count - 1);
    return ONET_OK;
}

static onet_status open_device(gpu *s, int device, onet_error *err) {
    onet_status status = gpu_find(&device, err);
    if (status) return status;
    s->device = device;
    int value = 0;
    gpu_ok(s, cudaSetDevice(device), "opening the device");
    gpu_ok(s, cudaDeviceGetAttribute(&s->multiprocessors, cudaDevAttrMultiProcessorCount, device),
           "properties");
    gpu_ok(s, cudaDeviceGetAttribute(&value, cudaDevAttrMaxSharedMemoryPerBlockOptin, device), "properties");
    s->shared = (size_t)value - 16384; /* the rest is for arrays of fixed size */
    int low, high;
    gpu_ok(s, cudaDeviceGetStreamPriorityRange(&low, &high), "properties");
    gpu_ok(s, cudaStreamCreateWithPriority(&s->stream, cudaStreamNonBlocking, high), "stream");
    for (int i = 0; i < SIDES; i++) {
        gpu_ok(s, cudaStreamCreateWithPriority(&s->side[i], cudaStreamNonBlocking, low), "stream");
        gpu_ok(s, cudaEventCreateWithFlags(&s->join[i], cudaEventDisableTiming), "event");
    }
    gpu_ok(s, cudaEventCreateWithFlags(&s->fork, cudaEventDisableTiming), "event");
    if (gpu_encoder_limits(s) && gpu_decoder_limits(s)) gpu_narrow_limits(s);
    if (s->failed[0])
        return fail(err, ONET_FAILED,
                    "device cuda:%d cannot run these kernels (%s): build with its own CUDA_ARCH", device,
                    s->failed);
    return ONET_OK;
}

extern "C" __attribute__((visibility("default"))) onet_status
ordernet_cuda_open(net **t, const shape *sh, int device, int abi, onet_error *err) {
    if (abi != CUDA_ABI)
        return fail(err, ONET_FAILED,
                    CUDA_LIBRARY " belongs to another version of ordernet: build both together");
    if (sh->s.encoder_out > 128 || sh->s.decoder_out > 64)
        return fail(err, ONET_USAGE,
                    "on a GPU the encoder's blocks may put out 128 channels and the decoder's 64 at most, "
                    "not %d and %d: use "
                    "--device cpu",
                    sh->s.encoder_out, sh->s.decoder_out);
    gpu *s = (gpu *)calloc(1, sizeof *s);
    if (!s) return fail_memory(err, "the net");
    s->base.ops = &ops;
    s->base.sh = sh;
    s->base.update = 1;
    s->base.loss_every = 16;
    onet_status status = open_device(s, device, err);
    s->H = pad(sh->s.hidden);
    s->O = pad(sh->s.encoder_out);
    s->C = pad(sh->s.decoder_out);
    s->D = pad(sh->D);
    s->M = sh->s.encoder_blocks;
    s->N = sh->s.decoder_blocks;
    s->Q = 6 * s->C * s->N;
    size_t widest = (size_t)std::max(s->H, std::max(s->O, s->C));
    s->chunk_count = make_chunks(sh, nullptr);
    arena a = {};
    place_fixed(s, a);
    chunk *chunks = (chunk *)calloc((size_t)s->chunk_count, sizeof *chunks);
    if (!status && (!chunks || !get(&s->fixed, a.used) ||
                    cudaMallocHost((void **)&s->results_host, 2 * sizeof(double)) != cudaSuccess ||
                    cudaMallocHost((void **)&s->share, 5 * widest * sizeof(double)) != cudaSuccess))
        status = fail_memory(err, "the net on the GPU");
    if (!status) {
        gpu_ok(s, cudaMemset(s->fixed, 0, a.used), "clearing memory");
        a = {(unsigned char *)s->fixed, 0};
        place_fixed(s, a);
        make_chunks(sh, chunks);
        status = upload(s, s->chunks, chunks, (size_t)s->chunk_count * sizeof *chunks, err);
    }
    free(chunks);
    if (status) {
        close_gpu(&s->base);
        return status;
    }
    *t = &s->base;
    return ONET_OK;
}

/* ---- for the tests ---- */

extern "C" __attribute__((visibility("default"))) void ordernet_cuda_eager(net *t, int eager) {
    ((gpu *)t)->eager = eager != 0;
}

extern "C" __attribute__((visibility("default"))) size_t
ordernet_cuda_peek(net *t, cuda_array what, int block, float *to, size_t room) {
    gpu *s = (gpu *)t;
    size_t R = (size_t)t->B * t->n, cells = R * t->n, count = 0;
    const float *from = nullptr;
    switch (what) {
    case CUDA_X:
        from = s->x, count = (R + 1) * s->D;
        break;
    case CUDA_AC:
        from = s->enc[block].ac, count = R * 2 * s->H;
        break;
    case CUDA_U:
        from = s->enc[block].u, count = cells * s->O;
        break;
    case CUDA_BEST:
        from = s->enc[block].best, count = R * s->O;
        break;
    case CUDA_Q:
        from = s->q, count = (R + 1) * s->Q;
        break;
    case CUDA_R:
        from = s->r + (size_t)block * cells * s->C, count = cells * s->C;
        break;
    case CUDA_LOGPROB:
        from = s->logit, count = cells;
        break;
    case CUDA_DQ:
        from = s->dq, count = (R + 1) * s->Q;
        break;
    case CUDA_DX:
        from = s->dx, count = (R + 1) * s->D;
        break;
    case CUDA_DAC:
        from = s->enc[block].dac, count = R * 2 * s->H;
        break;
    }
    if (!from || count > room) return 0;
    launch(s, 0);
    gpu_ok(s, cudaDeviceSynchronize(), "waiting for the device");
    gpu_ok(s, cudaMemcpy(to, from, count * sizeof(float), cudaMemcpyDeviceToHost), "peek");
    return s->failed[0] ? 0 : count;
}
