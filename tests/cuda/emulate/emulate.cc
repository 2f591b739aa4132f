/* Implements the CUDA emulation of cuda_runtime.h: runs blocks and threads as fibers on the CPU, and the
 * calls of the CUDA runtime. */
#include "cuda_pipeline.h"
#include "cuda_runtime.h"
#include "races.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdio.h>
#include <ucontext.h>

#include <algorithm>
#include <functional>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

/* STACK is 13 cache lines more than a power of 2, so that the stacks of a block's fibers do not share a few
 * sets of the cache. */
enum { SLOT = 32, STACK = 256 * 1024 + 13 * 64, SHARED = 232448 };

constinit thread_local dim3 threadIdx, blockIdx, blockDim, gridDim;

struct rendezvous { /* of a block's or a warp's fibers */
    int living, come;
    unsigned round;
    char order[2]; /* addresses for race_release and race_acquire, one for even and one for odd rounds, since
                      the first fiber may arrive again before the last has left */
};
struct copy {
    void *to;
    const void *from;
    size_t bytes, zeros;
};
struct fiber {
    ucontext_t context;
    void *race;
    jmp_buf place;
    bool begun;
    int warp;
    dim3 id;
    std::vector<copy> copies;   /* under way */
    std::vector<size_t> groups; /* of them: where each ends */
};
struct progress {               /* of a fiber; apart from it, since all of them are read after each barrier */
    const rendezvous *waits_at; /* until that round is over */
    unsigned round;
    bool done;
};
struct block {
    std::vector<fiber> fibers;
    std::vector<progress> now_at; /* [fibers] */
    std::vector<rendezvous> warps;
    std::vector<unsigned char> passed[2]; /* [threads][SLOT]; for even and odd rounds of a warp */
    rendezvous all;
    ucontext_t home;
    jmp_buf home_place;
    void *home_race; /* home as a thread of ThreadSanitizer, as fiber.race is for a fiber */
    char start;      /* the order of memory there */
    int now;
    const std::function<void()> *kernel;
};

/* A thread's block, stacks and shared memory serve one kernel after the other. */
static thread_local block *running;
static thread_local unsigned char *stacks;
static thread_local size_t stacks_count;
static thread_local float4 *shared;
static thread_local size_t shared_used; /* by the block before */

float4 *emulated_shared() {
    return shared;
}

/* Switches from a fiber to its block's home, and back. swapcontext makes a system call for the signal mask
 * each time, so it only starts a fiber; under ThreadSanitizer, which requires longjmp to match its setjmp, it
 * makes all switches. */
static void go_home(fiber *f, block *b) {
    race_switch(b->home_race);
    if (RACES)
        swapcontext(&f->context, &b->home);
    else if (!_setjmp(f->place))
        _longjmp(b->home_place, 1);
}

static void go_on(fiber *f, block *b) {
    race_switch(f->race);
    if (RACES) {
        swapcontext(&b->home, &f->context);
    } else if (!_setjmp(b->home_place)) {
        if (f->begun) _longjmp(f->place, 1);
        f->begun = true;
        setcontext(&f->context);
    }
}

static void meet(rendezvous *r) {
    block *b = running;
    if (++r->come == r->living) {
        r->come = 0;
        r->round++;
        return;
    }
    b->now_at[b->now] = {r, r->round, false};
    go_home(&b->fibers[b->now], b);
}

/* meet() with memory ordering: writes of any fiber before it are visible to all fibers after it. */
static void meet_in_order(rendezvous *r) {
    char *order = &r->order[r->round & 1];
    race_release(order);
    meet(r);
    race_acquire(order);
}

static void leave(rendezvous *r) {
    if (--r->living && r->come == r->living) {
        r->come = 0;
        r->round++;
    }
}

void __syncthreads() {
    meet_in_order(&running->all);
}

void __syncwarp(unsigned) {
    meet_in_order(&running->warps[running->fibers[running->now].warp]);
}

/* Not memcpy, whose accesses ThreadSanitizer would see: a shuffle does not order memory. */
static inline void pass(void *to, const void *from, size_t bytes) {
    for (size_t i = 0; i < bytes; i += 4)
        *(volatile unsigned *)((char *)to + i) = *(const unsigned *)((const char *)from + i);
}

/* What the 32 lanes of this warp pass. It stays until they meet a second time from here on: a round writes to
 * the other half, so that a lane may pass on while others still read. */
static unsigned char *pass_to_warp(const void *mine, size_t bytes) {
    block *b = running;
    int warp = b->fibers[b->now].warp;
    rendezvous *r = &b->warps[warp];
    unsigned char *all = b->passed[r->round & 1].data();
    pass(all + (size_t)b->now * SLOT, mine, bytes);
    meet(r);
    return all + (size_t)warp * 32 * SLOT;
}

void emulated_exchange(const void *mine, void *theirs, size_t bytes, int lane) {
    pass(theirs, pass_to_warp(mine, bytes) + lane * SLOT, bytes);
}

void emulated_gather(const void *mine, void *all, size_t bytes) {
    const unsigned char *passed = pass_to_warp(mine, bytes);
    for (int lane = 0; lane < 32; lane++) pass((char *)all + lane * bytes, passed + lane * SLOT, bytes);
}

void mma(float (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    struct factors {
        unsigned a[4], b[2];
    } mine;
    /* A tensor core takes 10 bits of the mantissa. */
    for (int i = 0; i < 4; i++) mine.a[i] = a[i] & 0xffffe000u;
    for (int i = 0; i < 2; i++) mine.b[i] = b[i] & 0xffffe000u;
    const unsigned char *all = pass_to_warp(&mine, sizeof mine);
    int g = emulated_lane() / 4, t = emulated_lane() % 4;
    for (int k = 0; k < 8; k++) {
        const factors *left = (const factors *)(all + (4 * g + k % 4) * SLOT),
                      *right = (const factors *)(all + (8 * t + k % 4) * SLOT),
                      *next = (const factors *)(all + (8 * t + 4 + k % 4) * SLOT);
        float x0 = __uint_as_float(left->a[k / 4 * 2]), x1 = __uint_as_float(left->a[k / 4 * 2 + 1]),
              y0 = __uint_as_float(right->b[k / 4]), y1 = __uint_as_float(next->b[k / 4]);
        c[0] += x0 * y0;
        c[1] += x0 * y1;
        c[2] += x1 * y0;
        c[3] += x1 * y1;
    }
}

/* The product in bfloat16; b has `pairs` registers, each with two terms. */
static void mma_pairs(float (&c)[4], const unsigned *a, const unsigned *b, int pairs) {
    struct factors {
        unsigned a[4], b[2];
    } mine = {};
    for (int i = 0; i < 2 * pairs; i++) mine.a[i] = a[i];
    for (int i = 0; i < pairs; i++) mine.b[i] = b[i];
    const unsigned char *all = pass_to_warp(&mine, sizeof mine);
    int g = emulated_lane() / 4, t = emulated_lane() % 4;
    auto number = [](unsigned pair, int k) {
        return __uint_as_float(k & 1 ? pair & 0xffff0000u : pair << 16);
    };
    for (int k = 0; k < 8 * pairs; k++) {
        const factors *left = (const factors *)(all + (4 * g + k % 8 / 2) * SLOT),
                      *right = (const factors *)(all + (8 * t + k % 8 / 2) * SLOT),
                      *next = (const factors *)(all + (8 * t + 4 + k % 8 / 2) * SLOT);
        float x0 = number(left->a[k / 8 * 2], k), x1 = number(left->a[k / 8 * 2 + 1], k),
              y0 = number(right->b[k / 8], k), y1 = number(next->b[k / 8], k);
        c[0] += x0 * y0;
        c[1] += x0 * y1;
        c[2] += x1 * y0;
        c[3] += x1 * y1;
    }
}
void mma16(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
    const unsigned b[2] = {b0, b1};
    mma_pairs(c, a, b, 2);
}
void mma8(float (&c)[4], unsigned a0, unsigned a1, unsigned b) {
    const unsigned a[2] = {a0, a1};
    mma_pairs(c, a, &b, 1);
}

void __pipeline_memcpy_async(void *to, const void *from, size_t bytes, size_t zeros) {
    race_copy(to, bytes, from, bytes - zeros); /* now or when it is waited for */
    running->fibers[running->now].copies.push_back({to, from, bytes, zeros});
}

void __pipeline_commit() {
    fiber *f = &running->fibers[running->now];
    f->groups.push_back(f->copies.size());
}

void __pipeline_wait_prior(size_t groups) {
    fiber *f = &running->fibers[running->now];
    if (f->groups.size() <= groups) return;
    size_t ready = f->groups.size() - groups, end = f->groups[ready - 1];
    for (size_t i = 0; i < end; i++) {
        const copy &c = f->copies[i];
        memcpy(c.to, c.from, c.bytes - c.zeros);
        memset((char *)c.to + c.bytes - c.zeros, 0, c.zeros);
    }
    f->copies.erase(f->copies.begin(), f->copies.begin() + (ptrdiff_t)end);
    f->groups.erase(f->groups.begin(), f->groups.begin() + (ptrdiff_t)ready);
    for (size_t &g : f->groups) g -= end;
}

void cudaGridDependencySynchronize() {
    race_kernel_turn();
}

void __nanosleep(unsigned) {
    sched_yield();
}

/* The life of a fiber: it runs its part of one kernel after the other, since making a fiber takes longer than
 * many kernels. */
static void fiber_main() {
    for (;;) {
        block *b = running;
        race_acquire(&b->start);
        (*b->kernel)();
        fiber *f = &b->fibers[b->now];
        b->now_at[b->now].done = true;
        leave(&b->all);
        leave(&b->warps[f->warp]);
        race_kernel_end();
        go_home(f, b);
    }
}

static void run_block(const cudaLaunchConfig_t *c, dim3 at, const std::function<void()> *kernel) {
    size_t count = (size_t)c->blockDim.x * c->blockDim.y * c->blockDim.z;
    if (!running) running = new block;
    block &b = *running;
    if (stacks_count < count) { /* and the fibers with them */
        free(stacks);
        stacks = (unsigned char *)malloc(count * STACK);
        stacks_count = count;
        b.fibers.clear();
        b.fibers.resize(count);
        b.now_at.resize(count);
        for (auto &passed : b.passed) passed.resize((count + 32) * SLOT);
    }
    if (!shared) {
        shared = (float4 *)aligned_alloc(256, SHARED);
        shared_used = SHARED;
    }
    /* Fills with NaN what this block may use, and what the block before it used. */
    memset((void *)shared, 0xff, std::max(shared_used, c->dynamicSmemBytes));
    shared_used = c->dynamicSmemBytes;
    b.warps.assign((count + 31) / 32, rendezvous());
    b.all = {(int)count};
    b.home_race = race_self();
    race_release(&b.start);
    b.kernel = kernel;
    blockIdx = at;
    blockDim = c->blockDim;
    gridDim = c->gridDim;
    for (size_t i = 0; i < count; i++) {
        fiber *f = &b.fibers[i];
        b.now_at[i] = {};
        f->copies.clear();
        f->groups.clear();
        f->race = race_thread();
        f->warp = (int)(i / 32);
        f->id = dim3((unsigned)i % c->blockDim.x, (unsigned)i / c->blockDim.x % c->blockDim.y,
                     (unsigned)i / (c->blockDim.x * c->blockDim.y));
        b.warps[i / 32].living++;
        if (f->begun && !RACES) continue;
        getcontext(&f->context);
        f->context.uc_stack.ss_sp = stacks + i * STACK;
        f->context.uc_stack.ss_size = STACK;
        f->context.uc_link = nullptr;
        makecontext(&f->context, fiber_main, 0);
    }
    /* In another order after each barrier, so that a barrier that is missing shows. */
    uint64_t state = (uint64_t)at.x * 2654435761u + 12345;
    std::vector<unsigned> order(count);
    for (size_t i = 0; i < count; i++) order[i] = (unsigned)i;
    for (size_t left = count; left;) {
        left = 0;
        for (size_t i = count; i > 1; i--) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            std::swap(order[i - 1], order[(state >> 33) % i]);
        }
        for (unsigned i : order) {
            progress &p = b.now_at[i];
            if (p.done) continue;
            left++;
            if (p.waits_at && p.waits_at->round == p.round) continue;
            p.waits_at = nullptr;
            b.now = (int)i;
            threadIdx = b.fibers[i].id;
            go_on(&b.fibers[i], &b);
        }
    }
    for (size_t i = 0; i < count; i++) race_thread_end(b.fibers[i].race);
}

struct launch_args {
    const cudaLaunchConfig_t *config;
    dim3 at;
    const std::function<void()> *kernel;
};

static void *block_thread(void *p) {
    launch_args *a = (launch_args *)p;
    race_ignore(true);
    run_block(a->config, a->at, a->kernel);
    delete running;
    free(stacks);
    free(shared);
    race_ignore(false);
    return nullptr;
}

static void run_kernel(const cudaLaunchConfig_t &c, const std::function<void()> &kernel, bool together,
                       bool overlaps) {
    if (c.dynamicSmemBytes > SHARED) {
        fprintf(stderr, "emulate: %zu bytes of shared memory\n", c.dynamicSmemBytes);
        abort();
    }
    std::vector<launch_args> blocks;
    for (unsigned z = 0; z < c.gridDim.z; z++)
        for (unsigned y = 0; y < c.gridDim.y; y++)
            for (unsigned x = 0; x < c.gridDim.x; x++) blocks.push_back({&c, dim3(x, y, z), &kernel});
    race_kernel_start(overlaps);
    std::vector<pthread_t> threads(blocks.size());
    for (size_t i = 0; i < blocks.size(); i++)
        if (!together && !RACES)
            run_block(&c, blocks[i].at, &kernel);
        else if (pthread_create(&threads[i], nullptr, block_thread, &blocks[i]) ||
                 (!together && pthread_join(threads[i], nullptr)))
            abort();
    if (!together) return;
    for (size_t i = 0; i < blocks.size(); i++) pthread_join(threads[i], nullptr);
}

/* ---- the runtime ---- */

struct emulated_graph {
    std::vector<std::function<void()>> work;
};
static emulated_graph *capturing;

cudaError_t emulated_do(std::function<void()> what) {
    if (capturing)
        capturing->work.push_back(what);
    else
        what();
    return cudaSuccess;
}

/* Returns a setting of the emulated GPU from the environment, where a test sets it, or the default. */
static unsigned set_to(const char *variable, unsigned otherwise) {
    const char *value = getenv(variable);
    return value ? (unsigned)atoi(value) : otherwise;
}
static unsigned multiprocessors() {
    return set_to("EMULATE_MULTIPROCESSORS", 4);
}

cudaError_t emulated_launch(const cudaLaunchConfig_t *config, std::function<void()> kernel) {
    cudaLaunchConfig_t c = *config;
    bool together = false, overlaps = false;
    for (int i = 0; i < c.numAttrs; i++) {
        together |= c.attrs[i].id == cudaLaunchAttributeCooperative;
        overlaps |= c.attrs[i].id == cudaLaunchAttributeProgrammaticStreamSerialization;
    }
    if (together && c.gridDim.x > multiprocessors()) return cudaErrorCooperativeLaunchTooLarge;
    return emulated_do([=]() { run_kernel(c, kernel, together, overlaps); });
}

static std::mutex limits_lock;
static std::map<const void *, int> limits;

int emulated_limit(const void *kernel) {
    std::lock_guard<std::mutex> hold(limits_lock);
    auto at = limits.find(kernel);
    return at == limits.end() ? 48 * 1024 : at->second;
}
cudaError_t emulated_raise(const void *kernel, int limit) {
    if (limit < emulated_limit(kernel)) return cudaErrorInvalidValue;
    std::lock_guard<std::mutex> hold(limits_lock);
    limits[kernel] = limit;
    return cudaSuccess;
}

const char *cudaGetErrorString(cudaError_t) {
    return "an emulated error";
}
cudaError_t cudaGetLastError() {
    return cudaSuccess;
}
cudaError_t cudaGetDeviceCount(int *count) {
    *count = 1;
    return cudaSuccess;
}
cudaError_t cudaSetDevice(int) {
    return cudaSuccess;
}
cudaError_t cudaGetDevice(int *device) {
    *device = 0;
    return cudaSuccess;
}
/* Pending work of the default stream. Its copies to the device and its memsets return before they are done,
 * and other streams do not wait for them: here they are done as late as CUDA allows. */
static std::mutex late_lock;
static std::vector<std::function<void()>> late;
cudaError_t cudaDeviceSynchronize() {
    std::lock_guard<std::mutex> hold(late_lock);
    for (auto &work : late) work();
    late.clear();
    return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr what, int) {
    *value = what == cudaDevAttrMultiProcessorCount ? (int)multiprocessors()
             : what == cudaDevAttrCooperativeLaunch ? 1
                                                    : SHARED;
    return cudaSuccess;
}
cudaError_t cudaDeviceGetStreamPriorityRange(int *low, int *high) {
    *low = *high = 0;
    return cudaSuccess;
}
cudaError_t cudaMalloc(void **p, size_t bytes) {
    *p = aligned_alloc(256, (bytes + 255) / 256 * 256);
    if (*p) memset(*p, 0xff, bytes);
    return *p ? cudaSuccess : cudaErrorMemoryAllocation;
}
cudaError_t cudaFree(void *p) {
    cudaDeviceSynchronize();
    free(p);
    return cudaSuccess;
}
cudaError_t cudaMallocHost(void **p, size_t bytes) {
    return cudaMalloc(p, bytes);
}
cudaError_t cudaFreeHost(void *p) {
    return cudaFree(p);
}
cudaError_t cudaMemGetInfo(size_t *available, size_t *total) {
    *available = *total = set_to("EMULATE_MEMORY", 1 << 30); /* bytes */
    return cudaSuccess;
}
cudaError_t cudaMemset(void *p, int v, size_t bytes) {
    std::lock_guard<std::mutex> hold(late_lock);
    late.push_back([=]() { memset(p, v, bytes); });
    return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void *p, int v, size_t bytes, cudaStream_t) {
    return emulated_do([=]() { memset(p, v, bytes); });
}
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, int way) {
    if (way == cudaMemcpyHostToDevice) {
        std::vector<char> staged((const char *)from, (const char *)from + bytes);
        std::lock_guard<std::mutex> hold(late_lock);
        late.push_back([=]() { memcpy(to, staged.data(), bytes); });
        return cudaSuccess;
    }
    cudaDeviceSynchronize();
    memcpy(to, from, bytes);
    return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, int, cudaStream_t) {
    return emulated_do([=]() { memcpy(to, from, bytes); });
}
cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                              size_t height, int, cudaStream_t) {
    return emulated_do([=]() {
        for (size_t i = 0; i < height; i++)
            memcpy((char *)to + i * to_pitch, (const char *)from + i * from_pitch, width);
    });
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *s, int) {
    *s = (cudaStream_t)1;
    return cudaSuccess;
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *s, int flags, int) {
    return cudaStreamCreateWithFlags(s, flags);
}
cudaError_t cudaStreamDestroy(cudaStream_t) {
    return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t) {
    return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, int) {
    return cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *e, int) {
    *e = (cudaEvent_t)1;
    return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t) {
    return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) {
    return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t) {
    return cudaSuccess;
}
cudaError_t cudaStreamBeginCapture(cudaStream_t, int) {
    capturing = new emulated_graph;
    return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t *g) {
    *g = capturing;
    capturing = nullptr;
    return cudaSuccess;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *e, cudaGraph_t g, int) {
    *e = new emulated_graph(*g);
    return cudaSuccess;
}
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t e, cudaGraph_t g, cudaGraphExecUpdateResultInfo *) {
    *e = *g;
    return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t g) {
    delete g;
    return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t e) {
    delete e;
    return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t e, cudaStream_t) {
    for (auto &w : e->work) w();
    return cudaSuccess;
}
