/* Reads a monotonic clock, to measure how long something takes. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

/* Returns the seconds since an arbitrary point in the past. */
double clock_seconds(void);

#endif
