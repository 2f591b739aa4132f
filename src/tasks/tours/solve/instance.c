/* Implements the instance (onet_tsp): distances, validity checks, tour lengths and the canonical form of a
 * tour. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/arguments.h"
#include "engine/base/memory.h"
#include "tasks/tours/solve/solvers.h"

onet_status onet_tsp_blank(onet_tsp *t, int n, int coordinates, onet_error *err) {
    NEED(t, "t");
    *t = (onet_tsp){.n = n};
    if (n < 1 || n > ONET_TSP_MAX_CITIES)
        return fail(err, ONET_BAD, "%d cities; an instance has 1 to %d", n, ONET_TSP_MAX_CITIES);
    size_t cells = (size_t)n * (size_t)n;
    t->dist = array_new(cells, sizeof *t->dist);
    if (coordinates) t->xy = array_new((size_t)n * 2, sizeof *t->xy);
    if (!t->dist || (coordinates && !t->xy)) {
        onet_tsp_free(t);
        return fail_memory(err, "a distance matrix");
    }
    return ONET_OK;
}

/* Returns the Euclidean length. Not by hypot: glibc 2.35 gave it a new symbol version, which programs and
 * wheels would then need; and its last bit differs between C libraries. */
static double length(double x, double y) {
    double square = x * x + y * y;
    if (square > 1e-290 && square < 1e300) return sqrt(square);
    /* The squares leave the range of a double, or come near its end: scaled by the larger one. */
    double larger = fmax(fabs(x), fabs(y));
    if (larger == 0 || !isfinite(larger)) return larger;
    x /= larger, y /= larger;
    return larger * sqrt(x * x + y * y);
}

onet_status onet_tsp_points(onet_tsp *t, int n, const double *xy, onet_error *err) {
    NEED(t, "t");
    *t = (onet_tsp){0};
    NEED(xy, "xy");
    onet_status status = onet_tsp_blank(t, n, true, err);
    if (status) return status;
    memcpy(t->xy, xy, (size_t)n * 2 * sizeof *xy);
    for (int i = 0; i < n; i++) {
        if (!isfinite(xy[2 * i]) || !isfinite(xy[2 * i + 1])) {
            onet_tsp_free(t);
            return fail(err, ONET_BAD, "city %d has a coordinate that is not a finite number", i);
        }
        for (int j = 0; j < i; j++) {
            double d = length(xy[2 * i] - xy[2 * j], xy[2 * i + 1] - xy[2 * j + 1]);
            if (!isfinite(d)) {
                onet_tsp_free(t);
                return fail(err, ONET_BAD, "cities %d and %d are too far apart for a double", j, i);
            }
            t->dist[(size_t)i * (size_t)n + (size_t)j] = t->dist[(size_t)j * (size_t)n + (size_t)i] = d;
        }
    }
    return ONET_OK;
}

void onet_tsp_free(onet_tsp *t) {
    if (!t) return;
    free(t->xy);
    free(t->dist);
    *t = (onet_tsp){0};
}

/* Checks the distance from city i to city j. */
static onet_status check_cost(const onet_tsp *t, int i, int j, onet_error *err) {
    double d = onet_tsp_distance(t, i, j);
    if (!(d >= 0) || !isfinite(d))
        return fail(err, ONET_BAD, "the distance of cities %d and %d is %g: it must be finite and 0 or more",
                    j, i, d);
    if (t->whole && d != floor(d))
        return fail(
            err, ONET_BAD,
            "onet_tsp.whole is set, but the distance between cities %d and %d is %.9g, not a whole number", j,
            i, d);
    return ONET_OK;
}

/* Checks the distances between cities i > j, both ways. */
static onet_status check_pair(const onet_tsp *t, int i, int j, onet_error *err) {
    double there = onet_tsp_distance(t, j, i), back = onet_tsp_distance(t, i, j);
    onet_status status = check_cost(t, i, j, err);
    if (!status && t->asymmetric) return check_cost(t, j, i, err);
    if (!status && there != back)
        status = fail(err, ONET_BAD,
                      "cities %d and %d have the distance %g there and %g back: it must be the same, or "
                      "onet_tsp.asymmetric set",
                      j, i, there, back);
    return status;
}

onet_status tsp_check_size(const onet_tsp *t, onet_error *err) {
    if (t->n < 1) return fail(err, ONET_USAGE, "the instance has no cities");
    if (t->n > ONET_TSP_MAX_CITIES)
        return fail(err, ONET_USAGE, "the instance has %d cities: at most %d are possible", t->n,
                    ONET_TSP_MAX_CITIES);
    if (t->asymmetric > 1)
        return fail(err, ONET_USAGE, "onet_tsp.asymmetric is %zu; 0 and 1 are possible", t->asymmetric);
    for (size_t i = 0; i < sizeof t->reserved / sizeof *t->reserved; i++)
        if (t->reserved[i])
            return fail(
                err, ONET_USAGE,
                "onet_tsp.reserved is not zero: make the instance with onet_tsp_points or onet_tsp_blank");
    return ONET_OK;
}

onet_status tsp_check(const onet_tsp *t, onet_error *err) {
    enum { TILE = 64 }; /* of the matrix, which is read along its rows and its columns */
    onet_status status = tsp_check_size(t, err);
    if (!status && !t->dist) status = fail(err, ONET_USAGE, "the instance has no distances");
    for (int i = 0; i < t->n && !status; i++)
        if (onet_tsp_distance(t, i, i) != 0)
            status = fail(err, ONET_BAD, "city %d has a distance to itself that is not 0", i);
    for (int row = 0; row < t->n && !status; row += TILE)
        for (int column = 0; column <= row && !status; column += TILE)
            for (int i = row; i < row + TILE && i < t->n && !status; i++)
                for (int j = column; j < column + TILE && j < i && !status; j++)
                    status = check_pair(t, i, j, err);
    return status;
}

static bool in_range(int n, const int32_t *tour) {
    bool good = true;
    for (int i = 0; i < n; i++) good &= tour[i] >= 0 && tour[i] < n;
    return good;
}

double onet_tsp_length(const onet_tsp *t, const int32_t *tour) {
    double length = 0;
    if (!t || !t->dist || !tour || !in_range(t->n, tour)) return NAN;
    for (int i = 0; i < t->n; i++) length += onet_tsp_distance(t, tour[i], tour[i + 1 < t->n ? i + 1 : 0]);
    return length;
}

int onet_tsp_is_tour(int n, const int32_t *tour) {
    if (n < 1 || !tour) return 0;
    bool *seen = calloc((size_t)n, sizeof *seen);
    bool good = seen != NULL;
    for (int i = 0; good && i < n; i++) {
        good = tour[i] >= 0 && tour[i] < n && !seen[tour[i]];
        if (good) seen[tour[i]] = true;
    }
    free(seen);
    return good;
}

/* Whether city a ranks before city b. */
static bool before(const onet_tsp *t, int a, int b) {
    if (t->xy && !t->asymmetric) {
        const double *p = t->xy + 2 * a, *q = t->xy + 2 * b;
        double s = p[0] + p[1], r = q[0] + q[1];
        if (s != r) return s < r;
        if (p[0] != q[0]) return p[0] < q[0];
    }
    return a < b;
}

static void reverse(int32_t *first, int32_t *last) {
    while (first < last) {
        int32_t swap = *first;
        *first++ = *last;
        *last-- = swap;
    }
}

void onet_tsp_canonical(const onet_tsp *t, int32_t *tour) {
    if (!t || !tour || t->n < 1 || !in_range(t->n, tour)) return;
    int n = t->n, start = 0;
    for (int i = 1; i < n; i++)
        if (before(t, tour[i], tour[start])) start = i;
    /* Rotate left by `start`: three reversals. */
    reverse(tour, tour + start - 1);
    reverse(tour + start, tour + n - 1);
    reverse(tour, tour + n - 1);
    if (t->asymmetric) return;
    double area = 0, scale = 0;
    if (t->xy) {
        const double *o = t->xy + 2 * tour[0];
        for (int i = 1; i + 1 < n; i++) {
            const double *a = t->xy + 2 * tour[i], *b = t->xy + 2 * tour[i + 1];
            double left = (a[0] - o[0]) * (b[1] - o[1]), right = (a[1] - o[1]) * (b[0] - o[0]);
            area += left - right;
            scale += fabs(left) + fabs(right);
        }
    }
    /* An area within rounding counts as none. */
    bool turned = fabs(area) > 1e-13 * scale ? area < 0 : n > 2 && before(t, tour[n - 1], tour[1]);
    if (turned) reverse(tour + 1, tour + n - 1);
}
