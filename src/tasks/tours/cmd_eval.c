/* ordernet tsp eval: measures by how much the network's tours are longer than the best known ones, beside
 * other heuristics, published figures and results of other solvers read from CSV; prints a table, writes CSV
 * and draws charts. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/chart.h"
#include "app/command.h"
#include "app/interrupt.h"
#include "app/ordering.h"
#include "app/progress.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/number.h"
#include "ordernet_tsp.h"
#include "tasks/tours/gaps.h"
#include "tasks/tours/net_options.h"

/* Results of other programs on the same instances. */

enum { MOST_RIVALS = 256 };

/* What another program measured, in the columns of --out and that of the optimum. */
typedef struct rival {
    int n;
    char method[48];
    double instances, length[3], gap[3]; /* mean, low, high; gaps in percent */
    double optimum;
} rival;

typedef struct rival_list {
    int count;
    rival row[MOST_RIVALS];
} rival_list;

/* Reads the number at *at and moves after the comma that follows. */
static bool next_number(const char **at, double *value) {
    char *end;
    *value = number_parse(*at, &end);
    bool good = end > *at && (*end == ',' || !*end);
    *at = *end ? end + 1 : end;
    return good;
}

static bool parse_rival(const char *line, rival *r) {
    double n, *const rest[] = {&r->instances, &r->length[0], &r->length[1], &r->length[2],
                               &r->gap[0],    &r->gap[1],    &r->gap[2],    &r->optimum};
    if (!next_number(&line, &n) || !(n >= 1 && n <= ONET_TSP_MAX_CITIES)) return false;
    r->n = (int)n;
    size_t length = strcspn(line, ",");
    if (!length || length >= sizeof r->method || !line[length]) return false;
    snprintf(r->method, sizeof r->method, "%.*s", (int)length, line);
    line += length + 1;
    for (size_t k = 0; k < sizeof rest / sizeof *rest; k++)
        if (!next_number(&line, rest[k])) return false;
    return true;
}

/* Reads a CSV file whose first columns are n, method, instances, the mean length and the mean gap, each with
 * its interval, and the mean length of the optimum. The list is zeroed at first. */
static onet_status rivals_read(rival_list *list, const char *path, onet_error *err) {
    static const char columns[] =
        "n,method,instances,length,length_low,length_high,gap_percent,gap_low,gap_high,optimum";
    input *in;
    char *line;
    long number;
    onet_status status = input_open(&in, path, err);
    if (status) return status;
    while (!(status = input_line(in, &line, NULL, &number, err)) && line && !status) {
        if (number == 1 && strncmp(line, columns, strlen(columns)) != 0)
            status = fail(err, ONET_BAD, "%s:1: the columns are not %s", path, columns);
        else if (number > 1 && list->count == MOST_RIVALS)
            status = fail(err, ONET_BAD, "%s:%ld: more than %d rows", path, number, MOST_RIVALS);
        else if (number > 1 && !parse_rival(line, &list->row[list->count++]))
            status = fail(err, ONET_BAD, "%s:%ld: expected a size, a method and eight numbers", path, number);
        if (status) break;
    }
    input_close(in);
    return status;
}

typedef struct eval_values {
    tour_net_values net;
    onet_read_options read;
    int proven_to, no_net, quiet;
    const char *out, *figure, *rivals;
} eval_values;

static void defaults(void *values) {
    eval_values *v = values;
    v->proven_to = 50;
    onet_read_defaults(&v->read, sizeof v->read);
    tour_net_defaults(&v->net);
}

enum { MOST_SIZES = 256, PUBLISHED = 5 };

/* Pointer Networks trained on 5 to 20 cities, mean lengths on other instances, as their authors published. */
static const double published_n[PUBLISHED] = {20, 25, 30, 40, 50};
static const double published_length[PUBLISHED] = {3.88, 4.30, 4.72, 5.91, 7.66};

typedef struct table {
    int rows;
    gap_row row[MOST_SIZES];
} table;

/* ---- Rivals ------------------------------------------------------------------------------------------- */

/* Gaps are compared only on the same instances, which have the same mean optimum. */
static onet_status check_rivals(const rival_list *list, const table *t, const char *path, onet_error *err) {
    for (int k = 0; k < list->count; k++)
        for (int i = 0; i < t->rows; i++) {
            double here = t->row[i].length[GAP_REFERENCE].mean, there = list->row[k].optimum;
            if (t->row[i].n == list->row[k].n && fabs(here - there) > 1e-5 * here)
                return fail(
                    err, ONET_BAD,
                    "%s: %s was measured on other instances of %d cities: their mean optimum is %.6f, "
                    "here %.6f",
                    path, list->row[k].method, list->row[k].n, there, here);
        }
    return ONET_OK;
}

static const char *reference_name(const eval_values *v, int n) {
    return n <= v->proven_to ? "proven optimum" : "best of a long local search";
}

/* ---- Text and CSV ------------------------------------------------------------------------------------ */

static void print_table(const eval_values *v, const table *t) {
    printf("%5s %6s %10s", "n", "sets", "reference");
    for (int m = 1; m < GAP_METHODS; m++)
        if (m < GAP_GREEDY || !v->no_net) printf(" %19s", gap_method_name((gap_method)m));
    printf("\n");
    for (int i = 0; i < t->rows; i++) {
        const gap_row *r = &t->row[i];
        printf("%5d %6zu %9.4f%s", r->n, r->count, r->length[GAP_REFERENCE].mean,
               r->n <= v->proven_to ? " " : "*");
        for (int m = 1; m < GAP_METHODS; m++)
            if (m < GAP_GREEDY || !v->no_net)
                printf(" %8.4f %+6.2f%% %2s", r->length[m].mean, 100 * r->gap[m].mean, "");
        printf("\n");
    }
    if (t->row[t->rows - 1].n > v->proven_to) printf("* not proven: best of a long local search\n");
}

static void write_row(output *out, const eval_values *v, const gap_row *r, int m) {
    output_printf(out, "%d,%s,%zu,%.6f,%.6f,%.6f,%.4f,%.4f,%.4f,%s\n", r->n, gap_method_name((gap_method)m),
                  r->count, r->length[m].mean, r->length[m].low, r->length[m].high, 100 * r->gap[m].mean,
                  100 * r->gap[m].low, 100 * r->gap[m].high, reference_name(v, r->n));
}

static void write_rivals(output *out, const eval_values *v, const rival_list *rivals, int n) {
    for (int k = 0; k < rivals->count; k++) {
        const rival *r = &rivals->row[k];
        if (r->n == n)
            output_printf(out, "%d,%s,%.0f,%.6f,%.6f,%.6f,%.4f,%.4f,%.4f,%s\n", n, r->method, r->instances,
                          r->length[0], r->length[1], r->length[2], r->gap[0], r->gap[1], r->gap[2],
                          reference_name(v, n));
    }
}

static onet_status write_csv(const eval_values *v, const table *t, const rival_list *rivals,
                             onet_error *err) {
    output *out;
    onet_status status = output_open(&out, v->out, err);
    if (status) return status;
    output_put(out,
               "n,method,instances,length,length_low,length_high,gap_percent,gap_low,gap_high,reference\n");
    for (int i = 0; i < t->rows; i++) {
        for (int m = 0; m < GAP_METHODS; m++)
            if (m < GAP_GREEDY || !v->no_net) write_row(out, v, &t->row[i], m);
        write_rivals(out, v, rivals, t->row[i].n);
        for (int k = 0; k < PUBLISHED; k++)
            if (t->row[i].n == (int)published_n[k])
                output_printf(out, "%d,pointer network (published),,%.2f,,,%.4f,,,%s\n", t->row[i].n,
                              published_length[k],
                              100 * (published_length[k] / t->row[i].length[GAP_REFERENCE].mean - 1),
                              reference_name(v, t->row[i].n));
    }
    return output_commit(out, err);
}

/* ---- Figures ----------------------------------------------------------------------------------------- */

enum { MOST_RIVAL_LINES = 4, LINES = GAP_METHODS + 1 + MOST_RIVAL_LINES };
typedef struct lines {
    double x[MOST_SIZES], y[LINES][MOST_SIZES], low[LINES][MOST_SIZES], high[LINES][MOST_SIZES];
    double rival_x[MOST_RIVAL_LINES][MOST_SIZES];
    chart_series series[LINES];
} lines;

/* The name and look of each method in the figures; the others are left out. */
static const struct {
    gap_method method;
    const char *name;
    int colour;
    chart_line line;
} looks[] = {
    {GAP_REFERENCE, "optimum", 7, LINE_DASHED},
    {GAP_SYMMETRIC, "OrderNet, 8 symmetries", 2, LINE_SOLID},
    {GAP_SHORTEST, "OrderNet, shortest", 4, LINE_SOLID},
    {GAP_PROBABLE, "OrderNet, most probable", 0, LINE_SOLID},
    {GAP_GREEDY, "OrderNet, greedy", 3, LINE_DASHED},
    {GAP_FARTHEST, "farthest insertion", 5, LINE_DASHED},
    {GAP_CHRISTOFIDES, "Christofides", 1, LINE_DASHED},
};

/* Adds a dotted line per method of the rivals, except the greedy ones; returns the number of all lines. */
static int add_rivals(lines *l, int count, const table *t, const rival_list *rivals, bool gaps) {
    static const char greedy[] = " greedy";
    static const int colours[MOST_RIVAL_LINES] = {6, 7, 2, 1};
    int first = count;
    for (int k = 0; k < rivals->count && count - first < MOST_RIVAL_LINES; k++) {
        const char *method = rivals->row[k].method;
        size_t length = strlen(method);
        bool known = length > strlen(greedy) && !strcmp(method + length - strlen(greedy), greedy);
        for (int j = 0; j < k; j++) known = known || !strcmp(rivals->row[j].method, method);
        if (known) continue;
        int points = 0;
        for (int i = 0; i < t->rows; i++)
            for (int j = 0; j < rivals->count; j++) {
                const rival *r = &rivals->row[j];
                if (r->n != t->row[i].n || strcmp(r->method, method) != 0) continue;
                l->rival_x[count - first][points] = r->n;
                l->y[count][points] = gaps ? r->gap[0] : r->length[0];
                l->low[count][points] = gaps ? r->gap[1] : r->length[1];
                l->high[count][points++] = gaps ? r->gap[2] : r->length[2];
            }
        l->series[count] = (chart_series){.name = method,
                                          .count = points,
                                          .x = l->rival_x[count - first],
                                          .y = l->y[count],
                                          .low = l->low[count],
                                          .high = l->high[count],
                                          .colour = colours[count - first],
                                          .line = LINE_DOTTED};
        count++;
    }
    return count;
}

static onet_status draw_figure(const eval_values *v, const table *t, const rival_list *rivals, bool gaps,
                               onet_error *err) {
    char path[4096];
    if (snprintf(path, sizeof path, "%s-%s", v->figure, gaps ? "gap" : "length") >= (int)sizeof path)
        return fail(err, ONET_USAGE, "the name of the figure is too long");
    lines *l = array_new(1, sizeof *l);
    if (!l) return fail_memory(err, "the figure");
    int count = 0;
    for (int i = 0; i < t->rows; i++) l->x[i] = t->row[i].n;
    for (size_t k = 0; k < sizeof looks / sizeof *looks; k++) {
        gap_method m = looks[k].method;
        if ((m >= GAP_GREEDY && v->no_net) || (gaps && m == GAP_REFERENCE)) continue;
        for (int i = 0; i < t->rows; i++) {
            const onet_measure *value = gaps ? &t->row[i].gap[m] : &t->row[i].length[m];
            double scale = gaps ? 100 : 1;
            l->y[count][i] = scale * value->mean;
            l->low[count][i] = scale * value->low;
            l->high[count][i] = scale * value->high;
        }
        l->series[count] = (chart_series){.name = looks[k].name,
                                          .count = t->rows,
                                          .x = l->x,
                                          .y = l->y[count],
                                          .low = l->low[count],
                                          .high = l->high[count],
                                          .colour = looks[k].colour,
                                          .line = looks[k].line};
        count++;
    }
    /* The published means are of other instances: their gap is taken to the mean optimum of these. */
    int points = 0;
    for (int k = 0; k < PUBLISHED; k++)
        for (int i = 0; i < t->rows; i++)
            if (t->row[i].n == (int)published_n[k]) {
                l->low[count][points] = published_n[k];
                l->y[count][points++] =
                    gaps ? 100 * (published_length[k] / t->row[i].length[GAP_REFERENCE].mean - 1)
                         : published_length[k];
            }
    if (points) {
        l->series[count] = (chart_series){.name = "Pointer Net (published)",
                                          .count = points,
                                          .x = l->low[count],
                                          .y = l->y[count],
                                          .colour = 6};
        count++;
    }
    count = add_rivals(l, count, t, rivals, gaps);
    chart figure = {.title = gaps ? "Mean gap to the optimum" : "Mean tour length",
                    .x = {.title = "cities"},
                    .y = {.title = gaps ? "longer than the optimum" : "length", .unit = gaps ? "%" : NULL},
                    .count = count,
                    .series = l->series};
    if (gaps) figure.y.low = 0, figure.y.high = 16;
    onet_status status = chart_write(&figure, path, err);
    free(l);
    return status;
}

/* ---- Measuring --------------------------------------------------------------------------------------- */

static int tick(void *context, int n, size_t done, size_t total) {
    char what[32];
    snprintf(what, sizeof what, "%d cities:", n);
    progress_count(context, what, "sets", (double)done, (double)total);
    return interrupted();
}

/* Lists the sizes of the sets, each once, smallest first. */
static onet_status list_sizes(const tsp_cities *c, table *t, onet_error *err) {
    for (size_t i = 0; i < c->count; i++) {
        int n = tsp_cities_size(c, i), at = 0;
        if (n > ONET_TSP_MAX_CITIES) return fail(err, ONET_BAD, "set %zu has %d cities, too many", i + 1, n);
        while (at < t->rows && t->row[at].n < n) at++;
        if (at < t->rows && t->row[at].n == n) continue;
        if (t->rows == MOST_SIZES) return fail(err, ONET_BAD, "more than %d sizes of sets", MOST_SIZES);
        for (int k = t->rows++; k > at; k--) t->row[k] = t->row[k - 1];
        t->row[at].n = n;
    }
    return ONET_OK;
}

static onet_status measure_file(const eval_values *v, const char *path, gap_setting *setting, table *t,
                                onet_error *err) {
    tsp_file file;
    onet_status status = tsp_load(&file, path, &(tsp_reading){.read = &v->read, .name_column = ""}, err);
    if (status) return status;
    if (file.costs)
        status =
            fail(err, ONET_BAD, "%s: its sets have costs from city to city; points x, y are measured", path);
    else if (!file.cities.order)
        status = fail(err, ONET_BAD, "%s: expected points x, y with an order", path);
    table own = {0};
    if (!status) status = list_sizes(&file.cities, &own, err);
    setting->cities = &file.cities;
    for (int i = 0; i < own.rows && !status; i++) {
        if (t->rows == MOST_SIZES)
            status = fail(err, ONET_BAD, "more than %d sizes of sets", MOST_SIZES);
        else
            status = gap_measure(&t->row[t->rows++], own.row[i].n, setting, err);
    }
    tsp_unload(&file);
    return status;
}

static onet_status run(void *values, int count, char **operands, onet_error *err) {
    eval_values *v = values;
    onet_model *model = NULL, *again = NULL;
    table *t = array_new(1, sizeof *t);
    rival_list *rivals = array_new(1, sizeof *rivals);
    progress p;
    gap_setting setting = {.threads = thread_pool_new(v->net.search.threads), .tick = tick, .context = &p};
    onet_status status = t && rivals && setting.threads ? ONET_OK : fail_memory(err, "the evaluation");
    progress_start(&p, v->quiet);
    interrupt_catch();
    if (!status && v->out) status = output_possible(v->out, err);
    if (!status && v->rivals) status = rivals_read(rivals, v->rivals, err);
    if (!status && !v->no_net) {
        tour_net_values greedy = v->net;
        greedy.search.decode = ONET_GREEDY;
        status = tour_net_open(&v->net, &model, &setting.beam, err);
        if (!status) status = tour_net_open(&greedy, &again, &setting.greedy, err);
    }
    for (int i = 0; i < count && !status; i++) status = measure_file(v, operands[i], &setting, t, err);
    progress_end(&p);
    if (!status) print_table(v, t);
    if (!status) status = check_rivals(rivals, t, v->rivals, err);
    if (!status && v->out) status = write_csv(v, t, rivals, err);
    for (int gaps = 0; gaps < 2 && !status && v->figure; gaps++)
        status = draw_figure(v, t, rivals, gaps, err);
    onet_tsp_net_free(setting.greedy);
    onet_tsp_net_free(setting.beam);
    onet_model_free(model);
    onet_model_free(again);
    thread_pool_free(setting.threads);
    free(t);
    free(rivals);
    return status;
}

#define AT(name) offsetof(eval_values, name)

static const option options[] = {
    OPTION_TOUR_MODEL(AT(net.model)),
    OPTION(INT, "beam", AT(net.search.beam), .argument = "K", RANGE(1, 100000),
           .help = "Tours kept at each step of the beam."),
    OPTION(FLAG, "no-net", AT(no_net), .help = "Only the other heuristics; no model is needed."),
    OPTION(INT, "proven-to", AT(proven_to), .argument = "N", RANGE(0, ONET_TSP_MAX_CITIES),
           .help = "Up to this size the orders in the files are proven optimal tours, beyond it the best of "
                   "a long local search; the results say so."),
    OPTION(STRING, "out", AT(out), .argument = "FILE",
           .help = "Write the results with their 95% intervals as CSV."),
    OPTION(STRING, "figure", AT(figure), .argument = "PREFIX",
           .help = "Draw PREFIX-length and PREFIX-gap, each as .svg and .png."),
    OPTION(STRING, "rivals", AT(rivals), .argument = "FILE",
           .help = "What another program measured on the same instances, as CSV with the columns of --out "
                   "and one of the mean optimum (experiments/rivals): added to --out and --figure."),
    OPTIONS_ORDER_MACHINE(AT(net.search)),
    OPTION_QUIET(AT(quiet)),
    {.group = "Data format"},
    OPTIONS_READ(AT(read)),
    {0},
};

const command cmd_tsp_eval = {
    .name = "tsp eval",
    .old_name = "tsp evaluate",
    .summary = "Measure the net's tours against the best ones",
    .operands = "FILE ...",
    .least = 1,
    .most = -1,
    .about = "Reads sets of cities with their best tours (as 'ordernet tsp generate' makes them), finds "
             "tours with the net - greedy, most probable of the beam, shortest of the beam, shortest of the "
             "beams under the square's 8 symmetries - and with Christofides' method, farthest insertion and "
             "2-opt with Or-opt, and prints for each size the mean length and the mean gap to the sets' own "
             "tours. The cities are shown to the net as they are.",
    .examples =
        "ordernet tsp generate --n 5-20,25,30 --per-size 1000 --seed 2 --out fresh.safetensors\n"
        "ordernet tsp eval --model tsp.safetensors --out results.csv --figure figure fresh.safetensors",
    .options = options,
    .size = sizeof(eval_values),
    .defaults = defaults,
    .run = run,
};
