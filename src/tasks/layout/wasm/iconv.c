/* Implements iconv (converts between text encodings) for WebAssembly by the browser's own decoders
 * (web/files.js): the tables of the C library's iconv would be a third of the download. It converts a text as
 * a whole. */
#include <errno.h>
#include <iconv.h>
#include <stdlib.h>
#include <string.h>

/* Whether the browser knows an encoding. */
__attribute__((import_module("ordernet"), import_name("knows"))) int encoding_known(const char *name,
                                                                                    size_t size);
/* Converts bytes [size] from one encoding to another, one of which is UTF-8, into out [room]. Returns how
 * many bytes it wrote, or -1 - n if byte n cannot be converted. */
__attribute__((import_module("ordernet"), import_name("convert"))) long
encoding_convert(const char *to, size_t to_size, const char *from, size_t from_size, const char *bytes,
                 size_t size, char *out, size_t room);

typedef struct conversion {
    char *to, *from;
} conversion;

iconv_t iconv_open(const char *to, const char *from) {
    conversion *c = NULL;
    errno = EINVAL;
    if (encoding_known(to, strlen(to)) && encoding_known(from, strlen(from))) {
        errno = ENOMEM;
        c = calloc(1, sizeof *c);
    }
    if (c) {
        c->to = strdup(to);
        c->from = strdup(from);
        if (c->to && c->from) return c;
        iconv_close(c);
    }
    return (iconv_t)-1;
}

int iconv_close(iconv_t how) {
    conversion *c = how;
    free(c->to);
    free(c->from);
    free(c);
    return 0;
}

size_t iconv(iconv_t how, char **restrict in, size_t *restrict in_left, char **restrict out,
             size_t *restrict out_left) {
    const conversion *c = how;
    if (!in) return 0;
    long wrote =
        encoding_convert(c->to, strlen(c->to), c->from, strlen(c->from), *in, *in_left, *out, *out_left);
    size_t read = wrote < 0 ? (size_t)(-1 - wrote) : *in_left;
    *in += read;
    *in_left -= read;
    if (wrote < 0) {
        errno = EILSEQ;
        return (size_t)-1;
    }
    *out += wrote;
    *out_left -= (size_t)wrote;
    return 0;
}
