/* What follows a product, cell by cell: ReLU, the sums for the batch norm, and the pool over the cells of one
 * item (encoder) or step (decoder). */

/* sum, square [VL] += s, q */
static ALWAYS_INLINE void add_sums(double *sum, double *square, vec s, vec q) {
    vadd_double(sum, s);
    vadd_double(square, q);
}

/* Cells come in groups of n, one group for each pooled value. */
typedef struct pool_cells {
    int n;
    int diagonal; /* 1: cell g of group g takes no part in the pool */
    int mean;
    const real *sign; /* [C] */
    real *best;       /* group g: best + g*ld_best */
    int32_t *arg;     /* group g: arg + g*ld_arg; may be NULL */
    size_t ld_best, ld_arg;
    double *sum, *square; /* may be NULL */
} pool_cells;

/* Finishes `cells` rows of u, `ld` apart, from cell `item` of `group` on, for the VL channels from `c`. */
static ALWAYS_INLINE void finish_lanes(const pool_cells *p, int cells, int group, int item, real *u,
                                       size_t ld, int c, const int mean) {
    vec sign = mean ? vset1(1) : vload(p->sign + c);
    vec best = vzero(), s = vzero(), q = vzero();
    ivec arg = ivset1(-1);
    if (item > 0) {
        best = vmul(sign, vload(p->best + (size_t)group * p->ld_best + c));
        if (p->arg) arg = ivload(p->arg + (size_t)group * p->ld_arg + c);
    }
    while (cells > 0) {
        int end = p->n - item < cells ? p->n : item + cells;
        if (item == 0) {
            best = mean ? vzero() : vset1(-INFINITY);
            arg = ivset1(p->diagonal && group == 0);
        }
        cells -= end - item;
        for (; item < end; item++, u += ld) {
            vec x = vmax(vload(u), vzero());
            vstore(u, x);
            s = vadd(s, x);
            q = vfma(x, x, q);
            if (p->diagonal && item == group) continue;
            if (mean)
                best = vadd(best, x);
            else {
                x = vmul(sign, x);
                vmask better = vgreater(x, best);
                best = vselect(better, x, best);
                arg = ivselect(better, ivset1(item), arg);
            }
        }
        if (p->diagonal && p->n == 1) {
            best = vzero();
            arg = ivset1(-1);
        }
        vstore(p->best + (size_t)group * p->ld_best + c, vmul(sign, best));
        if (p->arg) ivstore(p->arg + (size_t)group * p->ld_arg + c, arg);
        if (item == p->n) {
            item = 0;
            group++;
        }
    }
    if (p->sum) add_sums(p->sum + c, p->square + c, s, q);
}

/* The same for channels c0 .. c0+width-1, u at c0. At most a few hundred cells a call: the sums of one call
 * are float. */
static void finish_cells(const pool_cells *p, int cells, int group, int item, real *u, size_t ld, int c0,
                         int width) {
    for (int c = 0; c < width; c += VL) {
        if (p->mean)
            finish_lanes(p, cells, group, item, u + c, ld, c0 + c, 1);
        else
            finish_lanes(p, cells, group, item, u + c, ld, c0 + c, 0);
    }
}
