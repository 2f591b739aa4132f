/* A library loaded before the program (LD_PRELOAD) that counts its allocations and makes one fail.
 *
 *   OOM_AT=N      allocation number N, from 1, fails; not set: none does
 *   OOM_REST=1    all after it fail too
 *   OOM_COUNT=F   at the end the number of allocations is written to file F
 *   OOM_DIRECT=1  only calls from the program itself count, not those that a library makes for it
 *
 * Cairo is left out, and with it Fontconfig and FreeType, which end the process when memory is short; a
 * command that draws runs with OOM_DIRECT, since they allocate through the C library too. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t size);
void *__libc_memalign(size_t align, size_t size);

enum { MOST = 128 };
static struct { uintptr_t from, to; } left_out[MOST];
static int left_out_count;
static atomic_long count;
static long fails_at;
static bool rest, ready, direct;

/* The first entry of the list is the program, which tests/mutants.py has in libmutant.so; with OOM_DIRECT all
 * others are left out. */
static int find(struct dl_phdr_info *info, size_t size, void *context) {
    static const char *const names[] = {"cairo",   "fontconfig", "freetype", "expat",    "pixman", "png",
                                        "X11",     "xcb",        "brotli",   "Xau",      "Xdmcp",  "Xext",
                                        "Xrender", "bsd",        "libmd",    "ld-linux", "uuid"};
    (void)size;
    (void)context;
    bool out = direct && info->dlpi_name[0] && !strstr(info->dlpi_name, "libmutant");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        out |= strstr(info->dlpi_name, names[i]) != NULL;
    if (out)
        for (int k = 0; k < info->dlpi_phnum && left_out_count < MOST; k++) {
            const ElfW(Phdr) *h = &info->dlpi_phdr[k];
            if (h->p_type != PT_LOAD || !(h->p_flags & PF_X)) continue;
            left_out[left_out_count].from = info->dlpi_addr + h->p_vaddr;
            left_out[left_out_count++].to = info->dlpi_addr + h->p_vaddr + h->p_memsz;
        }
    return 0;
}

__attribute__((constructor)) static void start(void) {
    const char *at = getenv("OOM_AT");
    direct = getenv("OOM_DIRECT") != NULL;
    dl_iterate_phdr(find, NULL);
    fails_at = at ? atol(at) : 0;
    rest = getenv("OOM_REST") != NULL;
    ready = true;
}

__attribute__((destructor)) static void end(void) {
    const char *file = getenv("OOM_COUNT");
    int fd = file ? open(file, O_WRONLY | O_CREAT | O_TRUNC, 0666) : -1;
    ready = false;
    if (fd < 0) return;
    dprintf(fd, "%ld\n", atomic_load(&count));
    close(fd);
}

static int refuse(void *caller) {
    if (!ready) return 0;
    for (int i = 0; i < left_out_count; i++)
        if ((uintptr_t)caller >= left_out[i].from && (uintptr_t)caller < left_out[i].to) return 0;
    long number = atomic_fetch_add(&count, 1) + 1;
    if (!fails_at || number < fails_at || (number > fails_at && !rest)) return 0;
    errno = ENOMEM;
    return 1;
}

#define CALLER __builtin_return_address(0)

void *malloc(size_t size) {
    return refuse(CALLER) ? NULL : __libc_malloc(size);
}
void *calloc(size_t n, size_t size) {
    return refuse(CALLER) ? NULL : __libc_calloc(n, size);
}
void *realloc(void *p, size_t size) {
    return refuse(CALLER) ? NULL : __libc_realloc(p, size);
}
void *aligned_alloc(size_t align, size_t size) {
    return refuse(CALLER) ? NULL : __libc_memalign(align, size);
}
int posix_memalign(void **p, size_t align, size_t size) {
    if (refuse(CALLER)) return ENOMEM;
    return (*p = __libc_memalign(align, size)) ? 0 : ENOMEM;
}
