/* Draws the progress line (count, rate, time left), at most every 0.1 s on a terminal and every 5 s
 * elsewhere, and formats durations and large counts. */
#include "app/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "engine/base/clock.h"

static const double first_after = 2, terminal_every = 0.1, plain_every = 5;

void progress_start(progress *p, bool quiet) {
    const char *term = getenv("TERM");
    *p = (progress){.quiet = quiet, .terminal = isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0};
    p->started = clock_seconds();
    p->next = p->started + first_after;
}

bool progress_due(progress *p) {
    return !p->quiet && clock_seconds() >= p->next;
}

void progress_draw(progress *p, const char *text) {
    p->next = clock_seconds() + (p->terminal ? terminal_every : plain_every);
    p->drawn = true;
    if (!p->terminal) {
        fprintf(stderr, "%s\n", text);
        return;
    }
    struct winsize size;
    int width = !ioctl(STDERR_FILENO, TIOCGWINSZ, &size) && size.ws_col ? size.ws_col : 80;
    /* One column short: a full line would wrap on some terminals. \033[K clears what an older line left. */
    fprintf(stderr, "\r%.*s\033[K", width - 1, text);
    fflush(stderr);
}

const char *duration_text(double seconds, char text[32]) {
    long s = 0; /* for NaN too */
    if (seconds > 0) s = seconds > 1e9 ? 1000000000 : (long)(seconds + 0.5);
    if (s < 60)
        snprintf(text, 32, "%ld s", s);
    else if (s < 3600)
        snprintf(text, 32, "%ld min %ld s", s / 60, s % 60);
    else
        snprintf(text, 32, "%ld h %ld min", s / 3600, s / 60 % 60);
    return text;
}

/* 1234567 as "1,234,567". */
static const char *count_text(double count, char text[32]) {
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%.0f", count), at = 0;
    for (int i = 0; i < length; i++) {
        if (i && (length - i) % 3 == 0) text[at++] = ',';
        text[at++] = digits[i];
    }
    text[at] = 0;
    return text;
}

void progress_count(progress *p, const char *what, const char *units, double done, double total) {
    /* At the end the result is printed instead. */
    if ((total > 0 && done >= total) || !progress_due(p)) return;
    char line[256], a[32], b[32], c[32];
    double rate = done / progress_seconds(p);
    int used = snprintf(line, sizeof line, "%.80s %s", what, count_text(done, a));
    if (total > 0) used += snprintf(line + used, sizeof line - (size_t)used, " of %s", count_text(total, b));
    used += snprintf(line + used, sizeof line - (size_t)used, " %.40s", units);
    if (rate >= 10)
        used += snprintf(line + used, sizeof line - (size_t)used, ", %s/s", count_text(rate, c));
    else
        used += snprintf(line + used, sizeof line - (size_t)used, ", %.2g/s", rate);
    if (total > 0 && rate > 0)
        snprintf(line + used, sizeof line - (size_t)used, ", %s left",
                 duration_text((total - done) / rate, c));
    progress_draw(p, line);
}

void ordering_progress(void *context, size_t done, size_t steps) {
    progress_count(context, "ordering", "steps", (double)done, (double)steps);
}

void progress_end(progress *p) {
    if (p->drawn && p->terminal) fputs("\r\033[K", stderr);
    p->drawn = false;
}

double progress_seconds(const progress *p) {
    return clock_seconds() - p->started;
}
