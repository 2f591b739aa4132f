/* Lists the pools and presets of a net by name, and gives settings the values of a preset. A new preset is an
 * entry here; a new pool an entry here, one in ordernet.h, and its kernels. */
#include <string.h>

#include "engine/base/arguments.h"
#include "engine/base/choice.h"
#include "engine/base/error.h"

const onet_choice *onet_pools(void) {
    static const onet_choice list[] = {
        {"max", "the largest value", ONET_POOL_MAX},
        {"mean", "the mean", ONET_POOL_MEAN},
        {"auto", "the mean below 10,000 training sets, else the largest", ONET_POOL_AUTO},
        {0},
    };
    return list;
}

enum { PRESET_DEFAULT, PRESET_TSP, PRESET_WORDS };

const onet_choice *onet_presets(void) {
    static const onet_choice list[] = {
        {"default", "a small net for your own data", PRESET_DEFAULT},
        {"tsp", "the paper's net for tours", PRESET_TSP},
        {"words", "the paper's net for words", PRESET_WORDS},
        {0},
    };
    return list;
}

static const onet_settings presets[] = {
    [PRESET_DEFAULT] = {.encoder_blocks = 3,
                        .hidden = 64,
                        .encoder_out = 16,
                        .pool = ONET_POOL_AUTO,
                        .decoder_blocks = 3,
                        .decoder_out = 16},
    [PRESET_TSP] = {.encoder_blocks = 4,
                    .hidden = 128,
                    .encoder_out = 16,
                    .pool = ONET_POOL_MAX,
                    .decoder_blocks = 4,
                    .decoder_out = 16},
    [PRESET_WORDS] = {.encoder_blocks = 8,
                      .hidden = 256,
                      .encoder_out = 32,
                      .pool = ONET_POOL_MEAN,
                      .decoder_blocks = 8,
                      .decoder_out = 32},
};

onet_status onet_settings_preset(onet_settings *settings, const char *name, onet_error *err) {
    NEED(settings, "settings");
    NEED(name, "name");
    const onet_choice *found = choice_named(onet_presets(), name, strlen(name));
    if (!found) {
        char names[128];
        return fail(err, ONET_USAGE, "there is no preset \"%s\"; there are %s", name,
                    choice_names(onet_presets(), " and ", names, sizeof names));
    }
    int width = settings->width;
    *settings = presets[found->value];
    settings->width = width;
    return ONET_OK;
}
