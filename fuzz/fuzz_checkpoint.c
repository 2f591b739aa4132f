/* Fuzz target: reads the checkpoint of a training from any bytes, with the checksums of metadata and blocks
 * corrected first, since they would refuse most inputs. Input that begins with '=' is compared with the
 * settings of a run, as the line of settings in a checkpoint is. */
#include "bytes.h"

#include "../src/engine/train/state.c"

enum { PARAMS = 6, VECTORS = 2 };

static const char now[] =
    "items=0123456789abcdef orders=0123456789abcdef sets=4 width=2 batch=2 seed=1 steps=40";

static void put_right(const safetensors *file, const char *key, const char *sum) {
    for (size_t i = 0; i < file->pairs; i++)
        if (!strcmp(file->metadata[i].key, key)) file->metadata[i].value = sum;
}

/* Loads the state's blocks as far as the file has them, and writes their checksum. */
static void sum_of_file(const safetensors *file, const train_state *s, char sum[16]) {
    st_tensor want[8];
    const st_tensor *t;
    onet_error err;
    size_t count = blocks(s, want);
    for (size_t i = 0; i < count; i++)
        if (safetensors_expect(file, want[i].name, ST_F32, 1, want[i].shape, &t, &err) ||
            safetensors_load(file, t, (void *)want[i].data, &err))
            break;
    sum_blocks(want, count, sum);
}

static void read_file(const uint8_t *data, size_t size) {
    bytes b = {data, size};
    input *in = bytes_input(&b);
    safetensors *file;
    train_state s;
    char block_sum[16], pair_sum[16];
    uint64_t steps = 0;
    onet_error err = {.text = ""};
    if (!safetensors_from(&file, in, &err)) {
        if (state_new(&s, PARAMS, VECTORS, safetensors_find(file, "average") != NULL, NULL)) abort();
        sum_of_file(file, &s, block_sum);
        put_right(file, "crc32", block_sum);
        sum_pairs(file->metadata, file->pairs, pair_sum);
        put_right(file, own_sum, pair_sum);
        onet_status status = read_checkpoint(&s, file, now, &steps, &err);
        if (status ? !err.text[0] : steps > 40 || s.step > (uint64_t)9e15 || s.params != PARAMS) abort();
        state_free(&s);
        safetensors_close(file);
    }
    input_close(in);
}

/* Two lines of settings, either of which may be the checkpoint's. */
static void compare_lines(const uint8_t *data, size_t size) {
    char *text = malloc(size + 1);
    uint64_t steps;
    onet_error err = {.text = ""};
    if (!text) abort();
    if (size) memcpy(text, data, size);
    text[size] = 0;
    if (identity_check(text, now, "another", &steps, &err) && !err.text[0]) abort();
    if (identity_check(now, text, "another", &steps, &err) && !err.text[0]) abort();
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size && data[0] == '=')
        compare_lines(data + 1, size - 1);
    else
        read_file(data, size);
    return 0;
}
