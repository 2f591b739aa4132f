/* Interrupts long searches: they call tsp_stop_asked and end as at their time limit. */
#ifndef TSP_STOP_H
#define TSP_STOP_H

#include <stdbool.h>

/* asked: whether to stop; called by any thread. To be set before the first search starts. */
void tsp_stop_when(bool (*asked)(void));
bool tsp_stop_asked(void);

#endif
