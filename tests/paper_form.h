/* Computes the forward pass as the paper writes it, in double: the pair tensor [B, n, n, 2d] and the
 * source-target grid are stored in full; nothing is split, folded or fused. Slow and simple: the tests
 * compare the fast engine with it. */
#ifndef TESTS_PAPER_FORM_H
#define TESTS_PAPER_FORM_H

#include <stdint.h>

#include "engine/model/net_shape.h"

/* theta: [sh->total], x: [B, n, d], y: [B, n] (teacher forcing).
 * training: batch statistics; otherwise the running ones of theta.
 * running: NULL, or [sh->total - sh->trained], receives the running statistics after this batch (training
 * only). logits: [B, n steps, n items], for placed items too, not masked. loss: mean cross-entropy over all
 * B*n steps. Aborts when memory is short: for tests only. */
void paper_forward_double(const net_shape *sh, const double *theta, double *running, int B, int n,
                          const double *x, const int32_t *y, int training, double *logits, double *loss);

/* paper_forward_double with context: of the items x: [B, all, d] of a set the encoder sees all, and the first
 * n are placed; y: [B, n], logits: [B, n, n]. e: relations, [B, all, all, R]; NULL: there are none. */
void paper_forward_placed(const net_shape *sh, const double *theta, double *running, int B, int all, int n,
                          const double *x, const double *e, const int32_t *y, int training, double *logits,
                          double *loss);

/* paper_forward_double from float parameters and items. */
void paper_forward(const net_shape *sh, const float *theta, double *running, int B, int n, const float *x,
                   const int32_t *y, int training, double *logits, double *loss);

#endif
