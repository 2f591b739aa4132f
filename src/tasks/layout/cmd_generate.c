/* ordernet pages generate: plain layouts whose order nobody doubts, as JSON Lines. */
#include <stdio.h>
#include <stdlib.h>

#include "app/command.h"
#include "engine/base/choice.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "tasks/layout/generate.h"

typedef struct generate_values {
    const char *out;
    int family, count; /* family < 0: all */
    uint64_t seed;
} generate_values;

static void defaults(void *values) {
    generate_values *v = values;
    v->out = "-";
    v->family = -1;
    v->count = 100;
    v->seed = 1;
}

static onet_status write_page(output *out, const page *p, const char *family, int number, onet_error *err) {
    int32_t *order = array_new((size_t)p->placed + 1, sizeof *order);
    if (!order) return fail_memory(err, "the order of a page");
    onet_status status =
        output_printf(out, err, "{\"id\": \"%s_%d\", \"doc\": \"%s_%d\", \"source\": \"%s\", \"items\": [",
                      family, number, family, number, family);
    for (int i = 0; i < p->count && !status; i++) {
        const page_region *g = &p->regions[i];
        status = output_printf(out, err, "%s{\"bbox\": [%g, %g, %g, %g], \"type\": \"%s\"}", i ? ", " : "",
                               g->box.x0, g->box.y0, g->box.x1, g->box.y1, g->type);
    }
    page_order_of(p, false, order);
    if (!status) status = output_printf(out, err, "], \"order\": [");
    for (int k = 0; k < p->placed && !status; k++)
        status = output_printf(out, err, "%s%d", k ? ", " : "", (int)order[k]);
    if (!status) status = output_printf(out, err, "]}\n");
    free(order);
    return status;
}

static onet_status write_family(output *out, const generate_values *v, page_family family, onet_error *err) {
    onet_status status = ONET_OK;
    for (int k = 0; k < v->count && !status; k++) {
        page p;
        rng r;
        rng_seed(&r, v->seed, (uint64_t)family << 32 | (uint32_t)k);
        status = page_generate(&p, family, &r, err);
        if (status) break;
        status = write_page(out, &p, choice_name(page_families(), (int)family), k + 1, err);
        page_free(&p);
    }
    return status;
}

static onet_status run(void *values, int count, char **operands, onet_error *err) {
    (void)count;
    (void)operands;
    generate_values *v = values;
    output *out;
    onet_status status = output_open(&out, v->out, err);
    if (status) return status;
    for (int family = 0; family < PAGE_FAMILIES && !status; family++)
        if (v->family == family || (v->family < 0 && family != FAMILY_RIGHT_TO_LEFT))
            status = write_family(out, v, (page_family)family, err);
    if (!status) return output_commit(out, err);
    output_abort(out);
    return status;
}

#define AT(field) offsetof(generate_values, field)

static const option options[] = {
    {.name = "family",
     .kind = OPTION_CHOICE,
     .argument = "NAME",
     .choices = page_families,
     .field = AT(family),
     .default_text = "all but right-to-left",
     .help = "The kind of layout."},
    {.name = "count",
     .kind = OPTION_INT,
     .argument = "N",
     .low = 1,
     .high = 1000000,
     .field = AT(count),
     .help = "Pages of each family."},
    {.name = "seed",
     .kind = OPTION_U64,
     .argument = "N",
     .field = AT(seed),
     .help = "The pages follow from it."},
    {.name = "out",
     .kind = OPTION_STRING,
     .argument = "FILE",
     .field = AT(out),
     .help = "Where the pages are written; - is standard output."},
    {0},
};

const command cmd_pages_generate = {
    .name = "pages generate",
    .summary = "Draw plain layouts whose order nobody doubts",
    .about = "Writes pages with boxes, types, separators and their reading order as JSON Lines: columns, "
             "headlines, facing pages, tables and others, a little askew, some with boxes that overlap or "
             "without types. They test rules and models where there is no doubt.",
    .examples = "ordernet pages generate --count 200 --out plain.jsonl\n"
                "ordernet pages eval plain.jsonl",
    .options = options,
    .size = sizeof(generate_values),
    .defaults = defaults,
    .run = run,
};
