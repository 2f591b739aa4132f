/* Starts the HTTP server (limit of open files, socket, libmicrohttpd, batchers, endpoints), disconnects slow
 * clients, reloads the site's files, and drains and stops it. */
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "engine/base/error.h"
#include "front/serve/exchange.h"
#include "front/serve/headers.h"

enum { IO_THREADS = 2, REPLY_HEADER = 4096, CONNECTIONS = 1000 };

/* Each connection may have a file of the site open beside its own descriptor; the rest is for models,
 * standard streams and libmicrohttpd. Where the user chose no number, as many connections as the process may
 * have descriptors for: containers often have 1024. */
static onet_status allow_descriptors(server *s, onet_error *err) {
    enum { REST = 64 };
    struct rlimit limit;
    bool any = !s->o.connections;
    if (any) s->o.connections = CONNECTIONS;
    rlim_t need = 2 * (rlim_t)s->o.connections + REST;
    if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= need) return ONET_OK;
    if (any && need > limit.rlim_max && limit.rlim_max >= REST + 4) {
        s->o.connections = (int)((limit.rlim_max - REST) / 2);
        need = limit.rlim_max;
    }
    limit.rlim_cur = need;
    if (need <= limit.rlim_max && !setrlimit(RLIMIT_NOFILE, &limit)) return ONET_OK;
    return fail(err, ONET_USAGE,
                "--connections %d may need %llu open files, but this process may have %llu; allow fewer "
                "connections, or raise the limit (ulimit -n)",
                s->o.connections, (unsigned long long)need, (unsigned long long)limit.rlim_max);
}

static onet_status listen_at(server *s, onet_error *err) {
    char port[16];
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV}, *found;
    snprintf(port, sizeof port, "%d", s->o.port);
    int wrong = getaddrinfo(s->o.host, port, &hints, &found);
    if (wrong == EAI_MEMORY) return fail_memory(err, "the server's address");
    if (wrong) return fail(err, ONET_USAGE, "--host %s: %s", s->o.host, gai_strerror(wrong));
    /* Not epoll: with it, libmicrohttpd 0.9.75 misses that a client went away if that comes with the client's
     * last bytes, and keeps the connection until its time is over. */
    unsigned flags = MHD_USE_POLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME;
    if (found->ai_family == AF_INET6) flags |= MHD_USE_IPv6;
    /* Memory limit: one block holds the headers of the request and of the answer. Timeout: clients_cut ends
     * slow connections; libmicrohttpd's own timeout is only for a shortage of memory. If its poll loop cannot
     * allocate just after a connection was resumed, it forgets to handle that connection, and would sleep
     * until another socket has data. */
    errno = 0;
    s->daemon = MHD_start_daemon(
        flags, 0, NULL, NULL, http_handle, s, MHD_OPTION_SOCK_ADDR, found->ai_addr,
        MHD_OPTION_THREAD_POOL_SIZE, (unsigned)IO_THREADS, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        s->o.header + REPLY_HEADER, MHD_OPTION_CONNECTION_LIMIT, (unsigned)s->o.connections,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)(2 * s->o.timeout) + 1, MHD_OPTION_LISTEN_BACKLOG_SIZE,
        1024u, MHD_OPTION_LISTENING_ADDRESS_REUSE, 1u, MHD_OPTION_NOTIFY_COMPLETED, http_completed, s,
        MHD_OPTION_NOTIFY_CONNECTION, http_connected, s, MHD_OPTION_UNESCAPE_CALLBACK, headers_decode, NULL,
        MHD_OPTION_END);
    freeaddrinfo(found);
    if (s->daemon) return ONET_OK;
    if (errno == ENOMEM) return fail_memory(err, "the connections");
    return fail(
        err, ONET_IO,
        "cannot listen at %s, port %d: %s; check that the port is free and that the address is one of "
        "this machine",
        s->o.host, s->o.port, errno ? strerror(errno) : "it failed");
}

onet_status server_start(server **result, models *m, const server_options *options, onet_error *err) {
    *result = NULL;
    server *s = calloc(1, sizeof *s);
    if (!s) return fail_memory(err, "the server");
    s->o = *options;
    s->shared = (service){.m = m, .limits = s->o.limits, .kernels = s->o.batch.kernels};
    clients_start(&s->open);
    pthread_rwlock_init(&s->site_lock, NULL);
    onet_status status = s->o.site ? site_files_list(&s->site, s->o.site, err) : ONET_OK;
    for (int i = 0; i < m->count && !status; i++)
        status = batcher_new(&s->shared.batch[i], &m->slot[i], &s->o.batch, err);
    const endpoint *e;
    for (int r = 0; (e = route_endpoint(r)) && !status; r++)
        if (e->open) status = e->open(&s->worker[r], &s->shared, err);
    if (!status) status = allow_descriptors(s, err);
    if (!status) status = listen_at(s, err);
    if (status)
        server_stop(s);
    else
        *result = s;
    return status;
}

int server_port(const server *s) {
    return MHD_get_daemon_info(s->daemon, MHD_DAEMON_INFO_BIND_PORT)->port;
}

void server_watch(server *s) {
    atomic_fetch_add(&s->counts.cut, clients_cut(&s->open, s->o.timeout));
}

onet_status server_refresh(server *s, onet_error *err) {
    for (int i = 0; i < s->shared.m->count; i++) batcher_refresh(s->shared.batch[i]);
    if (!s->o.site) return ONET_OK;
    site_files fresh = {0};
    onet_status status = site_files_list(&fresh, s->o.site, err);
    if (status) return status;
    pthread_rwlock_wrlock(&s->site_lock);
    site_files old = s->site;
    s->site = fresh;
    pthread_rwlock_unlock(&s->site_lock);
    site_files_free(&old);
    return ONET_OK;
}

void server_quiesce(server *s) {
    atomic_store(&s->draining, true);
    MHD_socket listening = MHD_quiesce_daemon(s->daemon);
    if (listening != MHD_INVALID_SOCKET) close(listening);
}

int server_under_way(const server *s) {
    return atomic_load(&s->counts.under_way);
}

void server_hurry(server *s) {
    const endpoint *e;
    for (int r = 0; (e = route_endpoint(r)); r++)
        if (e->hurry) e->hurry(s->worker[r]);
}

int server_working(const server *s) {
    return atomic_load(&s->suspended);
}

void server_stop(server *s) {
    if (!s) return;
    if (s->daemon) MHD_stop_daemon(s->daemon);
    for (int i = 0; i < s->shared.m->count; i++) batcher_free(s->shared.batch[i]);
    const endpoint *e;
    for (int r = 0; (e = route_endpoint(r)); r++)
        if (e->close) e->close(s->worker[r]);
    site_files_free(&s->site);
    pthread_rwlock_destroy(&s->site_lock);
    pthread_mutex_destroy(&s->open.lock);
    free(s);
}
