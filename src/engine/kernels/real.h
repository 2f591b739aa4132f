/* Defines the number type of the kernels: float. The tests compile the plain kernels once more in double, to
 * compare gradients with finite differences. */
#ifndef KERNELS_REAL_H
#define KERNELS_REAL_H

#ifndef ONET_REAL
#define ONET_REAL float
#endif
typedef ONET_REAL real;

#endif
