/* Devices by name, and the library of GPU kernels. */
#ifndef KERNELS_DEVICE_H
#define KERNELS_DEVICE_H

#include "ordernet.h"

typedef struct device_choice {
    enum { DEVICE_AUTO, DEVICE_CPU, DEVICE_GPU } kind; /* auto: the GPU, where there is one */
    /* Of the GPU; -1 - R: that of process R of this machine, R modulo the number of GPUs. */
    int number;
} device_choice;

/* "auto" or NULL, "cpu", "cuda", "cuda:N"; "auto#R" and "cuda#R" for process R of this machine. Who names
 * kernels of the processor and no device means the processor. */
onet_status device_choose(const char *device, const char *kernel_set, device_choice *choice, onet_error *err);

/* Opens the library, where that was not done yet, and finds one of its functions. */
onet_status device_function(const char *name, void **function, onet_error *err);

#endif
