/* Measures the peak speed of this machine's CPU in GFLOP/s, to which every speed measured in the same run is
 * compared. */
#ifndef KERNELS_PEAK_H
#define KERNELS_PEAK_H

/* Returns the GFLOP/s (a fused multiply-add counts 2) of float multiply-adds that stay in registers, with the
 * widest vectors of this CPU, on `threads` threads at once for `seconds`; the best stretch of each thread. */
double peak_gflops(int threads, double seconds);

#endif
