/* The trials of a search, and the CSV that keeps them. */
#ifndef TUNE_TRIALS_H
#define TUNE_TRIALS_H

#include "engine/tune/space.h"

/* FIRST measures the speed of this machine and decides nothing else. */
typedef enum trial_kind { TRIAL_FIRST, TRIAL_SHORT, TRIAL_WHOLE } trial_kind;
/* SLOW: would have taken more than its share of the budget. STOPPED: the search ended before it did. */
typedef enum trial_end { TRIAL_ENDED, TRIAL_SLOW, TRIAL_FAILED, TRIAL_STOPPED } trial_end;

typedef struct trial {
    choice_made made;
    trial_kind kind;
    int generation; /* trials of one generation were chosen at once, by the results of those before */
    int part;       /* that measured it */
    int epochs;     /* trained for */
    trial_end end;
    double exact, neighbours, tau; /* NaN unless it ended */
    double seconds;                /* of its training and measuring */
    double at;                     /* of the search, when it ended */
} trial;

typedef struct trials {
    trial *row;
    size_t count, room;
    char search[17]; /* tells one search from another: data, seed and options in hex */
} trials;

onet_status trials_add(trials *t, const trial *row, onet_error *err);
void trials_free(trials *t);
onet_status trials_write(const trials *t, const char *path, onet_error *err);
/* Reads what trials_write wrote; nothing where there is no file. ONET_BAD where it is of another search. */
onet_status trials_read(trials *t, const char *path, onet_error *err);
/* The trial of these settings, kind and part that came to an end; NULL: there is none. */
const trial *trials_find(const trials *t, const choice_made *made, trial_kind kind, int part);

#endif
