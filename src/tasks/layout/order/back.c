/* A few pages of a title teach more than holds for its others: half-way between the weights before and after
 * fine-tuning a network is right more often than at either end (experiments/pages). */
#include "tasks/layout/order/back.h"

#include <stdio.h>

#include "engine/model/model.h"

static const double BACK = 0.5;

onet_status pages_go_back(onet_model *model, const onet_model *from, int networks, onet_error *err) {
    const onet_model *same[ONET_MAX_MERGED];
    onet_model *merged = NULL;
    char share[16];
    for (int i = 0; i < networks; i++) same[i] = from;
    onet_status status = networks > 1 ? onet_model_merge(&merged, same, (size_t)networks, err) : ONET_OK;
    if (!status) status = model_move(model, merged ? merged : from, BACK, err);
    onet_model_free(merged);
    snprintf(share, sizeof share, "%g", BACK);
    return status ? status : onet_model_set_record(model, PAGES_BACK_KEY, share, err);
}
