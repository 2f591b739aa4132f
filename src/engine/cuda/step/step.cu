/* Launches a training step on the GPU: sends the batch's indices and the optimiser's numbers, then runs each
 * operation with the narrow kernels or, where these do not take the net and batch, layer by layer; forks to
 * side streams and joins them. A batch of one size on one rank is captured as a CUDA graph and replayed; one
 * of several sizes is captured each time and updates one graph; where ranks share a batch, it is launched
 * kernel by kernel. */
#include <stdio.h>
#include <stdlib.h>

#include "engine/cuda/step/step.cuh"

void gpu_fork(gpu *s, int i) {
    gpu_ok(s, cudaEventRecord(s->queue.fork, s->queue.stream), "event");
    gpu_ok(s, cudaStreamWaitEvent(s->queue.side[i], s->queue.fork, 0), "event");
    s->queue.forked[i] = 1;
}

void gpu_join(gpu *s, int i) {
    if (!s->queue.forked[i]) return;
    gpu_ok(s, cudaEventRecord(s->queue.join[i], s->queue.side[i]), "event");
    gpu_ok(s, cudaStreamWaitEvent(s->queue.stream, s->queue.join[i], 0), "event");
    s->queue.forked[i] = 0;
    s->queue.chained = false;
}

/* ---- operations ---- */

/* A rank that has no set of the batch launches nothing, but takes part in the all-reduces. */

void step_take(gpu *s) {
    if (gpu_narrow_operation(s, NARROW_TAKE, 0)) return;
    if (s->base.B) gpu_take(s);
}

void step_begin(gpu *s) {
    if (gpu_narrow_operation(s, NARROW_BEGIN, 0)) return;
    if (s->base.B) gpu_pack(s);
}

void step_encoder(gpu *s, int block) {
    if (gpu_narrow_operation(s, NARROW_ENCODER, block)) return;
    if (s->base.B) gpu_encoder_rows(s, block);
    norms_total(s, norms_first(s, block));
    if (s->base.B) gpu_encoder_pairs(s, block);
    norms_total(s, norms_second(s, block));
}

void step_rows(gpu *s) {
    if (gpu_narrow_operation(s, NARROW_ROWS, 0)) return;
    if (s->base.B) gpu_decoder_rows_forward(s);
}

void step_decoder(gpu *s, int block) {
    if (gpu_narrow_operation(s, NARROW_CONV, block)) return;
    if (s->base.B) gpu_decoder_forward(s, block);
    norms_total(s, norms_decoder(s, block));
}

void step_head(gpu *s) {
    if (gpu_narrow_operation(s, NARROW_HEAD, 0)) return;
    if (s->base.B)
        gpu_head(s);
    else
        gpu_ok(s, cudaMemsetAsync(s->result.results, 0, sizeof *s->result.results, s->queue.stream),
               "clearing memory");
}

void step_decoder_backward(gpu *s, int block) {
    if (gpu_narrow_operation(s, NARROW_CONV_BACK, block)) return;
    if (s->base.B) gpu_decoder_backward(s, block);
    norms_total(s, norms_decoder_back(s, block));
}

void step_rows_backward(gpu *s) {
    if (gpu_narrow_operation(s, NARROW_ROWS_BACK, 0)) return;
    if (s->base.B) gpu_decoder_rows_backward(s);
    if (s->M) norms_total(s, norms_second_back(s, s->M - 1));
}

void step_encoder_backward(gpu *s, int block) {
    if (gpu_narrow_operation(s, NARROW_ENCODER_BACK, block)) return;
    if (s->base.B) gpu_encoder_pairs_backward(s, block);
    norms_total(s, norms_first_back(s, block));
    if (s->base.B) gpu_encoder_rows_backward(s, block);
    if (block) norms_total(s, norms_second_back(s, block - 1));
}

void step_finish(gpu *s) {
    if (s->base.B) gpu_finish(s);
}

void step_forward(gpu *s) {
    step_begin(s);
    for (int k = 0; k < s->M; k++) step_encoder(s, k);
    step_rows(s);
    for (int m = 0; m < s->N; m++) step_decoder(s, m);
    step_head(s);
}

void step_backward(gpu *s) {
    for (int m = s->N - 1; m >= 0; m--) step_decoder_backward(s, m);
    step_rows_backward(s);
    for (int k = s->M - 1; k >= 0; k--) step_encoder_backward(s, k);
    step_finish(s);
}

/* ---- graphs ---- */

void step_drop_graphs(gpu *s) {
    for (int i = 0; i < s->queue.graph_count; i++) cudaGraphExecDestroy(s->queue.graphs[i].exec);
    s->queue.graph_count = 0;
    for (cudaGraphExec_t &mixed : s->queue.mixed) {
        if (mixed) cudaGraphExecDestroy(mixed);
        mixed = nullptr;
    }
}

static void enqueue(gpu *s, int parts) {
    s->queue.chained = false;
    if (gpu_narrow(s, parts & (FORWARD | BACKWARD))) {
        if (parts & BACKWARD) gpu_finish(s);
        parts &= OPTIMISE;
    }
    if (parts & FORWARD) {
        step_take(s);
        step_forward(s);
    }
    if (parts & BACKWARD) step_backward(s);
    if (parts & OPTIMISE) gpu_adam(s);
    for (int i = 0; i < SIDES; i++) gpu_join(s, i);
}

/* Returns the parts of a step as a graph, NULL when capturing failed. */
static cudaGraph_t capture(gpu *s, int parts) {
    cudaGraph_t made = nullptr;
    if (!gpu_ok(s, cudaStreamBeginCapture(s->queue.stream, cudaStreamCaptureModeThreadLocal), "capture"))
        return nullptr;
    enqueue(s, parts);
    return gpu_ok(s, cudaStreamEndCapture(s->queue.stream, &made), "capture") ? made : nullptr;
}

static cudaGraphExec_t graph_for(gpu *s, int parts) {
    const net *t = &s->base;
    for (int i = 0; i < s->queue.graph_count; i++) {
        const graph *g = &s->queue.graphs[i];
        if (g->B == t->B && g->n == s->n && g->all == t->whole.sets && g->update == t->update &&
            g->dropout == t->dropout && g->precision == t->precision && g->parts == parts)
            return g->exec;
    }
    enum { MOST = 512 };
    if (s->queue.graph_count == MOST) {
        cudaStreamSynchronize(s->queue.stream);
        step_drop_graphs(s);
    }
    cudaGraphExec_t exec = nullptr;
    cudaGraph_t made = capture(s, parts);
    if (!made) return nullptr;
    gpu_ok(s, cudaGraphInstantiate(&exec, made, 0), "graph");
    cudaGraphDestroy(made);
    if (s->failed[0]) return nullptr;
    if (!s->queue.graphs) s->queue.graphs = (graph *)calloc(MOST, sizeof *s->queue.graphs);
    if (!s->queue.graphs) {
        snprintf(s->failed, sizeof s->failed, "not enough memory");
        return nullptr;
    }
    s->queue.graphs[s->queue.graph_count++] = {.B = t->B,
                                               .n = s->n,
                                               .all = t->whole.sets,
                                               .update = t->update,
                                               .parts = parts,
                                               .dropout = t->dropout,
                                               .precision = t->precision,
                                               .exec = exec};
    return exec;
}

/* Returns the graph of a batch of several sizes. Its kernels are those of the batch before, with other
 * arguments and numbers of thread blocks, so the step is captured anew and the existing graph updated by what
 * differs. */
static cudaGraphExec_t mixed_graph(gpu *s, int parts) {
    cudaGraph_t made = capture(s, parts);
    if (!made) return nullptr;
    cudaGraphExec_t &exec = s->queue.mixed[parts];
    cudaGraphExecUpdateResultInfo info = {};
    if (exec && cudaGraphExecUpdate(exec, made, &info) != cudaSuccess) { /* other settings: other kernels */
        cudaGetLastError();
        cudaStreamSynchronize(s->queue.stream);
        cudaGraphExecDestroy(exec);
        exec = nullptr;
    }
    if (!exec) gpu_ok(s, cudaGraphInstantiate(&exec, made, 0), "graph");
    cudaGraphDestroy(made);
    return s->failed[0] ? nullptr : exec;
}

/* ---- what a step sends ---- */

/* Opens the next slot of pinned memory; waits when the host is SLOTS steps ahead of the device. */
void step_open_slot(gpu *s) {
    s->send.slot_now = (s->send.slot_now + 1) % SLOTS;
    gpu_ok(s, cudaEventSynchronize(s->send.slots[s->send.slot_now].sent), "waiting for the device");
    s->send.slot_open = true;
}

void step_send_slot(gpu *s) {
    slot *k = &s->send.slots[s->send.slot_now];
    size_t bytes = HEADER;
    if (s->send.slot_full)
        bytes = s->given.train_vectors ? s->send.send_bytes : HEADER + (size_t)s->base.B * 4;
    if (!s->send.slot_open) return;
    gpu_ok(s, cudaMemcpyAsync(s->send.sent, k->host, bytes, cudaMemcpyHostToDevice, s->queue.stream),
           "sending");
    if (s->ragged.table_bytes)
        gpu_ok(s,
               cudaMemcpyAsync(s->ragged.tables, k->tables, s->ragged.table_bytes, cudaMemcpyHostToDevice,
                               s->queue.stream),
               "sending");
    s->ragged.table_bytes = 0;
    gpu_ok(s, cudaEventRecord(k->sent, s->queue.stream), "event");
    s->send.slot_open = s->send.slot_full = s->queue.chained = false;
}

/* Launches the parts that are waiting, and `more`, as a graph. Where ranks share a batch there is no graph,
 * since the host all-reduces the sums of each norm; and the step runs even when the device has failed, since
 * the other ranks wait for this one. */
void step_launch(gpu *s, int more) {
    int parts = s->queue.waiting | more;
    s->queue.waiting = 0;
    if (!parts || (s->failed[0] && !s->base.sum)) return;
    step_send_slot(s);
    if (s->base.sum) {
        enqueue(s, parts);
        return;
    }
    cudaGraphExec_t exec = s->ragged.mixed ? mixed_graph(s, parts) : graph_for(s, parts);
    if (exec) gpu_ok(s, cudaGraphLaunch(exec, s->queue.stream), "launch");
}
