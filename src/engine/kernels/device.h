/* Devices by name, and the library of GPU kernels. */
#ifndef KERNELS_DEVICE_H
#define KERNELS_DEVICE_H

#include "ordernet.h"

typedef enum device_kind {
    DEVICE_AUTO,
    DEVICE_CPU,
    DEVICE_GPU
} device_kind; /* auto: a GPU, where there is one */

/* Which GPU: by number, or one for each rank of a machine: local_rank modulo the number of GPUs. */
typedef struct gpu_choice {
    int number; /* -1: by local_rank */
    int local_rank;
} gpu_choice;

static inline gpu_choice gpu_of_rank(int local_rank) {
    return (gpu_choice){.number = -1, .local_rank = local_rank};
}

typedef struct device_choice {
    device_kind kind;
    gpu_choice gpu;
} device_choice;

/* device: "auto" or NULL, "cpu", "cuda", "cuda:N". kernel_set: if kernels of the CPU are named and no device,
 * the CPU is to be used. unnumbered: the GPU where `device` has no number. function: of the CUDA library, by
 * which the GPU will be opened. If the variable ORDERNET_CUDA is set, the library must load and have it, also
 * with auto. */
onet_status device_choose(const char *device, gpu_choice unnumbered, const char *kernel_set,
                          const char *function, device_choice *choice, onet_error *err);

/* Opens the library, where that was not done yet, and finds one of its functions. */
onet_status device_function(const char *name, void **function, onet_error *err);

#endif
