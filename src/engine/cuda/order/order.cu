/* Puts sets in order on a GPU, the host's side: opens the device (the library's entry ordernet_cuda_order),
 * sends the weights once, then sets of one size in transfers that fit into memory. While the device works on
 * one transfer, the host fills the next and empties the one before. */
#include <stdlib.h>
#include <string.h>

#include <algorithm>

#include "engine/cuda/order/order.cuh"

static const size_t TRANSFER_BYTES = (size_t)256
                                     << 20; /* about the most memory that the rows of a transfer take */

bool gpu_ok(orders *s, cudaError_t e, const char *what) {
    return gpu_note(s->failed, e, what);
}

static onet_status status_of(const orders *s, onet_error *err) {
    if (!s->failed[0]) return ONET_OK;
    return fail_field(err, ONET_FAILED, "onet_order_options.device",
                      "the GPU failed (%s): try again, or use the CPU", s->failed);
}

static void place(orders *s, arena &a, const search_plan *p, size_t B) {
    size_t relations = B * p->n * p->n * s->net.settings.relations;
    size_t R = B * p->n, out = B * p->found, blocks = p->blocks, steps = blocks * p->S * p->placed * p->beams;
    a.place(s->items, R * s->net.width);
    a.place(s->pairs, relations);
    a.place(s->e, 2 * relations);
    a.place(s->given, B * p->placed);
    a.place(s->rules, B * p->rules);
    a.place(s->x, R * s->net.D);
    a.place(s->ac, R * 2 * s->net.H);
    a.place(s->q, R * s->net.Q);
    a.place(s->q_sum, R * s->net.Q / 6);
    a.place(s->item_logit, R);
    a.place(s->order, out * p->placed);
    a.place(s->step, out * p->placed);
    a.place(s->logprob, out);
    a.place(s->planes, p->planes_shared ? 0 : blocks * (p->planes / sizeof(float)));
    a.place(s->ahead, p->ahead_shared ? 0 : blocks * (p->ahead / sizeof(float)));
    a.place(s->states, p->states_shared ? 0 : blocks * p->states);
    a.place(s->trace, steps);
    a.place(s->trace_p, steps);
}

static void place_host(const orders *s, arena &a, orders::transfer *k, const search_plan *p, size_t B) {
    size_t R = B * p->n, out = B * p->found;
    a.place(k->items, R * s->net.width);
    a.place(k->pairs, R * p->n * s->net.settings.relations);
    a.place(k->given, B * p->placed);
    a.place(k->rules, B * p->rules);
    a.place(k->order, out * p->placed);
    a.place(k->step, out * p->placed);
    a.place(k->logprob, out);
}

static bool reserve_host(const orders *s, orders::transfer *k, const search_plan *p, size_t B) {
    arena a = {};
    place_host(s, a, k, p, B);
    if (a.used > k->bytes) {
        cudaFreeHost(k->memory);
        k->bytes = 0;
        if (cudaMallocHost((void **)&k->memory, a.used) != cudaSuccess) {
            k->memory = nullptr;
            cudaGetLastError();
            return false;
        }
        k->bytes = a.used;
    }
    a = {k->memory, 0};
    place_host(s, a, k, p, B);
    return true;
}

/* Allocates memory for transfers of *B sets; where there is not enough, for fewer thread blocks, then for
 * fewer sets. Returns false where it is not enough for one. */
static bool reserve(orders *s, search_plan *p, size_t *B) {
    size_t available = 0, total = 0;
    gpu_ok(s, cudaMemGetInfo(&available, &total), "memory");
    available = (available + s->memory_bytes) / 10 * 9;
    arena a = {};
    for (;;) {
        a.used = 0;
        place(s, a, p, *B);
        if (a.used <= available) break;
        if (p->blocks > 1)
            p->blocks /= 2;
        else if (*B > 1)
            *B /= 2;
        else
            return false;
    }
    if (a.used > s->memory_bytes) {
        drop(&s->memory);
        s->memory_bytes = 0;
        if (!allocate(&s->memory, a.used)) return false;
        s->memory_bytes = a.used;
    }
    a = {(unsigned char *)s->memory, 0};
    place(s, a, p, *B);
    return reserve_host(s, &s->transfers[0], p, *B) && reserve_host(s, &s->transfers[1], p, *B);
}

static void copy_to(orders *s, void *to, const void *from, size_t bytes) {
    gpu_ok(s, cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, s->stream), "copying to the device");
}
static void copy_from(orders *s, void *to, const void *from, size_t bytes) {
    gpu_ok(s, cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, s->stream), "copying from the device");
}

static bool start_transfer(orders *s, orders::transfer *k, const search_plan *p, const order_batch *b) {
    size_t B = (size_t)k->count, places = B * p->found * p->placed,
           relations = B * p->n * p->n * s->net.settings.relations;
    if (!b->take(b->context, k->first, k->count, k->items, relations ? k->pairs : nullptr,
                 b->score ? k->given : nullptr, b->rules ? k->rules : nullptr))
        return false;
    if (s->base.poison) gpu_ok(s, cudaMemsetAsync(s->memory, 0xff, s->memory_bytes, s->stream), "poison");
    copy_to(s, s->items, k->items, B * p->n * s->net.width * sizeof *k->items);
    if (relations) copy_to(s, s->pairs, k->pairs, relations * sizeof *k->pairs);
    if (b->score) copy_to(s, s->given, k->given, B * p->placed * sizeof *k->given);
    if (b->rules) copy_to(s, s->rules, k->rules, B * p->rules * sizeof *k->rules);
    order_encode(s, k->count, p->n);
    order_search(s, p, k->count, b->score);
    copy_from(s, k->order, s->order, places * sizeof *k->order);
    copy_from(s, k->step, s->step, places * sizeof *k->step);
    copy_from(s, k->logprob, s->logprob, B * p->found * sizeof *k->logprob);
    gpu_ok(s, cudaEventRecord(k->done, s->stream), "event");
    return true;
}

static void end_transfer(orders *s, orders::transfer *k, const order_batch *b) {
    if (!k->count) return;
    gpu_ok(s, cudaEventSynchronize(k->done), "waiting for the device");
    if (!s->failed[0]) b->give(b->context, k->first, k->count, k->order, k->logprob, k->step);
    k->count = 0;
}

static onet_status run(order_device *d, const order_batch *b, onet_error *err) {
    orders *s = (orders *)d;
    const order_net *f = &s->net;
    gpu_ok(s, cudaSetDevice(s->device), "opening the device");
    search_plan p;
    size_t row = (size_t)f->width + f->D + 2 * f->H + f->Q + 2 + 2 * (size_t)b->found;
    size_t relations =
        3 * (size_t)b->n * b->n * f->settings.relations; /* as they are given, and as they are seen */
    size_t each = (row * b->n + b->rules + relations) * sizeof(float);
    size_t B = std::max<size_t>(1, std::min(b->sets, TRANSFER_BYTES / each));
    if (!order_search_plan(s, b, &p) || !reserve(s, &p, &B))
        return s->failed[0]
                   ? status_of(s, err)
                   : fail_field(err, ONET_MEMORY, "onet_order_options.beam onet_order_options.device",
                                "the GPU has not enough memory to order a set of %d items with %d beams: "
                                "try a narrower beam, or use the CPU",
                                b->n, b->beams);
    /* Whole rounds of thread blocks: the last sets of a transfer do not leave most of the device idle. */
    const size_t at_once = (size_t)p.blocks * p.S;
    if (B > at_once) B -= B % at_once;
    int slot = 0;
    bool on = true;
    for (size_t first = 0; on && first < b->sets && !s->failed[0]; first += B, slot ^= 1) {
        orders::transfer *k = &s->transfers[slot];
        end_transfer(s, k, b);
        k->first = first;
        k->count = (int)std::min(B, b->sets - first);
        on = start_transfer(s, k, &p, b);
        if (!on) k->count = 0;
    }
    end_transfer(s, &s->transfers[slot], b);
    end_transfer(s, &s->transfers[slot ^ 1], b);
    return on ? status_of(s, err) : fail(err, ONET_INTERRUPTED, "the ordering was stopped");
}

static void close_orders(order_device *d) {
    orders *s = (orders *)d;
    cudaSetDevice(s->device);
    if (s->stream) {
        cudaStreamSynchronize(s->stream);
        cudaStreamDestroy(s->stream);
    }
    for (orders::transfer &k : s->transfers) {
        if (k.done) cudaEventDestroy(k.done);
        cudaFreeHost(k.memory);
    }
    drop(&s->memory);
    drop((void **)&s->numbers);
    free(s);
}

static void open_device(orders *s, int device) {
    int value = 0;
    s->device = device;
    gpu_ok(s, cudaSetDevice(device), "opening the device");
    gpu_ok(s, cudaDeviceGetAttribute(&s->multiprocessors, cudaDevAttrMultiProcessorCount, device),
           "properties");
    gpu_ok(s, cudaDeviceGetAttribute(&value, cudaDevAttrMaxSharedMemoryPerBlockOptin, device), "properties");
    s->shared = (size_t)value;
    gpu_ok(s, cudaStreamCreateWithFlags(&s->stream, cudaStreamNonBlocking), "stream");
    for (orders::transfer &k : s->transfers)
        gpu_ok(s, cudaEventCreateWithFlags(&k.done, cudaEventDisableTiming), "event");
    if (order_encode_limits(s)) order_search_limits(s);
}

static onet_status send_weights(order_device *d, const float *numbers, onet_error *err) {
    orders *s = (orders *)d;
    gpu_ok(s, cudaSetDevice(s->device), "opening the device");
    copy_to(s, s->numbers, numbers, s->net.count * sizeof(float));
    gpu_ok(s, cudaStreamSynchronize(s->stream), "waiting for the device");
    return status_of(s, err);
}

extern "C" __attribute__((visibility("default"))) onet_status
CUDA_VERSIONED(ordernet_cuda_order)(order_device **d, const order_net *net, gpu_choice gpu, onet_error *err) {
    if (net->C > 128)
        return fail_field(err, ONET_USAGE, "onet_order_options.device",
                          "on a GPU the decoder's blocks may put out 128 channels at most: use the CPU");
    int device;
    onet_status status = gpu_find(gpu, &device, err);
    if (status) return status;
    orders *s = (orders *)calloc(1, sizeof *s);
    if (!s) return fail_memory(err, "ordering on the GPU");
    s->base.close = close_orders;
    s->base.run = run;
    s->base.weights = send_weights;
    s->net = *net;
    s->net.numbers = nullptr;
    open_device(s, device);
    if (s->failed[0])
        status = fail(err, ONET_FAILED,
                      "device cuda:%d cannot run these kernels (%s): build with its own CUDA_ARCH", device,
                      s->failed);
    if (!status && !allocate((void **)&s->numbers, net->count * sizeof(float)))
        status = fail(err, ONET_MEMORY, "the GPU has not enough memory for the net's weights");
    if (!status) status = send_weights(&s->base, net->numbers, err);
    if (status) {
        close_orders(&s->base);
        return status;
    }
    *d = &s->base;
    return ONET_OK;
}
