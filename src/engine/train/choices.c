/* Lists the values, each with its name and meaning, of training options that are chosen by name:
 * learning-rate schedule, kind of batch, norm statistics, precision, and how the models of an ensemble differ
 * in their features. */
#include "engine/base/choice.h"

const onet_choice *onet_schedules(void) {
    static const onet_choice list[] = {
        {"constant", "it stays the same", ONET_CONSTANT},
        {"cosine", "it falls to 0 along a cosine", ONET_COSINE},
        {0},
    };
    return list;
}

const onet_choice *onet_batch_kinds(void) {
    static const onet_choice list[] = {
        {"mixed", "sets of any sizes", ONET_BATCHES_MIXED},
        {"one-size", "every batch has sets of one size only, as in the paper", ONET_BATCHES_ONE_SIZE},
        {0},
    };
    return list;
}

const onet_choice *onet_norm_statistics(void) {
    static const onet_choice list[] = {
        {"running", "the running averages of training", ONET_STATISTICS_RUNNING},
        {"measured",
         "measured with the final weights; with batches of one size, by size, and extrapolated to larger "
         "sizes",
         ONET_STATISTICS_MEASURED},
        {0},
    };
    return list;
}

const onet_choice *onet_precisions(void) {
    static const onet_choice list[] = {
        {"float32", "32-bit floating point", ONET_FLOAT32},
        {"tf32", "on a GPU only: operands of matrix products rounded to 10 mantissa bits", ONET_TF32},
        {"bf16", "on a GPU only: operands of matrix products rounded to bfloat16, 7 mantissa bits",
         ONET_BF16},
        {0},
    };
    return list;
}

const onet_choice *onet_variations(void) {
    static const onet_choice list[] = {
        {"nothing", "the seed alone", ONET_VARY_NOTHING},
        {"within",
         "the second of every four models has ranks within the set if the others have none, and the reverse",
         ONET_VARY_WITHIN},
        {"relative",
         "the second of every four models has features relative to the set if the others have none, and the "
         "reverse",
         ONET_VARY_RELATIVE},
        {0},
    };
    return list;
}
