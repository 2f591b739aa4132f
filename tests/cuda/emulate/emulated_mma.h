/* Emulates the tensor-core instruction mma (a small matrix product by a whole warp) on the CPU. */
#ifndef EMULATED_MMA_H
#define EMULATED_MMA_H

static inline void mma(float (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    struct factors {
        unsigned a[4], b[2];
    } mine = {{a[0], a[1], a[2], a[3]}, {b[0], b[1]}}, all[32];
    emulated_gather(&mine, all, sizeof mine);
    int g = emulated_lane() / 4, t = emulated_lane() % 4;
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 8; k++) {
            int row = i / 2, column = 2 * t + i % 2;
            float x = __uint_as_float(all[4 * g + k % 4].a[k / 4 * 2 + row] & 0xffffe000u),
                  y = __uint_as_float(all[4 * column + k % 4].b[k / 4] & 0xffffe000u);
            c[i] += x * y;
        }
}

#endif
