/* Copies structs of options between a caller and a library that were compiled with different versions of the
 * struct. */
#include "engine/base/sized.h"

#include <string.h>

#include "engine/base/error.h"

enum { LARGEST = 4096 }; /* far more than any struct of options; uninitialised memory often reads as more */

onet_status sized_take(void *own, size_t own_size, const void *given, const char *type, onet_error *err) {
    size_t size;
    if (!given) return ONET_OK;
    memcpy(&size, given, sizeof size);
    if (size < sizeof size || size > LARGEST)
        return fail(err, ONET_USAGE, "%s.size is %zu; set it to sizeof(%s)", type, size, type);
    for (size_t i = own_size; i < size; i++)
        if (((const unsigned char *)given)[i])
            return fail(err, ONET_USAGE,
                        "a field is set at byte %zu of %s that this version %s of the library does not know; "
                        "use a newer library",
                        i, type, onet_version());
    memcpy(own, given, size < own_size ? size : own_size);
    memcpy(own, &own_size, sizeof own_size);
    return ONET_OK;
}

void sized_give(void *given, size_t size, const void *own, size_t own_size) {
    if (!given || size < sizeof size || size > LARGEST) return;
    memset(given, 0, size);
    memcpy(given, own, size < own_size ? size : own_size);
    memcpy(given, &size, sizeof size);
}
