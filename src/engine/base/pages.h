/* Asks the system for large pages. */
#ifndef BASE_PAGES_H
#define BASE_PAGES_H

#include <stddef.h>

/* A hint for the whole pages in p[bytes]; without large pages nothing changes. */
void pages_large(void *p, size_t bytes);

#endif
