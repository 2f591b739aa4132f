/* Parses the requests of all endpoints of the server: splits the JSON body into its members, reads option
 * values, finds the model, reads the sets, and submits requests for orders.
 *
 * Parsing returns ONET_OK; ONET_BAD or ONET_USAGE for a request that cannot be answered; ONET_IO if there
 * is no such model; ONET_FAILED if the request exceeds a limit of the server; ONET_MEMORY. */
#ifndef APP_REQUEST_H
#define APP_REQUEST_H

#include "app/endpoint.h"

/* ---- The body, taken apart ---------------------------------------------------------------------------
 *
 * The members of a JSON object and the elements of an array, as spans of the text. What is in a span is read
 * by the function that knows the member: sets by the library's reader. */

typedef struct span {
    char *at;
    size_t length;
} span;

enum { ENVELOPE_MEMBERS = 64 };

typedef struct envelope {
    int count;
    span key[ENVELOPE_MEMBERS]; /* without its quotes, escapes as they stand */
    span value[ENVELOPE_MEMBERS];
} envelope;

/* Splits the JSON object in the body into its members. ONET_BAD if the body is not an object, for a key that
 * is there twice, and for more members than there is room for. A span may still hold broken JSON inside. */
onet_status envelope_members(envelope *e, char *body, size_t length, onet_error *err);
/* Returns the value of a key; NULL: there is none. */
const span *envelope_find(const envelope *e, const char *key);

/* Splits the array in `list` into elements [most]; ONET_BAD if it is not an array, or empty, ONET_FAILED if
 * it has more. what: the key, for the error message. */
onet_status envelope_elements(const span *list, span *elements, size_t most, size_t *count, const char *what,
                              onet_error *err);

/* ---- Requests ---------------------------------------------------------------------------------------- */

/* A request for orders by a model: what /v1/order and the endpoints of tasks share. */
typedef struct order_request {
    request r;
    order_job job;
    model_slot *slot;
} order_request;

/* Lends the model's vocabulary to the sets; it lives as long as the model version that the job holds. */
void order_request_lend_words(order_request *o);
/* For endpoint.submit and endpoint.release. */
void order_request_submit(request *r, const service *s);
void order_request_release(request *r);

/* ---- Parsing ----------------------------------------------------------------------------------------- */

/* Refuses a key that is in neither list (both end in NULL; set_keys may be NULL), and a key of set_keys
 * beside "sets". Inside the objects of "sets" it refuses a key that looks like a misspelt constraint or is a
 * constraint that set_keys lacks; other keys are ignored. */
onet_status request_keys(const envelope *e, const char *const *options, const char *const *set_keys,
                         onet_error *err);
/* These read the value of a key; *value stays as it is if the key is missing. ONET_BAD for another type, and
 * for a value out of range or not among the choices. */
onet_status request_int(const envelope *e, const char *key, int low, int high, int *value, onet_error *err);
/* Reads the key "seed", any number of 64 bits. */
onet_status request_seed(const envelope *e, uint64_t *value, onet_error *err);
onet_status request_double(const envelope *e, const char *key, double low, double high, double *value,
                           onet_error *err);
onet_status request_bool(const envelope *e, const char *key, bool *value, onet_error *err);
onet_status request_choice(const envelope *e, const char *key, const onet_choice *choices, int *value,
                           onet_error *err);
/* Finds the model that the key "model" names; without that key the one called `fallback` or, if that is NULL,
 * the only one. */
onet_status request_model(const envelope *e, const service *shared, const char *fallback, model_slot **slot,
                          onet_error *err);

/* Reads the sets of a request, one by one: those under "sets", or the body itself as one set. model: gives
 * vocabulary and names of features; may be NULL. */
typedef struct set_source set_source;
onet_status set_source_open(set_source **source, const envelope *e, char *body, size_t length,
                            const request_limits *limits, const onet_model *model, onet_error *err);
/* Reads the next set; *end is set after the last. */
onet_status set_source_next(set_source *source, onet_record *record, int *end, onet_error *err);
void set_source_close(set_source *source);

/* ONET_FAILED for more work than limits->cells. */
onet_status request_cells(double cells, const request_limits *limits, onet_error *err);

#endif
