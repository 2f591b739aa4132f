/* Cities on the Earth: great-circle distances, and a map of them for the net and for pictures. */
#ifndef TOURS_GEO_H
#define TOURS_GEO_H

#include "ordernet_tsp.h"

/* An instance from places [n, 2], longitude and latitude in degrees. Its distances are kilometres along great
 * circles of a sphere with the Earth's mean radius. Its coordinates are kilometres on a map: the azimuthal
 * equidistant projection about the middle of the cities, north up, in which neither the date line nor a pole
 * is special. The map is true near its middle: across the direction to the middle it is stretched by 1% at
 * 1,560 km from it, by 11% at 5,000 km, and without bound towards the far side of the Earth. */
onet_status geo_instance(onet_tsp *t, int n, const double *places, onet_error *err);

#endif
