/* Turns the JSON reports that commands make with jansson into text. The calls that make one need not be
 * checked one by one: json_finish fails if memory ran out in any of them. */
#ifndef APP_JSON_REPORT_H
#define APP_JSON_REPORT_H

#include <jansson.h>

#include "ordernet.h"

/* To be called before jansson is used: watches its allocations. jansson leaves out what it has no memory for
 * and goes on. */
void json_watch(void);

/* Writes the report as *text, which the caller frees, and frees the report. ONET_MEMORY if a part of it is
 * missing. */
onet_status json_finish(char **text, json_t *report, size_t flags, onet_error *err);

#endif
