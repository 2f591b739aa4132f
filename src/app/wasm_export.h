/* Shared by the C functions that are exported from WebAssembly to JavaScript: the macro that exports a
 * function, the error of the last failure, and a model's orderer, which is kept between calls. */
#ifndef APP_WASM_EXPORT_H
#define APP_WASM_EXPORT_H

#include "ordernet.h"

#define EXPORT(name) __attribute__((export_name(#name)))

/* The error of the last failure. */
extern onet_error wasm_failure;

/* Sets wasm_failure to an out-of-memory error; returns ONET_MEMORY. */
onet_status wasm_no_memory(void);

/* Returns the model's orderer, which is kept for the next call with the same arguments; beam or top 0: the
 * default. NULL on failure. */
onet_orderer *wasm_orderer(const onet_model *model, int beam, int top);

#endif
