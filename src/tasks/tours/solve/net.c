/* Finds tours with the network: scales instances to the unit square, runs the search on the square's
 * symmetric copies, and keeps the shortest tours. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/arguments.h"
#include "engine/base/memory.h"
#include "engine/base/sized.h"
#include "tasks/tours/solve/solvers.h"

struct onet_tsp_net {
    onet_orderer *orderer;
    int top; /* tours per set */
};

onet_status onet_tsp_net_new(onet_tsp_net **net, const onet_model *model, const onet_order_options *options,
                             onet_error *err) {
    NEED(net, "net");
    *net = NULL;
    NEED(model, "model");
    if (onet_model_width(model) != 2 || onet_model_words(model))
        return fail(err, ONET_USAGE,
                    "the model does not order points of the plane; give one trained on tours");
    onet_tsp_net *new = calloc(1, sizeof *new);
    if (!new) return fail_memory(err, "the net");
    onet_order_options own;
    onet_order_defaults(&own, sizeof own);
    onet_status status = sized_take(&own, sizeof own, options, "onet_order_options", err);
    new->top = own.decode == ONET_BEAM ? (own.beam ? own.beam : 5) : 1;
    own.top = new->top;
    if (!status) status = onet_orderer_new(&new->orderer, model, &own, err);
    if (status) {
        free(new);
        return status;
    }
    *net = new;
    return ONET_OK;
}

void onet_tsp_net_free(onet_tsp_net *net) {
    if (!net) return;
    onet_orderer_free(net->orderer);
    free(net);
}

/* An instance that the net can be shown, at that place. */
static onet_status check_instance(const onet_tsp *t, onet_tsp_place place, onet_error *err) {
    if (place != ONET_TSP_FITTED && place != ONET_TSP_AS_IS)
        return fail(err, ONET_USAGE, "there is no onet_tsp_place %d", (int)place);
    onet_status status = tsp_check_size(t, err);
    if (!status && !t->xy)
        status = fail(err, ONET_USAGE, "%.63s has distances but no coordinates, which the net needs",
                      t->name[0] ? t->name : "the instance");
    return status;
}

/* xy' = (xy - middle) * scale + 1/2. */
typedef struct fit {
    double x, y, scale;
} fit;

static fit find_fit(const onet_tsp *t, onet_tsp_place place) {
    if (place == ONET_TSP_AS_IS) return (fit){0.5, 0.5, 1};
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    for (int i = 0; i < 2 * t->n; i++) {
        low[i % 2] = fmin(low[i % 2], t->xy[i]);
        high[i % 2] = fmax(high[i % 2], t->xy[i]);
    }
    double side = fmax(high[0] - low[0], high[1] - low[1]), margin = 1.0 / (t->n + 1);
    return (fit){low[0] + (high[0] - low[0]) / 2, low[1] + (high[1] - low[1]) / 2,
                 side > 0 ? (1 - 2 * margin) / side : 1};
}

/* Writes the cities as the net sees them under symmetry 0 .. 7: bit 0 mirrors x, bit 1 y, bit 2 swaps. */
static void show(const onet_tsp *t, const fit *f, int symmetry, float *items) {
    for (int i = 0; i < t->n; i++) {
        double x = (t->xy[2 * i] - f->x) * f->scale, y = (t->xy[2 * i + 1] - f->y) * f->scale;
        if (symmetry & 1) x = -x;
        if (symmetry & 2) y = -y;
        items[2 * i] = (float)((symmetry & 4 ? y : x) + 0.5);
        items[2 * i + 1] = (float)((symmetry & 4 ? x : y) + 0.5);
    }
}

onet_status onet_tsp_net_items(const onet_tsp *t, onet_tsp_place place, float *items, onet_error *err) {
    NEED(t, "t");
    NEED(items, "items");
    onet_status status = check_instance(t, place, err);
    if (status) return status;
    fit f = find_fit(t, place);
    show(t, &f, 0, items);
    return ONET_OK;
}

/* The best seen so far of one instance. */
typedef struct record_so_far {
    double logprob, length;
} record_so_far;

static void keep_best(const onet_tsp *t, const onet_answer *a, record_so_far *best, int32_t *probable,
                      int32_t *shortest) {
    size_t bytes = (size_t)t->n * sizeof *probable;
    for (int k = 0; k < a->found; k++) {
        const int32_t *tour = a->order + (size_t)k * (size_t)t->n;
        double length = shortest ? onet_tsp_length(t, tour) : 0;
        if (probable && a->logprob[k] > best->logprob) {
            best->logprob = a->logprob[k];
            memcpy(probable, tour, bytes);
        }
        if (shortest && length < best->length) {
            best->length = length;
            memcpy(shortest, tour, bytes);
        }
    }
}

/* Memory for one pass over the instances. */
typedef struct pass {
    onet_sets sets;
    onet_answer *answer; /* [count] */
    int32_t *order;      /* the answers' */
    double *logprob;
    record_so_far *best; /* [count] */
} pass;

static void free_pass(pass *p) {
    free(p->sets.start);
    free(p->sets.items);
    free(p->answer);
    free(p->order);
    free(p->logprob);
    free(p->best);
}

static onet_status new_pass(pass *p, const onet_tsp *t, size_t count, size_t top, onet_error *err) {
    *p = (pass){.sets = {.count = count, .width = 2}};
    p->sets.start = array_new(count + 1, sizeof *p->sets.start);
    p->answer = array_new(count, sizeof *p->answer);
    p->logprob = array_new(count * top, sizeof *p->logprob);
    p->best = array_new(count, sizeof *p->best);
    if (!p->sets.start || !p->answer || !p->logprob || !p->best) return fail_memory(err, "the net's tours");
    for (size_t i = 0; i < count; i++) p->sets.start[i + 1] = p->sets.start[i] + (size_t)t[i].n;
    size_t cities = p->sets.start[count];
    p->sets.items = array_new(cities * 2, sizeof *p->sets.items);
    p->order = array_new(cities * top, sizeof *p->order);
    if (!p->sets.items || !p->order) return fail_memory(err, "the net's tours");
    for (size_t i = 0; i < count; i++) {
        p->answer[i].order = p->order + p->sets.start[i] * top;
        p->answer[i].logprob = p->logprob + i * top;
        p->best[i] = (record_so_far){-INFINITY, INFINITY};
    }
    return ONET_OK;
}

onet_status onet_tsp_net_tours(onet_tsp_net *net, const onet_tsp *t, size_t count, onet_tsp_place place,
                               int symmetries, int32_t *const *probable, int32_t *const *shortest,
                               onet_error *err) {
    NEED(net, "net");
    NEED(t, "t");
    onet_status status = ONET_OK;
    for (size_t i = 0; i < count && !status; i++) status = check_instance(&t[i], place, err);
    if (status) return status;
    if (!symmetries) symmetries = 1;
    if (symmetries != 1 && symmetries != 8)
        return fail(err, ONET_USAGE, "%d symmetries; a square has 1 or 8 to choose from", symmetries);
    pass p;
    status = new_pass(&p, t, count, (size_t)net->top, err);
    for (int symmetry = 0; symmetry < symmetries && !status; symmetry++) {
        for (size_t i = 0; i < count; i++) {
            fit f = find_fit(&t[i], place);
            show(&t[i], &f, symmetry, p.sets.items + 2 * p.sets.start[i]);
        }
        status = onet_orderer_run(net->orderer, &p.sets, p.answer, err);
        for (size_t i = 0; i < count && !status; i++)
            keep_best(&t[i], &p.answer[i], &p.best[i], probable ? probable[i] : NULL,
                      shortest ? shortest[i] : NULL);
    }
    free_pass(&p);
    return status;
}
