/* docs/openapi.json, as a part of the program. */
#ifndef SERVE_OPENAPI_H
#define SERVE_OPENAPI_H

extern const char openapi_json[] __attribute__((visibility("hidden")));
extern const char openapi_json_end[] __attribute__((visibility("hidden")));

#endif
