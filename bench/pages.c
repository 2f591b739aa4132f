/* Measures how long the reading order of a page takes with the shipped model, as `ordernet.reading_order` in
 * Python asks for it: one page per call, one thread, after a warm-up. CPU time per page, by number of
 * regions, of generated layouts or of the pages in files. usage: pages [FILE ...] */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "engine/base/memory.h"
#include "ordernet_pages.h"
#include "tasks/layout/format.h"
#include "tasks/layout/generate.h"

enum { PER_FAMILY = 20, ROUNDS = 5 };

typedef struct class {
    const char *name;
    int most;
    size_t pages, regions;
    double seconds;
} class;

static class classes[] = {{"up to 12", 12, 0, 0, 0},   {"13 to 20", 20, 0, 0, 0},
                          {"21 to 30", 30, 0, 0, 0},   {"31 to 50", 50, 0, 0, 0},
                          {"51 to 100", 100, 0, 0, 0}, {"101 to 600", 600, 0, 0, 0}};

static double cpu(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void stop_if(onet_status status, const onet_error *err) {
    if (!status) return;
    fprintf(stderr, "%s\n", err->text);
    exit(1);
}

/* The best of some calls counts: other work on the machine only adds to the time. */
static void measure(onet_pages *pages, const page *p) {
    class *c = classes;
    while (c < classes + sizeof classes / sizeof *classes && p->placed > c->most) c++;
    if (!p->placed || c == classes + sizeof classes / sizeof *classes) return;
    size_t n = (size_t)p->count;
    double *boxes = array_new(4 * n, sizeof *boxes), best = 1e9;
    int32_t *regions = array_new(n, sizeof *regions), *order = array_new(n, sizeof *order);
    int count;
    onet_error err;
    if (!boxes || !regions || !order) exit(1);
    for (size_t i = 0; i < n; i++) {
        const page_box *b = &p->regions[i].box;
        boxes[4 * i] = b->x0;
        boxes[4 * i + 1] = b->y0;
        boxes[4 * i + 2] = b->x1;
        boxes[4 * i + 3] = b->y1;
        regions[i] = (int32_t)p->regions[i].kind;
    }
    for (int round = 0; round <= ROUNDS; round++) {
        double began = cpu();
        stop_if(onet_pages_order(pages, boxes, regions, (int)n, 0, order, &count, &err), &err);
        double taken = cpu() - began;
        if (round && taken < best) best = taken;
    }
    c->pages++;
    c->regions += (size_t)p->placed;
    c->seconds += best;
    free(boxes);
    free(regions);
    free(order);
}

int main(int argc, char **argv) {
    onet_model *model;
    onet_pages *pages;
    onet_order_options options;
    onet_error err;
    onet_order_defaults(&options, sizeof options);
    options.threads = 1;
    stop_if(onet_model_load(&model, "models/pages.safetensors", &err), &err);
    stop_if(onet_pages_new(&pages, model, &options, &err), &err);
    for (int family = 0; family < PAGE_FAMILIES && argc < 2; family++)
        for (int k = 0; k < PER_FAMILY; k++) {
            page p;
            rng r;
            rng_seed(&r, 1, (uint64_t)family << 32 | (uint32_t)k);
            stop_if(page_generate(&p, (page_family)family, &r, &err), &err);
            measure(pages, &p);
            page_free(&p);
        }
    for (int i = 1; i < argc; i++) {
        page_file f;
        stop_if(page_file_read(&f, argv[i], NULL, &err), &err);
        for (size_t k = 0; k < f.count; k++) measure(pages, &f.pages[k]);
        page_file_free(&f);
    }
    printf("%-12s %8s %14s %12s\n", "regions", "pages", "regions/page", "ms per page");
    for (size_t k = 0; k < sizeof classes / sizeof *classes; k++) {
        const class *c = &classes[k];
        if (c->pages)
            printf("%-12s %8zu %14.1f %12.2f\n", c->name, c->pages, (double)c->regions / (double)c->pages,
                   1e3 * c->seconds / (double)c->pages);
    }
    onet_pages_free(pages);
    onet_model_free(model);
    return 0;
}
