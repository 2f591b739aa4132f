/* Implements the CUDA backend of kernels/backend.h: its table of operations, opening and closing, choosing
 * the GPU and keeping its first error. forward and backward only note that they were called; optimise, or the
 * first operation that needs a result, launches the whole step at once (step.cu). Tests run single operations
 * and read arrays by the functions at the end. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/cuda/step/step.cuh"

extern "C" {
#include "engine/data/sets.h"
}

bool gpu_note(char failed[256], cudaError_t e, const char *what) {
    if (e == cudaSuccess) return !failed[0];
    if (!failed[0]) snprintf(failed, 256, "%s: %s", what, cudaGetErrorString(e));
    return false;
}

bool gpu_ok(gpu *s, cudaError_t e, const char *what) {
    return gpu_note(s->failed, e, what);
}

onet_status gpu_status(const gpu *s, onet_error *err) {
    if (!s->failed[0]) return ONET_OK;
    return fail_field(err, ONET_FAILED, "onet_train_options.device",
                      "the GPU failed (%s): try again, or train on the CPU", s->failed);
}

static void close_gpu(net *t) {
    gpu *s = (gpu *)t;
    if (!s) return;
    cudaSetDevice(s->device);
    cudaDeviceSynchronize();
    memory_close(s);
    for (int i = 0; i < SIDES; i++) {
        if (s->queue.side[i]) cudaStreamDestroy(s->queue.side[i]);
        if (s->queue.join[i]) cudaEventDestroy(s->queue.join[i]);
    }
    if (s->queue.stream) cudaStreamDestroy(s->queue.stream);
    if (s->queue.fork) cudaEventDestroy(s->queue.fork);
    free(s);
}

/* ---- the operations ---- */

/* Returns the address of a step's word lists in the memory of its slot. */
static int32_t *slot_words(const gpu *s, unsigned char *host) {
    return (int32_t *)(host + HEADER) + s->room.sets;
}

/* Sets s->here, the size of this rank's batch, and s->n, the one size of its sets, or 0 where they differ or
 * the net has relations, whose kernels take batches of several sizes alone. */
static void size_batch(gpu *s, const uint32_t *index, int B) {
    bool same = !s->base.sh->s.relations;
    s->here = {};
    for (int b = 0; b < B; b++) {
        int n = (int)sets_size(s->given.sets, index[b]), m = (int)sets_placed(s->given.sets, index[b]);
        batch_size_add(&s->here, n, m);
        same = same && m == n && n == s->here.largest && s->here.items == (size_t)n * (b + 1);
    }
    s->n = same ? s->here.largest : 0;
}

static void start_step(net *t, const uint32_t *index, int B) {
    gpu *s = (gpu *)t;
    step_launch(s, 0);
    t->B = B;
    size_batch(s, index, B);
    if (!t->sum) t->whole = s->here;
    s->ragged.mixed = nullptr;
    s->ragged.table_bytes = 0;
    s->send.index_host = index;
    if (s->failed[0]) return;
    step_open_slot(s);
    if (s->failed[0]) return;
    unsigned char *host = s->send.slots[s->send.slot_now].host;
    if (B && !s->n) {
        if (!batch_size_fits(s->here, s->room) || !mixed_make(s, index, B)) {
            snprintf(s->failed, sizeof s->failed, "there is no room for a batch of sets of several sizes");
            return;
        }
        s->ragged.mixed = &s->ragged.mixed_now;
        s->send.index_host = index = s->ragged.sorted.index;
    }
    memcpy(host + HEADER, index, (size_t)B * sizeof *index);
    adam_numbers a = {};
    a.dropout_seed = t->dropout_seed;
    s->send.slot_full = true;
    if (s->given.train_vectors && !t->sum) a.words = words_list(s, slot_words(s, host));
    memcpy(host, &a, sizeof a);
    if (!s->queue.eager) return;
    gpu_ok(s, cudaMemsetAsync(s->batch, 0xff, s->send.batch_bytes, s->queue.stream), "clearing memory");
    step_send_slot(s);
    step_take(s);
}

static void forward(net *t) {
    gpu *s = (gpu *)t;
    if (s->queue.eager)
        step_forward(s);
    else
        s->queue.waiting |= FORWARD;
}

static void backward(net *t) {
    gpu *s = (gpu *)t;
    if (s->queue.eager)
        step_backward(s);
    else
        s->queue.waiting |= BACKWARD;
}

/* Copies the results to the host and waits for them; NaN when the device failed. */
static double result(gpu *s, int which) {
    gpu_ok(s,
           cudaMemcpyAsync(s->result.results_host, s->result.results, RESULTS * sizeof(double),
                           cudaMemcpyDeviceToHost, s->queue.stream),
           "copying from the device");
    gpu_ok(s, cudaStreamSynchronize(s->queue.stream), "waiting for the device");
    return s->failed[0] ? (double)NAN : s->result.results_host[which];
}

static void optimise(net *t, const adam_step *step, double clip, double *norm) {
    gpu *s = (gpu *)t;
    if (t->sum) {
        step_launch(s, 0);
        gpu_share_gradient(s);
    } else if (s->failed[0]) {
        if (norm) *norm = (double)NAN;
        return;
    }
    unsigned char *host = s->send.slots[s->send.slot_now].host;
    int words = ((const adam_numbers *)host)->words;
    if (!s->send.slot_open) { /* the step has been launched already, for its loss: only Adam's numbers are
                            left to send */
        step_open_slot(s);
        host = s->send.slots[s->send.slot_now].host;
    }
    if (t->sum && s->given.train_vectors) {
        words = words_share(s, slot_words(s, host));
        s->send.slot_full = true;
    }
    adam_numbers a = {.scale = (float)step->scale,
                      .b1 = (float)step->beta1,
                      .b2 = (float)step->beta2,
                      .c1 = (float)(1 - step->beta1),
                      .c2 = (float)(1 - step->beta2),
                      .eps = (float)step->epsilon,
                      .keep = (float)(1 - step->decay),
                      .rate = (float)(step->rate / step->correction1),
                      .root = (float)(1 / sqrt(step->correction2)),
                      .clip = (float)clip,
                      .words = words,
                      .place = (int)(s->result.ended++ % NET_LOSSES),
                      .dropout_seed = t->dropout_seed};
    memcpy(host, &a, sizeof a);
    if (s->queue.eager) {
        step_send_slot(s);
        gpu_adam(s);
    } else
        step_launch(s, OPTIMISE);
    if (norm) *norm = result(s, 1);
}

static void average(net *t, double decay) {
    gpu *s = (gpu *)t;
    step_launch(s, 0);
    gpu_average(s, decay);
}

static double loss(net *t) {
    gpu *s = (gpu *)t;
    step_launch(s, 0);
    double mean = result(s, 0); /* this rank's part of the mean */
    if (t->sum) t->sum(t->sum_context, &mean, 1);
    return mean;
}

static void losses(net *t, int count, double *to) {
    gpu *s = (gpu *)t;
    step_launch(s, 0);
    result(s, 0);
    for (int i = 0; i < count; i++)
        to[i] = s->failed[0] ? (double)NAN
                             : s->result.results_host[2 + (s->result.ended - count + i) % NET_LOSSES];
    if (t->sum) t->sum(t->sum_context, to, (size_t)count);
}

static float *block_of(gpu *s, net_block what, size_t *count) {
    *count = what >= NET_VECTORS ? s->given.vector_count : s->base.sh->total;
    switch (what) {
    case NET_THETA:
        return s->weights.theta;
    case NET_GRAD:
        return s->weights.grad;
    case NET_M:
        return s->weights.m;
    case NET_V:
        return s->weights.v;
    case NET_AVERAGE:
        return s->weights.average;
    case NET_VECTORS:
        return s->given.vectors;
    case NET_VECTORS_M:
        return s->given.vectors_m;
    case NET_VECTORS_V:
        return s->given.vectors_v;
    case NET_VECTORS_AVERAGE:
        return s->given.vectors_average;
    }
    return nullptr;
}

static onet_status put(net *t, net_block what, const float *from, onet_error *err) {
    gpu *s = (gpu *)t;
    size_t count;
    cudaSetDevice(s->device);
    step_launch(s, 0);
    float *to = block_of(s, what, &count);
    gpu_ok(s, cudaMemcpyAsync(to, from, count * sizeof(float), cudaMemcpyHostToDevice, s->queue.stream),
           "put");
    gpu_ok(s, cudaStreamSynchronize(s->queue.stream), "waiting for the device");
    return gpu_status(s, err);
}

static onet_status get_block(net *t, net_block what, float *to, onet_error *err) {
    gpu *s = (gpu *)t;
    size_t count;
    cudaSetDevice(s->device);
    step_launch(s, 0);
    const float *from = block_of(s, what, &count);
    gpu_ok(s, cudaMemcpyAsync(to, from, count * sizeof(float), cudaMemcpyDeviceToHost, s->queue.stream),
           "get");
    gpu_ok(s, cudaStreamSynchronize(s->queue.stream), "waiting for the device");
    return gpu_status(s, err);
}

static const backend cuda_backend = {.name = "cuda",
                                     .is_gpu = 1,
                                     .close = close_gpu,
                                     .data = memory_data,
                                     .reserve = memory_reserve,
                                     .put = put,
                                     .get = get_block,
                                     .start_step = start_step,
                                     .forward = forward,
                                     .backward = backward,
                                     .optimise = optimise,
                                     .average = average,
                                     .loss = loss,
                                     .losses = losses};

/* ---- opening ---- */

onet_status gpu_find(gpu_choice gpu, int *device, onet_error *err) {
    int count = 0;
    cudaError_t e = cudaGetDeviceCount(&count);
    if (e == cudaErrorInsufficientDriver)
        return fail(err, ONET_FAILED,
                    "the NVIDIA driver is missing, or older than CUDA %d.%d needs: install a newer one",
                    CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
    if (e != cudaSuccess || !count)
        return fail_field(err, ONET_FAILED, "onet_train_options.device",
                          "there is no CUDA device (%s): use the CPU",
                          e == cudaSuccess ? "none found" : cudaGetErrorString(e));
    *device = gpu.number < 0 ? gpu.local_rank % count : gpu.number;
    if (*device >= count)
        return fail(err, ONET_USAGE, "there is no device cuda:%d: the last one is cuda:%d", *device,
                    count - 1);
    return ONET_OK;
}

static onet_status open_device(gpu *s, gpu_choice which, onet_error *err) {
    int device;
    onet_status status = gpu_find(which, &device, err);
    if (status) return status;
    s->device = s->base.device = device;
    int value = 0;
    gpu_ok(s, cudaSetDevice(device), "opening the device");
    gpu_ok(s, cudaDeviceGetAttribute(&s->multiprocessors, cudaDevAttrMultiProcessorCount, device),
           "properties");
    gpu_ok(s, cudaDeviceGetAttribute(&value, cudaDevAttrMaxSharedMemoryPerBlockOptin, device), "properties");
    s->shared_all = (size_t)value;
    s->shared = s->shared_all - LAYERS_STATIC;
    int low, high;
    gpu_ok(s, cudaDeviceGetStreamPriorityRange(&low, &high), "properties");
    gpu_ok(s, cudaStreamCreateWithPriority(&s->queue.stream, cudaStreamNonBlocking, high), "stream");
    for (int i = 0; i < SIDES; i++) {
        gpu_ok(s, cudaStreamCreateWithPriority(&s->queue.side[i], cudaStreamNonBlocking, low), "stream");
        gpu_ok(s, cudaEventCreateWithFlags(&s->queue.join[i], cudaEventDisableTiming), "event");
    }
    gpu_ok(s, cudaEventCreateWithFlags(&s->queue.fork, cudaEventDisableTiming), "event");
    gpu_narrow_limits(s);
    if (s->failed[0])
        return fail(err, ONET_FAILED,
                    "device cuda:%d cannot run these kernels (%s): build with its own CUDA_ARCH", device,
                    s->failed);
    return ONET_OK;
}

extern "C" __attribute__((visibility("default"))) onet_status
CUDA_VERSIONED(ordernet_cuda_open)(net **t, const net_shape *sh, gpu_choice gpu_wanted, onet_error *err) {
    if (sh->s.encoder_out > 128 || sh->s.decoder_out > 64)
        return fail_field(
            err, ONET_USAGE, "onet_train_options.device",
            "on a GPU the encoder's blocks may put out 128 channels and the decoder's 64 at most, "
            "not %d and %d: train on the CPU",
            sh->s.encoder_out, sh->s.decoder_out);
    if (!sh->D)
        return fail_field(
            err, ONET_USAGE, "onet_train_options.device",
            "on a GPU a net of items without features needs an encoder block: train on the CPU");
    gpu *s = (gpu *)calloc(1, sizeof *s);
    if (!s) return fail_memory(err, "the net");
    s->base.ops = &cuda_backend;
    s->base.sh = sh;
    s->base.update = 1;
    s->base.losses_kept = NET_LOSSES;
    onet_status status = open_device(s, gpu_wanted, err);
    s->H = pad(sh->s.hidden);
    s->O = pad(sh->s.encoder_out);
    s->C = pad(sh->s.decoder_out);
    s->D = pad(sh->D);
    s->M = sh->s.encoder_blocks;
    s->N = sh->s.decoder_blocks;
    s->Q = 6 * s->C * s->N;
    if (!status) status = memory_open(s, err);
    if (status) {
        close_gpu(&s->base);
        return status;
    }
    *t = &s->base;
    return ONET_OK;
}

/* ---- for the tests ---- */

static void begin_stage(net *t) {
    step_begin((gpu *)t);
}
static void encoder_stage(net *t, int block) {
    step_encoder((gpu *)t, block);
}
static void rows_stage(net *t) {
    step_rows((gpu *)t);
}
static void decoder_stage(net *t, int block) {
    step_decoder((gpu *)t, block);
}
static void head_stage(net *t) {
    step_head((gpu *)t);
}
static void decoder_back_stage(net *t, int block) {
    step_decoder_backward((gpu *)t, block);
}
static void rows_back_stage(net *t) {
    step_rows_backward((gpu *)t);
    if (!((gpu *)t)->M) step_finish((gpu *)t);
}
static void encoder_back_stage(net *t, int block) {
    step_encoder_backward((gpu *)t, block);
    if (!block) step_finish((gpu *)t);
}

static const net_stages cuda_stages = {.begin = begin_stage,
                                       .encoder_forward = encoder_stage,
                                       .decoder_rows_forward = rows_stage,
                                       .decoder_forward = decoder_stage,
                                       .head = head_stage,
                                       .decoder_backward = decoder_back_stage,
                                       .decoder_rows_backward = rows_back_stage,
                                       .encoder_backward = encoder_back_stage};

extern "C" __attribute__((visibility("default"))) const net_stages *ordernet_cuda_stages(net *t) {
    ((gpu *)t)->queue.eager = true;
    return &cuda_stages;
}

extern "C" __attribute__((visibility("default"))) size_t
ordernet_cuda_peek(net *t, cuda_array what, int block, float *to, size_t room) {
    gpu *s = (gpu *)t;
    size_t R = s->here.items, pairs = s->here.pairs, cells = s->here.step_cells, count = 0;
    const float *from = nullptr;
    bool half = precision_of(s) == ONET_BF16 &&
                (what == CUDA_AC || what == CUDA_U || what == CUDA_DAC || what == CUDA_DQ);
    switch (what) {
    case CUDA_X:
        from = s->step.x, count = (R + 1) * s->D;
        break;
    case CUDA_AC:
        from = s->enc[block].ac, count = R * 2 * s->H;
        break;
    case CUDA_U:
        from = s->enc[block].u, count = pairs * s->O;
        break;
    case CUDA_BEST:
        from = s->enc[block].best, count = R * s->O;
        break;
    case CUDA_Q:
        from = s->step.q, count = (R + 1) * s->Q;
        break;
    case CUDA_R:
        from = s->step.r + (size_t)block * cells * s->C, count = cells * s->C;
        break;
    case CUDA_LOGPROB:
        from = s->step.logit, count = cells;
        break;
    case CUDA_DQ:
        from = s->step.dq, count = (R + 1) * s->Q;
        break;
    case CUDA_DX:
        from = s->step.dx, count = (R + 1) * s->D;
        break;
    case CUDA_DAC:
        from = s->enc[block].dac, count = R * 2 * s->H;
        break;
    }
    if (!from || count > room) return 0;
    step_launch(s, 0);
    gpu_ok(s, cudaDeviceSynchronize(), "waiting for the device");
    gpu_ok(s, cudaMemcpy(to, from, count * (half ? 2 : 4), cudaMemcpyDeviceToHost), "peek");
    for (size_t i = half ? count : 0; i-- > 0;) { /* in place, the last one first */
        uint16_t bits;
        memcpy(&bits, (const unsigned char *)to + 2 * i, 2);
        uint32_t wide = (uint32_t)bits << 16;
        memcpy(to + i, &wide, 4);
    }
    return s->failed[0] ? 0 : count;
}
