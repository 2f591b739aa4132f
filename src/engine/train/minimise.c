/* Minimises a function with L-BFGS: the curvature is estimated from the last few steps and gradients; a step
 * is halved until the value falls by a share of the decrease that the gradient predicts. */
#include "engine/train/minimise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"

enum { HISTORY = 10, HALVINGS = 40 };
#define ENOUGH 1e-4 /* share of the decrease that the gradient predicts */

typedef struct history {
    double *step[HISTORY], *change[HISTORY]; /* [n]: changes of x, and of the gradient */
    double scale[HISTORY];                   /* 1 / (step . change) */
    int count, next;
} history;

static double dot(const double *a, const double *b, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

static void add(double *to, double factor, const double *from, size_t n) {
    for (size_t i = 0; i < n; i++) to[i] += factor * from[i];
}

/* direction = -H gradient, H the estimate of the inverse Hessian. */
static void find_direction(const history *h, const double *gradient, double *direction, size_t n) {
    double alpha[HISTORY];
    for (size_t i = 0; i < n; i++) direction[i] = -gradient[i];
    for (int k = 1; k <= h->count; k++) {
        int at = (h->next - k + HISTORY) % HISTORY;
        alpha[at] = h->scale[at] * dot(h->step[at], direction, n);
        add(direction, -alpha[at], h->change[at], n);
    }
    if (h->count) {
        int at = (h->next - 1 + HISTORY) % HISTORY;
        double size = 1 / (h->scale[at] * dot(h->change[at], h->change[at], n));
        for (size_t i = 0; i < n; i++) direction[i] *= size;
    }
    for (int k = h->count; k >= 1; k--) {
        int at = (h->next - k + HISTORY) % HISTORY;
        double beta = h->scale[at] * dot(h->change[at], direction, n);
        add(direction, alpha[at] - beta, h->step[at], n);
    }
}

/* Remembers the step from (x, gradient) to (to, gradient_to), if the function curves upwards along it. */
static void remember(history *h, const double *x, const double *to, const double *gradient,
                     const double *gradient_to, size_t n) {
    double *step = h->step[h->next], *change = h->change[h->next];
    for (size_t i = 0; i < n; i++) {
        step[i] = to[i] - x[i];
        change[i] = gradient_to[i] - gradient[i];
    }
    double curve = dot(step, change, n);
    if (!(curve > 1e-12 * dot(change, change, n))) return;
    h->scale[h->next] = 1 / curve;
    h->next = (h->next + 1) % HISTORY;
    if (h->count < HISTORY) h->count++;
}

bool minimise(double *x, size_t n, smooth *f, void *context, int most, double least) {
    double *room = array_new(n * (2 * HISTORY + 4), sizeof *room);
    if (!room) return false;
    double *gradient = room, *to = room + n, *gradient_to = room + 2 * n, *direction = room + 3 * n;
    history h = {0};
    for (int k = 0; k < HISTORY; k++) {
        h.step[k] = room + (4 + (size_t)k) * n;
        h.change[k] = room + (4 + HISTORY + (size_t)k) * n;
    }
    double value = f(context, x, gradient);
    for (int i = 0; i < most; i++) {
        find_direction(&h, gradient, direction, n);
        double slope = dot(gradient, direction, n), size = 1, now = 0;
        if (!(slope < 0)) break;
        if (!h.count) size = fmin(1, 1 / sqrt(dot(gradient, gradient, n)));
        int halvings = 0;
        for (; halvings < HALVINGS; halvings++, size /= 2) {
            memcpy(to, x, n * sizeof *to);
            add(to, size, direction, n);
            now = f(context, to, gradient_to);
            if (now <= value + ENOUGH * size * slope) break;
        }
        if (halvings == HALVINGS) break; /* rounding is all that is left */
        remember(&h, x, to, gradient, gradient_to, n);
        memcpy(x, to, n * sizeof *x);
        memcpy(gradient, gradient_to, n * sizeof *gradient);
        double fall = value - now;
        value = now;
        if (fall <= least * fabs(now)) break;
    }
    free(room);
    return true;
}
