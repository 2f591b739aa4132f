#include "data/format.h"

#include <string.h>
#include <strings.h>

#include "base/choice.h"
#include "base/error.h"
#include "base/number.h"

const onet_choice *onet_formats(void) {
    static const onet_choice list[] = {
        {"auto", "by the file's name and first bytes", ONET_FORMAT_AUTO},
        {"jsonl", "JSON Lines", ONET_FORMAT_JSONL},
        {"csv", "a row per item", ONET_FORMAT_CSV},
        {"pointer", "Pointer Network text", ONET_FORMAT_POINTER},
        {"npz", "NumPy arrays", ONET_FORMAT_NPZ},
        {"safetensors", "this project's binary form", ONET_FORMAT_SAFETENSORS},
        {"text", "a line of words per set", ONET_FORMAT_TEXT},
        {0},
    };
    return list;
}

const char *format_name(onet_format format) {
    return choice_name(onet_formats(), format);
}

static bool ends_in(const char *path, size_t length, const char *ending) {
    size_t n = strlen(ending);
    return length > n && !strncasecmp(path + length - n, ending, n);
}

/* .txt tells nothing: Pointer Network text and lines of words both have it. */
onet_format format_of_name(const char *path) {
    size_t length = strlen(path);
    if (ends_in(path, length, ".gz") || ends_in(path, length, ".xz")) length -= 3;
    if (ends_in(path, length, ".jsonl") || ends_in(path, length, ".ndjson") || ends_in(path, length, ".json"))
        return ONET_FORMAT_JSONL;
    if (ends_in(path, length, ".csv")) return ONET_FORMAT_CSV;
    if (ends_in(path, length, ".npz")) return ONET_FORMAT_NPZ;
    if (ends_in(path, length, ".safetensors")) return ONET_FORMAT_SAFETENSORS;
    return ONET_FORMAT_AUTO;
}

onet_status format_to_write(const char *path, onet_format *format, onet_error *err) {
    if (!*format) *format = format_of_name(path);
    if ((unsigned)*format > ONET_FORMAT_TEXT)
        return fail(err, ONET_USAGE, "there is no format %d", (int)*format);
    if (*format) return ONET_OK;
    return fail(err, ONET_USAGE,
                "cannot tell from the name %s which format to write; end it in .jsonl, .csv, .npz or "
                ".safetensors, or use 'ordernet convert --to FORMAT'",
                path);
}

/* Only numbers, and perhaps `output`, in what is there of the first line. */
static bool is_pointer(const char *p, const char *end, bool whole) {
    int numbers = 0;
    for (;;) {
        while (p < end && (*p == ' ' || *p == '\t' || *p == '\r')) p++;
        const char *token = p;
        while (p < end && *p != ' ' && *p != '\t' && *p != '\r') p++;
        if (token == p || (p == end && !whole)) return numbers > 0;
        if (p - token == 6 && !memcmp(token, "output", 6)) return numbers > 0;
        double value;
        if (number_scan(token, p, NUMBER_LOOSE, &value) != p &&
            number_not_finite(token, p) != (size_t)(p - token))
            return false;
        numbers++;
    }
}

onet_format format_of_bytes(const char *data, size_t size) {
    const char *p = data, *end = data + size;
    if (size >= 4 && !memcmp(data, "PK\3\4", 4)) return ONET_FORMAT_NPZ;
    /* A header of less than 16 MiB, whose length comes first. */
    if (size >= 9 && data[8] == '{' && !data[3] && !data[4] && !data[5] && !data[6] && !data[7])
        return ONET_FORMAT_SAFETENSORS;
    if (size >= 3 && !memcmp(data, "\xEF\xBB\xBF", 3)) p += 3;
    while (p < end && (*p == ' ' || *p == '\t' || *p == '\r' || *p == '\n')) p++;
    if (p == end) return ONET_FORMAT_AUTO;
    if (*p == '{') return ONET_FORMAT_JSONL;
    const char *newline = memchr(p, '\n', (size_t)(end - p));
    if (is_pointer(p, newline ? newline : end, newline != NULL)) return ONET_FORMAT_POINTER;
    /* A header: a comma, and no space behind it, where a sentence would have one. */
    const char *comma = memchr(p, ',', (size_t)((newline ? newline : end) - p));
    if (comma && (comma + 1 == end || comma[1] != ' ')) return ONET_FORMAT_CSV;
    return memchr(p, 0, (size_t)(end - p)) ? ONET_FORMAT_AUTO : ONET_FORMAT_TEXT;
}
