/* Reads a vocabulary from its two tensors in a safetensors file, and makes the tensors to write: vectors in
 * half precision if the caller wants it and all of them are within its range. */
#include "engine/data/words_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/base/half.h"
#include "engine/base/memory.h"
#include "engine/base/utf8.h"

/* ---- Reading ----------------------------------------------------------------------------------------- */

static onet_status read_text(onet_words *words, const safetensors *file, const st_tensor *tensor_of_text,
                             onet_error *err) {
    const char *name = safetensors_name(file);
    size_t size = tensor_of_text->bytes, used = 0;
    char *from = words->text, *end = from + size;
    onet_status status = safetensors_load(file, tensor_of_text, words->text, err);
    if (status) return status;
    size_t valid = utf8_valid(words->text, size);
    if (valid < size)
        return fail(err, ONET_BAD, "%s: words.text is not UTF-8 at byte %zu; make the file again", name,
                    valid);
    /* The vocabulary has the words without the newlines: they move together. */
    for (int32_t count = 0; count < words->count; count++) {
        char *stop = from < end ? memchr(from, '\n', (size_t)(end - from)) : NULL;
        if (!stop) stop = end;
        if (stop <= from)
            return fail(err, ONET_BAD,
                        "%s: words.text has an empty word, or fewer than the %d that words.vectors "
                        "has rows; make the file again",
                        name, words->count);
        memmove(words->text + used, from, (size_t)(stop - from));
        used += (size_t)(stop - from);
        words->at[count + 1] = used;
        from = stop + 1;
    }
    if (from <= end)
        return fail(err, ONET_BAD,
                    "%s: words.text has more words than words.vectors has rows, %d; make the file "
                    "again",
                    name, words->count);
    return ONET_OK;
}

static onet_status read_vectors(onet_words *words, const safetensors *file, const st_tensor *vectors,
                                onet_error *err) {
    size_t width = (size_t)words->width, numbers = (size_t)words->count * width;
    onet_status status = safetensors_load_floats(file, vectors, words->vectors, err);
    if (status) return status;
    for (size_t i = 0; i < numbers; i++)
        if (!isfinite(words->vectors[i]))
            return fail(err, ONET_BAD,
                        "%s: words.vectors[%zu][%zu] is not a finite number; make the file again",
                        safetensors_name(file), i / width, i % width);
    return ONET_OK;
}

/* Checks that no word is there twice. Each word has a slot of the table, unless it is there before. Looking
 * all of them up would take a tenth of the time of reading a model. */
static onet_status check_unique(const onet_words *words, const char *name, onet_error *err) {
    int32_t taken = 0;
    for (size_t slot = 0; slot < words->slots; slot++) taken += words->table[slot] >= 0;
    if (taken == words->count) return ONET_OK;
    for (int32_t i = 0; i < words->count; i++)
        if (words_exact(words, words->text + words->at[i], words->at[i + 1] - words->at[i]) != i)
            return fail(err, ONET_BAD, "%s: word %ld of words.text appears twice; make the file again", name,
                        (long)i + 1);
    return ONET_OK;
}

onet_status words_file_read(onet_words **result, const safetensors *file, onet_error *err) {
    const size_t any[2] = {SIZE_MAX, SIZE_MAX};
    const st_tensor *text, *vectors;
    onet_status status = safetensors_expect(file, "words.text", ST_U8, 1, any, &text, err);
    *result = NULL;
    if (status || (status = safetensors_expect_floats(file, "words.vectors", 2, any, &vectors, err)))
        return status;
    size_t count = vectors->shape[0], width = vectors->shape[1];
    if (count < 1 || count > INT32_MAX / 2 || width < 1 || width > MAX_WIDTH)
        return fail(err, ONET_BAD, "%s: words.vectors has %zu rows of %zu numbers; that is not a vocabulary",
                    safetensors_name(file), count, width);
    onet_words *words = calloc(1, sizeof *words);
    if (!words) return fail_memory(err, "a vocabulary");
    words->count = (int)count;
    words->width = (int)width;
    words->at = array_new(count + 1, sizeof *words->at);
    words->text = array_new(text->bytes, 1);
    words->vectors = array_new(count, width * sizeof *words->vectors);
    if (!words->at || !words->text || !words->vectors) status = fail_memory(err, "a vocabulary");
    if (!status) status = read_text(words, file, text, err);
    if (!status) status = read_vectors(words, file, vectors, err);
    if (!status && !words_build(words)) status = fail_memory(err, "a vocabulary");
    if (!status) status = check_unique(words, safetensors_name(file), err);
    if (status)
        words_free(words);
    else
        *result = words;
    return status;
}

/* ---- Writing ----------------------------------------------------------------------------------------- */

bool words_fit_half(const onet_words *words) {
    for (size_t i = 0; i < (size_t)words->count * (size_t)words->width; i++)
        if (!(fabsf(words->vectors[i]) <= HALF_MAX)) return false;
    return true;
}

onet_status words_tensors_make(words_tensors *w, const onet_words *words, bool half, onet_error *err) {
    size_t count = (size_t)words->count, width = (size_t)words->width, size = words->at[count] + count - 1;
    *w = (words_tensors){.text = malloc(size + 1)};
    half = half && words_fit_half(words);
    if (half) w->half = array_new(count, width * sizeof *w->half);
    if (!w->text || (half && !w->half)) {
        words_tensors_free(w);
        return fail_memory(err, "a vocabulary");
    }
    char *to = w->text;
    for (size_t i = 0; i < count; i++) {
        to = mempcpy(to, words->text + words->at[i], words->at[i + 1] - words->at[i]);
        *to++ = '\n';
    }
    if (half) half_from_floats(w->half, words->vectors, count * width);
    w->tensor[0] = (st_tensor){.name = "words.vectors",
                               .type = half ? ST_F16 : ST_F32,
                               .dims = 2,
                               .shape = {count, width},
                               .data = half ? (void *)w->half : (void *)words->vectors};
    w->tensor[1] =
        (st_tensor){.name = "words.text", .type = ST_U8, .dims = 1, .shape = {size}, .data = w->text};
    return ONET_OK;
}

void words_tensors_free(words_tensors *w) {
    free(w->text);
    free(w->half);
    *w = (words_tensors){0};
}
