#include "cli/processes.h"

#include <time.h>
#include <unistd.h>

#include "base/error.h"

static const world *all;

onet_status processes_start(onet_error *err) {
    return world_open(&all, err);
}

const world *processes(void) {
    return all;
}

bool processes_first(void) {
    return (all ? all->rank : world_rank()) == 0;
}

void processes_await_first(onet_error *err) {
    char host[256] = "an unknown machine";
    if (processes_first()) return;
    nanosleep(&(struct timespec){.tv_sec = 3}, NULL); /* Open MPI takes one second to end the others */
    gethostname(host, sizeof host - 1);
    if (err->text[0]) error_prefix(err, "process %d, on %s", world_rank(), host);
}

void processes_end(void) {
    if (all) all->close(all);
    all = NULL;
}
