/* Parses tables of costs: splits rows into cells, decides whether the first row and column are names, checks
 * each cost, and says how to mend one that is not a number. */
#include "tasks/tours/matrix.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/base/names.h"
#include "engine/base/number.h"
#include "tasks/tours/load.h"

enum { LONGEST_ROW = 1 << 24 }; /* bytes */

/* The table being read. Costs are stored as they come, so that memory grows with the file. */
typedef struct table {
    input *in;
    char separator;
    char *line; /* the current row; NULL after the last */
    long number;
    char **cell; /* [cells], NUL-terminated: without quotes and without space around */
    size_t cells, room;
    char *head; /* the first row, kept */
    char **head_cell;
    long head_number;
    bool header, labels; /* the first row has names; the first column has */
    int n;
    double *cost; /* [rows, n] */
    size_t cost_room;
    char **names; /* [n] */
} table;

/* Fails with an error message that begins with file and line. */
#define bad(m, err, ...)                                                                                     \
    (fail(err, ONET_BAD, __VA_ARGS__), error_prefix(err, "%s:%ld", input_name((m)->in), (m)->number),        \
     ONET_BAD)

/* ---- Rows and cells ---------------------------------------------------------------------------------- */

/* Ends the cell that starts at `at` and returns where the next one starts; NULL after the last. A quoted cell
 * loses its quotes, and of two quotes in it one. */
static char *end_cell(char *at, char separator, char **cell, bool *closed) {
    while (*at == ' ' || (*at == '\t' && separator != '\t')) at++;
    char *from = at, *to = at;
    *cell = at;
    if (*at == '"') {
        for (at++; *at && (*at != '"' || at[1] == '"'); at++) {
            if (*at == '"') at++;
            *to++ = *at;
        }
        *closed = *at == '"';
        at += strcspn(at, (char[]){separator, 0});
    } else {
        at += strcspn(at, (char[]){separator, 0});
        to = at;
        while (to > from && isspace((unsigned char)to[-1])) to--;
    }
    char *next = *at ? at + 1 : NULL;
    *to = 0;
    return next;
}

static char find_separator(const char *line) {
    return strchr(line, '\t') ? '\t' : strchr(line, ';') ? ';' : ',';
}

/* Reads the next row that is not blank; m->line is NULL after the last. */
static onet_status next_row(table *m, onet_error *err) {
    size_t length;
    do {
        onet_status status = input_line(m->in, &m->line, &length, &m->number, err);
        if (status || !m->line) return status;
        if (strlen(m->line) != length) return bad(m, err, "a NUL byte; this is not a table of costs");
        if (m->number == 1 && !strncmp(m->line, "\xEF\xBB\xBF", 3)) m->line += 3;
    } while (!m->line[strspn(m->line, " \t")]);
    if (!m->separator) m->separator = find_separator(m->line);
    m->cells = 0;
    for (char *at = m->line; at;) {
        bool closed = true;
        if (m->cells > ONET_TSP_MAX_CITIES)
            return bad(m, err, "more than %d costs in a row; an instance has at most that many cities",
                       ONET_TSP_MAX_CITIES);
        if (!array_reserve(&m->cell, &m->room, m->cells + 1, sizeof *m->cell))
            return fail_memory(err, "the costs");
        at = end_cell(at, m->separator, &m->cell[m->cells++], &closed);
        if (!closed) return bad(m, err, "cell %zu begins with a quote that is not closed", m->cells);
    }
    return ONET_OK;
}

typedef enum cell_kind { EMPTY, NUMBER, NOT_FINITE, TEXT } cell_kind;

static cell_kind kind_of(const char *cell, double *value) {
    const char *end = cell + strlen(cell);
    if (!*cell || !strcmp(cell, "-")) return EMPTY;
    if (number_not_finite(cell, end) == (size_t)(end - cell)) return NOT_FINITE;
    if (number_scan(cell, end, NUMBER_LOOSE, value) != end) return TEXT;
    return isfinite(*value) ? NUMBER : NOT_FINITE;
}

static bool is_text(const char *cell) {
    double value;
    return kind_of(cell, &value) == TEXT;
}

static bool is_empty(const char *cell) {
    double value;
    return kind_of(cell, &value) == EMPTY;
}

/* Whether the cell says that there is no cost. */
static bool is_missing(const char *cell) {
    static const char *const known[] = {"NA", "N/A", "#N/A", "null", "None", "nil", "x", "?", "--", "."};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcasecmp(cell, known[i])) return true;
    return false;
}

/* Whether the text may be meant as a cost: `1,200`, `1h20`, `5 min`, `$3`, `NA`. A name may look so too. */
static bool may_be_cost(const char *cell) {
    size_t sign = strspn(cell, "+-.,$~<>( ");
    if (!strncmp(cell + sign, "\xE2\x82\xAC", 3)) sign += 3; /* the euro sign */
    if (!strncmp(cell + sign, "\xC2\xA3", 2)) sign += 2;     /* the pound sign */
    sign += strspn(cell + sign, " ");
    return is_missing(cell) || isdigit((unsigned char)cell[sign]);
}

/* Whether the cell is text that is not meant as a cost. */
static bool is_word(const char *cell) {
    return is_text(cell) && !may_be_cost(cell);
}

/* Whether the cell is empty or 0, as from a city to itself in most tables. */
static bool is_nothing(const char *cell) {
    double value;
    cell_kind kind = kind_of(cell, &value);
    return kind == EMPTY || (kind == NUMBER && value == 0);
}

/* ---- Names ------------------------------------------------------------------------------------------- */

/* Whether the cells after the first are 0, 1, 2, ... or 1, 2, 3, ...: the names that programs write if there
 * are none. */
static bool counts_up(char *const *cell, size_t cells) {
    double first = 0, value;
    for (size_t k = 1; k < cells; k++) {
        if (kind_of(cell[k], &value) != NUMBER) return false;
        if (k == 1) first = value;
        if (value != first + (double)(k - 1)) return false;
    }
    return first == 0 || first == 1;
}

/* Whether the first row has names, with names in the first column too. A table of n cities and its names is
 * as large as one of n + 1 cities without names, so this must be certain: behind an empty cell, or behind a
 * word that is not itself the name of the row. Of a first row that may be both, *unclear is set. */
static bool names_both(char *const *head, size_t columns, char *const *row, bool *unclear) {
    bool texts = true, words = true; /* all but the first cell */
    for (size_t k = 1; k < columns; k++) {
        texts = texts && is_text(head[k]);
        words = words && is_word(head[k]);
    }
    bool same = !strcmp(head[1], row[0]), open = is_empty(row[1]);
    if (!*head[0]) {
        bool certain = !open || words || (same && counts_up(head, columns));
        *unclear = !certain && same;
        return certain;
    }
    if (is_empty(head[0])) { /* a dash, which may be the cost from the first city to itself */
        *unclear = !words && same && (texts || !open);
        return words;
    }
    if (is_word(head[0])) return same || (texts && is_text(row[0]));
    return is_text(head[0]) && words && (same || is_text(row[0]));
}

/* Whether the first row has names and the first column has none. Such a table has one row more than columns,
 * which is checked at its end. */
static bool names_first_row(char *const *head, size_t columns, char *const *row) {
    bool any = is_text(head[0]), words = is_word(head[0]);
    for (size_t k = 1; k < columns; k++) {
        any = any || is_text(head[k]);
        words = words && is_word(head[k]);
    }
    if (is_text(row[0])) return false;
    return words || (any && is_nothing(row[0]) && !is_nothing(head[0])) || (columns == 1 && any);
}

/* Whether the first row and the first column have names, from the first two rows: m->head_cell, m->cell. */
static onet_status find_names(table *m, size_t columns, onet_error *err) {
    char **head = m->head_cell, **row = m->line && m->cells ? m->cell : NULL;
    bool unclear = false;
    if (!row) {
        m->header = is_text(head[columns - 1]);
        m->labels = is_text(head[0]);
    } else if (columns > 1 && m->cells > 1 && names_both(head, columns, row, &unclear))
        m->header = m->labels = true;
    else {
        m->header = !unclear && names_first_row(head, columns, row);
        m->labels = columns > 1 && !m->header && is_text(row[0]) &&
                    (is_word(head[0]) || (is_nothing(head[1]) && !is_nothing(head[0])));
    }
    if (unclear) {
        m->number = m->head_number;
        return bad(m, err,
                   "its cells may be costs or the names of the cities; write 0 from each city to itself and "
                   "nothing before the names, or words as names");
    }
    m->n = (int)columns - m->labels;
    if (m->n < 1 || m->n > ONET_TSP_MAX_CITIES)
        return bad(m, err, "%d cities; an instance has 1 to %d", m->n, ONET_TSP_MAX_CITIES);
    return ONET_OK;
}

static onet_status take_name(table *m, int city, const char *name, onet_error *err) {
    if (!*name) return bad(m, err, "the name of city %d is empty", city);
    if (!m->names[city] && !(m->names[city] = strdup(name)))
        return fail_memory(err, "the names of the cities");
    if (!strcmp(m->names[city], name)) return ONET_OK;
    return bad(m, err,
               "row %d is called `%.80s` and column %d `%.80s`; rows and columns must have the same names in "
               "the same order",
               city + 1, name, city + 1, m->names[city]);
}

/* Keeps the first row, which decides with the one after it whether there are names. */
static onet_status keep_head(table *m, size_t *columns, onet_error *err) {
    onet_status status = next_row(m, err);
    if (status) return status;
    if (!m->line) return fail(err, ONET_BAD, "%s: there are no rows; give the costs", input_name(m->in));
    size_t size = 0;
    for (size_t k = 0; k < m->cells; k++) size += strlen(m->cell[k]) + 1;
    m->head = malloc(size);
    m->head_cell = array_new(m->cells, sizeof *m->head_cell);
    if (!m->head || !m->head_cell) return fail_memory(err, "the costs");
    char *to = m->head;
    for (size_t k = 0; k < m->cells; k++) {
        m->head_cell[k] = to;
        to = stpcpy(to, m->cell[k]) + 1;
    }
    *columns = m->cells;
    m->head_number = m->number;
    return next_row(m, err);
}

/* ---- Costs ------------------------------------------------------------------------------------------- */

/* Writes what a city is called in an error message. */
static const char *name_for(const table *m, int city, char text[100]) {
    if (m->names && m->names[city])
        snprintf(text, 100, "`%.80s`", m->names[city]);
    else
        snprintf(text, 100, "city %d", city);
    return text;
}

/* Returns advice on what to write in place of a cell that is not a number. */
static const char *advice_for(const table *m, int from, const char *cell) {
    if (is_missing(cell))
        return "; a cost cannot be missing: write a large number where there is no way, and nothing from a "
               "city to itself";
    const char *comma = strchr(cell, ',');
    if (m->n == 1 && strchr(cell, ' '))
        return "; separate costs by commas, semicolons or tabs, not by blanks";
    if (comma && strspn(comma + 1, "0123456789") == 3)
        return "; write it without a thousands separator, and a decimal comma as a dot";
    if (comma && may_be_cost(cell)) return "; write the decimal point as a dot";
    if (may_be_cost(cell)) return "; write a plain number, without a unit";
    if (from == 0 && !m->header)
        return "; names in the first row need an empty cell before them where the first column has names too";
    return "";
}

static onet_status take_cost(table *m, int from, int to, const char *cell, double *cost, onet_error *err) {
    char one[100], other[100];
    double value = 0;
    cell_kind kind = kind_of(cell, &value);
    if (from == to && kind != TEXT) return ONET_OK;
    const char *a = name_for(m, from, one), *b = name_for(m, to, other);
    if (kind == EMPTY) return bad(m, err, "the cost from %s to %s is missing", a, b);
    if (kind == NOT_FINITE)
        return bad(m, err, "the cost from %s to %s is %.20s; it must be finite", a, b, cell);
    if (kind == TEXT)
        return bad(m, err, "column %d: the cost from %s to %s, '%.40s', is not a number%s",
                   to + m->labels + 1, a, b, cell, advice_for(m, from, cell));
    if (value < 0 || value > TOUR_LARGEST)
        return bad(m, err, "the cost from %s to %s is %.9g; costs are from 0 to 1e15", a, b, value);
    *cost = value;
    return ONET_OK;
}

static onet_status take_row(table *m, int from, char *const *cell, size_t cells, onet_error *err) {
    size_t columns = (size_t)m->n + m->labels;
    if (cells != columns)
        return bad(m, err, "%zu cell%s where the first row has %zu; a matrix has as many in each row", cells,
                   cells == 1 ? "" : "s", columns);
    if (from >= m->n)
        return bad(m, err, "more rows than the %d columns%s; a matrix is square", m->n,
                   m->header   ? " that are named"
                   : m->labels ? " of costs"
                               : " (numbers in the first row are names behind an empty cell alone)");
    if (!array_reserve(&m->cost, &m->cost_room, (size_t)(from + 1) * (size_t)m->n, sizeof *m->cost))
        return fail_memory(err, "the costs");
    double *row = m->cost + (size_t)from * (size_t)m->n;
    memset(row, 0, (size_t)m->n * sizeof *row);
    onet_status status = m->labels ? take_name(m, from, cell[0], err) : ONET_OK;
    for (int to = 0; to < m->n && !status; to++)
        status = take_cost(m, from, to, cell[to + m->labels], &row[to], err);
    return status;
}

static onet_status read_rows(table *m, onet_error *err) {
    size_t columns = 0;
    onet_status status = keep_head(m, &columns, err);
    if (!status) status = find_names(m, columns, err);
    if (status) return status;
    if ((m->header || m->labels) && !(m->names = array_new((size_t)m->n, sizeof *m->names)))
        return fail_memory(err, "the names of the cities");
    long second = m->number;
    int from = 0;
    m->number = m->head_number;
    for (int k = 0; k < m->n && m->header && !status; k++)
        status = take_name(m, k, m->head_cell[k + m->labels], err);
    if (!m->header) status = take_row(m, from++, m->head_cell, columns, err);
    m->number = second;
    long last = m->head_number;
    while (!status && m->line) {
        last = m->number;
        status = take_row(m, from++, m->cell, m->cells, err);
        if (!status) status = next_row(m, err);
    }
    if (status || from == m->n) return status;
    m->number = last;
    return bad(m, err, "the table ends after %d row%s of %d costs; a matrix is square%s", from,
               from == 1 ? "" : "s", m->n, m->header ? ", and the first row was taken as names" : "");
}

/* Warns if two cities have one name: they may be two places, or a row that appears twice. */
static onet_status note_twice(const table *m, void (*note)(const onet_error *text), onet_error *err) {
    names seen = {0};
    bool good = true;
    for (int i = 0; i < m->n && good && m->names && note; i++) {
        size_t number, before = seen.count;
        good = names_add(&seen, m->names[i], strlen(m->names[i]), &number);
        if (!good || number == before) continue;
        onet_error text;
        fail(&text, ONET_BAD, "%s: `%.100s` is the name of two cities; both are visited", input_name(m->in),
             m->names[i]);
        note(&text);
        break;
    }
    names_free(&seen);
    return good ? ONET_OK : fail_memory(err, "the names of the cities");
}

onet_status matrix_read(onet_tsp *t, char ***called, input *in, int delimiter,
                        void (*note)(const onet_error *text), onet_error *err) {
    table m = {.in = in, .separator = (char)delimiter};
    *t = (onet_tsp){0};
    *called = NULL;
    input_line_limit(in, LONGEST_ROW);
    onet_status status = read_rows(&m, err);
    if (!status) status = note_twice(&m, note, err);
    if (!status) {
        *t = (onet_tsp){.n = m.n, .whole = 1, .dist = m.cost};
        *called = m.names;
        size_t n = (size_t)m.n;
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++) {
                if (m.cost[i * n + j] != floor(m.cost[i * n + j])) t->whole = 0;
                if (m.cost[i * n + j] != m.cost[j * n + i]) t->asymmetric = 1;
            }
    } else {
        for (int i = 0; i < m.n && m.names; i++) free(m.names[i]);
        free(m.names);
        free(m.cost);
    }
    free(m.head);
    free(m.head_cell);
    free(m.cell);
    return status;
}
