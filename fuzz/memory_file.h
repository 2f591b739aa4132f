/* A file in memory that readers can open by a path. */
#ifndef FUZZ_MEMORY_FILE_H
#define FUZZ_MEMORY_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Makes the file and writes its name into path; close() what comes back when done. */
static inline int memory_file(const uint8_t *data, size_t size, char path[64]) {
    int fd = memfd_create("fuzz", 0);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size) abort();
    snprintf(path, 64, "/proc/self/fd/%d", fd);
    return fd;
}

#endif
