/* Shared by the `tsp` commands: the options of the network and of reading cities, and loading the model. */
#ifndef TOURS_NET_OPTIONS_H
#define TOURS_NET_OPTIONS_H

#include "app/ordering.h"
#include "ordernet_tsp.h"
#include <stdbool.h>

typedef struct tour_net_values {
    const char *model; /* NULL: the shipped one */
    onet_order_options search;
    int symmetries; /* 1 or 8 */
    int shortest;
} tour_net_values;

/* The search methods of the net. */
const onet_choice *tour_decodes(void);
const onet_choice *tour_symmetries(void);

#define OPTION_TOUR_MODEL(at)                                                                                \
    {                                                                                                        \
        .name = "model", .kind = OPTION_STRING, .argument = "FILE", .field = (at),                           \
        .default_text = "the shipped tours.safetensors", .help = "Model file of the net."                    \
    }
/* Options for the fields of a tour_net_values at offset `at`, except those of the machine. */
#define OPTIONS_TOUR_NET(at)                                                                                 \
    OPTION_TOUR_MODEL((at) + offsetof(tour_net_values, model)),                                              \
        {.name = "decode",                                                                                   \
         .kind = OPTION_CHOICE,                                                                              \
         .argument = "HOW",                                                                                  \
         .choices = tour_decodes,                                                                            \
         .field = (at) + offsetof(tour_net_values, search.decode),                                           \
         .help = "How the net searches for a tour."},                                                        \
        {.name = "beam",                                                                                     \
         .kind = OPTION_INT,                                                                                 \
         .argument = "K",                                                                                    \
         .field = (at) + offsetof(tour_net_values, search.beam),                                             \
         .low = 1,                                                                                           \
         .high = 100000,                                                                                     \
         .help = "Tours kept at each step of the beam."},                                                    \
        {.name = "symmetries",                                                                               \
         .kind = OPTION_CHOICE,                                                                              \
         .argument = "N",                                                                                    \
         .choices = tour_symmetries,                                                                         \
         .field = (at) + offsetof(tour_net_values, symmetries),                                              \
         .help = "8 shows the net the cities under the square's 8 symmetries too, or a net of costs up to "  \
                 "8 cities to begin at, and keeps the shortest tour of all beams."},                         \
        {.name = "shortest",                                                                                 \
         .kind = OPTION_FLAG,                                                                                \
         .field = (at) + offsetof(tour_net_values, shortest),                                                \
         .help = "Keep the shortest tour of the beam: the default."},                                        \
    {                                                                                                        \
        .name = "most-probable", .kind = OPTION_OFF, .field = (at) + offsetof(tour_net_values, shortest),    \
        .help =                                                                                              \
            "Keep the most probable tour of the beam rather than the shortest one. With 8 symmetries the "   \
            "shortest of all is kept."                                                                       \
    }

/* How cities are read. geo_at, matrix_at: offsets of ints; name_at: of a string. */
#define OPTIONS_CITIES(geo_at, matrix_at, name_at)                                                           \
    {.name = "matrix",                                                                                       \
     .kind = OPTION_FLAG,                                                                                    \
     .field = (matrix_at),                                                                                   \
     .help = "The file is a table of costs from city to city, such as travel times, or has sets with a "     \
             "relation, the cost (docs/relations.md)."},                                                     \
        {.name = "geo",                                                                                      \
         .kind = OPTION_FLAG,                                                                                \
         .field = (geo_at),                                                                                  \
         .help =                                                                                             \
             "The cities are places on the Earth, in degrees: columns lon, lng, long or longitude and lat "  \
             "or latitude, else x and y, else two in the order longitude, latitude. Distances are "          \
             "kilometres along great circles."},                                                             \
    {                                                                                                        \
        .name = "name-column", .kind = OPTION_STRING, .argument = "NAME", .field = (name_at),                \
        .default_text = "name, city, label or place",                                                        \
        .help = "The column or key with the cities' names; '' for none."                                     \
    }

/* The options that end the list of a command which finds tours: the net's, and those of reading. */
#define OPTIONS_TOURING(net_at, read_at)                                                                     \
    {.group = "Net"}, OPTIONS_TOUR_NET(net_at),                                                              \
        OPTIONS_ORDER_MACHINE((net_at) + offsetof(tour_net_values, search)), {.group = "Data format"},       \
        OPTIONS_READ(read_at)

/* Fills in the engine's defaults, except for a beam of 5. */
void tour_net_defaults(tour_net_values *values);

/* Loads the model and makes a net of it; free both. */
onet_status tour_net_open(const tour_net_values *values, onet_model **model, onet_tsp_net **net,
                          onet_error *err);

/* Returns the options of onet_tsp_solve that the net's options decide; all others are zero. */
onet_tsp_options tour_net_effort(const tour_net_values *values);

#endif
