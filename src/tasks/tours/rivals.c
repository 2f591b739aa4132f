/* Reads the results of other programs. */
#include "tasks/tours/rivals.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/number.h"

/* Reads the number in front of *at and moves behind the comma that follows. */
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

onet_status rivals_read(rival_list *list, const char *path, onet_error *err) {
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
            status =
                fail(err, ONET_BAD, "%s:%ld: a size, a method and eight numbers are wanted", path, number);
        if (status) break;
    }
    input_close(in);
    return status;
}
