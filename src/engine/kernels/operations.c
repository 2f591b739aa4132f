/* Counts the floating-point operations of training and ordering by the formulas in docs/speed.md. */
#include "engine/kernels/operations.h"

/* Returns the multiply-adds of the encoder on one set, and of the products with n rows that the decoder
 * starts from. */
static double encoder(const net_shape *sh, double n) {
    double H = sh->s.hidden, O = sh->s.encoder_out, sum = 0;
    for (int k = 0; k < sh->s.encoder_blocks; k++) sum += n * sh->enc[k].in * 2 * H + n * n * H * O;
    return sum + n * sh->D * (6.0 * sh->s.decoder_out * sh->s.decoder_blocks + 1);
}

/* Returns the multiply-adds of the decoder for `steps` steps over n items. */
static double decoder(const net_shape *sh, double n, double steps) {
    double C = sh->s.decoder_out, N = sh->s.decoder_blocks, pairs = N * (N - 1) / 2;
    return steps * (n + 1) * 3 * C * C * pairs + steps * n * N * C;
}

double operations_train(const net_shape *sh, int n) {
    double forward = encoder(sh, n) + decoder(sh, n, n);
    /* Backward: each product once for its weights, once for its input; the first block's input needs none. */
    double input = sh->s.encoder_blocks ? (double)n * sh->inputs * 2 * sh->s.hidden : 0;
    return 2 * (3 * forward - input);
}

double operations_order(const net_shape *sh, int n, int beams) {
    double steps = 0, alive = 1;
    for (int t = 0; t + 1 < n; t++) { /* the last item is placed without computation */
        /* The greedy search computes the items that were placed long ago once for all (decode/search.c). */
        double past = t - 2 * sh->s.decoder_blocks - 3;
        steps += beams == 1 && past > 0 ? (n - past) / n : alive;
        alive *= n - t;
        if (alive > beams) alive = beams;
    }
    return 2 * (encoder(sh, n) + decoder(sh, n, steps));
}
