/* Parses TSPLIB files (the standard format of travelling-salesman benchmarks) and writes .tour files. */
#include "tasks/tours/tsplib.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/number.h"
#include "tasks/tours/load.h"

typedef enum weight { WEIGHT_NONE, EUC_2D, CEIL_2D, ATT, GEO, EXPLICIT } weight;
typedef enum layout { LAYOUT_NONE, FULL, UPPER, LOWER, UPPER_DIAG, LOWER_DIAG } layout;

/* A column-wise triangle lists the same numbers as the other triangle row by row. */
static const struct {
    const char *name;
    layout layout;
} layouts[] = {
    {"FULL_MATRIX", FULL},          {"UPPER_ROW", UPPER},           {"LOWER_ROW", LOWER},
    {"UPPER_DIAG_ROW", UPPER_DIAG}, {"LOWER_DIAG_ROW", LOWER_DIAG}, {"UPPER_COL", LOWER},
    {"LOWER_COL", UPPER},           {"UPPER_DIAG_COL", LOWER_DIAG}, {"LOWER_DIAG_COL", UPPER_DIAG},
};
static const char *const weights[] = {NULL, "EUC_2D", "CEIL_2D", "ATT", "GEO", "EXPLICIT"};

/* The file being read. Numbers are stored as they are read, so that memory grows with the file and not with
 * the size that it claims. */
typedef struct source {
    input *in;
    char *line, *at, *end; /* the current line, and where in it */
    long number;
    char name[64];
    int n;
    bool asymmetric; /* TYPE ATSP */
    weight weight;
    layout layout;
    double *xy;     /* [n, 2], from NODE_COORD_SECTION or DISPLAY_DATA_SECTION */
    double *matrix; /* as laid out */
    size_t count;   /* of matrix */
    /* Index of the first number below the diagonal of FULL_MATRIX that differs from the one mirrored above
     * it; 0: none. */
    size_t uneven;
    long uneven_line;
} source;

/* Fails with an error message that begins with file and line. */
#define bad(s, err, ...)                                                                                     \
    (fail(err, ONET_BAD, __VA_ARGS__), error_prefix(err, "%s:%ld", input_name((s)->in), (s)->number),        \
     ONET_BAD)

static onet_status next_line(source *s, onet_error *err) {
    size_t length;
    onet_status status = input_line(s->in, &s->line, &length, &s->number, err);
    s->at = s->line;
    s->end = s->line ? s->line + length : NULL;
    return status;
}

static void skip_space(source *s) {
    while (s->at < s->end && isspace((unsigned char)*s->at)) s->at++;
}

/* Reads the next number, on this line or a later one; what: the field, for errors. */
static onet_status next_number(source *s, const char *what, double *value, onet_error *err) {
    while (s->line) {
        skip_space(s);
        if (s->at < s->end) break;
        onet_status status = next_line(s, err);
        if (status) return status;
    }
    if (!s->line) return bad(s, err, "the file ends where %s should stand", what);
    const char *after = number_scan(s->at, s->end, NUMBER_LOOSE, value);
    if (after == s->at || !isfinite(*value) || (after < s->end && !isspace((unsigned char)*after)))
        return bad(s, err, "'%.*s' stands where %s should; expected a number",
                   (int)strcspn(s->at, " \t\r") < 40 ? (int)strcspn(s->at, " \t\r") : 40, s->at, what);
    s->at = s->line + (after - s->line);
    return ONET_OK;
}

static onet_status need_dimension(const source *s, const char *section, onet_error *err) {
    if (s->n) return ONET_OK;
    return bad(s, err, "%s comes before DIMENSION; DIMENSION must say how many cities there are", section);
}

/* Checks that a section has no more numbers than DIMENSION says: it would be of another instance. */
static onet_status check_end(source *s, const char *section, onet_error *err) {
    skip_space(s);
    if (!s->line || s->at == s->end) return ONET_OK;
    double value;
    if (number_scan(s->at, s->end, NUMBER_LOOSE, &value) == s->at)
        return bad(s, err, "'%.*s' stands behind the numbers of %s; put it on a line of its own",
                   s->end - s->at < 40 ? (int)(s->end - s->at) : 40, s->at, section);
    return bad(s, err, "%s has more numbers than DIMENSION, %d, asks for; correct one of them", section,
               s->n);
}

/* Reads NODE_COORD_SECTION or DISPLAY_DATA_SECTION: a node's number, x and y, in any order of nodes. */
static onet_status read_coordinates(source *s, const char *section, onet_error *err) {
    onet_status status = need_dimension(s, section, err);
    double *rows = NULL; /* [have, 3] */
    size_t room = 0;
    for (int have = 0; have < s->n && !status; have++) {
        if (!array_reserve(&rows, &room, ((size_t)have + 1) * 3, sizeof *rows))
            status = fail_memory(err, "the cities");
        double *row = rows + 3 * (size_t)have;
        if (!status) status = next_number(s, "a node's number", &row[0], err);
        if (!status) status = next_number(s, "a node's x", &row[1], err);
        if (!status) status = next_number(s, "a node's y", &row[2], err);
        if (!status && (row[0] < 1 || row[0] > s->n || row[0] != floor(row[0])))
            status = bad(s, err, "node %.17g: nodes are numbered from 1 to DIMENSION, %d", row[0], s->n);
        if (!status && (fabs(row[1]) > TOUR_LARGEST || fabs(row[2]) > TOUR_LARGEST))
            status = bad(s, err, "node %.0f has a coordinate beyond 1e15", row[0]);
    }
    if (!status) status = check_end(s, section, err);
    free(s->xy);
    s->xy = NULL;
    double *seen = NULL;
    if (!status) {
        s->xy = array_new((size_t)s->n * 2, sizeof *s->xy);
        seen = array_new((size_t)s->n, sizeof *seen);
        if (!s->xy || !seen) status = fail_memory(err, "the cities");
    }
    for (int i = 0; i < s->n && !status; i++) {
        int city = (int)rows[3 * i] - 1;
        if (seen[city] > 0) status = bad(s, err, "node %d stands in %s twice", city + 1, section);
        seen[city] = 1;
        s->xy[2 * city] = rows[3 * i + 1];
        s->xy[2 * city + 1] = rows[3 * i + 2];
    }
    free(seen);
    free(rows);
    return status;
}

static size_t matrix_size(layout l, size_t n) {
    switch (l) {
    case FULL:
        return n * n;
    case UPPER:
    case LOWER:
        return n * (n - 1) / 2;
    default:
        return n * (n + 1) / 2;
    }
}

static onet_status read_matrix(source *s, onet_error *err) {
    onet_status status = need_dimension(s, "EDGE_WEIGHT_SECTION", err);
    if (status) return status;
    if (s->layout == LAYOUT_NONE)
        return bad(s, err, "EDGE_WEIGHT_SECTION needs an EDGE_WEIGHT_FORMAT before it, such as FULL_MATRIX");
    size_t size = matrix_size(s->layout, (size_t)s->n), room = 0;
    free(s->matrix);
    s->matrix = NULL;
    s->uneven = 0;
    for (s->count = 0; s->count < size; s->count++) {
        if (!array_reserve(&s->matrix, &room, s->count + 1, sizeof *s->matrix))
            return fail_memory(err, "the distances");
        double *value = s->matrix + s->count;
        status = next_number(s, "a distance", value, err);
        if (status) return status;
        if (*value < 0 || *value > TOUR_LARGEST)
            return bad(s, err, "a distance of %g; distances are from 0 to 1e15", *value);
        if (s->layout != FULL || s->uneven) continue;
        size_t n = (size_t)s->n, row = s->count / n, column = s->count % n;
        if (column >= row || *value == s->matrix[column * n + row]) continue;
        s->uneven = s->count;
        s->uneven_line = s->number;
    }
    return check_end(s, "EDGE_WEIGHT_SECTION", err);
}

/* ---- Keywords ---------------------------------------------------------------------------------------- */

/* Writes the line's first word to `key`; s->at is then what follows it and a colon, without spaces around. */
static void split_line(source *s, char key[32]) {
    size_t length = 0;
    skip_space(s);
    while (s->at < s->end && !isspace((unsigned char)*s->at) && *s->at != ':') {
        if (length < 31) key[length++] = *s->at;
        s->at++;
    }
    key[length] = 0;
    skip_space(s);
    if (s->at < s->end && *s->at == ':') s->at++;
    skip_space(s);
    while (s->end > s->at && isspace((unsigned char)s->end[-1])) *--s->end = 0;
}

static onet_status set_dimension(source *s, onet_error *err) {
    double value;
    onet_status status = next_number(s, "DIMENSION", &value, err);
    if (status) return status;
    if (value < 1 || value > ONET_TSP_MAX_CITIES || value != floor(value))
        return bad(s, err, "DIMENSION %g; an instance has 1 to %d cities", value, ONET_TSP_MAX_CITIES);
    if (s->xy || s->matrix) return bad(s, err, "DIMENSION comes after the data that it measures");
    s->n = (int)value;
    return ONET_OK;
}

static onet_status set_weight(source *s, onet_error *err) {
    s->weight = WEIGHT_NONE;
    for (int i = EUC_2D; i <= EXPLICIT; i++)
        if (!strcmp(s->at, weights[i])) s->weight = (weight)i;
    if (s->weight) return ONET_OK;
    return bad(s, err, "EDGE_WEIGHT_TYPE %.40s is not known; EUC_2D, CEIL_2D, ATT, GEO and EXPLICIT are",
               s->at);
}

static onet_status set_layout(source *s, onet_error *err) {
    if (s->matrix) return bad(s, err, "EDGE_WEIGHT_FORMAT comes after the matrix that it describes");
    s->layout = LAYOUT_NONE;
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
        if (!strcmp(s->at, layouts[i].name)) s->layout = layouts[i].layout;
    if (s->layout || !strcmp(s->at, "FUNCTION")) return ONET_OK;
    return bad(s, err, "EDGE_WEIGHT_FORMAT %.40s is not known; FULL_MATRIX, UPPER_ROW and such are", s->at);
}

static bool one_of(const char *key, const char *const *names) {
    for (; *names; names++)
        if (!strcmp(key, *names)) return true;
    return false;
}

static onet_status read_line(source *s, bool *ended, onet_error *err) {
    static const char *const passed_over[] = {"COMMENT", "DISPLAY_DATA_TYPE", "NODE_COORD_TYPE", NULL};
    char key[32];
    split_line(s, key);
    if (!strcmp(key, "EOF")) *ended = true;
    if (!key[0] || *ended || one_of(key, passed_over)) return ONET_OK;
    if (!strcmp(key, "NAME")) {
        size_t length = (size_t)(s->end - s->at);
        if (length > 4 && !strcmp(s->end - 4, ".tsp")) length -= 4;
        if (length > 5 && !strcmp(s->end - 5, ".atsp")) length -= 5;
        snprintf(s->name, sizeof s->name, "%.*s", length < 63 ? (int)length : 63, s->at);
        return ONET_OK;
    }
    if (!strcmp(key, "TYPE")) {
        s->asymmetric = !strncmp(s->at, "ATSP", 4);
        if (s->asymmetric || !strncmp(s->at, "TSP", 3)) return ONET_OK;
        return bad(s, err, "TYPE %.40s; only TYPE TSP and TYPE ATSP can be solved", s->at);
    }
    if (!strcmp(key, "DIMENSION")) return set_dimension(s, err);
    if (!strcmp(key, "EDGE_WEIGHT_TYPE")) return set_weight(s, err);
    if (!strcmp(key, "EDGE_WEIGHT_FORMAT")) return set_layout(s, err);
    if (!strcmp(key, "NODE_COORD_SECTION") || !strcmp(key, "DISPLAY_DATA_SECTION"))
        return read_coordinates(s, key, err);
    if (!strcmp(key, "EDGE_WEIGHT_SECTION")) return read_matrix(s, err);
    double value;
    return bad(s, err, "'%s' is not a keyword of an instance that can be read here%s", key,
               number_scan(key, key + strlen(key), NUMBER_LOOSE, &value) == key
                   ? ""
                   : "; the section before it has more numbers than DIMENSION asks for");
}

/* ---- Distances --------------------------------------------------------------------------------------- */

/* TSPLIB's degrees are DDD.MM, and its pi and radius are these. */
static double radians(double degrees) {
    double whole = trunc(degrees);
    return 3.141592 * (whole + 5.0 * (degrees - whole) / 3.0) / 180.0;
}

static double planar(weight w, double x, double y) {
    double d = sqrt(x * x + y * y);
    if (w == CEIL_2D) return ceil(d);
    if (w == EUC_2D) return floor(d + 0.5);
    d = sqrt((x * x + y * y) / 10.0); /* ATT */
    double rounded = floor(d + 0.5);
    return rounded < d ? rounded + 1 : rounded;
}

static double over_the_earth(const double *a, const double *b) {
    double q1 = cos(radians(a[1]) - radians(b[1])), q2 = cos(radians(a[0]) - radians(b[0])),
           q3 = cos(radians(a[0]) + radians(b[0]));
    double cosine = 0.5 * ((1.0 + q1) * q2 - (1.0 - q1) * q3);
    return floor(6378.388 * acos(fmax(-1, fmin(1, cosine))) + 1.0);
}

static onet_status fill_from_matrix(source *s, onet_tsp *t, onet_error *err) {
    size_t n = (size_t)s->n, k = 0;
    if (s->uneven && !s->asymmetric)
        return fail(err, ONET_BAD,
                    "%s:%ld: the distance from node %zu to %zu is not that from %zu to %zu; TYPE TSP is "
                    "symmetric, write TYPE ATSP if it is meant so",
                    input_name(s->in), s->uneven_line, s->uneven / n + 1, s->uneven % n + 1,
                    s->uneven % n + 1, s->uneven / n + 1);
    t->whole = true;
    for (size_t i = 0; i < n; i++) {
        size_t from = 0, to = n;
        if (s->layout == UPPER) from = i + 1;
        if (s->layout == UPPER_DIAG) from = i;
        if (s->layout == LOWER) to = i;
        if (s->layout == LOWER_DIAG) to = i + 1;
        for (size_t j = from; j < to; j++) {
            double d = s->matrix[k++];
            if (i == j) continue; /* some files have a large number there */
            t->dist[i * n + j] = d;
            if (!s->asymmetric) t->dist[j * n + i] = d;
            if (d != floor(d)) t->whole = false;
        }
    }
    return ONET_OK;
}

static onet_status make_instance(source *s, onet_tsp *t, onet_error *err) {
    const char *name = input_name(s->in);
    if (!s->n) return fail(err, ONET_BAD, "%s: DIMENSION is missing", name);
    if (!s->weight) return fail(err, ONET_BAD, "%s: EDGE_WEIGHT_TYPE is missing", name);
    if (s->weight == EXPLICIT ? !s->matrix && s->n > 1 : !s->xy)
        return fail(err, ONET_BAD, "%s: %s is missing", name,
                    s->weight == EXPLICIT ? "EDGE_WEIGHT_SECTION" : "NODE_COORD_SECTION");
    if (s->asymmetric && (s->weight != EXPLICIT || (s->layout != FULL && s->n > 1)))
        return fail(err, ONET_BAD,
                    "%s: TYPE ATSP needs EDGE_WEIGHT_TYPE EXPLICIT and EDGE_WEIGHT_FORMAT FULL_MATRIX, which "
                    "have a distance for each direction",
                    name);
    onet_status status = onet_tsp_blank(t, s->n, s->xy != NULL, err);
    if (status) return status;
    t->asymmetric = s->asymmetric;
    snprintf(t->name, sizeof t->name, "%s", s->name);
    size_t n = (size_t)s->n;
    if (s->xy) memcpy(t->xy, s->xy, 2 * n * sizeof *t->xy);
    if (s->weight == EXPLICIT && s->matrix) return fill_from_matrix(s, t, err); /* one city needs none */
    t->whole = true;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++) {
            const double *a = s->xy + 2 * i, *b = s->xy + 2 * j;
            t->dist[i * n + j] = t->dist[j * n + i] =
                s->weight == GEO ? over_the_earth(a, b) : planar(s->weight, a[0] - b[0], a[1] - b[1]);
        }
    for (size_t i = 0; s->weight == GEO && i < n; i++) {
        t->xy[2 * i] = s->xy[2 * i + 1];
        t->xy[2 * i + 1] = s->xy[2 * i];
    }
    return ONET_OK;
}

onet_status tsplib_read(onet_tsp *t, input *in, onet_error *err) {
    source s = {.in = in};
    *t = (onet_tsp){0};
    onet_status status = ONET_OK;
    bool ended = false;
    while (!status && !ended) {
        status = next_line(&s, err);
        if (status || !s.line) break;
        status = read_line(&s, &ended, err);
    }
    if (!status) status = make_instance(&s, t, err);
    if (status) onet_tsp_free(t);
    free(s.xy);
    free(s.matrix);
    return status;
}

/* Whether the data begin with a keyword of TSPLIB and a colon. */
static bool begins(const char *data, size_t size) {
    static const char *const words[] = {"NAME", "TYPE", "COMMENT", "DIMENSION", "EDGE_WEIGHT_TYPE", NULL};
    for (const char *const *word = words; *word; word++) {
        size_t at = strlen(*word);
        if (size < at || memcmp(data, *word, at)) continue;
        while (at < size && (data[at] == ' ' || data[at] == '\t')) at++;
        if (at < size && data[at] == ':') return true;
    }
    return false;
}

onet_status tsplib_is(input *in, bool *is, onet_error *err) {
    const char *path = input_name(in), *data;
    size_t length = strlen(path), got;
    if (length > 3 && (!strcmp(path + length - 3, ".gz") || !strcmp(path + length - 3, ".xz"))) length -= 3;
    *is = (length > 4 && !strncmp(path + length - 4, ".tsp", 4)) ||
          (length > 5 && !strncmp(path + length - 5, ".atsp", 5));
    if (*is) return ONET_OK;
    onet_status status = input_peek(in, 64, &data, &got, err);
    if (!status) *is = begins(data, got);
    return status;
}

onet_status tsplib_write_tour(const onet_tsp *t, const int32_t *tour, const char *path, onet_error *err) {
    output *out;
    onet_status status = output_open(&out, path, err);
    if (status) return status;
    output_printf(out, "NAME : %s\nCOMMENT : length %.*f\nTYPE : TOUR\nDIMENSION : %d\nTOUR_SECTION\n",
                  t->name[0] ? t->name : "tour", t->whole ? 0 : 9, onet_tsp_length(t, tour), t->n);
    for (int i = 0; i < t->n; i++) output_printf(out, "%d\n", tour[i] + 1);
    output_put(out, "-1\nEOF\n");
    return output_commit(out, err);
}
