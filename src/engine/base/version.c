/* Returns the version of the library, and a description of each status code. */
#include "ordernet.h"

#define TEXT(x)   #x
#define NUMBER(x) TEXT(x)

const char *onet_version(void) {
    return NUMBER(ONET_VERSION_MAJOR) "." NUMBER(ONET_VERSION_MINOR) "." NUMBER(ONET_VERSION_PATCH);
}

const char *onet_status_name(onet_status status) {
    switch (status) {
    case ONET_OK:
        return "done";
    case ONET_FAILED:
        return "failed";
    case ONET_USAGE:
        return "wrong usage";
    case ONET_BAD:
        return "bad data or model";
    case ONET_IO:
        return "input or output error";
    case ONET_MEMORY:
        return "not enough memory";
    case ONET_INTERRUPTED:
        return "interrupted";
    }
    return "unknown status";
}
