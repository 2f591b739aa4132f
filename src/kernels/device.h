/* Devices by name, and the library of GPU kernels. */
#ifndef KERNELS_DEVICE_H
#define KERNELS_DEVICE_H

#include "ordernet.h"

typedef enum device_kind {
    DEVICE_AUTO,
    DEVICE_CPU,
    DEVICE_GPU
} device_kind; /* auto: a GPU, where there is one */

typedef struct device_choice {
    device_kind kind;
    int number; /* of the GPU; -1 - P: that of process P of this machine, P modulo the number of GPUs */
} device_choice;

/* device: "auto" or NULL, "cpu", "cuda", "cuda:N". Without a number each process of a machine takes a GPU of
 * its own; process: which one this is, from 0. Who names kernels of the processor and no device means the
 * processor. Who names the library wants it: where the choice is free it must have the function all the same,
 * by which the GPU will be opened. */
onet_status device_choose(const char *device, int process, const char *kernel_set, const char *function,
                          device_choice *choice, onet_error *err);

/* Opens the library, where that was not done yet, and finds one of its functions. */
onet_status device_function(const char *name, void **function, onet_error *err);

#endif
