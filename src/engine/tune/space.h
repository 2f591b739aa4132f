/* Defines the search space of tuning: the settings with their values, and those that have worked on other
 * data. Also declares the trials of a search, their file, and the comparison of scores (trials.c). */
#ifndef TUNE_SPACE_H
#define TUNE_SPACE_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/base/rng.h"
#include "ordernet.h"

enum {
    S_EPOCHS,
    S_DROP,
    S_SCALE,
    S_WITHIN,
    S_RELATIVE,
    S_RATE,
    S_BATCH,
    S_DECAY,
    S_POOL,
    S_ENCODER,
    S_HIDDEN,
    S_ENCODER_OUT,
    S_DECODER,
    S_DECODER_OUT,
    S_JITTER,
    S_STRAY,
    S_CROP,
    S_MODELS,
    S_VARY,   /* of several models */
    S_RANKER, /* the linear ranker in place of the net; it uses S_SCALE, S_WITHIN and S_RELATIVE alone */
    TUNED_SETTINGS
};

typedef struct tuned_setting {
    const char *name;                                              /* that of the program's option */
    size_t at;                                                     /* in onet_train_options */
    enum { SPACE_DOUBLE, SPACE_INT, SPACE_NAME, SPACE_NONE } kind; /* of the field; NONE: it has none */
    bool numbers;                                                  /* only for items that are numbers, not
                                                                    * words */
    const onet_choice *(*choices)(void);
    int count;
    double value[8];
} tuned_setting;

extern const tuned_setting tuned_settings[TUNED_SETTINGS];

/* The value of S_SCALE for a list that the caller gave, which is kept. */
enum { SPACE_GIVEN = -1 };

typedef struct choice_made {
    double value[TUNED_SETTINGS];
} choice_made;

/* Read the settings from options, and write them to options. */
void space_read(choice_made *c, const onet_train_options *o);
void space_write(const choice_made *c, onet_train_options *o);
bool space_same(const choice_made *a, const choice_made *b);
/* Writes what differs from `base`, such as "drop 0.3, epochs 60"; "default" if nothing does. */
void space_text(char *text, size_t room, const choice_made *c, const choice_made *base);
/* space_value_text writes a value of setting s as text: 0.3, 60, mean; space_value_parse reads it, and
 * returns false if the text is not a value. */
void space_value_text(char text[32], int s, double value);
bool space_value_parse(double *value, int s, const char *text);

/* Makes settings number i that are known to work, on top of base, with fixed ones unchanged; returns false if
 * there are no more. The ranker is among the known ones unless it is fixed. */
bool space_known(choice_made *c, int i, const choice_made *base, const bool fixed[TUNED_SETTINGS]);
/* Changes one setting or two that are not fixed. */
void space_change(choice_made *c, const bool fixed[TUNED_SETTINGS], rng *r);
/* Returns about how long an epoch takes, in epochs of the default net, on whole sets, whatever the crop. */
double space_cost(const choice_made *c);

/* ---- Trials (trials.c) ------------------------------------------------------------------------------- */

/* The trials of a search, and the CSV that keeps them. */

/* FIRST measures the speed of this machine and decides nothing else. */
typedef enum trial_kind { TRIAL_FIRST, TRIAL_SHORT, TRIAL_WHOLE } trial_kind;
/* SLOW: would have taken more than its share of the budget. HOPELESS: stopped early, scored far below the
 * best trial of its kind at the same share of its epochs. STOPPED: the search ended before it did. */
typedef enum trial_end { TRIAL_ENDED, TRIAL_SLOW, TRIAL_HOPELESS, TRIAL_FAILED, TRIAL_STOPPED } trial_end;

enum { GLANCES = 3 /* at a quarter, a half and three quarters of the epochs */ };

typedef struct trial {
    choice_made made;
    trial_kind kind;
    int generation; /* trials of one generation were chosen at once, by the results of those before */
    int part;       /* the part that measured it */
    int epochs;     /* trained for */
    trial_end end;
    double exact, neighbours, tau, loglik; /* NaN unless it ended */
    double glance[GLANCES];                /* its validation score on the way; NaN: not known */
    double seconds;                        /* its training and measuring took */
    double at;                             /* seconds of the search when it ended */
} trial;

typedef struct trials {
    trial *row;
    size_t count, room;
    char search[17]; /* tells one search from another: data, seed and options in hex */
} trials;

onet_status trials_add(trials *t, const trial *row, onet_error *err);
void trials_free(trials *t);
onet_status trials_write(const trials *t, const char *path, onet_error *err);
/* Reads what trials_write wrote; if there is no file, nothing. ONET_BAD if the trials are of another search.
 */
onet_status trials_read(trials *t, const char *path, onet_error *err);
/* Returns the trial of these settings, kind and part, unless it was stopped; NULL: there is none. */
const trial *trials_find(const trials *t, const choice_made *made, trial_kind kind, int part);
/* Whether a score is less than a point (0.01) behind the best, which may be chance. */
bool is_as_good(double score, double best);
/* Whether settings lead others by more than a point and two standard errors, by their lead on each part, of 2
 * or more. */
bool is_clear_lead(const double *lead, int parts);

#endif
