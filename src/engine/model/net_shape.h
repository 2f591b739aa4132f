/* Computes the shape of a net from its settings: where each tensor is in the one block that holds all
 * parameters. Trained parameters come first, the running statistics of the batch norms after them; gradients
 * and Adam's moments are blocks of the same layout. Names and shapes are those of the PyTorch twin
 * (reference/twin.py). */
#ifndef MODEL_NET_SHAPE_H
#define MODEL_NET_SHAPE_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/base/limits.h"
#include "engine/data/sets.h"

#define NORM_EPSILON  1e-5
#define NORM_MOMENTUM 0.1

typedef struct tensor {
    char name[48];
    int dims;
    int shape[3];
    size_t offset, size; /* in numbers, within the block */
    bool trained;
} tensor;

/* Offsets of one batch norm's four vectors. */
typedef struct norm_at {
    size_t gamma, beta, mean, var;
} norm_at;

typedef struct encoder_at {
    int in;                /* d_k: width of this block's input */
    int columns;           /* 2*d_k + 2*R: x_i, x_j, the relations e_ij and e_ji */
    size_t weight1, bias1; /* [H, columns], [H] */
    norm_at norm1;         /* [H] */
    size_t weight2, bias2; /* [O, H], [O] */
    norm_at norm2;         /* [O] */
} encoder_at;

typedef struct decoder_at {
    int in;              /* channels of this block's input: 2*D + R + 2*C*block */
    size_t weight, bias; /* [C, in, 3], [C]: tap 2 sees step t, tap 1 t-1, tap 0 t-2 */
    norm_at norm;        /* [C] */
} decoder_at;

typedef struct net_shape {
    onet_settings s;
    int inputs; /* features of an item before the encoder: d, or 2*d with relative ones */
    int D;      /* d' = inputs + M*O: features of an item after the encoder */
    int base;   /* 2*D + R: channels of the decoder's grid, x', y', relations from the item before */
    size_t trained, total; /* numbers in the block: trained parameters, and those with running statistics */
    encoder_at enc[MAX_BLOCKS];
    decoder_at dec[MAX_BLOCKS];
    size_t start; /* [D]: start vector, in place of an item before the first */
    int head_in;  /* base + 2*C*N: input channels in the order x', y', e, v_1, p_1, v_2, p_2, ... */
    size_t head_weight, head_bias; /* [1, head_in], [1] */
    int tensors;
    tensor tensor[MAX_BLOCKS * 18 + 3];
} net_shape;

/* Whether a running statistic is a variance; else it is a mean. */
bool tensor_is_variance(const tensor *t);

/* Checks the settings, lists the tensors and lays out the block. */
onet_status net_shape_make(net_shape *sh, const onet_settings *settings, onet_error *err);

#endif
