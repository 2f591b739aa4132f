/* Shared by all commands that order sets with a model: the search options, loading the model, checking the
 * input, and arrays for the answers. */
#ifndef APP_ORDERING_H
#define APP_ORDERING_H

#include "app/options.h"

#define OPTION_MODEL(at)                                                                                     \
    {                                                                                                        \
        .name = "model", .kind = OPTION_STRING, .argument = "FILE", .required = true, .field = (at),         \
        .help = "The model, as 'ordernet train' wrote it."                                                   \
    }
/* Options for the fields of an onet_order_options at offset `at`. */
#define OPTIONS_SEARCH(at)                                                                                   \
    {.name = "decode",                                                                                       \
     .kind = OPTION_CHOICE,                                                                                  \
     .argument = "HOW",                                                                                      \
     .choices = onet_decodes,                                                                                \
     .field = (at) + offsetof(onet_order_options, decode),                                                   \
     .help = "How the order is searched for."},                                                              \
        {.name = "beam",                                                                                     \
         .kind = OPTION_INT,                                                                                 \
         .argument = "K",                                                                                    \
         .field = (at) + offsetof(onet_order_options, beam),                                                 \
         .low = 1,                                                                                           \
         .high = 100000,                                                                                     \
         .default_text = "5",                                                                                \
         .help = "Orders kept at each step of the beam."},                                                   \
        {.name = "max-items",                                                                                \
         .kind = OPTION_INT,                                                                                 \
         .argument = "N",                                                                                    \
         .field = (at) + offsetof(onet_order_options, max_items),                                            \
         .low = 1,                                                                                           \
         .high = ONET_MAX_ITEMS,                                                                             \
         .help = "Refuse sets of more items: time grows with the square of their number, memory with their " \
                 "number times the beam."},                                                                  \
    {                                                                                                        \
        .name = "seed", .kind = OPTION_U64, .argument = "N",                                                 \
        .field = (at) + offsetof(onet_order_options, seed), .help = "For --decode sample."                   \
    }
#define OPTIONS_ORDER_MACHINE(at)                                                                            \
    OPTION_THREADS((at) + offsetof(onet_order_options, threads)),                                            \
        OPTION_KERNELS((at) + offsetof(onet_order_options, kernels)),                                        \
        OPTION_DEVICE((at) + offsetof(onet_order_options, device))

/* The default of --max-items. */
enum { MAX_ITEMS = 20000 };

/* Loads a model and makes its orderer. With several ranks all of them call it; ranks other than 0
 * then order what rank 0 sends them, and return with *orderer NULL when the work is done. */
onet_status ordering_open(onet_model **model, onet_orderer **orderer, const char *path,
                          const onet_order_options *options, onet_error *err);

/* Fills in the beam where it is 0; ONET_USAGE if the search cannot find so many orders. */
onet_status ordering_check(onet_order_options *options, onet_error *err);
/* ONET_BAD if the model cannot order items such as the record's. name: the record's file. */
onet_status ordering_fits(const onet_model *model, const char *model_name, const onet_record *record,
                          const char *name, onet_error *err);
/* As ordering_fits, for sets that were read with the model's columns. */
onet_status ordering_fits_sets(const onet_model *model, const char *model_name, const onet_sets *sets,
                               const char *name, onet_error *err);

/* Arrays for the answers to many sets, one block per array. */
typedef struct answer_room {
    onet_answer *answers;
    int32_t *order;
    double *logprob;
    float *step;
    size_t room, order_room, logprob_room, step_room;
} answer_room;

/* Limits of a batch: enough work for all threads, and little memory. */
enum { BATCH_SETS = 1024, BATCH_ITEMS = 1 << 16, BATCH_RELATIONS = 1 << 24 };

/* Makes room for the answers to the sets, `top` orders each, with the probability of each step if `steps`.
 * Memory of an earlier call is used again. */
onet_status answer_room_make(answer_room *room, const onet_sets *sets, int top, bool steps, onet_error *err);
void answer_room_free(answer_room *room);

/* Returns the index of the first set that has no answer because the network's numbers overflowed, or count.
 */
size_t answers_sound(const onet_answer *answers, size_t count);
#define TOO_LARGE                                                                                            \
    "the features are too large for the net; bring them to the scale of those that the model was trained on"

#endif
