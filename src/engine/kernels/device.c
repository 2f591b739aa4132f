/* Chooses the device by its name (auto, cpu, cuda:N), tells whether it may be a GPU, and opens the net there;
 * the CUDA library is loaded only when a GPU may be used. Without a GPU nothing of CUDA is needed, neither to
 * build nor to run. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/choice.h"
#include "engine/base/error.h"
#include "engine/base/library.h"
#include "engine/kernels/backend.h"
#include "engine/kernels/device.h"
#include "engine/kernels/gpu_library.h"

static const char variable[] = "ORDERNET_CUDA";

onet_status device_function(const char *name, void **function, onet_error *err) {
    return library_symbol(function, CUDA_LIBRARY, variable, name, "`make CUDA=1` builds it", err);
}

const onet_choice *onet_devices(void) {
    static const onet_choice list[] = {
        {"auto", "a GPU where there is one and the work is worth it", DEVICE_AUTO},
        {"cpu", "the CPU", DEVICE_CPU},
        {"cuda", "an NVIDIA GPU", DEVICE_GPU},
        {0},
    };
    return list;
}

/* Returns the number in "cuda:N", at most 1023; -1: it is something else. */
static int numbered(const char *name) {
    if (strncmp(name, "cuda:", 5) != 0 || name[5] < '0' || name[5] > '9') return -1;
    char *end;
    long number = strtol(name + 5, &end, 10);
    return *end || number > 1023 ? -1 : (int)number;
}

onet_status device_choose(const char *device, gpu_choice unnumbered, const char *kernel_set,
                          const char *function, device_choice *choice, onet_error *err) {
    const char *name = device ? device : "auto";
    bool kernels_named = kernel_set && strcmp(kernel_set, "auto") != 0;
    int number = numbered(name);
    const onet_choice *found = choice_named(onet_devices(), name, strlen(name));
    if (!found && number < 0) {
        char names[64];
        return fail(err, ONET_USAGE, "device `%s` is unknown: %s or cuda:N", name,
                    choice_names(onet_devices(), ", ", names, sizeof names));
    }
    choice->kind = found ? (device_kind)found->value : DEVICE_GPU;
    if (choice->kind == DEVICE_AUTO && kernels_named) choice->kind = DEVICE_CPU;
    choice->gpu = number < 0 ? unnumbered : (gpu_choice){.number = number};
    if (choice->kind != DEVICE_AUTO || !library_named(variable)) return ONET_OK;
    void *address;
    return device_function(function, &address, err);
}

static onet_status open_gpu(net **t, const net_shape *sh, gpu_choice gpu, onet_error *err) {
    cuda_open_fn *open_fn;
    void *symbol;
    onet_status status = device_function(CUDA_OPEN, &symbol, err);
    if (status) return status;
    memcpy(&open_fn, &symbol, sizeof open_fn);
    return open_fn(t, sh, gpu, err);
}

bool device_may_be_gpu(const char *device, const char *kernel_set) {
    device_choice choice;
    void *symbol;
    if (device_choose(device, gpu_of_rank(0), kernel_set, CUDA_OPEN, &choice, NULL)) return false;
    return choice.kind == DEVICE_GPU ||
           (choice.kind == DEVICE_AUTO && !device_function(CUDA_OPEN, &symbol, NULL));
}

onet_status net_open(net **t, const net_shape *sh, const char *device, int local_rank, const char *kernel_set,
                     int threads, onet_error *err) {
    device_choice choice;
    onet_status status = device_choose(device, gpu_of_rank(local_rank), kernel_set, CUDA_OPEN, &choice, err);
    if (status == ONET_USAGE) error_field(err, "onet_train_options.device");
    if (status) return status;
    if (choice.kind == DEVICE_GPU) return open_gpu(t, sh, choice.gpu, err);
    if (choice.kind == DEVICE_AUTO && open_gpu(t, sh, choice.gpu, NULL) == ONET_OK) return ONET_OK;
    return cpu_open(t, sh, kernel_set, threads, err);
}
