/* A user who does not want to wait: the searches that may take long ask, and end as if their time were up. */
#ifndef TSP_STOP_H
#define TSP_STOP_H

#include <stdbool.h>

/* asked: whether to stop; called by any thread. To be set before the first search. */
void tsp_stop_when(bool (*asked)(void));
bool tsp_stop_asked(void);

#endif
