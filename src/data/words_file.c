#include "data/words_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/half.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "model/shape.h"

void words_file_free(words_file *w) {
    words_free(w->words);
    free(w->text);
    free(w->half);
    *w = (words_file){0};
}

onet_status words_file_begin(words_file *w, const safetensors *file, onet_error *err) {
    const size_t any[2] = {SIZE_MAX, SIZE_MAX};
    st_tensor *text, *vectors = safetensors_find(file, "words.vectors");
    bool half = vectors && vectors->type == ST_F16;
    onet_status status = safetensors_expect(file, "words.text", ST_U8, 1, any, &text, err);
    *w = (words_file){0};
    if (status ||
        (status = safetensors_expect(file, "words.vectors", half ? ST_F16 : ST_F32, 2, any, &vectors, err)))
        return status;
    size_t count = vectors->shape[0], width = vectors->shape[1];
    if (count < 1 || count > INT32_MAX / 2 || width < 1 || width > MAX_WIDTH)
        return fail(err, ONET_BAD, "%s: words.vectors has %zu rows of %zu numbers; that is not a vocabulary",
                    safetensors_name(file), count, width);
    w->text_size = text->bytes;
    w->text = malloc(text->bytes + 1);
    w->words = calloc(1, sizeof *w->words);
    if (w->words) {
        w->words->count = (int)count;
        w->words->width = (int)width;
        w->words->at = array_new(count + 1, sizeof *w->words->at);
        w->words->text = array_new(text->bytes, 1);
        w->words->vectors = array_new(count, width * sizeof *w->words->vectors);
    }
    if (half) w->half = array_new(count, width * sizeof *w->half);
    if (!w->text || !w->words || !w->words->at || !w->words->text || !w->words->vectors ||
        (half && !w->half)) {
        words_file_free(w);
        return fail_memory(err, "a vocabulary");
    }
    text->into = w->text;
    vectors->into = half ? (void *)w->half : (void *)w->words->vectors;
    return ONET_OK;
}

/* Cuts the text at its newlines into exactly as many words as there are vectors. */
static onet_status split(words_file *w, const char *name, onet_error *err) {
    onet_words *words = w->words;
    const char *from = w->text, *end = w->text + w->text_size;
    size_t valid = utf8_valid(w->text, w->text_size);
    if (valid < w->text_size)
        return fail(err, ONET_BAD, "%s: words.text is not UTF-8 at byte %zu; make the file again", name,
                    valid);
    int32_t count = 0;
    size_t used = 0;
    for (bool last = false; !last; count++) {
        const char *stop = memchr(from, '\n', (size_t)(end - from));
        last = !stop;
        if (last) stop = end;
        if (stop == from)
            return fail(err, ONET_BAD, "%s: word %d of words.text is empty; make the file again", name,
                        count + 1);
        if (count == words->count) break;
        memcpy(words->text + used, from, (size_t)(stop - from));
        used += (size_t)(stop - from);
        words->at[count + 1] = used;
        from = stop + 1;
    }
    if (count != words->count || from <= end)
        return fail(err, ONET_BAD,
                    "%s: words.text does not hold %d words, as many as words.vectors has rows; "
                    "make the file again",
                    name, words->count);
    return ONET_OK;
}

onet_status words_file_end(words_file *w, const safetensors *file, onet_words **result, onet_error *err) {
    onet_words *words = w->words;
    const char *name = safetensors_name(file);
    size_t width = (size_t)words->width, numbers = (size_t)words->count * width;
    onet_status status = split(w, name, err);
    if (status) return status;
    if (w->half)
        for (size_t i = 0; i < numbers; i++) words->vectors[i] = half_to_float(w->half[i]);
    for (size_t i = 0; i < numbers; i++)
        if (!isfinite(words->vectors[i]))
            return fail(err, ONET_BAD,
                        "%s: words.vectors[%zu][%zu] is not a finite number; make the file again", name,
                        i / width, i % width);
    if (!words_build(words)) return fail_memory(err, "a vocabulary");
    for (int32_t i = 0; i < words->count; i++)
        if (words_exact(words, words->text + words->at[i], words->at[i + 1] - words->at[i]) != i)
            return fail(err, ONET_BAD, "%s: word %ld of words.text stands there twice; make the file again",
                        name, (long)i + 1);
    *result = words;
    w->words = NULL;
    return ONET_OK;
}

bool words_fit_half(const onet_words *words) {
    for (size_t i = 0; i < (size_t)words->count * (size_t)words->width; i++)
        if (!(fabsf(words->vectors[i]) <= HALF_MAX)) return false;
    return true;
}

onet_status words_file_make(words_file *w, const onet_words *words, bool half, st_tensor pair[2],
                            onet_error *err) {
    size_t count = (size_t)words->count, width = (size_t)words->width, size = words->at[count] + count - 1;
    *w = (words_file){0};
    w->text = malloc(size + 1);
    half = half && words_fit_half(words);
    if (half) w->half = array_new(count, width * sizeof *w->half);
    if (!w->text || (half && !w->half)) {
        words_file_free(w);
        return fail_memory(err, "a vocabulary");
    }
    char *to = w->text;
    for (size_t i = 0; i < count; i++) {
        size_t length = words->at[i + 1] - words->at[i];
        to = mempcpy(to, words->text + words->at[i], length);
        *to++ = '\n';
    }
    if (half)
        for (size_t i = 0; i < count * width; i++) w->half[i] = half_from_float(words->vectors[i]);
    pair[0] = (st_tensor){.name = "words.vectors",
                          .type = half ? ST_F16 : ST_F32,
                          .dims = 2,
                          .shape = {count, width},
                          .data = half ? (void *)w->half : (void *)words->vectors};
    pair[1] = (st_tensor){.name = "words.text", .type = ST_U8, .dims = 1, .shape = {size}, .data = w->text};
    return ONET_OK;
}
