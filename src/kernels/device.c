/* Where the net runs: the processor, or a GPU through a library of its own that is opened when it is asked
 * for. Nothing of CUDA is needed to build or run without. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/library.h"
#include "cuda/cuda.h"
#include "kernels/device.h"
#include "kernels/net.h"

onet_status device_function(const char *name, void **function, onet_error *err) {
    return library_symbol(function, CUDA_LIBRARY, "ORDERNET_CUDA", name, "`make CUDA=1` builds it", err);
}

onet_status device_choose(const char *device, const char *kernel_set, device_choice *choice,
                          onet_error *err) {
    const char *name = device ? device : "auto", *colon = strpbrk(name, ":#");
    size_t length = colon ? (size_t)(colon - name) : strlen(name);
    int automatic = length == 4 && memcmp(name, "auto", 4) == 0;
    int gpu = length == 4 && memcmp(name, "cuda", 4) == 0;
    char *end = NULL;
    long number = colon && colon[1] >= '0' && colon[1] <= '9' ? strtol(colon + 1, &end, 10) : 0;
    if ((!automatic && !gpu && strcmp(name, "cpu") != 0) || (colon && (!end || *end)) || number > 1023)
        return fail(err, ONET_USAGE, "device `%s` is unknown: auto, cpu, cuda or cuda:N", device);
    int named = kernel_set && strcmp(kernel_set, "auto") != 0;
    choice->kind = gpu ? DEVICE_GPU : automatic && !named ? DEVICE_AUTO : DEVICE_CPU;
    choice->number = colon && *colon == '#' ? -1 - (int)number : (int)number;
    return ONET_OK;
}

static onet_status open_gpu(net **t, const shape *sh, int device, onet_error *err) {
    cuda_open_fn *open_fn;
    void *symbol;
    onet_status status = device_function(CUDA_OPEN, &symbol, err);
    if (status) return status;
    memcpy(&open_fn, &symbol, sizeof open_fn);
    return open_fn(t, sh, device, CUDA_ABI, err);
}

onet_status net_open(net **t, const shape *sh, const char *device, const char *kernel_set, int threads,
                     onet_error *err) {
    device_choice choice;
    onet_status status = device_choose(device, kernel_set, &choice, err);
    if (status) return status;
    if (choice.kind == DEVICE_GPU) return open_gpu(t, sh, choice.number, err);
    if (choice.kind == DEVICE_AUTO && open_gpu(t, sh, choice.number, NULL) == ONET_OK) return ONET_OK;
    return cpu_open(t, sh, kernel_set, threads, err);
}
