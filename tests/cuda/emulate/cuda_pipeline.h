/* Emulates CUDA's asynchronous copies on the CPU, as late as CUDA allows: a group is copied when its thread
 * waits for it, and never if no thread waits. */
#ifndef EMULATE_CUDA_PIPELINE_H
#define EMULATE_CUDA_PIPELINE_H
#include <stddef.h>
void __pipeline_memcpy_async(void *to, const void *from, size_t bytes, size_t zeros = 0);
void __pipeline_commit();
void __pipeline_wait_prior(size_t groups);
#endif
