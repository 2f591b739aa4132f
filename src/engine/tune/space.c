/* Lists the settings that tuning chooses among, as one table (a new one is a line in it), and combinations
 * that worked on other data; reads, writes, compares and varies settings, and estimates what they cost. */
#include "engine/tune/space.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/choice.h"
#include "engine/base/number.h"
#include "ordernet_train.h"

#define AT(field)   offsetof(onet_train_options, field)
#define COUNT(...)  (sizeof(double[]){__VA_ARGS__} / sizeof(double))
#define VALUES(...) .count = COUNT(__VA_ARGS__), .value = {__VA_ARGS__}

const tuned_setting tuned_settings[TUNED_SETTINGS] = {
    [S_EPOCHS] = {"epochs", AT(epochs), SPACE_INT, VALUES(10, 20, 40, 60, 100)},
    [S_DROP] = {"drop", AT(drop), VALUES(0, 0.15, 0.3, 0.45, 0.6)},
    [S_SCALE] = {"scale", AT(scale), SPACE_NAME, .numbers = true, .choices = onet_scales,
                 VALUES(ONET_SCALE_AUTO, ONET_SCALE_STANDARD, ONET_SCALE_QUANTILE)},
    [S_WITHIN] = {"within", AT(within), SPACE_INT, .numbers = true, VALUES(0, 1)},
    [S_RELATIVE] = {"relative", AT(settings.relative), SPACE_INT, .numbers = true, VALUES(0, 1)},
    [S_RATE] = {"learning-rate", AT(learning_rate), VALUES(1e-3, 2e-3, 5e-3, 1e-2)},
    [S_BATCH] = {"batch", AT(batch), SPACE_INT, VALUES(8, 16, 32, 64)},
    [S_DECAY] = {"weight-decay", AT(weight_decay), VALUES(ONET_DECAY_AUTO, 0.01, 0.1, 0.3, 0.7, 1)},
    [S_POOL] = {"pool", AT(settings.pool), SPACE_INT, .choices = onet_pools,
                VALUES(ONET_POOL_AUTO, ONET_POOL_MAX, ONET_POOL_MEAN)},
    [S_ENCODER] = {"encoder-blocks", AT(settings.encoder_blocks), SPACE_INT, VALUES(2, 3, 4, 6)},
    [S_HIDDEN] = {"hidden", AT(settings.hidden), SPACE_INT, VALUES(32, 64, 128, 256)},
    [S_ENCODER_OUT] = {"encoder-out", AT(settings.encoder_out), SPACE_INT, VALUES(16, 24, 32, 64)},
    [S_DECODER] = {"decoder-blocks", AT(settings.decoder_blocks), SPACE_INT, VALUES(2, 3, 4, 6, 8)},
    [S_DECODER_OUT] = {"decoder-out", AT(settings.decoder_out), SPACE_INT, VALUES(16, 24, 32, 64)},
    [S_JITTER] = {"jitter", AT(jitter), .numbers = true, VALUES(0, 0.01, 0.03)},
    [S_STRAY] = {"stray", AT(stray), VALUES(0, 0.02, 0.05)},
    [S_CROP] = {"crop", AT(crop), SPACE_INT, VALUES(0, 24, 48, 96)},
    [S_MODELS] = {"models", AT(models), SPACE_INT, VALUES(1, 2, 3, 4)},
    [S_VARY] = {"vary", AT(vary), SPACE_INT, .numbers = true, .choices = onet_variations,
                VALUES(ONET_VARY_NOTHING, ONET_VARY_WITHIN, ONET_VARY_RELATIVE)},
    [S_RANKER] = {"ranker", 0, SPACE_NONE, VALUES(0, 1)},
};

/* Settings that have worked, the most often useful first: experiments/own, experiments/suite. */
typedef struct known {
    struct {
        int s; /* counted from 1, so that the list ends in 0 */
        double value;
    } change[11];
} known;

#define SET(name, number)                                                                                    \
    { (name) + 1, (number) }
#define WIDE SET(S_HIDDEN, 128), SET(S_ENCODER_OUT, 32), SET(S_DECODER_OUT, 32)

/* For hundreds of sets or more: deep, strongly regularised, and on parts of large sets, which take most of
 * the time. */
#define DEEP                                                                                                 \
    SET(S_ENCODER, 4), SET(S_DECODER, 8), SET(S_ENCODER_OUT, 24), SET(S_DROP, 0.45), SET(S_DECAY, 0.3),      \
        SET(S_STRAY, 0.02), SET(S_CROP, 48), SET(S_EPOCHS, 60)

static const known list[] = {
    {{{0, 0}}},
    {{SET(S_RANKER, 1)}},
    {{SET(S_RANKER, 1), SET(S_RELATIVE, 1)}},
    {{SET(S_DROP, 0.3), SET(S_EPOCHS, 60)}},
    {{SET(S_WITHIN, 1), SET(S_DROP, 0.3), SET(S_EPOCHS, 60)}},
    {{SET(S_SCALE, ONET_SCALE_QUANTILE), SET(S_DROP, 0.3), SET(S_EPOCHS, 60)}},
    {{SET(S_DECAY, 1), SET(S_EPOCHS, 40)}},
    {{SET(S_WITHIN, 1), SET(S_DROP, 0.3), SET(S_JITTER, 0.03), SET(S_STRAY, 0.02), SET(S_EPOCHS, 60)}},
    {{SET(S_DROP, 0.45), SET(S_EPOCHS, 100), SET(S_BATCH, 16)}},
    {{SET(S_ENCODER, 2), SET(S_DECODER, 2), SET(S_DECAY, 1), SET(S_RATE, 2e-3)}},
    {{SET(S_ENCODER, 4), SET(S_DECAY, 1), SET(S_EPOCHS, 40)}},
    {{SET(S_WITHIN, 1), SET(S_RELATIVE, 1), DEEP}},
    {{SET(S_EPOCHS, 10)}},
    {{WIDE, SET(S_DROP, 0.3), SET(S_EPOCHS, 60)}},
    {{SET(S_RELATIVE, 1), DEEP}},
    {{SET(S_RELATIVE, 1), SET(S_DROP, 0.3), SET(S_EPOCHS, 60)}},
    {{SET(S_SCALE, ONET_SCALE_QUANTILE), SET(S_WITHIN, 1), SET(S_EPOCHS, 40)}},
    {{SET(S_HIDDEN, 128), SET(S_BATCH, 64), SET(S_EPOCHS, 10)}},
    {{SET(S_POOL, ONET_POOL_MAX), SET(S_EPOCHS, 40)}},
};

static double get(const tuned_setting *s, const onet_train_options *o) {
    const char *at = (const char *)o + s->at, *name;
    int number;
    double value;
    switch (s->kind) {
    case SPACE_DOUBLE:
        memcpy(&value, at, sizeof value);
        return value;
    case SPACE_INT:
        memcpy(&number, at, sizeof number);
        return number;
    case SPACE_NAME: {
        memcpy(&name, at, sizeof name);
        const onet_choice *found =
            choice_named(s->choices(), name ? name : "auto", strlen(name ? name : "auto"));
        return found ? found->value : SPACE_GIVEN;
    }
    case SPACE_NONE:
        break;
    }
    return 0;
}

void space_read(choice_made *c, const onet_train_options *o) {
    for (int s = 0; s < TUNED_SETTINGS; s++) c->value[s] = get(&tuned_settings[s], o);
}

void space_write(const choice_made *c, onet_train_options *o) {
    for (int s = 0; s < TUNED_SETTINGS; s++) {
        char *at = (char *)o + tuned_settings[s].at;
        double value = c->value[s];
        int number = (int)value;
        const char *name = NULL; /* "auto" */
        if (tuned_settings[s].kind == SPACE_DOUBLE) memcpy(at, &value, sizeof value);
        if (tuned_settings[s].kind == SPACE_INT) memcpy(at, &number, sizeof number);
        if (tuned_settings[s].kind == SPACE_NAME && number != SPACE_GIVEN) {
            if (number) name = choice_name(tuned_settings[s].choices(), number);
            memcpy(at, &name, sizeof name);
        }
    }
}

bool space_same(const choice_made *a, const choice_made *b) {
    for (int s = 0; s < TUNED_SETTINGS; s++)
        if (a->value[s] != b->value[s]) return false;
    return true;
}

void space_value_text(char text[32], int s, double value) {
    if (tuned_settings[s].kind == SPACE_NAME && value == SPACE_GIVEN)
        snprintf(text, 32, "given");
    else if (s == S_DECAY && value == ONET_DECAY_AUTO)
        snprintf(text, 32, "auto");
    else if (tuned_settings[s].choices)
        snprintf(text, 32, "%s", choice_name(tuned_settings[s].choices(), (int)value));
    else
        number_print(text, 32, "%.9g", value);
}

bool space_value_parse(double *value, int s, const char *text) {
    if (tuned_settings[s].kind == SPACE_NAME && !strcmp(text, "given")) {
        *value = SPACE_GIVEN;
        return true;
    }
    if (s == S_DECAY && !strcmp(text, "auto")) {
        *value = ONET_DECAY_AUTO;
        return true;
    }
    if (tuned_settings[s].choices) {
        const onet_choice *found = choice_named(tuned_settings[s].choices(), text, strlen(text));
        if (found) *value = found->value;
        return found != NULL;
    }
    char *end;
    *value = number_parse(text, &end);
    return end != text && !*end && isfinite(*value) && fabs(*value) < 1e9;
}

void space_text(char *text, size_t room, const choice_made *c, const choice_made *base) {
    size_t used = 0;
    text[0] = '\0';
    for (int s = 0; s < TUNED_SETTINGS && used < room; s++) {
        char value[32];
        if (c->value[s] == base->value[s]) continue;
        space_value_text(value, s, c->value[s]);
        bool flag = c->value[s] == 1 && (s == S_RELATIVE || s == S_WITHIN || s == S_RANKER);
        int length = snprintf(text + used, room - used, "%s%s%s%s", used ? ", " : "", tuned_settings[s].name,
                              flag ? "" : " ", flag ? "" : value);
        if (length > 0) used += (size_t)length;
    }
    if (!used) snprintf(text, room, "default");
}

bool space_known(choice_made *c, int i, const choice_made *base, const bool fixed[TUNED_SETTINGS]) {
    if (i < 0 || (size_t)i >= sizeof list / sizeof *list) return false;
    /* Also the result for the ranker if that is fixed: the caller skips settings that it has tried. */
    *c = *base;
    if (list[i].change[0].s == S_RANKER + 1 && fixed[S_RANKER]) return true;
    for (int k = 0; list[i].change[k].s; k++) {
        int s = list[i].change[k].s - 1;
        if (!fixed[s]) c->value[s] = list[i].change[k].value;
    }
    return true;
}

/* Returns a value next to the present one, or any value of the setting. */
static double other_value(const tuned_setting *s, double now, rng *r) {
    int at = -1;
    for (int i = 0; i < s->count; i++)
        if (s->value[i] == now) at = i;
    if (at >= 0 && !s->choices && rng_below(r, 3)) {
        int to = at + (rng_below(r, 2) ? 1 : -1);
        if (to >= 0 && to < s->count) return s->value[to];
    }
    return s->value[rng_below(r, (uint64_t)s->count)];
}

void space_change(choice_made *c, const bool fixed[TUNED_SETTINGS], rng *r) {
    /* How often each setting is changed: those that mattered most on most data most often. */
    static const int weight[TUNED_SETTINGS] = {
        [S_EPOCHS] = 4, [S_DROP] = 4,        [S_RELATIVE] = 3, [S_SCALE] = 3,       [S_WITHIN] = 3,
        [S_RATE] = 3,   [S_BATCH] = 2,       [S_DECAY] = 3,    [S_POOL] = 1,        [S_ENCODER] = 2,
        [S_HIDDEN] = 2, [S_ENCODER_OUT] = 2, [S_DECODER] = 2,  [S_DECODER_OUT] = 2, [S_JITTER] = 1,
        [S_STRAY] = 2,  [S_CROP] = 1,
    };
    int sum = 0, changes = 1 + (int)rng_below(r, 2);
    for (int s = 0; s < TUNED_SETTINGS; s++) sum += fixed[s] ? 0 : weight[s];
    if (!sum) return;
    while (changes--) {
        int64_t left = (int64_t)rng_below(r, (uint64_t)sum);
        for (int s = 0; s < TUNED_SETTINGS; s++)
            if (!fixed[s] && (left -= weight[s]) < 0) {
                c->value[s] = other_value(&tuned_settings[s], c->value[s], r);
                break;
            }
    }
}

double space_cost(const choice_made *c) {
    const double *v = c->value;
    /* Each block sees the outputs of those before it. */
    double encoder = pow(v[S_ENCODER] / 3, 1.5) * v[S_HIDDEN] / 64,
           decoder = pow(v[S_DECODER] / 3, 1.5) * v[S_DECODER_OUT] / 16;
    return (1 - 0.8 * v[S_DROP]) * (0.25 * encoder + 0.75 * decoder) * sqrt(v[S_ENCODER_OUT] / 16) *
           v[S_MODELS];
}
