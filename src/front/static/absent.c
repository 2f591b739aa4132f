/* Replaces dlopen, iconv and a few functions of ICU and GnuTLS in the statically linked program (mk/dist.mk),
 * where they would need a shared C library or files at run time. Consequences there: pages must be in UTF-8,
 * and --device cuda is refused. */
#include <dlfcn.h>
#include <errno.h>
#include <iconv.h>
#include <string.h>
#include <unicode/ucnv.h>

#include "engine/base/utf8.h"

int gnutls_global_init(void);
void gnutls_global_deinit(void);

void *dlopen(const char *path, int flags) {
    (void)path, (void)flags;
    return NULL;
}

char *dlerror(void) {
    return (char *)"this program is linked statically and loads no library";
}

/* Supports UTF-8 alone, which iconv checks and copies. */
iconv_t iconv_open(const char *to, const char *from) {
    if (!strcasecmp(to, "UTF-8") && !strcasecmp(from, "UTF-8")) return (iconv_t)0;
    errno = EINVAL;
    return (iconv_t)-1;
}

size_t iconv(iconv_t how, char **from, size_t *size, char **to, size_t *room) {
    (void)how;
    if (!from || !*from) return 0;
    size_t valid = utf8_valid(*from, *size), count = valid < *room ? valid : *room;
    memcpy(*to, *from, count);
    *from += count, *size -= count, *to += count, *room -= count;
    errno = count < valid ? E2BIG : EILSEQ;
    return *size ? (size_t)-1 : 0;
}

int iconv_close(iconv_t how) {
    (void)how;
    return 0;
}

/* libxml2 asks ICU, 30 MB, for encodings that are not its own; without a converter it calls nothing else
 * there. */
UConverter *ucnv_open(const char *name, UErrorCode *error) {
    (void)name;
    *error = U_FILE_ACCESS_ERROR;
    return NULL;
}

void ucnv_close(UConverter *converter) {
    (void)converter;
}

/* libmicrohttpd prepares TLS, which the server does not offer. */
int gnutls_global_init(void) {
    return 0;
}

void gnutls_global_deinit(void) {}
