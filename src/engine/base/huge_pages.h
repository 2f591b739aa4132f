/* Asks Linux for huge memory pages, which save address translations (TLB misses) in large arrays. */
#ifndef BASE_HUGE_PAGES_H
#define BASE_HUGE_PAGES_H

#include <stddef.h>

/* Gives the hint for the memory pages that lie wholly in p[bytes]. Where the system has no huge pages, it
 * does nothing. */
void huge_pages_advise(void *p, size_t bytes);

#endif
