/* Finds tours with the network: scales instances to the unit square, runs the search on the square's
 * symmetric copies, and keeps the most probable and the shortest tours. A network with a relation sees the
 * distances alone; there, each copy begins at another city. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/arguments.h"
#include "engine/base/memory.h"
#include "engine/base/sized.h"
#include "engine/model/model.h"
#include "tasks/tours/solve/solvers.h"

struct onet_tsp_net {
    onet_orderer *orderer;
    int top;      /* tours per set */
    int width;    /* features per city: x and y; with a relation, none or one that marks the depot */
    bool related; /* the relation from i to j is the distance */
    double mean;  /* of the distances that the net was trained on; 1: not known */
};

onet_status onet_tsp_net_new(onet_tsp_net **net, const onet_model *model, const onet_order_options *options,
                             onet_error *err) {
    NEED(net, "net");
    *net = NULL;
    NEED(model, "model");
    int width = onet_model_width(model), relations = onet_model_given_relations(model);
    if (onet_model_words(model) || (relations ? relations != 1 || width > 1 : width != 2))
        return fail(err, ONET_USAGE,
                    "the model orders neither points of the plane nor cities by one relation, the distance; "
                    "give one trained on tours");
    onet_tsp_net *new = calloc(1, sizeof *new);
    if (!new) return fail_memory(err, "the net");
    onet_order_options own;
    onet_order_defaults(&own, sizeof own);
    onet_status status = sized_take(&own, sizeof own, options, "onet_order_options", err);
    new->width = width;
    new->related = relations;
    new->mean = relations && model->mean[model->sh.s.width] > 0 ? (double)model->mean[model->sh.s.width] : 1;
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

/* Checks that the net can be shown the instance at `place`. */
static onet_status check_instance(const onet_tsp *t, onet_tsp_place place, bool related, onet_error *err) {
    if (place != ONET_TSP_FITTED && place != ONET_TSP_AS_IS)
        return fail(err, ONET_USAGE, "there is no onet_tsp_place %d", (int)place);
    onet_status status = related ? tsp_check(t, err) : tsp_check_size(t, err);
    if (status || related) return status;
    const char *name = t->name[0] ? t->name : "the instance";
    if (t->asymmetric)
        return fail(err, ONET_USAGE,
                    "%.63s has distances that depend on the direction, and the net sees points; give a model "
                    "with a relation",
                    name);
    if (!t->xy)
        return fail(
            err, ONET_USAGE,
            "%.63s has distances but no coordinates, which the net needs; give a model with a relation",
            name);
    return ONET_OK;
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
    onet_status status = check_instance(t, place, false, err);
    if (status) return status;
    fit f = find_fit(t, place);
    show(t, &f, 0, items);
    return ONET_OK;
}

/* The best tours so far of an instance. */
typedef struct best_so_far {
    double logprob, length;
} best_so_far;

static void keep_best(const onet_tsp *t, const onet_answer *a, best_so_far *best, int32_t *probable,
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
    onet_pairs pairs;    /* the distances, for a net with a relation */
    onet_answer *answer; /* [count] */
    int32_t *order;      /* the answers' */
    double *logprob;
    best_so_far *best; /* [count] */
} pass;

static void free_pass(pass *p) {
    free(p->sets.start);
    free(p->sets.items);
    free(p->sets.constraints);
    free(p->pairs.row);
    free(p->pairs.value);
    free(p->answer);
    free(p->order);
    free(p->logprob);
    free(p->best);
}

/* Writes the distances of an instance as the net sees them to value [n, n]. */
static void show_distances(const onet_tsp_net *net, const onet_tsp *t, onet_tsp_place place, float *value) {
    size_t cells = (size_t)t->n * (size_t)t->n;
    double sum = 0, factor = 1;
    for (size_t k = 0; k < cells; k++) sum += t->dist[k];
    if (place == ONET_TSP_FITTED && sum > 0) factor = net->mean * ((double)cells - t->n) / sum;
    for (size_t k = 0; k < cells; k++) value[k] = (float)(t->dist[k] * factor);
}

/* Adds the relations, and constraints that fix the first city of each tour. */
static onet_status relate(pass *p, const onet_tsp_net *net, const onet_tsp *t, onet_tsp_place place,
                          onet_error *err) {
    size_t count = p->sets.count, cells = 0;
    for (size_t i = 0; i < count; i++) cells += (size_t)t[i].n * (size_t)t[i].n;
    p->pairs.width = 1;
    p->pairs.row = array_new(p->sets.start[count], sizeof *p->pairs.row);
    p->pairs.value = array_new(cells, sizeof *p->pairs.value);
    p->sets.constraints = array_new(count, sizeof *p->sets.constraints);
    if (!p->pairs.row || !p->pairs.value || !p->sets.constraints) return fail_memory(err, "the net's tours");
    cells = 0;
    for (size_t i = 0; i < count; i++) {
        show_distances(net, &t[i], place, p->pairs.value + cells);
        for (int k = 0; k < t[i].n; k++, cells += (size_t)t[i].n)
            p->pairs.row[p->sets.start[i] + (size_t)k] = cells;
    }
    p->sets.pairs = &p->pairs;
    p->sets.constraint_count = count;
    return ONET_OK;
}

/* Lets the tour of instance i begin at city `depot`. */
static void begin_at(pass *p, size_t i, size_t depot) {
    float *mark = p->sets.items + p->sets.start[i];
    size_t n = onet_sets_size(&p->sets, i);
    for (size_t k = 0; k < n && p->sets.width; k++) mark[k] = k == depot % n;
    p->sets.constraints[i] =
        (onet_constraint){.kind = ONET_PLACE, .item = p->sets.start[i] + depot % n, .other = 0};
}

static onet_status new_pass(pass *p, const onet_tsp *t, size_t count, const onet_tsp_net *net,
                            onet_error *err) {
    size_t top = (size_t)net->top;
    *p = (pass){.sets = {.count = count, .width = net->width}};
    p->sets.start = array_new(count + 1, sizeof *p->sets.start);
    p->answer = array_new(count, sizeof *p->answer);
    p->logprob = array_new(count * top, sizeof *p->logprob);
    p->best = array_new(count, sizeof *p->best);
    if (!p->sets.start || !p->answer || !p->logprob || !p->best) return fail_memory(err, "the net's tours");
    for (size_t i = 0; i < count; i++) p->sets.start[i + 1] = p->sets.start[i] + (size_t)t[i].n;
    size_t cities = p->sets.start[count];
    p->sets.items = array_new(cities * (net->width ? (size_t)net->width : 1), sizeof *p->sets.items);
    p->order = array_new(cities * top, sizeof *p->order);
    if (!p->sets.items || !p->order) return fail_memory(err, "the net's tours");
    for (size_t i = 0; i < count; i++) {
        p->answer[i].order = p->order + p->sets.start[i] * top;
        p->answer[i].logprob = p->logprob + i * top;
        p->best[i] = (best_so_far){-INFINITY, INFINITY};
    }
    return ONET_OK;
}

onet_status onet_tsp_net_tours(onet_tsp_net *net, const onet_tsp *t, size_t count, onet_tsp_place place,
                               int symmetries, int32_t *const *probable, int32_t *const *shortest,
                               onet_error *err) {
    NEED(net, "net");
    NEED(t, "t");
    onet_status status = ONET_OK;
    for (size_t i = 0; i < count && !status; i++) status = check_instance(&t[i], place, net->related, err);
    if (status) return status;
    if (!symmetries) symmetries = 1;
    if (symmetries != 1 && symmetries != 8)
        return fail(err, ONET_USAGE, "%d symmetries; a square has 1 or 8 to choose from", symmetries);
    pass p;
    status = new_pass(&p, t, count, net, err);
    if (!status && net->related) status = relate(&p, net, t, place, err);
    for (int symmetry = 0; symmetry < symmetries && !status; symmetry++) {
        for (size_t i = 0; i < count; i++) {
            if (net->related) {
                begin_at(&p, i, (size_t)symmetry);
                continue;
            }
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
