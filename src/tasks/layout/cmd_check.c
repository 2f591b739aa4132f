/* ordernet pages check: lists the pages whose order the model is least certain of, and those whose given
 * order it finds improbable; says which model or rule is best on corrected pages. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/command.h"
#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/base/shown.h"
#include "tasks/layout/commands.h"

typedef struct check_values {
    pages_values pages;
    int most, corrected;
} check_values;

static void defaults(void *values) {
    check_values *v = values;
    pages_defaults(&v->pages);
    v->most = 50;
}

typedef struct checked {
    page *page;
    double logprob;    /* of the given order, per region */
    double confidence; /* in the found order */
    int first;         /* the first place at which the found order differs from the given one; -1: none */
} checked;

/* Sorts pages: those that the model is unsure of, the least sure first; then the least probable first. */
static int by_doubt(const void *a, const void *b) {
    const checked *x = a, *y = b;
    bool p = x->confidence < PAGES_UNSURE, q = y->confidence < PAGES_UNSURE;
    if (p != q) return p ? -1 : 1;
    if (p && x->confidence != y->confidence) return x->confidence < y->confidence ? -1 : 1;
    return x->logprob != y->logprob ? (x->logprob > y->logprob) - (x->logprob < y->logprob)
                                    : strcmp(x->page->id, y->page->id);
}

/* Writes the name of a region: its id, or its line in the file. */
static const char *name_of(const page_region *r, char text[64]) {
    if (*r->id)
        shown_text(text, 64, r->id, strlen(r->id));
    else
        snprintf(text, 64, "line %ld", r->line);
    return text;
}

static onet_status check(const check_values *v, const pages_net *net, pages_known *known, onet_error *err) {
    page **pages = known->pages;
    size_t same = 0, unsure = 0, count = known->count;
    checked *list = array_new(count + 1, sizeof *list);
    double *logprob = array_new(count + 1, sizeof *logprob),
           *confidence = array_new(count + 1, sizeof *confidence);
    onet_status status = list && logprob && confidence ? ONET_OK : fail_memory(err, "the pages");
    if (!status) status = pages_score(net, v->pages.rtl, pages, count, logprob, NULL, err);
    progress line;
    progress_start(&line, v->pages.quiet);
    if (!status) status = pages_order(net, 0, v->pages.rtl, pages, count, confidence, &line, err);
    progress_end(&line);
    /* Compares with the order that 'pages order' could write: what a file cannot hold is not an error of
     * it. */
    for (size_t i = 0; i < known->read.count && !status; i++)
        if (known->read.files[i].format) status = page_file_settle(&known->read.files[i], err);
    for (size_t i = 0; i < count && !status; i++) {
        page *p = pages[i];
        list[i] =
            (checked){.page = p, .logprob = logprob[i] / p->placed, .confidence = confidence[i], .first = -1};
        for (int k = 0; k < p->count; k++) {
            const page_region *r = &p->regions[k];
            if (r->placed && r->given != r->found && (list[i].first < 0 || r->given < list[i].first))
                list[i].first = r->given;
        }
        same += list[i].first < 0;
        unsure += list[i].confidence < PAGES_UNSURE;
    }
    char text[128];
    if (!status) status = pages_describe(pages, count, text, sizeof text, err);
    if (!status) {
        qsort(list, count, sizeof *list, by_doubt);
        printf("%s; the model finds the same order on %zu page%s, and is unsure of %zu\n", text, same,
               same == 1 ? "" : "s", unsure);
        if (same < count || unsure)
            printf("%5s %12s  %s\n", "sure", "per region", "page, and where the model begins to disagree");
    }
    int printed = 0;
    for (size_t i = 0; i < count && !status && (!v->most || printed < v->most); i++) {
        const checked *c = &list[i];
        char one[64], other[64], id[SHOWN];
        if (c->first < 0 && c->confidence >= PAGES_UNSURE) continue;
        printf("%4.0f%% %12.3f  %s: ", 100 * c->confidence, c->logprob, shown(id, c->page->id));
        printed++;
        if (c->first < 0) {
            printf("the same order\n");
            continue;
        }
        const page_region *given = NULL, *found = NULL;
        for (int k = 0; k < c->page->count; k++) {
            const page_region *r = &c->page->regions[k];
            if (r->placed && r->given == c->first) given = r;
            if (r->placed && r->found == c->first) found = r;
        }
        printf("place %d of %d has %s, where the model has %s\n", c->first + 1, c->page->placed,
               name_of(given, one), name_of(found, other));
    }
    free(list);
    free(logprob);
    free(confidence);
    return status;
}

/* Prints what finds the given orders best, with --corrected alone: on pages that nobody corrected it says
 * nothing. */
static onet_status recommend(const check_values *v, const pages_known *known, onet_error *err) {
    pages_best best;
    char text[PATH_MAX];
    if (!v->corrected) return ONET_OK;
    onet_status status = pages_find_best(&best, &v->pages, known, err);
    if (status) return status;
    printf("best on these pages: %s, neighbours right %.1f%%\n", pages_best_text(&best, text, sizeof text),
           100 * best.neighbours);
    pages_best_warn(&best);
    return ONET_OK;
}

static onet_status run(void *values, int count, char **operands, onet_error *err) {
    check_values *v = values;
    pages_known known;
    pages_net net = {0};
    onet_status status = pages_known_read(&known, &v->pages, count, operands, true, err);
    if (!status) status = pages_net_open(&net, &v->pages, err);
    if (!status) status = check(v, &net, &known, err);
    if (!status) status = recommend(v, &known, err);
    if (status == ONET_BAD && known.single) {
        printf("no page has two regions or more: there is no order to check\n");
        status = ONET_OK;
    }
    if (!status) status = pages_known_complete(&known, err);
    pages_net_close(&net);
    pages_known_free(&known);
    return status;
}

#define AT(field) offsetof(check_values, field)

static const option options[] = {
    OPTION(INT, "most", AT(most), .argument = "N", RANGE(0, 1e9),
           .help = "Pages listed at most; 0 lists all."),
    OPTION(FLAG, "corrected", AT(corrected),
           .help =
               "The pages were corrected: say also what orders them best, the model, the shipped one or a "
               "rule."),
    OPTIONS_PAGES(AT(pages)),
    {0},
};

const command cmd_pages_check = {
    .name = "pages check",
    .summary = "List pages whose reading order looks wrong",
    .operands = "FILE|DIR ...",
    .least = 1,
    .most = -1,
    .about =
        "Lists first the pages of whose order the model is unsure, the least sure first, then those whose "
        "given order it finds improbable, the most improbable first: how probable it is that the model's "
        "order is right to the last region, the log-probability of the given order per region, and the first "
        "place at which the model would read another region. Other pages on which the model finds the given "
        "order are not listed.",
    .examples = "ordernet pages check corrected\n"
                "ordernet pages check --model mine.safetensors --most 20 export/page",
    .options = options,
    .size = sizeof(check_values),
    .defaults = defaults,
    .run = run,
};
