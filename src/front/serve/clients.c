/* Keeps the list of open connections under a mutex and shuts down those that time out. A file descriptor is
 * closed after clients_remove, never before, so that no listed descriptor can have been reused for another
 * file. */
#include "front/serve/clients.h"

#include <stdlib.h>
#include <sys/socket.h>

#include "engine/base/clock.h"

void clients_start(clients *c) {
    pthread_mutex_init(&c->lock, NULL);
    c->first = NULL;
}

client *clients_add(clients *c, int fd) {
    client *fresh = calloc(1, sizeof *fresh);
    if (!fresh) return NULL;
    fresh->fd = fd;
    fresh->since = clock_seconds();
    pthread_mutex_lock(&c->lock);
    fresh->next = c->first;
    fresh->link = &c->first;
    if (c->first) c->first->link = &fresh->next;
    c->first = fresh;
    pthread_mutex_unlock(&c->lock);
    return fresh;
}

void clients_remove(clients *c, client *gone) {
    if (!gone) return;
    pthread_mutex_lock(&c->lock);
    *gone->link = gone->next;
    if (gone->next) gone->next->link = gone->link;
    pthread_mutex_unlock(&c->lock);
    free(gone);
}

static void set_since(clients *c, client *who, double since) {
    if (!who) return;
    pthread_mutex_lock(&c->lock);
    who->since = since;
    pthread_mutex_unlock(&c->lock);
}

void client_waited_for(clients *c, client *who) {
    set_since(c, who, clock_seconds());
}

void client_waits(clients *c, client *who) {
    set_since(c, who, 0);
}

size_t clients_cut(clients *c, double seconds) {
    double now = clock_seconds();
    size_t count = 0;
    pthread_mutex_lock(&c->lock);
    for (client *one = c->first; one; one = one->next) {
        if (one->since == 0 || one->cut || now - one->since <= seconds) continue;
        shutdown(one->fd, SHUT_RDWR);
        one->cut = true;
        count++;
    }
    pthread_mutex_unlock(&c->lock);
    return count;
}
