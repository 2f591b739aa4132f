#include "kernels/net.h"

void step_forward(net *t) {
    t->ops->begin(t);
    for (int k = 0; k < t->sh->s.encoder_blocks; k++) t->ops->encoder_forward(t, k);
    t->ops->decoder_rows_forward(t);
    for (int m = 0; m < t->sh->s.decoder_blocks; m++) t->ops->decoder_forward(t, m);
    t->ops->head(t);
}

void step_backward(net *t) {
    for (int m = t->sh->s.decoder_blocks - 1; m >= 0; m--) t->ops->decoder_backward(t, m);
    t->ops->decoder_rows_backward(t);
    for (int k = t->sh->s.encoder_blocks - 1; k >= 0; k--) t->ops->encoder_backward(t, k);
}
