/* Tours from a trained net.
 *
 * The net was trained on the unit square. An instance of any scale and position is moved there without
 * distortion: one scale for both axes, so that the longer side of the bounding box leaves a margin of 1/(n+1)
 * at both ends, as n uniform cities do on average; the shorter side is centred. */
#ifndef TSP_NET_H
#define TSP_NET_H

#include "tsp/instance.h"

typedef struct tsp_net tsp_net;

/* options: decode, beam, threads, kernels, device are used. The model must outlive the net and order items
 * of 2 numbers. */
onet_status tsp_net_new(tsp_net **net, const onet_model *model, const onet_order_options *options,
                        onet_error *err);
void tsp_net_free(tsp_net *net);

/* How an instance is presented to the net. */
typedef enum tsp_place {
    TSP_FITTED, /* moved to the unit square */
    TSP_AS_IS   /* unchanged */
} tsp_place;

/* Orders `count` instances, all with coordinates, under 1 or 8 symmetries of the square. probable[i] [n]: the
 * most probable of all tours found; shortest[i] [n]: the shortest of them by the instance's own distances.
 * Either may be NULL. */
onet_status tsp_net_tours(tsp_net *net, const tsp_instance *t, size_t count, tsp_place place, int symmetries,
                          int32_t *const *probable, int32_t *const *shortest, onet_error *err);

#endif
