/* Accesses and compares columns (the names of features, the kinds of their values, the values that replace
 * missing ones), finds the kind of a column from its values, recognises missing values and fills them in. */
#include "engine/data/columns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "engine/base/error.h"

const onet_choice *onet_missings(void) {
    static const onet_choice list[] = {
        {"error", "refuse the data", ONET_MISSING_ERROR},
        {"mean", "take the mean of the training data", ONET_MISSING_MEAN},
        {"indicator", "take the mean, and add a feature that is 1 where the value is missing",
         ONET_MISSING_INDICATOR},
        {0},
    };
    return list;
}

void onet_columns_free(onet_columns *c) {
    if (!c) return;
    free(c->name);
    free(c->set);
    free(c->rank);
    free(c->kind);
    free(c->unused);
    free(c->misspelt);
    free(c->unknown);
    free(c->fill);
    free(c->flag);
    free(c);
}

/* ---- For callers ------------------------------------------------------------------------------------- */

int onet_columns_width(const onet_columns *c) {
    return c ? c->width : 0;
}

int onet_columns_inputs(const onet_columns *c) {
    return c ? c->inputs : 0;
}

const char *onet_columns_name(const onet_columns *c, int feature) {
    return c && c->name && feature >= 0 && feature < c->inputs ? c->name[feature] : NULL;
}

int onet_columns_span(const onet_columns *c, int feature) {
    const char *name = onet_columns_name(c, feature), *end = name ? strchr(name, '=') : NULL, *next;
    int count = 1;
    while (end && (next = onet_columns_name(c, feature + count)) &&
           !strncmp(name, next, (size_t)(end - name) + 1))
        count++;
    return count;
}

const char *onet_columns_kind(const onet_columns *c, int feature) {
    const char *name = onet_columns_name(c, feature);
    bool known = c && c->kind && feature >= 0 && feature < c->width;
    return name && strchr(name, '=')                       ? "category"
           : known && c->kind[feature] == (char)KIND_DATE  ? "date"
           : known && c->kind[feature] == (char)KIND_TRUTH ? "truth value"
                                                           : "number";
}

unsigned seen_number(double value) {
    return value == 0 || value == 1 ? SEEN_FLAG : SEEN_NUMBER;
}

unsigned seen_text(const char *text) {
    return *text >= '0' && *text <= '9' ? SEEN_DATE : SEEN_TRUTH;
}

const char *seen_name(unsigned seen) {
    return seen & SEEN_DATE ? "a date" : seen & SEEN_TRUTH ? "a truth value" : "a number";
}

char kind_of_seen(unsigned seen) {
    if (!(seen & ~(unsigned)(SEEN_FLAG | SEEN_NUMBER))) return KIND_NUMBER;
    if (!(seen & ~(unsigned)(SEEN_FLAG | SEEN_TRUTH))) return KIND_TRUTH;
    return seen == SEEN_DATE ? KIND_DATE : 0;
}

const char *columns_refuse(const onet_columns *model, int j, unsigned seen) {
    if (!model || !model->name || j >= model->width) return NULL;
    char kind = model->kind ? model->kind[j] : (char)KIND_NUMBER;
    if (kind == (char)KIND_DATE)
        return seen == SEEN_DATE ? NULL
                                 : ", but the model was trained on dates there; write a date of ISO 8601, "
                                   "such as 2024-05-31";
    if (kind == (char)KIND_TRUTH)
        return seen == SEEN_FLAG || seen == SEEN_TRUTH
                   ? NULL
                   : ", but the model was trained on truth values there; write true or false, or 1 or 0";
    if (seen == SEEN_FLAG || seen == SEEN_NUMBER) return NULL;
    return seen == SEEN_TRUTH
               ? ", but the model was trained on numbers there; write a number, such as 1 for true"
               : ", but the model was trained on numbers there; write a number";
}

const char *onet_columns_set(const onet_columns *c) {
    return c ? c->set : NULL;
}

const char *onet_columns_rank(const onet_columns *c) {
    return c ? c->rank : NULL;
}

const char *onet_columns_unused(const onet_columns *c) {
    return c ? c->unused : NULL;
}

const char *onet_columns_misspelt(const onet_columns *c) {
    return c ? c->misspelt : NULL;
}

const char *onet_columns_unknown(const onet_columns *c) {
    return c ? c->unknown : NULL;
}

onet_missing onet_columns_missing(const onet_columns *c) {
    return c ? c->missing : ONET_MISSING_ERROR;
}

/* ---- Names ------------------------------------------------------------------------------------------- */

bool columns_differ(const onet_columns *a, const onet_columns *b, int *feature) {
    if (!a || !b || !a->name || !b->name) return false;
    for (*feature = 0; *feature < a->inputs && *feature < b->inputs; ++*feature)
        if (strcmp(a->name[*feature], b->name[*feature]) != 0) return true;
    return false;
}

onet_status columns_check(const onet_columns *sets, const onet_columns *model, onet_error *err) {
    int j;
    if (!columns_differ(sets, model, &j)) return ONET_OK;
    return fail_field(
        err, ONET_BAD, "onet_read_options.columns",
        "feature %d of the sets is `%.100s`, that of the model is `%.100s`; read the sets with the "
        "model's columns",
        j + 1, sets->name[j], model->name[j]);
}

/* ---- Missing values ---------------------------------------------------------------------------------- */

bool missing_text(const char *text, size_t length) {
    static const char *const known[] = {"", "NA", "N/A", "#N/A", "NaN", "null", "None", "?"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strlen(known[i]) == length && !strncasecmp(known[i], text, length)) return true;
    return false;
}

void columns_fill(const onet_columns *c, const double *from, size_t n, double *to) {
    for (size_t i = 0; i < n; i++, from += c->width) {
        double *flags = to + c->width;
        for (int j = 0; j < c->width; j++) {
            bool missing = isnan(from[j]);
            if (c->flag && c->flag[j]) *flags++ = missing;
            to[j] = missing && c->fill ? (double)c->fill[j] : from[j];
        }
        to += c->inputs;
    }
}

void columns_fill_floats(const onet_columns *c, const float *from, size_t n, float *to) {
    for (size_t i = 0; i < n; i++, from += c->width) {
        float *flags = to + c->width;
        for (int j = 0; j < c->width; j++) {
            bool missing = isnan(from[j]);
            if (c->flag && c->flag[j]) *flags++ = missing;
            to[j] = missing && c->fill ? c->fill[j] : from[j];
        }
        to += c->inputs;
    }
}
