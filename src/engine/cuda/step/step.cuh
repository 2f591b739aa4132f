/* Declares what the operations of the CUDA backend (net.cu) call: memory (memory.cu), the launches of a
 * step (step.cu) and the list of a batch's words (words.cu). */
#ifndef CUDA_STEP_STEP_CUH
#define CUDA_STEP_STEP_CUH

#include "engine/cuda/layers/layers.cuh"

/* Memory of the net, of its batches and of the sets, as in kernels/backend.h. memory_close frees all of it,
 * and the graphs. */
onet_status memory_open(gpu *s, onet_error *err);
onet_status memory_reserve(net *t, batch_size size, onet_error *err);
onet_status memory_data(net *t, const onet_sets *sets, const float *mean, const float *scale,
                        int train_vectors, onet_error *err);
void memory_close(gpu *s);

/* Each launches one operation immediately. */
void step_take(gpu *s);
void step_begin(gpu *s);
void step_encoder(gpu *s, int block);
void step_rows(gpu *s);
void step_decoder(gpu *s, int block);
void step_head(gpu *s);
void step_decoder_backward(gpu *s, int block);
void step_rows_backward(gpu *s);
void step_encoder_backward(gpu *s, int block);
void step_finish(gpu *s);
/* Launch all operations of the forward pass after step_take, or of the backward pass, in their order. */
void step_forward(gpu *s);
void step_backward(gpu *s);

/* Opens the next slot of pinned memory for what a step sends; sends the open one. */
void step_open_slot(gpu *s);
void step_send_slot(gpu *s);
/* Launches the parts of the step that are waiting, and `more`. */
void step_launch(gpu *s, int more);
void step_drop_graphs(gpu *s);

/* ---- Words whose vectors are trained (words.cu) ---- */

/* Writes word_first, word_row and word_id (step_sending in gpu.cuh), one after the other, from `first` on;
 * returns the number of distinct words. */
int words_list(gpu *s, int32_t *first);
/* words_list for the sets of all ranks; also makes dx the gradient of the whole batch, [rows, width]. */
int words_share(gpu *s, int32_t *first);

#endif
