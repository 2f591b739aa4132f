/* One callback that all searches ask. */
#include "tsp/stop.h"

static bool (*asks)(void);

void tsp_stop_when(bool (*asked)(void)) {
    asks = asked;
}

bool tsp_stop_asked(void) {
    return asks && asks();
}
