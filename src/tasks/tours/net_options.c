/* Defines the choices and defaults of the network options of the `tsp` commands, turns them into options of
 * onet_tsp_solve, and loads the network that finds tours. */
#include "tasks/tours/net_options.h"

#include <limits.h>

#include "app/model_path.h"

const onet_choice *tour_decodes(void) {
    static const onet_choice list[] = {
        {"beam", "beam search", ONET_BEAM},
        {"greedy", "the most probable city at each step", ONET_GREEDY},
        {0},
    };
    return list;
}

const onet_choice *tour_symmetries(void) {
    static const onet_choice list[] = {{.name = "1", .value = 1}, {.name = "8", .value = 8}, {0}};
    return list;
}

void tour_net_defaults(tour_net_values *values) {
    onet_order_defaults(&values->search, sizeof values->search);
    values->search.beam = 5;
    values->symmetries = 1;
    values->shortest = 1;
}

onet_tsp_options tour_net_effort(const tour_net_values *values) {
    return (onet_tsp_options){.size = sizeof(onet_tsp_options),
                              .symmetries = values->symmetries,
                              .shortest = values->shortest || values->symmetries > 1};
}

onet_status tour_net_open(const tour_net_values *values, onet_model **model, onet_tsp_net **net,
                          onet_error *err) {
    char shipped[PATH_MAX];
    *model = NULL;
    *net = NULL;
    onet_status status =
        values->model ? ONET_OK : model_path(shipped, sizeof shipped, "tours.safetensors", err);
    if (!status) status = onet_model_load(model, values->model ? values->model : shipped, err);
    if (!status) status = onet_tsp_net_new(net, *model, &values->search, err);
    if (!status) return ONET_OK;
    onet_model_free(*model);
    *model = NULL;
    return status;
}
