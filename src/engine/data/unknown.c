/* Compares texts with the values of a model's categories, detects categories of which the model knows no
 * value, and describes them to the user (unknown.h). */
#include "engine/data/unknown.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/base/number.h"
#include "engine/base/shown.h"

enum { SHOWN_TEXTS = 3 };

static bool number_of(const char *text, size_t length, double *value) {
    return length && number_scan(text, text + length, NUMBER_LOOSE, value) == text + length;
}

bool unknown_is_number(const char *text, size_t length) {
    double value;
    return number_of(text, length, &value);
}

bool unknown_same(const char *value, const char *text, size_t length, bool numbers) {
    double a, b;
    size_t own = strlen(value);
    if (own == length && !memcmp(value, text, length)) return true;
    return numbers && number_of(value, own, &a) && number_of(text, length, &b) && a == b;
}

onet_status unknown_start(unknown_texts *u, const onet_columns *model, onet_error *err) {
    bool some = false;
    for (int j = 0; model && model->name && j < model->width; j++)
        some |= strchr(model->name[j], '=') != NULL;
    if (!some) return ONET_OK;
    if (!(u->column = array_new((size_t)model->width, sizeof *u->column)))
        return fail_memory(err, "the texts of a column");
    u->width = model->width;
    return ONET_OK;
}

void unknown_note(unknown_texts *u, int feature, bool known, const char *text, size_t length) {
    if (!u || feature < 0 || feature >= u->width || u->column[feature].known) return;
    unknown_column *c = &u->column[feature];
    char one[24], plain[21];
    c->known = known;
    if (known || missing_text(text, length) || c->texts == SHOWN_TEXTS) return;
    snprintf(one, sizeof one, "\"%s\"", shown_text(plain, sizeof plain, text, length));
    if (strstr(c->text, one)) return;
    size_t used = strlen(c->text);
    snprintf(c->text + used, sizeof c->text - used, "%s%s", c->texts++ ? ", " : "", one);
}

/* Writes "1", "2", "3" and 5 others: the values of the category that begins with feature j. */
static void known_values(const onet_columns *model, int j, char *list, size_t size) {
    int span = onet_columns_span(model, j);
    size_t used = 0;
    for (int k = 0; k < span && k < SHOWN_TEXTS && used < size; k++) {
        const char *value = strchr(model->name[j + k], '=') + 1;
        char plain[21];
        used += (size_t)snprintf(list + used, size - used, "%s\"%s\"", k ? ", " : "",
                                 shown_text(plain, sizeof plain, value, strlen(value)));
    }
    if (span > SHOWN_TEXTS && used < size)
        snprintf(list + used, size - used, " and %d other%s", span - SHOWN_TEXTS,
                 span - SHOWN_TEXTS == 1 ? "" : "s");
}

onet_status unknown_say(const unknown_texts *u, const onet_columns *model, const char *file, char **said,
                        onet_error *err) {
    for (int j = 0; j < u->width; j++) {
        const unknown_column *c = &u->column[j];
        char known[128], name[SHOWN], path[SHOWN], *all;
        if (c->known || !c->texts) continue;
        known_values(model, j, known, sizeof known);
        shown(path, file);
        shown_text(name, sizeof name, model->name[j], strcspn(model->name[j], "="));
        if (asprintf(&all,
                     "%s%s: column `%s`: no value is one that the model knows: here are %s, it knows %s; "
                     "the order does not depend on the column\n",
                     *said ? *said : "", path, name, c->text, known) < 0)
            return fail_memory(err, "the texts of a column");
        free(*said);
        *said = all;
    }
    return ONET_OK;
}

void unknown_free(unknown_texts *u) {
    free(u->column);
    *u = (unknown_texts){0};
}
