/* Chooses the device by its name (auto, cpu, cuda:N) and loads the CUDA library on demand (dlopen). */
#ifndef KERNELS_DEVICE_H
#define KERNELS_DEVICE_H

#include <stdbool.h>

#include "ordernet.h"

typedef enum device_kind {
    DEVICE_AUTO,
    DEVICE_CPU,
    DEVICE_GPU
} device_kind; /* auto: a GPU if there is one */

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

/* Sets *choice. device: "auto" or NULL, "cpu", "cuda", "cuda:N". kernel_set: if it names CPU kernels and no
 * device is named, the CPU is used. unnumbered: the GPU for a device without a number. function: the function
 * of the CUDA library that will be called. If the variable ORDERNET_CUDA is set, the library must load and
 * have it, with auto too. */
onet_status device_choose(const char *device, gpu_choice unnumbered, const char *kernel_set,
                          const char *function, device_choice *choice, onet_error *err);

/* Whether a net with these names may be opened on a GPU. */
bool device_may_be_gpu(const char *device, const char *kernel_set);

/* Loads the CUDA library, unless it is loaded, and finds one of its functions. */
onet_status device_function(const char *name, void **function, onet_error *err);

#endif
