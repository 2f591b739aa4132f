/* Checks the headers of an HTTP request before anything else is done with it (one body length, a Host that is
 * this server), and decodes its path and checks that for control characters. */
#ifndef SERVE_HEADERS_H
#define SERVE_HEADERS_H

#include <microhttpd.h>
#include <stdbool.h>

enum { HOST_NAME = 256 };

typedef struct header_rules {
    const char *host;        /* address that the server listens at */
    const char *const *name; /* [names]: its other names */
    int names;
} header_rules;

/* Returns 0; 400 for a malformed header, or a body whose length is not given in one way; 421 for a Host that
 * is not this server (DNS rebinding: a foreign site whose name resolves to this machine). *sentence: the
 * error message, NULL for 0. After an error close the connection: what follows may be a request that another
 * server took for the body. */
int headers_check(struct MHD_Connection *connection, const char *version, const header_rules *rules,
                  const char **sentence);

/* Decodes a path in place, for MHD_OPTION_UNESCAPE_CALLBACK; returns its length. */
size_t headers_decode(void *context, struct MHD_Connection *connection, char *text);
/* Whether the path has no control characters, and thus had no %00. */
bool path_is_plain(const char *path);

#endif
