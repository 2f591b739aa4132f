/* Emulates the tensor-core instruction mma (a small matrix product by a whole warp) on the CPU. */
#ifndef EMULATED_MMA_H
#define EMULATED_MMA_H

void mma(float (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2]);

#endif
