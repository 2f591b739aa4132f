/* Tells ThreadSanitizer how CUDA orders memory accesses (make check-emulated-races): each CUDA thread is a
 * thread, and one's memory accesses come before another's exactly where CUDA says so: at __syncthreads and
 * __syncwarp, but not at a shuffle; from a kernel's end to the next kernel's start, or, where the two
 * overlap, to its cudaGridDependencySynchronize; and at atomics. Switching between fibers orders nothing,
 * so that a missing barrier is seen in whatever order they run. The emulation's own accesses stay unseen:
 * emulate.cc is compiled without the sanitizer. Volatile accesses neither race nor put anything in order. */
#ifndef EMULATE_RACES_H
#define EMULATE_RACES_H

#ifdef EMULATE_RACES
#include <pthread.h>
#include <sanitizer/tsan_interface.h>
#include <stddef.h>

#include <deque>

extern "C" {
void AnnotateIgnoreReadsBegin(const char *, int);
void AnnotateIgnoreReadsEnd(const char *, int);
void AnnotateIgnoreWritesBegin(const char *, int);
void AnnotateIgnoreWritesEnd(const char *, int);
void __tsan_read_range(void *, unsigned long);
void __tsan_write_range(void *, unsigned long);
void __tsan_volatile_read8(void *) {}
void __tsan_volatile_write8(void *) {}
}

enum { RACES = 1 };

/* The end of a kernel, one for even and one for odd kernels, since blocks of one kernel are not ordered. */
static char kernel_ends[2];
static unsigned kernels;

static void *race_self() {
    return __tsan_get_current_fiber();
}
/* Threads are costly to make: those of blocks that have ended are used again, but not so soon that
 * consecutive blocks seem ordered. */
enum { KEPT = 1024 };
static std::deque<void *> ended;
static pthread_mutex_t ended_lock = PTHREAD_MUTEX_INITIALIZER;
static void *race_thread() {
    void *thread = nullptr;
    pthread_mutex_lock(&ended_lock);
    if (ended.size() >= KEPT) {
        thread = ended.front();
        ended.pop_front();
    }
    pthread_mutex_unlock(&ended_lock);
    return thread ? thread : __tsan_create_fiber(0);
}
static void race_thread_end(void *thread) {
    pthread_mutex_lock(&ended_lock);
    ended.push_back(thread);
    pthread_mutex_unlock(&ended_lock);
}
static void race_switch(void *thread) {
    __tsan_switch_to_fiber(thread, __tsan_switch_to_fiber_no_sync);
}
static void race_release(void *at) {
    __tsan_release(at);
}
static void race_acquire(void *at) {
    __tsan_acquire(at);
}
/* For a thread that runs a block's fibers: it allocates and frees what they use, and is not ordered with
 * them. */
static void race_ignore(bool on) {
    if (on) {
        AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
        AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
    } else {
        AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
        AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
    }
}
/* Nor is the thread of the host. */
__attribute__((constructor)) static void race_host_begins() {
    race_ignore(true);
}
__attribute__((destructor)) static void race_host_ends() {
    race_ignore(false);
}
static void race_copy(void *to, size_t written, const void *from, size_t read) {
    __tsan_read_range((void *)from, read);
    __tsan_write_range(to, written);
}
/* A kernel that overlaps the one before it starts when all blocks of that one have called
 * cudaGridDependencySynchronize: the kernel before that has then ended. */
static void race_kernel_start(bool overlaps) {
    kernels++;
    __tsan_acquire(&kernel_ends[kernels & 1]);
    if (!overlaps) __tsan_acquire(&kernel_ends[(kernels - 1) & 1]);
}
static void race_kernel_turn() {
    __tsan_acquire(&kernel_ends[(kernels - 1) & 1]);
}
static void race_kernel_end() {
    __tsan_release(&kernel_ends[kernels & 1]);
}
#else
enum { RACES = 0 };
static inline void *race_self() {
    return nullptr;
}
static inline void *race_thread() {
    return nullptr;
}
static inline void race_thread_end(void *) {}
static inline void race_switch(void *) {}
static inline void race_release(void *) {}
static inline void race_acquire(void *) {}
static inline void race_ignore(bool) {}
static inline void race_copy(void *, size_t, const void *, size_t) {}
static inline void race_kernel_start(bool) {}
static inline void race_kernel_turn() {}
static inline void race_kernel_end() {}
#endif

#endif
