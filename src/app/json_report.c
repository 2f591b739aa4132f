/* Replaces jansson's allocator to note when memory runs out, and turns a finished JSON report into text or an
 * out-of-memory error. */
#include "app/json_report.h"

#include <stdbool.h>
#include <stdlib.h>

#include "engine/base/error.h"

static bool short_of_memory;

static void *allocate(size_t size) {
    void *memory = malloc(size);
    if (!memory) short_of_memory = true;
    return memory;
}

void json_watch(void) {
    json_set_alloc_funcs(allocate, free);
}

onet_status json_finish(char **text, json_t *report, size_t flags, onet_error *err) {
    *text = report ? json_dumps(report, flags) : NULL;
    json_decref(report);
    if (*text && !short_of_memory) return ONET_OK;
    free(*text);
    *text = NULL;
    return fail_memory(err, "the report");
}
