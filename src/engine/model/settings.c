/* Lists the settings of a network with their limits and checks them, and whether sets have the relations that
 * a model needs. */
#include "engine/model/settings.h"

#include <stdio.h>
#include <string.h>

#include "engine/base/choice.h"
#include "engine/base/error.h"
#include "engine/base/limits.h"
#include "engine/base/lines.h"
#include "engine/base/shown.h"
#include "engine/model/model.h"

#define KEY(name) .key = #name, .field = "onet_settings." #name, .at = offsetof(onet_settings, name)

const setting settings_list[] = {
    {KEY(width), .what = "the number of features per item", .low = 1, .high = MAX_WIDTH},
    {KEY(encoder_blocks), .what = "the number of encoder blocks", .high = MAX_BLOCKS, .in_parts = true},
    {KEY(hidden), .what = "the encoder's hidden width", .low = 1, .high = MAX_HIDDEN},
    {KEY(encoder_out), .what = "the encoder's output width", .low = 1, .high = MAX_OUT},
    {KEY(pool), .what = "the pool", .in_parts = true, .choices = onet_pools},
    {KEY(decoder_blocks), .what = "the number of decoder blocks", .high = MAX_BLOCKS, .in_parts = true},
    {KEY(decoder_out), .what = "the decoder's output width", .low = 1, .high = MAX_OUT},
    {KEY(relative), .what = "the setting relative", .high = 1, .version = 2, .flag = true},
    {KEY(relations), .what = "the number of relations between two items", .high = MAX_RELATIONS, .version = 4,
     .in_parts = true},
};
_Static_assert(sizeof settings_list / sizeof *settings_list == SETTINGS, "a row for each member");

const char *setting_text(const onet_settings *s, const setting *k, char text[16]) {
    if (k->choices) return choice_name(k->choices(), *setting_of(s, k));
    snprintf(text, 16, "%d", *setting_of(s, k));
    return text;
}

onet_status settings_check(const onet_settings *s, onet_error *err) {
    for (const setting *k = settings_list; k < settings_list + SETTINGS; k++) {
        int value = *setting_of(s, k), low = k->low;
        if (k->at == offsetof(onet_settings, width) && s->relations > 0) low = 0; /* relations alone */
        if (k->choices ? choice_of(k->choices(), value) && value != ONET_POOL_AUTO
                       : value >= low && value <= k->high)
            continue;
        if (k->choices) return fail_field(err, ONET_USAGE, k->field, "there is no %s %d", k->key, value);
        return fail_field(err, ONET_USAGE, k->field, "%s is %d: it must be from %d to %d", k->what, value,
                          low, k->high);
    }
    for (size_t i = 0; i < sizeof s->reserved / sizeof *s->reserved; i++)
        if (s->reserved[i])
            return fail(err, ONET_USAGE, "reserved[%zu] of onet_settings is %d; it must be 0", i,
                        s->reserved[i]);
    return ONET_OK;
}

/* Writes names, one per line, with commas between them instead; returns text. */
static const char *in_one_line(char *text, size_t room, const char *lines) {
    size_t used = 0;
    text[0] = '\0';
    for (int r = 0; r < lines_count(lines) && used + 1 < room; r++) {
        char one[SHOWN];
        const char *name;
        size_t length = lines_find(lines, r, &name);
        used += (size_t)snprintf(text + used, room - used, "%s%s", r ? ", " : "",
                                 shown_text(one, sizeof one, name, length));
    }
    return text;
}

onet_status model_check_relations(const onet_model *m, const onet_sets *sets, onet_error *err) {
    int own = model_given_relations(m), given = sets_relations(sets);
    if (own != given)
        return fail(
            err, ONET_BAD,
            "the sets have %d relation%s between two items, but the model was trained on %d: give the "
            "sets those of its training data",
            given, given == 1 ? "" : "s", own);
    if (own && m->relations && sets->pairs->names && strcmp(m->relations, sets->pairs->names) != 0) {
        char of_model[200], of_sets[200];
        return fail(
            err, ONET_BAD,
            "the relations of the sets are %s, those of the model %s; give them the same names, in the "
            "same order",
            in_one_line(of_sets, sizeof of_sets, sets->pairs->names),
            in_one_line(of_model, sizeof of_model, m->relations));
    }
    return ONET_OK;
}
