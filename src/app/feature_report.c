/* Prints which columns of the data became features and how each is scaled, and warns of features that are
 * constant, look like ids or have crowded values, and of items that the network cannot tell apart. */
#include "app/feature_report.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/choice.h"
#include "engine/base/error.h"
#include "engine/base/number.h"
#include "engine/base/shown.h"
#include "ordernet_io.h"
#include "ordernet_train.h"

/* Returns what is suspect about a feature, NULL if nothing is. Sorts value [items]. alone: it is the only
 * feature, which may look like an id and still be what the items are sorted by. */
static const char *looks_like(double *value, size_t items, bool alone) {
    size_t same = 1;
    while (same < items && value[same] == value[0]) same++;
    if (same == items) return "is the same for all items and tells nothing about their order";
    return !alone && numbers_are_ids(value, items)
               ? "looks like an id: all values are whole numbers and distinct"
               : NULL;
}

const char *feature_text(const onet_feature *f, char text[FEATURE_TEXT]) {
    snprintf(text, FEATURE_TEXT, "%s%s%s", choice_name(onet_scales(), (int)f->scale),
             f->centred ? ", centred in double" : "", f->within ? ", rank within the set" : "");
    return text;
}

int column_text(const onet_columns *columns, int j, char name[SHOWN], char kind[COLUMN_KIND]) {
    const char *known = columns ? onet_columns_name(columns, j) : NULL, *type = onet_columns_kind(columns, j);
    bool text = known && !strcmp(type, "category");
    int span = text ? onet_columns_span(columns, j) : 1;
    snprintf(kind, COLUMN_KIND, text ? "%s of %d value%s" : "%s", type, span, span == 1 ? "" : "s");
    if (!known)
        snprintf(name, SHOWN, "x%d", j + 1);
    else
        shown_text(name, SHOWN, known, text ? strcspn(known, "=") : strlen(known));
    return span;
}

/* Prints the columns that are features, then the unused ones, as --features takes them. */
static void print_all_columns(const onet_columns *columns) {
    const char *unused = onet_columns_unused(columns);
    char name[SHOWN], kind[COLUMN_KIND];
    for (int j = 0; j < onet_columns_width(columns);) {
        printf("%s", j ? "," : "");
        j += column_text(columns, j, name, kind);
        printf("%s", name);
    }
    for (const char *at = unused; at && *at; at += strspn(at, ", ")) {
        size_t length = strcspn(at, ",");
        printf(",%s", shown_text(name, sizeof name, at, length));
        at += length;
    }
}

void print_unused(const onet_columns *columns) {
    char list[512];
    const char *unused = onet_columns_unused(columns);
    if (!unused) return;
    printf("not used: %s (text); to use such columns, name them: --features '",
           shown_text(list, sizeof list, unused, strlen(unused)));
    print_all_columns(columns);
    printf("'\n");
}

void print_misspelt(const onet_columns *columns, FILE *out, const char *before) {
    print_lines(onet_columns_misspelt(columns), out, before);
}

void print_lines(const char *line, FILE *out, const char *before) {
    for (size_t length; line && *line; line += length + 1) {
        length = strcspn(line, "\n");
        fprintf(out, "%s%.*s\n", before, (int)length, line);
    }
}

/* Whether the feature is not simply standardised. */
static bool unusual(const onet_feature *f) {
    return f->scale != ONET_SCALE_STANDARD || f->centred || f->within;
}

/* Prints all features if they have names, else those that are not simply standardised. */
static void print_features(const onet_sets *sets, const onet_feature *feature) {
    const onet_columns *columns = sets->columns;
    bool named = columns && onet_columns_name(columns, 0), some = false;
    char name[SHOWN], text[FEATURE_TEXT];
    for (int j = 0; j < sets->width; j++) {
        if (!named && !unusual(&feature[j])) continue;
        printf("%s", some ? ", " : "features: ");
        some = true;
        if (named)
            printf("%s", shown(name, onet_columns_name(columns, j)));
        else
            printf("%d", j + 1);
        if (unusual(&feature[j])) printf(" (%s)", feature_text(&feature[j], text));
    }
    if (some) printf("\n");
    print_unused(columns);
    fflush(stdout);
    print_misspelt(columns, stderr, "ordernet train: warning: ");
}

static void warn(const onet_sets *sets, size_t j, const char *what, const char *named, const char *unnamed) {
    const char *column = onet_columns_name(sets->columns, (int)j);
    char name[SHOWN];
    if (column)
        fprintf(stderr, "ordernet train: warning: column `%s` %s; %s\n", shown(name, column), what, named);
    else
        fprintf(stderr, "ordernet train: warning: feature %zu %s; %s\n", j + 1, what, unnamed);
}

static onet_status warn_of_values(const onet_sets *sets, onet_error *err) {
    size_t items = sets->start[sets->count], width = (size_t)sets->width;
    bool alone = width == 1;
    if (items < (alone ? 2 : NUMBERS_ENOUGH)) return ONET_OK;
    double *value = malloc(items * sizeof *value);
    if (!value) return fail_memory(err, "a feature");
    for (size_t j = 0; j < width; j++) {
        for (size_t i = 0; i < items; i++)
            value[i] = sets->exact ? sets->exact[i * width + j] : (double)sets->items[i * width + j];
        const char *what = looks_like(value, items, alone);
        if (what && alone)
            warn(sets, j, what, "there is nothing to learn from", "there is nothing to learn from");
        else if (what)
            warn(sets, j, what, "name the features without it (--features)", "leave it out of the items");
    }
    free(value);
    return ONET_OK;
}

onet_status feature_report(const onet_sets *sets, const onet_train_options *options, onet_error *err) {
    if (sets->word) return ONET_OK;
    if (onet_sets_look_like_ranks(sets))
        fprintf(stderr,
                "ordernet train: warning: the orders look like ranks: the features correlate with the "
                "inverse of the orders. An order lists the indices of the items, first to last; a rank is "
                "the place of an item. Check which of the two the data has\n");
    size_t equal = 0;
    onet_feature *feature = calloc((size_t)sets->width, sizeof *feature);
    onet_status status = feature ? ONET_OK : fail_memory(err, "the features");
    if (!status) status = onet_train_features(feature, sets, options, &equal, err);
    if (!status) {
        print_features(sets, feature);
        status = warn_of_values(sets, err);
    }
    for (int j = 0; j < sets->width && !status; j++)
        if (feature[j].crowded && feature[j].scale != ONET_SCALE_QUANTILE)
            warn(sets, (size_t)j,
                 "has heavy tails or far clusters: most values of a set lie too close for the net",
                 "try --scale quantile for it, or its logarithm",
                 "try --scale quantile for it, or its logarithm");
    if (!status && equal)
        fprintf(stderr,
                "ordernet train: warning: %zu items differ from another item of their set in the data but "
                "are equal to it after scaling: the net cannot tell them apart\n",
                equal);
    free(feature);
    return status;
}
