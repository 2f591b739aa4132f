/* Lists the search methods (beam, greedy, sample) by name. */
#include "engine/base/choice.h"

const onet_choice *onet_decodes(void) {
    static const onet_choice list[] = {
        {"beam", "beam search", ONET_BEAM},
        {"greedy", "the most probable item at each step", ONET_GREEDY},
        {"sample", "drawn by its probability", ONET_SAMPLE},
        {0},
    };
    return list;
}
