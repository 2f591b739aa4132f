/* What the `pages` commands share: common options, finding and reading many files (paths.c), predicting
 * orders by the network or by a rule, trying which model or rule is best on corrected pages, scoring given
 * orders, and counting documents and titles. */
#ifndef LAYOUT_COMMANDS_H
#define LAYOUT_COMMANDS_H

#include <stdbool.h>
#include <stddef.h>

#include "app/options.h"
#include "app/progress.h"
#include "engine/base/thread_pool.h"
#include "ordernet.h"
#include "tasks/layout/format.h"
#include "tasks/layout/order/choose.h"
#include "tasks/layout/order/rules.h"

/* ---- Paths (paths.c) --------------------------------------------------------------------------------- */

/* The files that operands name: a file as it is; of a folder, and the folders in it, the files whose names
 * end in .xml, .hocr, .html, .json or .jsonl, by name. A file that is named twice counts once. */
typedef struct page_paths {
    const char *pass_over; /* a folder that is not searched, or NULL */
    bool keep_links;       /* a link to a file that is there too counts as well, under its own name */
    char **path;           /* [count] */
    char **rest;           /* [count]: the path below the operand; for a file its name */
    size_t count, room, rest_room;
} page_paths;
onet_status page_paths_find(page_paths *paths, int count, char **operands, onet_error *err);
void page_paths_free(page_paths *paths);

typedef struct pages_values {
    const char *model, *types;
    int rule, rtl; /* rule < 0: the network */
    int quiet;
    onet_order_options order;
} pages_values;
void pages_defaults(pages_values *v);

const onet_choice *page_directions(void);

/* Options for the fields of a pages_values at offset `at`. */
#define OPTIONS_PAGES(at)                                                                                    \
    {.name = "model",                                                                                        \
     .kind = OPTION_STRING,                                                                                  \
     .argument = "FILE",                                                                                     \
     .field = (at) + offsetof(pages_values, model),                                                          \
     .default_text = "the shipped pages.safetensors",                                                        \
     .help = "A model of 'ordernet pages train'."},                                                          \
        {.name = "types",                                                                                    \
         .kind = OPTION_STRING,                                                                              \
         .argument = "A,B,...",                                                                              \
         .field = (at) + offsetof(pages_values, types),                                                      \
         .default_text = "as the file has it",                                                               \
         .help = "Types of the regions that belong into the order, such as text (text of any type), "        \
                 "paragraph, heading, page-number, table, image. By default these are the regions that the " \
                 "file's order names, and in a file without an order text and tables."},                     \
        {.name = "direction",                                                                                \
         .kind = OPTION_CHOICE,                                                                              \
         .argument = "NAME",                                                                                 \
         .choices = page_directions,                                                                         \
         .field = (at) + offsetof(pages_values, rtl),                                                        \
         .help = "Direction in which lines and columns are read."},                                          \
        OPTION_THREADS((at) + offsetof(pages_values, order) + offsetof(onet_order_options, threads)),        \
        OPTION_QUIET((at) + offsetof(pages_values, quiet))

/* For commands that can order by a rule. */
#define OPTION_PAGE_RULE(at)                                                                                 \
    {                                                                                                        \
        .name = "rule", .kind = OPTION_CHOICE, .argument = "NAME", .choices = page_rules,                    \
        .field = (at) + offsetof(pages_values, rule), .default_text = "",                                    \
        .help = "Order by a rule, without a model."                                                          \
    }

/* Files read in parallel. A file that cannot be read is named on standard error, and counted. */
typedef struct pages_read {
    page_file *files; /* [count]: format is NULL if the file could not be read */
    size_t count, bad;
} pages_read;
/* Reads paths[from .. from + count). notes: whether to print the warnings about the files. */
onet_status pages_read_files(pages_read *r, thread_pool *threads, const page_paths *paths, size_t from,
                             size_t count, const pages_values *v, bool notes, onet_error *err);
void pages_read_free(pages_read *r);
/* Returns which of the types a region of the files has: a bit for each of the first 64. */
uint64_t pages_types_seen(const pages_read *r, const char *types);
/* Names on standard error the types that no region has. types may be NULL. */
void pages_types_report(const char *types, uint64_t seen);

/* The files of the operands, and their pages with an order of two regions or more. */
typedef struct pages_known {
    page_paths paths;
    pages_read read;
    page **pages; /* [count] */
    size_t count, left_out;
    bool single; /* all pages have one region or none, so that there is nothing to order */
} pages_known;
/* Reads the files; ONET_BAD if no page has an order of two regions or more. */
onet_status pages_known_read(pages_known *k, const pages_values *v, int count, char **operands, bool notes,
                             onet_error *err);
/* Call it last in a command: ONET_BAD if some files could not be read, after the others were processed. */
onet_status pages_known_complete(const pages_known *k, onet_error *err);
void pages_known_free(pages_known *k);

/* The network with what it needs to order pages; zeroed: a rule orders them. */
typedef struct pages_net {
    onet_model *model;
    onet_orderer *orderer;
    pages_style style;
} pages_net;
onet_status pages_net_open(pages_net *net, const pages_values *v, onet_error *err);
/* As pages_net_open, with a model that stays the caller's. */
onet_status pages_net_with(pages_net *net, const onet_model *model, const pages_values *v, onet_error *err);
void pages_net_close(pages_net *net);
/* Checks that a model is one for pages; path is its name. */
onet_status pages_model_check(const onet_model *model, const char *path, onet_error *err);

/* Finds an order for each page by the network or, if net or net->orderer is NULL, by the rule. Pages without
 * placed regions stay as they are. confidence [count]: as in pages_choose, or NULL; line: shows the progress,
 * or NULL. */
onet_status pages_order(const pages_net *net, page_rule rule, bool rtl, page **pages, size_t count,
                        double *confidence, progress *line, onet_error *err);
/* The model is unsure of pages below this confidence. */
#define PAGES_UNSURE 0.5
/* What is best on pages whose order is known. */
typedef struct pages_best {
    int rule;          /* < 0: a model */
    const char *model; /* NULL: the shipped one */
    double neighbours; /* mean share of right neighbours */
} pages_best;
/* Tries the model that v names, the shipped one and the rules. */
onet_status pages_find_best(pages_best *best, const pages_values *v, const pages_known *known,
                            onet_error *err);
/* Writes what orders the pages so, "--rule NAME", "--model FILE" or "the shipped model"; returns text. */
const char *pages_best_text(const pages_best *best, char text[], size_t size);
/* Warns on standard error if a model of the user is best: on pages that it was trained on its figures are too
 * good. */
void pages_best_warn(const pages_best *best);
/* Sets rule and model to what is best on the corrected pages of a folder: the model that v names, the shipped
 * one, or a rule; says which on standard error. */
onet_status pages_best_of(pages_values *v, const char *folder, onet_error *err);
/* Writes the log-probability of each page's given order to logprob [count], those of its steps to step,
 * [placed] of each page one after the other, or NULL. All pages must have a given order. */
onet_status pages_score(const pages_net *net, bool rtl, page **pages, size_t count, double *logprob,
                        double *step, onet_error *err);

/* Writes "N pages, N regions, N documents of N titles". A title is what the names of its documents begin
 * with, before their numbers: nfp_18950706 and nfp_19110701 are of one. */
onet_status pages_describe(page **pages, size_t count, char *text, size_t size, onet_error *err);
/* Counts the different documents of the pages: *documents. number [count]: the number of each page's
 * document, from 0, by name; may be NULL. */
onet_status pages_documents(page **pages, size_t count, size_t *number, size_t *documents, onet_error *err);

#endif
