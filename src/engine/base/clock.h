/* Reads a monotonic clock, to measure how long something takes. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

/* Seconds since an arbitrary point in the past. */
double clock_seconds(void);

#endif
