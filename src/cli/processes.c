#include "cli/processes.h"

static const world *all;
static bool silent; /* an error that every process meets before they know of each other is told once */

onet_status processes_start(onet_error *err) {
    onet_status status = world_open(&all, err);
    silent = status ? world_rank() > 0 : all && all->rank > 0;
    return status;
}

const world *processes(void) {
    return all;
}

bool processes_first(void) {
    return !silent;
}

void processes_end(void) {
    if (all) all->close(all);
    all = NULL;
}
