/* Checks the headers of a request: one unambiguous body length (against request smuggling), and a Host that
 * is this server (against DNS rebinding). Also decodes the path, and refuses control characters in it. */
#include "front/serve/headers.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

enum { MOST_BLANKS = 1024 };

typedef struct seen {
    int hosts, lengths, encodings;
    const char *host, *length, *encoding;
    bool odd; /* a name or value that another server may read as a different one, or as two */
} seen;

static bool is_token(const char *name, size_t length) {
    for (size_t i = 0; i < length; i++)
        if (!isalnum((unsigned char)name[i]) && !strchr("!#$%&'*+-.^_`|~", name[i])) return false;
    return length > 0;
}

/* Whether a value stands behind its name, a NUL and blanks, as it was sent. A line that goes on in the next
 * one gets a longer name from libmicrohttpd, in another place: "Content-Leng: 5", " th" would be a length. */
static bool follows(const char *value, const char *name_end) {
    uintptr_t from = (uintptr_t)name_end + 1, to = (uintptr_t)value;
    if (to < from || to - from > MOST_BLANKS) return false;
    for (const char *p = name_end + 1; p < value; p++)
        if (*p != ' ' && *p != '\t') return false;
    return true;
}

/* libmicrohttpd ends a value at a NUL that was sent, and hides the rest of the line. Before version 1 it puts
 * a NUL in place of both CR and LF, so that a second one stands behind a value that is whole; lines that end
 * in a mere LF are refused with the others. */
static bool is_value(const char *value, size_t size) {
    for (size_t i = 0; i < size; i++)
        if (iscntrl((unsigned char)value[i]) && value[i] != '\t') return false;
    return MHD_VERSION >= 0x01000000 || !value[size + 1];
}

static enum MHD_Result check_header(void *context, enum MHD_ValueKind kind, const char *name, size_t length,
                                    const char *value, size_t size) {
    (void)kind;
    seen *s = context;
    if (!is_token(name, length)) s->odd = true;
    if (value && !(follows(value, name + length) && is_value(value, size))) s->odd = true;
    if (!value) value = "";
    if (!strcasecmp(name, "Host")) {
        s->hosts++;
        s->host = value;
    } else if (!strcasecmp(name, "Content-Length")) {
        s->lengths++;
        s->length = value;
    } else if (!strcasecmp(name, "Transfer-Encoding")) {
        s->encodings++;
        s->encoding = value;
    }
    return MHD_YES;
}

/* Writes the name or address of a Host header, in lower case, without brackets, port and last dot; false: it
 * has none. */
static bool host_name(const char *host, char name[HOST_NAME]) {
    const char *end;
    if (*host == '[') {
        end = strchr(++host, ']');
        if (!end || (end[1] && end[1] != ':')) return false;
    } else
        end = host + strcspn(host, ":");
    const char *port = strchr(end, ':');
    if (port && port[1 + strspn(port + 1, "0123456789")]) return false;
    size_t length = (size_t)(end - host);
    if (length && host[length - 1] == '.') length--;
    if (!length || length >= HOST_NAME) return false;
    for (size_t i = 0; i < length; i++) name[i] = (char)tolower((unsigned char)host[i]);
    name[length] = '\0';
    return true;
}

/* Whether `name` is the address at which the connection came in. */
static bool is_local(struct MHD_Connection *connection, const char *name) {
    struct sockaddr_storage at;
    socklen_t size = sizeof at;
    char text[INET6_ADDRSTRLEN] = "";
    int fd = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    struct in6_addr given;
    if (getsockname(fd, (struct sockaddr *)&at, &size)) return false;
    if (at.ss_family == AF_INET6) {
        const struct in6_addr *own = &((struct sockaddr_in6 *)&at)->sin6_addr;
        if (inet_pton(AF_INET6, name, &given) == 1) return !memcmp(own, &given, sizeof given);
        /* An IPv4 client of an IPv6 socket. */
        return IN6_IS_ADDR_V4MAPPED(own) && inet_ntop(AF_INET, own->s6_addr + 12, text, sizeof text) &&
               !strcmp(text, name);
    }
    return at.ss_family == AF_INET &&
           inet_ntop(AF_INET, &((struct sockaddr_in *)&at)->sin_addr, text, sizeof text) &&
           !strcmp(text, name);
}

static bool is_loopback(const char *name) {
    struct in_addr four;
    struct in6_addr six;
    if (inet_pton(AF_INET, name, &four) == 1) return ntohl(four.s_addr) >> 24 == 127;
    if (inet_pton(AF_INET6, name, &six) == 1) return IN6_IS_ADDR_LOOPBACK(&six);
    return !strcmp(name, "localhost");
}

static bool is_ours(struct MHD_Connection *connection, const char *host, const header_rules *rules) {
    char name[HOST_NAME], own[HOST_NAME];
    if (!host_name(host, name)) return false;
    if (is_loopback(name) || (host_name(rules->host, own) && !strcmp(own, name)) ||
        is_local(connection, name))
        return true;
    for (int i = 0; i < rules->names; i++)
        if (host_name(rules->name[i], own) && !strcmp(own, name)) return true;
    return false;
}

int headers_check(struct MHD_Connection *connection, const char *version, const header_rules *rules,
                  const char **sentence) {
    seen s = {0};
    MHD_get_connection_values_n(connection, MHD_HEADER_KIND, check_header, &s);
    *sentence = NULL;
    if (s.odd)
        *sentence = "a header's name or value has characters that HTTP forbids there";
    else if (s.lengths > 1 || s.encodings > 1 || (s.lengths && s.encodings))
        *sentence =
            "the length of the body is given twice; send one Content-Length, or one Transfer-Encoding";
    else if (s.lengths && (!*s.length || s.length[strspn(s.length, "0123456789")]))
        *sentence = "Content-Length is not a whole number";
    else if (s.encodings && strcasecmp(s.encoding, "chunked") != 0)
        *sentence = "the Transfer-Encoding must be chunked";
    else if (s.hosts > 1)
        *sentence = "the header Host is there twice";
    else if (!s.hosts && strcmp(version, "HTTP/1.0") != 0)
        *sentence = "the header Host is missing";
    if (*sentence) return 400;
    if (!s.hosts || is_ours(connection, s.host, rules)) return 0;
    *sentence = "the header Host names another host than this server";
    return 421;
}

/* Decodes %XX as libmicrohttpd does, except that %00 becomes a control character, which no path has: a NUL
 * would end the path for whoever compares it. */
size_t headers_decode(void *context, struct MHD_Connection *connection, char *text) {
    (void)context, (void)connection;
    char *to = text;
    for (const char *from = text; *from; from++) {
        unsigned value;
        if (*from == '%' && isxdigit((unsigned char)from[1]) && isxdigit((unsigned char)from[2]) &&
            sscanf((char[]){from[1], from[2], 0}, "%x", &value) == 1) {
            *to++ = value ? (char)value : '\001';
            from += 2;
        } else
            *to++ = *from;
    }
    *to = '\0';
    return (size_t)(to - text);
}

bool path_is_plain(const char *path) {
    for (; *path; path++)
        if ((unsigned char)*path < 0x20 || *path == 0x7f) return false;
    return true;
}
