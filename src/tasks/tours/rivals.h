/* Results of other programs on the same instances. */
#ifndef TOURS_RIVALS_H
#define TOURS_RIVALS_H

#include "ordernet_tsp.h"

enum { MOST_RIVALS = 256 };

/* What another program measured, in the columns of --out and that of the optimum. */
typedef struct rival {
    int n;
    char method[48];
    double instances, length[3], gap[3]; /* mean, low, high; gaps in percent */
    double optimum;
} rival;

typedef struct rival_list {
    int count;
    rival row[MOST_RIVALS];
} rival_list;

/* Reads a CSV file whose first columns are n, method, instances, the mean length and the mean gap, each with
 * its interval, and the mean length of the optimum. The list is zeroed at first. */
onet_status rivals_read(rival_list *list, const char *path, onet_error *err);

#endif
