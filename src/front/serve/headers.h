/* Checks the headers of an HTTP request before anything else is done with it, and decodes its path. */
#ifndef SERVE_HEADERS_H
#define SERVE_HEADERS_H

#include <microhttpd.h>
#include <stdbool.h>

enum { HOST_NAME = 256 };

typedef struct header_rules {
    const char *host;        /* that it listens at */
    const char *const *name; /* [names]: others that it is called by */
    int names;
} header_rules;

/* 0; or 400 where the length of the body is not told in one way, or 421 where Host names another host (DNS
 * rebinding: a foreign site whose name resolves to this machine), and why. The connection is then to
 * be closed: what follows may be a request that another server took for the body. */
int headers_check(struct MHD_Connection *connection, const char *version, const header_rules *rules,
                  const char **sentence);

/* For MHD_OPTION_UNESCAPE_CALLBACK. */
size_t headers_decode(void *context, struct MHD_Connection *connection, char *text);
/* Without control characters, and thus without %00. */
bool path_is_plain(const char *path);

#endif
