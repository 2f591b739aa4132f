/* Tracks the server's open connections and how long each keeps the server waiting: a client that is too slow
 * in sending its request or reading its answer is disconnected. */
#ifndef SERVE_CLIENTS_H
#define SERVE_CLIENTS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct client {
    int fd;
    double since; /* start of its time: connection, last answer or this answer; 0: it waits for the server */
    bool cut;
    struct client *next, **link;
} client;

typedef struct clients {
    pthread_mutex_t lock;
    client *first;
} clients;

void clients_start(clients *c);
/* NULL: no memory. */
client *clients_add(clients *c, int fd);
/* Before its descriptor is closed. */
void clients_remove(clients *c, client *gone);
/* The server waits for the client from now on: the client's time begins anew. */
void client_waited_for(clients *c, client *who);
/* The client waits for its answer: no time runs. */
void client_waits(clients *c, client *who);
/* Shuts down the connections whose time is longer than `seconds`; returns how many. */
size_t clients_cut(clients *c, double seconds);

#endif
