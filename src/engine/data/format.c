/* Lists the data formats, finds a format by its name, by the ending of a file name, or by a file's first
 * bytes, and checks whether a format can hold what is to be written. */
#include "engine/data/format.h"

#include <stdio.h>
#include <string.h>

#include "engine/base/ascii.h"
#include "engine/base/error.h"
#include "engine/base/once.h"

/* A line per format. */
/* clang-format off */
extern const data_format
    csv_format,
    jsonl_format,
    npz_format,
    pointer_format,
    safetensors_format,
    text_format;

const data_format *const data_formats[] = {
    &jsonl_format,
    &csv_format,
    &pointer_format,
    &npz_format,
    &safetensors_format,
    &text_format,
    NULL,
};
/* clang-format on */
enum { FORMATS = sizeof data_formats / sizeof *data_formats - 1 };

static onet_choice choices[1 + FORMATS + 1] = {
    {"auto", "by the file's name and first bytes", ONET_FORMAT_AUTO}};

static void fill_choices(void) {
    for (int i = 0; i < FORMATS; i++)
        choices[1 + i] =
            (onet_choice){data_formats[i]->name, data_formats[i]->help, (int)data_formats[i]->format};
}

const onet_choice *onet_formats(void) {
    static once filled = ONCE_INIT;
    once_run(&filled, fill_choices);
    return choices;
}

const data_format *format_find(onet_format format) {
    for (int i = 0; i < FORMATS; i++)
        if (data_formats[i]->format == format) return data_formats[i];
    return NULL;
}

const data_format *format_of_name(const char *path) {
    size_t length = strlen(path);
    if (ascii_ends_in(path, length, ".gz") || ascii_ends_in(path, length, ".xz")) length -= 3;
    for (int i = 0; i < FORMATS; i++)
        for (const char *const *ending = data_formats[i]->endings; *ending; ending++)
            if (ascii_ends_in(path, length, *ending)) return data_formats[i];
    return NULL;
}

const data_format *format_of_bytes(const char *data, size_t size) {
    for (int i = 0; i < FORMATS; i++)
        if (data_formats[i]->recognise(data, size)) return data_formats[i];
    return NULL;
}

bool format_first_line(const char *data, size_t size, const char **line, const char **end, bool *whole) {
    const char *p = data, *after = data + size;
    if (memchr(data, 0, size)) return false;
    if (size >= 3 && !memcmp(data, "\xEF\xBB\xBF", 3)) p += 3;
    while (p < after && strchr(" \t\r\n", *p)) p++;
    if (p == after || (after - p > 5 && !memcmp(p, "<?xml", 5))) return false;
    const char *newline = memchr(p, '\n', (size_t)(after - p));
    *line = p;
    *end = newline ? newline : after;
    *whole = newline != NULL;
    return true;
}

/* Writes "a, b or c", the texts that `says` returns for the formats; NULL leaves a format out. Returns text.
 */
static const char *list_formats(const char *(*says)(const data_format *f, unsigned needs), unsigned needs,
                                char *text, size_t size) {
    const char *word[FORMATS];
    int count = 0;
    size_t used = 0;
    for (int i = 0; i < FORMATS; i++)
        if (says(data_formats[i], needs)) word[count++] = says(data_formats[i], needs);
    text[0] = '\0';
    for (int i = 0; i < count && used < size; i++) {
        const char *between = i + 1 < count ? ", " : " or ";
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? between : "", word[i]);
    }
    return text;
}

static const char *first_ending(const data_format *f, unsigned needs) {
    (void)needs;
    return f->endings[0];
}

static const char *name_that_holds(const data_format *f, unsigned needs) {
    return (f->holds & needs) == needs ? f->name : NULL;
}

onet_status format_to_write(const char *path, onet_format format, const data_format **found,
                            onet_error *err) {
    *found = format ? format_find(format) : format_of_name(path);
    if (*found) return ONET_OK;
    if (format) return fail(err, ONET_USAGE, "there is no format %d", (int)format);
    char endings[128];
    return fail(err, ONET_USAGE, "cannot tell from the name %s which format to write; end it in %s", path,
                list_formats(first_ending, 0, endings, sizeof endings));
}

onet_status format_must_hold(const data_format *f, unsigned needs, onet_status otherwise, onet_error *err) {
    static const struct {
        format_part part;
        const char *name;
    } parts[] = {
        {HOLDS_NUMBERS, "numbers"},
        {HOLDS_WORDS, "words"},
        {HOLDS_CONTEXT, "context items"},
        {HOLDS_CONSTRAINTS, "constraints"},
        {HOLDS_SIZES, "sets of two sizes"},
        {HOLDS_STEPS, "the probabilities of the steps"},
        {HOLDS_SEVERAL, "several orders per set"},
        {HOLDS_SCORE, "the scores of orders"},
        {HOLDS_ERRORS, "errors in place of answers"},
        {HOLDS_MISSING, "missing values"},
        {HOLDS_PAIRS, "relations between items"},
    };
    unsigned missing = needs & ~f->holds;
    if (!missing) return ONET_OK;
    const char *name = "this";
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i].part & missing) name = parts[i].name;
    char formats[128];
    return fail_field(err, otherwise, otherwise == ONET_USAGE ? "onet_write_options.format" : "",
                      "%s cannot hold %s; use %s", f->name, name,
                      list_formats(name_that_holds, needs, formats, sizeof formats));
}
