/* Implements what follows a product in the SIMD kernels, cell by cell: the sums for the batch norm, and the
 * pool over the cells of one item (encoder) or step (decoder). */

/* Adds s and q to sum and square [VL], in double. */
static ALWAYS_INLINE void add_sums(double *sum, double *square, vec s, vec q) {
    vadd_double(sum, s);
    vadd_double(square, q);
}

/* Cells come in groups of n, one group for each pooled value. */
typedef struct pool_cells {
    int n;
    int diagonal;     /* 1: cell g of group g takes no part in the pool */
    int summed;       /* 1: the pool is the sum of the cells; 0: the best */
    const real *sign; /* [C] */
    real *best;       /* group g: best + g*ld_best */
    int32_t *arg;     /* group g: arg + g*ld_arg; may be NULL */
    size_t ld_best, ld_arg;
    double *sum, *square; /* may be NULL */
} pool_cells;

/* Pools `cells` rows of u = relu(..), `ld` apart, from cell `item` of `group` on, for the VL channels from c.
 * Floats >= 0 have the same order as their bits read as integers, and the reverse order if all bits are
 * inverted: one integer max finds the largest (sign +1) or the smallest (-1). */
static ALWAYS_INLINE void pool_lanes(const pool_cells *p, int cells, int group, int item, const real *u,
                                     size_t ld, int c, const int summed) {
    ivec turn = summed ? ivset1(0) : ivsign(vload(p->sign + c)), best = ivset1(0), arg = ivset1(-1);
    vec total = vzero(), s = vzero(), q = vzero();
    if (item > 0) {
        total = vload(p->best + (size_t)group * p->ld_best + c);
        best = ivxor(turn, ivbits(total));
        if (p->arg) arg = ivload(p->arg + (size_t)group * p->ld_arg + c);
    }
    while (cells > 0) {
        int end = p->n - item < cells ? p->n : item + cells;
        if (item == 0) {
            total = vzero();
            best = ivset1(INT32_MIN);
            arg = ivset1(-1);
        }
        cells -= end - item;
        for (; item < end; item++, u += ld) {
            vec x = vload(u);
            s = vadd(s, x);
            q = vfma(x, x, q);
            if (p->diagonal && item == group) continue;
            if (summed)
                total = vadd(total, x);
            else {
                ivec key = ivxor(turn, ivbits(x));
                arg = ivselect(ivgreater(key, best), ivset1(item), arg);
                best = ivmax(key, best);
            }
        }
        if (!summed) total = p->n > p->diagonal ? ivfloat(ivxor(turn, best)) : vzero();
        vstore(p->best + (size_t)group * p->ld_best + c, total);
        if (p->arg) ivstore(p->arg + (size_t)group * p->ld_arg + c, arg);
        if (item == p->n) {
            item = 0;
            group++;
        }
    }
    if (p->sum) add_sums(p->sum + c, p->square + c, s, q);
}

/* pool_lanes for channels c0 .. c0+width-1, u at c0. At most a few hundred cells per call: the sums of one
 * call are float. */
static void pool_block(const pool_cells *p, int cells, int group, int item, const real *u, size_t ld, int c0,
                       int width) {
    for (int c = 0; c < width; c += VL) {
        if (p->summed)
            pool_lanes(p, cells, group, item, u + c, ld, c0 + c, 1);
        else
            pool_lanes(p, cells, group, item, u + c, ld, c0 + c, 0);
    }
}
