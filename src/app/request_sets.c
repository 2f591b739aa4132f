/* Reads the sets of a request with the library's reader of JSON Lines, so that an invalid set gets the error
 * message that the commands print, with "request" for the file and the number of the set for the line. */
#include <stdlib.h>
#include <string.h>

#include "app/request.h"
#include "engine/base/error.h"
#include "engine/base/memory.h"

struct set_source {
    onet_reader *reader;
    int most; /* items per set */
    span *sets;
    size_t count, set, at; /* set: the one being read; at: its bytes read so far */
};

static ptrdiff_t give_bytes(void *context, void *buffer, size_t size) {
    set_source *s = context;
    if (s->set == s->count) return 0;
    const span *now = &s->sets[s->set];
    size_t left = now->length - s->at;
    if (!left) {
        *(char *)buffer = '\n';
        s->set++;
        s->at = 0;
        return 1;
    }
    if (left > size) left = size;
    memcpy(buffer, now->at + s->at, left);
    s->at += left;
    return (ptrdiff_t)left;
}

/* A set is one line. Within strings there are no line ends: the envelope has refused them. */
static void one_line(span *s) {
    for (size_t i = 0; i < s->length; i++)
        if (s->at[i] == '\n' || s->at[i] == '\r') s->at[i] = ' ';
}

onet_status set_source_open(set_source **source, const envelope *e, char *body, size_t length,
                            const request_limits *limits, const onet_model *model, onet_error *err) {
    const span *many = envelope_find(e, "sets");
    *source = NULL;
    set_source *s = calloc(1, sizeof *s);
    if (!s) return fail_memory(err, "a request");
    onet_status status = ONET_OK;
    s->most = limits->items;
    s->sets = array_new(many ? (size_t)limits->sets : 1, sizeof *s->sets);
    if (!s->sets)
        status = fail_memory(err, "a request");
    else if (many)
        status = envelope_elements(many, s->sets, (size_t)limits->sets, &s->count, "sets", err);
    else
        s->sets[s->count++] = (span){body, length};
    for (size_t k = 0; k < s->count && !status; k++) {
        if (many && s->sets[k].at[0] != '{')
            status = fail(err, ONET_BAD, "request:%zu: a set is an object, such as {\"items\": [[3], [1]]}",
                          k + 1);
        one_line(&s->sets[k]);
    }
    onet_read_options read = {.size = sizeof read,
                              .format = ONET_FORMAT_JSONL,
                              .words = model ? onet_model_words(model) : NULL,
                              .columns = model ? onet_model_columns(model) : NULL,
                              .bytes = give_bytes,
                              .context = s};
    if (!status) status = onet_reader_open(&s->reader, "request", &read, err);
    if (status)
        set_source_close(s);
    else
        *source = s;
    return status;
}

onet_status set_source_next(set_source *s, onet_record *record, int *end, onet_error *err) {
    onet_status status = onet_reader_next(s->reader, record, end, err);
    if (status || *end || onet_record_size(record) <= s->most) return status;
    return fail(err, ONET_FAILED, "request:%ld: a set of %d items; this server takes at most %d",
                onet_record_line(record), onet_record_size(record), s->most);
}

void set_source_close(set_source *s) {
    if (!s) return;
    onet_reader_close(s->reader);
    free(s->sets);
    free(s);
}
