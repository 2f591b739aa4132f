/* What a search may choose: the settings with their values, and those that have worked on other data. */
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
    S_MODELS,
    S_RANKER, /* the linear ranker in place of the net; of the others it knows S_SCALE, S_WITHIN and
                 S_RELATIVE */
    SETTINGS
};

typedef struct setting {
    const char *name;                                              /* that of the program's option */
    size_t at;                                                     /* in onet_train_options */
    enum { SPACE_DOUBLE, SPACE_INT, SPACE_NAME, SPACE_NONE } kind; /* of the field; NONE: it has none */
    bool numbers;                                                  /* not for words */
    const onet_choice *(*choices)(void);
    int count;
    double value[8];
} setting;

extern const setting settings[SETTINGS];

/* Of S_SCALE: a list of the caller's own, which stays as it is. */
enum { SPACE_GIVEN = -1 };

typedef struct choice_made {
    double value[SETTINGS];
} choice_made;

void space_read(choice_made *c, const onet_train_options *o);
void space_write(const choice_made *c, onet_train_options *o);
bool space_same(const choice_made *a, const choice_made *b);
/* "drop 0.3, epochs 60": what differs from `base`; "default" when nothing does. */
void space_text(char *text, size_t room, const choice_made *c, const choice_made *base);
/* A value as text: 0.3, 60, mean; and back, false where it is none. */
void space_value_text(char text[32], int s, double value);
bool space_value_parse(double *value, int s, const char *text);

/* Settings number i that are known to work, on top of base, fixed ones unchanged; false: there are no more.
 * The ranker is among the known ones unless it is fixed. */
bool space_known(choice_made *c, int i, const choice_made *base, const bool fixed[SETTINGS]);
/* Changes one setting or two that are not fixed. */
void space_change(choice_made *c, const bool fixed[SETTINGS], rng *r);
/* How long an epoch takes, about, in epochs of the default net. */
double space_cost(const choice_made *c);

#endif
