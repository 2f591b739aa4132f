/* Reads the expected results in tests/golden.safetensors: the names of the cases, their settings and entries.
 * Also makes records of computed gradients (values, or samples, sum and projections of a large tensor) and
 * measures how far they are from the expected ones. */
#include "golden_file.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/model/generated.h"

#define PATH "tests/golden.safetensors"

static void need(bool good, const char *what, const char *name) {
    if (good) return;
    fprintf(stderr, PATH ": %s: %s (reference/make_golden.py writes it)\n", name, what);
    abort();
}

/* The whole file: 8 bytes with the length of the header, which becomes a string, and the doubles. */
static void load(golden *g) {
    FILE *file = fopen(PATH, "rb");
    uint64_t length = 0;
    need(file && fread(&length, 1, sizeof length, file) == sizeof length, "cannot be read", g->name);
    fseek(file, 0, SEEK_END);
    size_t size = (size_t)ftell(file) - sizeof length;
    fseek(file, sizeof length, SEEK_SET);
    need(length && length < size && length % 8 == 0, "no header", g->name);
    g->bytes = malloc(size);
    need(g->bytes && fread(g->bytes, 1, size, file) == size, "cannot be read", g->name);
    fclose(file);
    g->header = g->bytes;
    g->header[length - 1] = 0; /* a blank, or the last brace */
    g->numbers = (const double *)(const void *)(g->header + length);
}

/* The cases are in the order of their names; those of different sizes begin with "mixed/". */
static char **names_of(bool mixed) {
    golden g = {.name = "all cases"};
    load(&g);
    char **names = NULL;
    size_t count = 0;
    for (const char *at = g.header, *end; (end = strstr(at, "/case\":")); at = end + 1) {
        const char *name = end;
        while (name[-1] != '"') name--;
        if ((strncmp(name, "mixed/", 6) == 0) != mixed) continue;
        names = realloc(names, (count + 2) * sizeof *names);
        need(names && (names[count] = strndup(name, (size_t)(end - name))), "no memory", g.name);
        names[++count] = NULL;
    }
    need(names, "no case", g.name);
    golden_free(&g);
    return names;
}

char **golden_names(void) {
    return names_of(false);
}

char **golden_mixed_names(void) {
    return names_of(true);
}

void golden_names_free(char **names) {
    for (size_t i = 0; names[i]; i++) free(names[i]);
    free(names);
}

void golden_load(golden *g, const char *name) {
    memset(g, 0, sizeof *g);
    snprintf(g->name, sizeof g->name, "%s", name);
    load(g);
    size_t count;
    const double *c = golden_get(g, "case", &count);
    need(c && count >= 11 && count <= 13, "no entry \"case\"", name);
    g->settings = (onet_settings){.width = (int)c[0],
                                  .encoder_blocks = (int)c[1],
                                  .hidden = (int)c[2],
                                  .encoder_out = (int)c[3],
                                  .decoder_blocks = (int)c[4],
                                  .decoder_out = (int)c[5],
                                  .pool = (onet_pool)c[6],
                                  .relative = count > 11 && c[11] != 0,
                                  .relations = count > 12 ? (int)c[12] : 0};
    g->B = (int)c[7];
    g->n = (int)c[8];
    g->seed = (unsigned long long)c[9];
    g->lr = c[10];
    g->sizes = golden_get(g, "sizes", &count);
    need(g->sizes ? count == 2 * (size_t)g->B && !g->n : g->n > 0, "no sizes", name);
}

int golden_items(const golden *g, int b) {
    return g->sizes ? (int)g->sizes[2 * b] : g->n;
}

int golden_placed(const golden *g, int b) {
    return g->sizes ? (int)g->sizes[2 * b + 1] : g->n;
}

void golden_free(golden *g) {
    free(g->bytes);
    g->bytes = NULL;
}

const double *golden_get(const golden *g, const char *entry, size_t *count) {
    char key[128];
    size_t begin, end;
    snprintf(key, sizeof key, "\"%s/%s\":{", g->name, entry);
    const char *at = strstr(g->header, key);
    if (!at) return NULL;
    int found = sscanf(at + strlen(key), "\"dtype\":\"F64\",\"shape\":[%*u],\"data_offsets\":[%zu,%zu]",
                       &begin, &end);
    need(found == 2 && begin <= end, entry, g->name);
    if (count) *count = (end - begin) / sizeof(double);
    return g->numbers + begin / sizeof(double);
}

golden_noise golden_expected(const golden *g) {
    golden_noise out;
    size_t count;
    const double *noise = golden_get(g, "noise", &count);
    need(noise && count * sizeof(double) == sizeof out, "no entry \"noise\"", g->name);
    memcpy(&out, noise, sizeof out);
    return out;
}

size_t golden_record_size(size_t size) {
    return size <= GOLDEN_FULL ? size : GOLDEN_SAMPLES + 1 + GOLDEN_PROJECTIONS + 1;
}

size_t golden_record(int index, const double *values, size_t size, double *out) {
    if (size <= GOLDEN_FULL) {
        memcpy(out, values, size * sizeof *out);
        return size;
    }
    for (size_t k = 0; k < GOLDEN_SAMPLES; k++) out[k] = values[generated_u64(0, (uint64_t)index, k) % size];
    double *sum = out + GOLDEN_SAMPLES, *projection = sum + 1, *norm = projection + GOLDEN_PROJECTIONS;
    memset(sum, 0, (GOLDEN_PROJECTIONS + 2) * sizeof *out);
    for (size_t i = 0; i < size; i++) {
        uint64_t bits = generated_u64(1, (uint64_t)index, i);
        *sum += values[i];
        *norm += values[i] * values[i];
        for (int k = 0; k < GOLDEN_PROJECTIONS; k++) projection[k] += bits >> k & 1 ? -values[i] : values[i];
    }
    *norm = sqrt(*norm);
    return golden_record_size(size);
}

bool golden_null(const net_shape *sh, int index, size_t element) {
    size_t at = sh->tensor[index].offset + element, D = (size_t)sh->D, C = (size_t)sh->s.decoder_out;
    int N = sh->s.decoder_blocks;
    if (at == sh->head_bias) return true;
    if (N > 0 && at >= sh->dec[N - 1].norm.beta && at < sh->dec[N - 1].norm.beta + C) return true;
    if (at < sh->head_weight || at >= sh->head_weight + (size_t)sh->head_in) return false;
    size_t channel = at - sh->head_weight;
    size_t base = (size_t)sh->base;
    if (channel < base) return channel >= D && channel < 2 * D;
    return (channel - base) % (2 * C) >= C;
}

double golden_records_error(const net_shape *sh, int tensors, const double *got, const double *want,
                            int *worst) {
    double largest = 0, error = 0;
    size_t all = 0;
    for (int k = 0; k < tensors; k++) {
        size_t size = sh->tensor[k].size, values = size <= GOLDEN_FULL ? size : GOLDEN_SAMPLES;
        for (size_t i = 0; i < values; i++) largest = fmax(largest, fabs(want[all + i]));
        all += golden_record_size(size);
    }
    if (worst) *worst = 0;
    for (int k = 0; k < tensors; k++) {
        size_t size = sh->tensor[k].size, values = size <= GOLDEN_FULL ? size : GOLDEN_SAMPLES;
        double scale = 0;
        for (size_t i = 0; i < values; i++) scale = fmax(scale, fabs(want[i]));
        scale += 0.01 * largest;
        for (size_t i = 0; i < golden_record_size(size); i++) {
            double by = i < values ? scale : want[golden_record_size(size) - 1] + 0.01 * largest;
            double off = fabs(got[i] - want[i]);
            if (by > 0) off /= by; /* all of it 0, as for sets of one item: the difference itself */
            if (!(off <= error)) {
                error = off;
                if (worst) *worst = k;
            }
        }
        got += golden_record_size(size);
        want += golden_record_size(size);
    }
    return error;
}

double golden_records_distance(const net_shape *sh, int tensors, const double *got, const double *want) {
    double off = 0, of = 0;
    for (int k = 0; k < tensors; k++) {
        size_t size = sh->tensor[k].size, values = size <= GOLDEN_FULL ? size : GOLDEN_SAMPLES;
        for (size_t i = 0; i < values; i++) {
            if (size <= GOLDEN_FULL && golden_null(sh, k, i)) continue;
            off += (got[i] - want[i]) * (got[i] - want[i]);
            of += want[i] * want[i];
        }
        got += golden_record_size(size);
        want += golden_record_size(size);
    }
    return of > 0 ? sqrt(off / of) : sqrt(off);
}
