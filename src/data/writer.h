/* Writes sets and answers, in the format that they came in or in another. */
#ifndef DATA_WRITER_H
#define DATA_WRITER_H

#include "data/jsonl.h"
#include "data/reader.h"

typedef struct writer_options {
    onet_format format;      /* AUTO: that of the path's name, else of each input */
    answer_parts parts;      /* logprob: JSON Lines always has it in an answer; CSV as a column */
    const char *set_column;  /* CSV; NULL: "set" */
    const char *rank_column; /* CSV; NULL: "rank" */
    const onet_words *words; /* safetensors: the vocabulary of items that are words; NULL: the input's own */
} writer_options;

typedef struct writer writer;

/* path "-" is standard output. The file is there whole after writer_commit, or not at all. */
onet_status writer_open(writer **result, const char *path, const writer_options *options, onet_error *err);
/* The records to come are of this reader, which must stay open until writer_end; NULL for records made
 * otherwise. ONET_USAGE for parts of an answer that the format cannot hold. */
onet_status writer_begin(writer *w, const reader *in, onet_error *err);
/* A set with its answer, or with the order that it has where answer is NULL. Sets that came from CSV and go
 * to CSV are written by writer_end, in the order of the rows. */
onet_status writer_put(writer *w, const record *r, const onet_answer *answer, onet_error *err);
onet_status writer_end(writer *w, onet_error *err);
/* Hands over what can be: a reader of the pipe sees it now. */
onet_status writer_flush(writer *w, onet_error *err);
/* Frees w, whatever comes back. */
onet_status writer_commit(writer *w, onet_error *err);
void writer_abort(writer *w);

#endif
