/* Loads a model for a command that orders sets (on all MPI ranks, if there are several), checks the search
 * options and the input against it, and allocates the arrays for the answers. */
#include "app/ordering.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/processes.h"
#include "engine/base/error.h"
#include "engine/base/lines.h"
#include "engine/base/memory.h"
#include "engine/base/shown.h"
#include "ordernet_io.h"
#include "ordernet_train.h"

/* All ranks must have loaded the same model: answers of two different models must not be mixed. */
static onet_status same_model(const world *w, const onet_model *model, const char *path, onet_error *err) {
    char sum[65];
    onet_model_checksum(model, sum);
    onet_status status = ONET_OK;
    if (!world_same(w, sum, sizeof sum))
        status = fail(
            err, ONET_USAGE,
            "rank %d has another model in %s than rank 0; give all ranks the same model, or a copy of it",
            w->rank, path);
    return world_agree(w, status, err);
}

onet_status ordering_open(onet_model **model, onet_orderer **orderer, const char *path,
                          const onet_order_options *options, onet_error *err) {
    const world *w = processes();
    onet_order_options own = *options;
    own.world = w;
    onet_status status = world_agree(w, onet_model_load(model, path, err), err);
    if (w && !status) status = same_model(w, *model, path, err);
    if (!status) status = onet_orderer_new(orderer, *model, &own, err);
    if (status || processes_is_rank0()) return status;
    onet_orderer_work(*orderer);
    onet_orderer_free(*orderer);
    *orderer = NULL;
    return ONET_OK;
}

onet_status ordering_check(onet_order_options *o, onet_error *err) {
    if (!o->beam) o->beam = o->top > 5 ? o->top : 5;
    if (o->decode == ONET_BEAM && o->top > o->beam)
        return fail_field(err, ONET_USAGE, "onet_order_options.top onet_order_options.beam",
                          "%d orders are more than a beam of %d can find; widen the beam to %d", o->top,
                          o->beam, o->top);
    if (o->decode == ONET_GREEDY && o->top > 1)
        return fail_field(err, ONET_USAGE, "onet_order_options.top onet_order_options.decode",
                          "greedy decoding finds one order, not %d; use beam or sample", o->top);
    return ONET_OK;
}

/* Writes names, given one per line, with commas between them. */
static const char *names_shown(const char *lines, char text[SHOWN]) {
    const char *name;
    size_t used = 0, all = (size_t)lines_count(lines);
    for (size_t k = 0; k < all && used + 64 < SHOWN; k++) {
        char one[64];
        size_t length = lines_find(lines, (int)k, &name);
        used += (size_t)snprintf(text + used, SHOWN - used, "%s%s", k ? ", " : "",
                                 shown_text(one, sizeof one, name, length));
    }
    return text;
}

/* The kind of the items that a model is given. */
typedef struct item_kind {
    bool words, text; /* text: words from plain text */
    int width, relations;
    const char *names; /* of the relations, one per line; NULL: none */
} item_kind;

/* width: the features per item that the model takes. */
static onet_status check_kind(const onet_model *model, const char *model_name, const item_kind *items,
                              int width, onet_error *err) {
    const onet_words *words = onet_model_words(model);
    if (!words && items->words)
        return fail_field(err, ONET_BAD, items->text ? "onet_read_options.format" : "",
                          "the items are words%s, but %s orders items of %d number%s; name another model%s",
                          items->text ? " of plain text" : "", model_name, onet_model_width(model),
                          onet_model_width(model) == 1 ? "" : "s",
                          items->text ? ", or the format of these data" : "");
    if (words && !items->words)
        return fail(err, ONET_BAD, "the items are numbers, but %s orders words; name another model",
                    model_name);
    if (items->width != width)
        return fail(err, ONET_BAD,
                    "an item has %d feature%s, but %s orders items of %d; give it such items, or another "
                    "model",
                    items->width, items->width == 1 ? "" : "s", model_name, width);
    int meant = onet_model_given_relations(model);
    if (meant != items->relations)
        return fail(err, ONET_BAD,
                    "two items have %d relation%s, but %s was trained on %d; give it such sets, or another "
                    "model",
                    items->relations, items->relations == 1 ? "" : "s", model_name, meant);
    const char *known = onet_model_relations(model);
    if (known && items->names && strcmp(known, items->names) != 0) {
        char theirs[SHOWN], own_names[SHOWN];
        return fail(err, ONET_BAD,
                    "the relations are %s, but %s was trained on %s; give its own, in its order",
                    names_shown(items->names, theirs), model_name, names_shown(known, own_names));
    }
    return ONET_OK;
}

onet_status ordering_fits(const onet_model *model, const char *model_name, const onet_record *r,
                          const char *name, onet_error *err) {
    const onet_columns *columns = onet_model_columns(model);
    item_kind items = {.words = !onet_record_values(r),
                       .text = onet_record_format(r) == ONET_FORMAT_TEXT,
                       .width = onet_record_width(r),
                       .relations = onet_record_relations(r),
                       .names = onet_record_relation_names(r)};
    int width = items.words ? items.width : columns ? onet_columns_width(columns) : onet_model_width(model);
    onet_status status = check_kind(model, model_name, &items, width, err);
    if (status) error_prefix(err, "%s:%ld", name, onet_record_line(r));
    return status;
}

onet_status ordering_fits_sets(const onet_model *model, const char *model_name, const onet_sets *sets,
                               const char *name, onet_error *err) {
    item_kind items = {.words = sets->word != NULL,
                       .width = sets->width,
                       .relations = sets->pairs ? sets->pairs->width : 0,
                       .names = sets->pairs ? sets->pairs->names : NULL};
    onet_status status = check_kind(model, model_name, &items, onet_model_width(model), err);
    if (status) error_prefix(err, "%s", name);
    return status;
}

onet_status answer_room_make(answer_room *r, const onet_sets *sets, int top, bool steps, onet_error *err) {
    size_t items = sets->start[sets->count] - sets->start[0], orders, places;
    if (!size_mul(sets->count, (size_t)top, &orders) || !size_mul(items, (size_t)top, &places) ||
        !array_reserve(&r->answers, &r->room, sets->count, sizeof *r->answers) ||
        !array_reserve(&r->order, &r->order_room, places, sizeof *r->order) ||
        !array_reserve(&r->logprob, &r->logprob_room, orders, sizeof *r->logprob) ||
        (steps && !array_reserve(&r->step, &r->step_room, places, sizeof *r->step)))
        return fail_memory(err, "the answers");
    for (size_t s = 0; s < sets->count; s++) {
        size_t at = (sets->start[s] - sets->start[0]) * (size_t)top;
        r->answers[s] = (onet_answer){.order = r->order + at,
                                      .logprob = r->logprob + s * (size_t)top,
                                      .step = steps ? r->step + at : NULL};
    }
    return ONET_OK;
}

void answer_room_free(answer_room *r) {
    free(r->answers);
    free(r->order);
    free(r->logprob);
    free(r->step);
}

size_t answers_sound(const onet_answer *answers, size_t count) {
    for (size_t s = 0; s < count; s++)
        for (int k = 0; k < answers[s].found; k++)
            if (isnan(answers[s].logprob[k])) return s;
    return count;
}
