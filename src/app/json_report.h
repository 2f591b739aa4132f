/* Out-of-memory handling for the JSON reports that commands write with jansson: the calls need not be checked
 * one by one; json_finish fails if any allocation failed. */
#ifndef APP_JSON_REPORT_H
#define APP_JSON_REPORT_H

#include <jansson.h>

#include "ordernet.h"

/* To be called before jansson is used: watches its allocations. jansson leaves out what it has no memory for
 * and goes on. */
void json_watch(void);

/* The text of a report, which the caller frees. Frees the report. ONET_MEMORY if anything of it is missing.
 */
onet_status json_finish(char **text, json_t *report, size_t flags, onet_error *err);

#endif
