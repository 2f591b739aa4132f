/* The C functions that the browser page calls for sentences: cut a text into words, order them, write the
 * order as a sentence. Conventions as in src/front/wasm/exports.c. */
#include "app/wasm_export.h"
#include "ordernet_words.h"

static onet_bag *bag; /* of the last text */

/* Cuts a text into words of the model; returns their number, -1 on failure. */
EXPORT(web_bag_read) int web_bag_read(const onet_model *model, const char *text, int most) {
    onet_bag_free(bag);
    bag = NULL;
    if (onet_bag_new(&bag, onet_model_words(model), &wasm_failure)) return -1;
    return onet_bag_add(bag, text, most, &wasm_failure) ? -1 : onet_bag_count(bag);
}

EXPORT(web_bag_word) const char *web_bag_word(int i, int *known) {
    return onet_bag_word(bag, i, known);
}

/* Orders the words of the last text; arguments and result as of web_order. */
EXPORT(web_bag_order)
int web_bag_order(const onet_model *model, int beam, int top, int32_t *order, double *logprob) {
    onet_answer answer = {.order = order, .logprob = logprob};
    onet_orderer *orderer = wasm_orderer(model, beam, top);
    return orderer && !onet_orderer_run(orderer, onet_bag_set(bag), &answer, &wasm_failure) ? answer.found
                                                                                            : -1;
}

/* Writes an order as a sentence to text [room]; returns its length, also if room is 0. */
EXPORT(web_bag_write) size_t web_bag_write(const int32_t *order, char *text, size_t room) {
    return onet_bag_write(bag, order, ONET_CASE_SENTENCE, room ? text : NULL, room);
}
