/* What the files share that the page calls. */
#ifndef WASM_PAGE_H
#define WASM_PAGE_H

#include "ordernet.h"

#define EXPORT(name) __attribute__((export_name(#name)))

/* The sentence of the last failure. */
extern onet_error page_failure;

/* Fills it in; returns ONET_MEMORY. */
onet_status page_no_memory(void);

#endif
