/* Shows a progress line on standard error: one line that is redrawn on a terminal, a plain line every few
 * seconds elsewhere, nothing for work of under two seconds or with --quiet. For one thread at a time. */
#ifndef APP_PROGRESS_H
#define APP_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct progress {
    bool quiet, terminal, drawn;
    double started, next; /* seconds of the monotonic clock; `next`: when to draw again */
} progress;

void progress_start(progress *p, bool quiet);
/* Whether it is time to draw; make the text only then. */
bool progress_due(progress *p);
/* Draws the caller's own line, cut to the terminal's width; call when progress_due says so. */
void progress_draw(progress *p, const char *text);
/* Draws, when it is due, "WHAT 1,200 of 5,000 UNITS, 340/s, 11 s left"; total 0 when it is not known. */
void progress_count(progress *p, const char *what, const char *units, double done, double total);
/* The callback onet_order_options.progress, for one large set; context: a progress. */
void ordering_progress(void *context, size_t done, size_t steps);
/* Clears the redrawn line; the terminal is free for the result. */
void progress_end(progress *p);

/* Returns the seconds since progress_start. */
double progress_seconds(const progress *p);
/* Writes "42 s", "3 min 10 s" or "2 h 5 min"; returns text. */
const char *duration_text(double seconds, char text[32]);

#endif
