/* ordernet pages generate: writes random synthetic page layouts with an undisputed reading order, of one
 * family (such as columns or tables) or of all that are read from left to right, as JSON Lines. */
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
    output_printf(out, "{\"id\": \"%s_%d\", \"doc\": \"%s_%d\", \"source\": \"%s\", \"items\": [", family,
                  number, family, number, family);
    for (int i = 0; i < p->count; i++) {
        const page_region *g = &p->regions[i];
        output_printf(out, "%s{\"bbox\": [%g, %g, %g, %g], \"type\": \"%s\"}", i ? ", " : "", g->box.x0,
                      g->box.y0, g->box.x1, g->box.y1, g->type);
    }
    page_order_of(p, false, order);
    output_put(out, "], \"order\": [");
    for (int k = 0; k < p->placed; k++) output_printf(out, "%s%d", k ? ", " : "", (int)order[k]);
    output_put(out, "]}\n");
    free(order);
    return output_status(out, err);
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
    OPTION(CHOICE, "family", AT(family), .argument = "NAME", .choices = page_families,
           .default_text = "all but right-to-left", .help = "The kind of layout."),
    OPTION(INT, "count", AT(count), .argument = "N", RANGE(1, 1000000), .help = "Pages of each family."),
    OPTION(U64, "seed", AT(seed), .argument = "N", .help = "Seed of the pages."),
    OPTION(STRING, "out", AT(out), .argument = "FILE",
           .help = "Where the pages are written; - is standard output."),
    {0},
};

const command cmd_pages_generate = {
    .name = "pages generate",
    .summary = "Make plain layouts whose order is unambiguous",
    .about = "Writes pages with boxes, types, separators and their reading order as JSON Lines: columns, "
             "headlines, facing pages, tables and others, a little askew, some with boxes that overlap or "
             "without types. They test rules and models where the order is unambiguous.",
    .examples = "ordernet pages generate --count 200 --out plain.jsonl\n"
                "ordernet pages eval plain.jsonl",
    .options = options,
    .size = sizeof(generate_values),
    .defaults = defaults,
    .run = run,
};
