/* Connects the MPI ranks that mpirun started, checks that all have the same command and options, and ends
 * them together. */
#include "app/processes.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#include "engine/base/error.h"

static const world *all;

onet_status processes_start(onet_error *err) {
    return world_open(&all, err);
}

const world *processes(void) {
    return all;
}

bool processes_is_rank0(void) {
    return (all ? all->rank : world_rank()) == 0;
}

void processes_await_rank0(onet_error *err) {
    char host[256] = "an unknown machine";
    if (processes_is_rank0()) return;
    nanosleep(&(struct timespec){.tv_sec = 3}, NULL); /* Open MPI takes one second to end the others */
    gethostname(host, sizeof host - 1);
    if (err->text[0]) error_prefix(err, "rank %d, on %s", world_rank(), host);
}

static bool may_differ(const option *o) {
    static const char *const names[] = {"threads", "kernels", "device", "quiet"};
    bool found = o->argument && !strcmp(o->argument, "FILE");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) found |= !strcmp(o->name, names[i]);
    return found;
}

static bool same_value(const option *o, const void *values) {
    const void *field = (const char *)values + o->field;
    const char *text;
    switch (o->kind) {
    case OPTION_STRING:
    case OPTION_NAME:
        text = *(const char *const *)field;
        if (!text) text = "";
        return world_same(all, text, strlen(text));
    case OPTION_U64:
        return world_same(all, field, sizeof(uint64_t));
    case OPTION_DOUBLE:
        return world_same(all, field, sizeof(double));
    case OPTION_SIZES:
        return world_same(all, field, sizeof(option_sizes));
    default:
        return world_same(all, field, sizeof(int));
    }
}

onet_status processes_same_command(const command *c, const void *values, bool help, onet_error *err) {
    if (!all) return ONET_OK;
    onet_status status = ONET_OK;
    const char *name = help ? "help" : c->name;
    if (!world_same(all, name, strlen(name)))
        status = fail(err, ONET_USAGE, "rank %d was given another command than rank 0", all->rank);
    if ((status = world_agree(all, status, err))) return status;
    for (const option *o = c->options; o->group || o->name; o++)
        if (o->name && !may_differ(o) && !same_value(o, values) && !status)
            status = fail(err, ONET_USAGE,
                          "rank %d was given another --%s than rank 0; all need the same options, except "
                          "files, --threads, --kernels, --device and --quiet",
                          all->rank, o->name);
    return world_agree(all, status, err);
}

void processes_end(void) {
    if (all) all->close(all);
    all = NULL;
}
