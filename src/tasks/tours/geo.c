/* Makes an instance from longitudes and latitudes: great-circle distances, and coordinates by an azimuthal
 * equidistant projection. */
#include "tasks/tours/load.h"

#include <math.h>

static const double EARTH_KM = 6371.0088; /* mean radius, as the IUGG gives it */

typedef struct place {
    double lon, lat; /* radians */
} place;

static place radians(const double *degrees) {
    const double unit = acos(-1) / 180;
    return (place){(double)degrees[0] * unit, (double)degrees[1] * unit};
}

/* Returns the distance by the haversine formula, which keeps its precision for near places. */
static double kilometres(place a, place b) {
    double up = sin((a.lat - b.lat) / 2), across = sin((a.lon - b.lon) / 2);
    double h = up * up + cos(a.lat) * cos(b.lat) * across * across;
    return 2 * EARTH_KM * asin(sqrt(fmin(1, h)));
}

/* Returns the direction of the mean of the cities as points in space; the first city if they are spread
 * evenly over the Earth, and have no middle. */
static place middle(int n, const double *places) {
    double x = 0, y = 0, z = 0;
    for (int i = 0; i < n; i++) {
        place p = radians(places + 2 * i);
        x += cos(p.lat) * cos(p.lon);
        y += cos(p.lat) * sin(p.lon);
        z += sin(p.lat);
    }
    if (sqrt(x * x + y * y + z * z) < 1e-9 * n) return radians(places);
    return (place){atan2(y, x), atan2(z, hypot(x, y))};
}

/* Writes to xy [2] where p is on the map about c. */
static void project(place c, place p, double *xy) {
    double turn = p.lon - c.lon;
    double east = cos(p.lat) * sin(turn);
    double north = cos(c.lat) * sin(p.lat) - sin(c.lat) * cos(p.lat) * cos(turn);
    double out = hypot(east, north); /* the sine of the angle from the middle */
    double angle = atan2(out, sin(c.lat) * sin(p.lat) + cos(c.lat) * cos(p.lat) * cos(turn));
    xy[0] = EARTH_KM * angle * (out > 0 ? east / out : 1);
    xy[1] = EARTH_KM * angle * (out > 0 ? north / out : 0);
}

onet_status geo_instance(onet_tsp *t, int n, const double *places, onet_error *err) {
    onet_status status = onet_tsp_blank(t, n, 1, err);
    if (status) return status;
    place centre = middle(n, places);
    for (int i = 0; i < n; i++) {
        place p = radians(places + 2 * i);
        project(centre, p, t->xy + 2 * i);
        for (int j = 0; j < i; j++)
            t->dist[(size_t)i * (size_t)n + (size_t)j] = t->dist[(size_t)j * (size_t)n + (size_t)i] =
                kilometres(p, radians(places + 2 * j));
    }
    return ONET_OK;
}
