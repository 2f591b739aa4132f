/* Tracks the server's open connections and how long each keeps the server waiting: a client that is too slow
 * in sending its request or reading its answer is disconnected. */
#ifndef SERVE_CLIENTS_H
#define SERVE_CLIENTS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct client {
    int fd;
    double since; /* since when the server waits for it; 0: it waits for the server */
    bool cut;
    struct client *next, **link;
} client;

typedef struct clients {
    pthread_mutex_t lock;
    client *first;
} clients;

void clients_start(clients *c);
/* Adds a connection that was just opened. NULL: no memory. */
client *clients_add(clients *c, int fd);
/* Call it before the descriptor is closed. NULL is allowed. */
void clients_remove(clients *c, client *gone);
/* Starts the client's time anew: the server waits for it from now on. */
void client_waited_for(clients *c, client *who);
/* Stops the client's time: it waits for its answer. */
void client_waits(clients *c, client *who);
/* Shuts down the connections whose time is longer than `seconds`; returns how many. */
size_t clients_cut(clients *c, double seconds);

#endif
