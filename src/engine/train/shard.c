/* Sends each rank its share of the training sets that rank 0 has read, and all ranks the vocabulary, the
 * columns, the scaling and how relations are named and made; finds the sets of a batch that a rank owns. */
#include "engine/train/shard.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/data/columns.h"
#include "engine/data/sets.h"

/* What rank 0 broadcasts first. */
typedef struct header {
    uint64_t count;         /* sets */
    uint64_t words, text;   /* of the vocabulary; words is 0 where items are numbers */
    int32_t width, context; /* context: 1 where some items are never placed */
    int32_t relations;      /* numbers for each pair of items */
    char hash[65];
} header;

static size_t own_count(const world *w, size_t count, int rank) {
    return count / (size_t)w->size + ((size_t)rank < count % (size_t)w->size);
}

/* ---- items from rank 0 to each owner ---- */

/* Sent in pieces, so that rank 0 need not hold a second copy of what a rank owns. */
enum { PIECE = 1 << 20 };

typedef struct sender {
    const world *w;
    int to;
    char *bytes; /* [PIECE] */
    size_t held;
} sender;

static void send_held(sender *s) {
    if (s->held) s->w->send(s->w, s->to, s->bytes, s->held);
    s->held = 0;
}

static void send_some(sender *s, const void *data, size_t bytes) {
    const char *from = data;
    while (bytes) {
        size_t some = PIECE - s->held < bytes ? PIECE - s->held : bytes;
        memcpy(s->bytes + s->held, from, some);
        s->held += some;
        from += some;
        bytes -= some;
        if (s->held == PIECE) send_held(s);
    }
}

static void receive_all(const world *w, void *data, size_t bytes) {
    for (size_t done = 0; done < bytes; done += PIECE)
        w->receive(w, 0, (char *)data + done, bytes - done < PIECE ? bytes - done : PIECE);
}

/* How many elements a set has in an array: one for each item, or one for each pair of items. */
typedef enum { PER_ITEM, PER_PAIR } per;

static size_t elements(const onet_sets *plan, size_t s, per what) {
    size_t n = sets_size(plan, s);
    return what == PER_PAIR ? n * n : n;
}

/* Returns where the elements of set s begin in the array of rank 0. */
static size_t elements_at(const onet_sets *all, size_t s, per what) {
    return what == PER_PAIR ? all->pairs->row[all->start[s]] : all->start[s];
}

static size_t own_elements(const world *w, const onet_sets *plan, int rank, per what) {
    size_t sum = 0;
    for (size_t s = (size_t)rank; s < plan->count; s += (size_t)w->size) sum += elements(plan, s, what);
    return sum;
}

/* Distributes one array with `each` bytes per element, set by set, from `all` in rank 0 to `own` in each
 * owner. */
static void deal(const world *w, char *piece, const onet_sets *plan, const void *all, void *own, per what,
                 size_t each) {
    if (w->rank) {
        receive_all(w, own, own_elements(w, plan, w->rank, what) * each);
        return;
    }
    char *to = own;
    for (size_t s = 0; s < plan->count; s += (size_t)w->size) {
        size_t bytes = elements(plan, s, what) * each;
        if (bytes) memcpy(to, (const char *)all + elements_at(plan, s, what) * each, bytes);
        to += bytes;
    }
    for (int rank = 1; rank < w->size; rank++) {
        sender out = {w, rank, piece, 0};
        for (size_t s = (size_t)rank; s < plan->count; s += (size_t)w->size)
            send_some(&out, (const char *)all + elements_at(plan, s, what) * each,
                      elements(plan, s, what) * each);
        send_held(&out);
    }
}

/* ---- the vocabulary ---- */

static onet_words *words_room(const header *h) {
    onet_words *words = calloc(1, sizeof *words);
    if (!words) return NULL;
    words->count = (int)h->words;
    words->width = h->width;
    words->at = array_new(h->words + 1, sizeof *words->at);
    words->text = array_new(h->text + 1, 1);
    words->vectors = array_new(h->words * (size_t)h->width, sizeof *words->vectors);
    if (words->at && words->text && words->vectors) return words;
    words_free(words);
    return NULL;
}

/* All ranks get the same vectors, and make the same updates to them. */
static void share_words(const world *w, const onet_words *words, const header *h) {
    w->broadcast(w, 0, words->at, (h->words + 1) * sizeof *words->at);
    w->broadcast(w, 0, words->text, h->text);
    w->broadcast(w, 0, words->vectors, h->words * (size_t)h->width * sizeof *words->vectors);
}

/* ---- the columns ---- */

/* What rank 0 broadcasts of the columns first; bytes: of the names of features, set and rank. */
typedef struct columns_header {
    int32_t width, missing, named, set, rank, filled, flagged;
    uint64_t bytes;
} columns_header;

static char *columns_text(const onet_columns *c, columns_header *h) {
    const char *rest[2] = {c->set, c->rank};
    *h = (columns_header){.width = c->width,
                          .missing = (int32_t)c->missing,
                          .named = c->name != NULL,
                          .set = c->set != NULL,
                          .rank = c->rank != NULL,
                          .filled = c->fill != NULL,
                          .flagged = c->flag != NULL};
    for (int j = 0; c->name && j < c->width; j++) h->bytes += strlen(c->name[j]) + 1;
    for (int i = 0; i < 2; i++) h->bytes += rest[i] ? strlen(rest[i]) + 1 : 0;
    char *text = malloc(h->bytes + 1), *to = text;
    for (int j = 0; text && c->name && j < c->width; j++) to = stpcpy(to, c->name[j]) + 1;
    for (int i = 0; text && i < 2; i++)
        if (rest[i]) to = stpcpy(to, rest[i]) + 1;
    return text;
}

static onet_status columns_from(onet_columns **columns, const columns_header *h, const char *text,
                                const float *fill, const uint8_t *flag, onet_error *err) {
    const char **name = array_new((size_t)h->width, sizeof *name), *at = text, *rest[2] = {NULL, NULL};
    if (!name) return fail_memory(err, "the names of the features");
    for (int j = 0; h->named && j < h->width; j++, at += strlen(at) + 1) name[j] = at;
    if (h->set) {
        rest[0] = at;
        at += strlen(at) + 1;
    }
    if (h->rank) rest[1] = at;
    onet_status status = onet_columns_new(columns, h->width, h->named ? name : NULL, rest[0], rest[1], err);
    if (!status && h->filled)
        status =
            columns_take_missing(*columns, (onet_missing)h->missing, fill, h->flagged ? flag : NULL, err);
    free(name);
    return status;
}

onet_status shard_columns(const world *w, onet_columns **columns, onet_error *err) {
    columns_header h = {0};
    onet_columns *c = *columns;
    char *text = c ? columns_text(c, &h) : NULL;
    w->broadcast(w, 0, &h, sizeof h);
    if (!h.width) return ONET_OK;
    size_t width = (size_t)h.width;
    float *fill = array_new(width, sizeof *fill);
    uint8_t *flag = array_new(width, 1);
    if (w->rank) text = malloc(h.bytes + 1);
    onet_status status = text && fill && flag ? ONET_OK : fail_memory(err, "the names of the features");
    status = world_agree(w, status, err);
    if (!status) {
        if (c && c->fill) memcpy(fill, c->fill, width * sizeof *fill);
        if (c && c->flag) memcpy(flag, c->flag, width);
        w->broadcast(w, 0, text, h.bytes);
        w->broadcast(w, 0, fill, width * sizeof *fill);
        w->broadcast(w, 0, flag, width);
        status = world_agree(w, w->rank ? columns_from(columns, &h, text, fill, flag, err) : ONET_OK, err);
    }
    free(text);
    free(fill);
    free(flag);
    return status;
}

/* ---- the scaling ---- */

onet_status shard_scaling(const world *w, scaling **shared, onet_error *err) {
    struct {
        int32_t width, inputs;
        uint64_t knots;
    } h = {0};
    scaling *s = *shared;
    if (s) {
        h.width = s->width;
        h.inputs = s->inputs;
        h.knots = s->knots;
    }
    w->broadcast(w, 0, &h, sizeof h);
    if (!h.width) return ONET_OK;
    if (w->rank && (s = *shared = scaling_room(h.width, h.knots))) s->inputs = h.inputs;
    onet_status status = world_agree(w, s ? ONET_OK : fail_memory(err, "the scaling of the features"), err);
    if (status) return status;
    size_t width = (size_t)h.width;
    w->broadcast(w, 0, s->kind, width);
    w->broadcast(w, 0, s->within, width);
    w->broadcast(w, 0, s->exact, width);
    w->broadcast(w, 0, s->centre, width * sizeof *s->centre);
    w->broadcast(w, 0, s->count, width * sizeof *s->count);
    w->broadcast(w, 0, s->knot, h.knots * sizeof *s->knot);
    w->broadcast(w, 0, s->level, h.knots * sizeof *s->level);
    return ONET_OK;
}

/* ---- the relations ---- */

/* Copies a text of rank 0, which may be NULL, to the other ranks, where *text must be NULL. */
static onet_status share_text(const world *w, char **text, onet_error *err) {
    uint64_t bytes = !w->rank && *text ? strlen(*text) + 1 : 0;
    w->broadcast(w, 0, &bytes, sizeof bytes);
    onet_status status = ONET_OK;
    if (w->rank && bytes && !(*text = malloc(bytes))) status = fail_memory(err, "the relations");
    status = world_agree(w, status, err);
    if (!status && bytes) w->broadcast(w, 0, *text, bytes);
    return status;
}

onet_status shard_relations(const world *w, onet_model *model, onet_error *err) {
    struct {
        int32_t given, relates, filled;
    } h = {0};
    float fill[MAX_RELATIONS] = {0};
    if (!model->sh.s.relations) return ONET_OK;
    if (!w->rank) {
        h.given = model_given_relations(model);
        h.relates = model->relating != NULL;
        h.filled = model->relation_fill != NULL;
        if (h.filled) memcpy(fill, model->relation_fill, (size_t)h.given * sizeof *fill);
    }
    w->broadcast(w, 0, &h, sizeof h);
    w->broadcast(w, 0, fill, sizeof fill);
    onet_status status = share_text(w, &model->relations, err);
    if (!status && h.relates) {
        char *made = w->rank ? NULL : model->relating->text;
        if ((status = share_text(w, &made, err))) return status;
        if (w->rank) {
            status = relating_new(&model->relating, made, h.given, model->relations, model_width(model),
                                  model->columns, err);
            free(made);
        }
        if ((status = world_agree(w, status, err))) return status;
        status = shard_scaling(w, &model->relating->scale, err);
    }
    if (!status && w->rank && h.filled) status = model_fill_relations(model, fill, err);
    return world_agree(w, status, err);
}

/* ---- all together ---- */

void shard_free(shard *s) {
    onet_sets_free(s->own);
    onet_sets_free(s->plan);
    *s = (shard){0};
}

static onet_status plan_room(shard *s, const header *h, onet_error *err) {
    onet_status status = sets_room(&s->plan, h->count, 0, h->width, true, false, err);
    if (!status) memcpy(s->plan->hash, h->hash, sizeof h->hash);
    return status;
}

static onet_status own_room(shard *s, const world *w, const header *h, const onet_sets *all,
                            const onet_sets *plan, onet_error *err) {
    size_t items = own_elements(w, plan, w->rank, PER_ITEM), R = (size_t)h->relations;
    /* At least one item, so that a rank without sets knows whether items are numbers or words. */
    onet_status status = sets_room(&s->own, own_count(w, h->count, w->rank), items ? items : 1, h->width,
                                   h->words > 0, true, err);
    if (status) return status;
    if (h->words && w->rank && !(s->words = words_room(h))) return fail_memory(err, "the vocabulary");
    if (h->words && w->rank) s->own->words = s->words;
    if (h->words && !w->rank) onet_sets_lend_words(s->own, all->words);
    if (h->context && (status = sets_room_context(s->own, items ? items : 1, err))) return status;
    if (h->context && w->rank && (status = sets_room_context(s->plan, plan->start[plan->count], err)))
        return status;
    size_t at = 0;
    for (size_t i = 0; i < s->own->count; i++) {
        at += sets_size(plan, i * (size_t)w->size + (size_t)w->rank);
        s->own->start[i + 1] = at;
    }
    if (!R) return ONET_OK;
    float *value = array_new(own_elements(w, plan, w->rank, PER_PAIR), R * sizeof *value);
    return value ? sets_take_pairs(s->own, (int)R, value, NULL, err) : fail_memory(err, "the relations");
}

onet_status shard_make(shard *s, const world *w, const onet_sets *all, onet_error *err) {
    header h = {0};
    *s = (shard){0};
    if (!w->rank) {
        h.count = all->count;
        h.words = all->word ? (uint64_t)all->words->count : 0;
        h.text = all->word ? all->words->at[all->words->count] : 0;
        h.width = all->width;
        h.context = all->context != NULL;
        h.relations = sets_relations(all);
        memcpy(h.hash, all->hash, sizeof h.hash);
    }
    w->broadcast(w, 0, &h, sizeof h);
    onet_status status = w->rank ? plan_room(s, &h, err) : ONET_OK;
    status = world_agree(w, status, err);
    if (status) return status;
    const onet_sets *plan = w->rank ? s->plan : all;
    w->broadcast(w, 0, plan->start, (h.count + 1) * sizeof *plan->start);

    char *piece = w->rank ? NULL : malloc(PIECE);
    status = !w->rank && !piece ? fail_memory(err, "the sets") : own_room(s, w, &h, all, plan, err);
    status = world_agree(w, status, err);
    if (!status) {
        if (h.words) {
            share_words(w, s->own->words, &h);
            deal(w, piece, plan, w->rank ? NULL : all->word, s->own->word, PER_ITEM, sizeof *all->word);
        } else
            deal(w, piece, plan, w->rank ? NULL : all->items, s->own->items, PER_ITEM,
                 (size_t)h.width * sizeof *all->items);
        deal(w, piece, plan, w->rank ? NULL : all->order, s->own->order, PER_ITEM, sizeof *all->order);
        if (h.relations)
            deal(w, piece, plan, w->rank ? NULL : all->pairs->value, s->own->pairs->value, PER_PAIR,
                 (size_t)h.relations * sizeof *all->pairs->value);
        if (h.context) {
            /* Every rank gets all flags: the plan depends on how many items are placed. */
            w->broadcast(w, 0, plan->context, plan->start[plan->count]);
            deal(w, piece, plan, w->rank ? NULL : all->context, s->own->context, PER_ITEM, 1);
        }
        if (h.words && w->rank && !words_build(s->words)) status = fail_memory(err, "the vocabulary");
        status = world_agree(w, status, err);
    }
    free(piece);
    return status;
}

int shard_pick(const world *w, const onet_sets *plan, const uint32_t *batch, int count, uint32_t *index,
               uint32_t *row) {
    uint32_t size = (uint32_t)w->size, rank = (uint32_t)w->rank, at = 0;
    int found = 0;
    for (int b = 0; b < count; at += (uint32_t)sets_size(plan, batch[b]), b++) {
        if (batch[b] % size != rank) continue;
        index[found] = batch[b] / size;
        row[found++] = at;
    }
    return found;
}
