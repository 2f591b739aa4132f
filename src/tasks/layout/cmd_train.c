/* ordernet pages train: trains or fine-tunes a reading-order model on page files whose order is given: holds
 * out documents, adds variants of the pages and synthetic ones, learns which rule is usual for the title, and
 * measures the model on what was held out. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/command.h"
#include "app/division.h"
#include "app/model_path.h"
#include "app/training.h"
#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "ordernet_train.h"
#include "tasks/layout/augment.h"
#include "tasks/layout/commands.h"
#include "tasks/layout/generate.h"
#include "tasks/layout/order/choose.h"
#include "tasks/layout/order/features.h"
#include "tasks/layout/order/ways.h"
#include "tasks/layout/usual_way.h"

typedef struct train_values {
    pages_values pages;
    onet_train_options options;
    const char *from;
    double holdout;           /* share of the pages, in whole documents, in percent */
    int copies, small_copies; /* variants of each page, with over PAGE_VARIED regions and with fewer; -1: by
                                 default */
    int plain;                /* plain layouts of each family beside the pages */
    int epochs;               /* 0: by default */
    double rate;              /* 0: by default */
    int force;
} train_values;

/* FEW: trained from random weights on fewer pages than this, a net is worse than the shipped model. */
enum { FEW = 1000 };

static void defaults(void *values) {
    train_values *v = values;
    pages_defaults(&v->pages);
    onet_train_defaults(&v->options, sizeof v->options);
    v->holdout = 20;
    v->copies = v->small_copies = -1;
}

/* Sets the training options: epochs, learning rate and variants depend on whether it begins with random
 * weights or a model (experiments/pages). */
static onet_status choose_options(train_values *v, const onet_model *from, onet_error *err) {
    onet_train_options *o = &v->options;
    onet_status status = onet_settings_preset(&o->settings, "default", err);
    o->settings.pool = ONET_POOL_MEAN;
    o->settings.width = 0;
    o->scale = "standard"; /* what the features were chosen and measured with */
    o->schedule = ONET_COSINE;
    o->weight_decay = 0.1;
    o->epochs = v->epochs ? v->epochs : from ? 12 : 6;
    /* From random weights the default rate of the library is good. */
    if (v->rate > 0 || from) o->learning_rate = v->rate > 0 ? v->rate : 1e-3;
    o->from = from;
    o->threads = v->pages.order.threads;
    o->device = "cpu";
    if (v->copies < 0) v->copies = from ? 40 : 12;
    if (v->small_copies < 0) v->small_copies = 0;
    return status;
}

typedef struct division {
    page **train, **valid;
    size_t train_count, valid_count;
    bool single; /* single pages are held out, since documents could not be told apart */
} division;

/* Holds out whole documents: a page is like the others of its book or issue, so that a page held out alone
 * would flatter the model. Single pages if there is one document, or one has nearly all pages. */
static onet_status divide(division *d, page **pages, size_t count, const train_values *v, onet_error *err) {
    size_t *document = array_new(count + 1, sizeof *document), *place = NULL;
    d->train = array_new(count + 1, sizeof *d->train);
    d->valid = array_new(count + 1, sizeof *d->valid);
    if (!document || !d->train || !d->valid) {
        free(document);
        return fail_memory(err, "the pages");
    }
    size_t documents, held = 0, *size = NULL, *at = NULL;
    bool *out = NULL;
    onet_status status = pages_documents(pages, count, document, &documents, err);
    if (!status && documents) status = pick_places(&place, documents, v->options.seed, err);
    if (!status) {
        size = array_new(documents + 1, sizeof *size);
        at = array_new(documents + 1, sizeof *at);
        out = array_new(documents + 1, sizeof *out);
        if (!size || !at || !out) status = fail_memory(err, "the pages");
    }
    for (size_t i = 0; i < count && !status; i++) size[document[i]]++;
    for (size_t k = 0; k < documents && !status; k++) at[place[k]] = k;
    /* A document is held out if that brings the share of the pages nearer to what is wanted. */
    double wanted = v->holdout / 100 * (double)count;
    for (size_t k = 0; k < documents && documents > 1 && !status; k++) {
        size_t all = held + size[at[k]];
        out[at[k]] = fabs((double)all - wanted) < fabs((double)held - wanted);
        if (out[at[k]]) held = all;
    }
    /* Single pages, every fifth for a share of 20%, are better than none. */
    d->single = !held && wanted >= 1;
    double share = v->holdout / 100;
    for (size_t i = 0; i < count && !status; i++)
        if (d->single ? floor((double)(i + 1) * share) > floor((double)i * share) : out[document[i]])
            d->valid[d->valid_count++] = pages[i];
        else
            d->train[d->train_count++] = pages[i];
    free(size);
    free(at);
    free(out);
    free(place);
    free(document);
    return status;
}

/* Appends a page and variants of it. */
static onet_status add_page(onet_sets *sets, const page *p, int copies, rng *r, onet_error *err) {
    onet_status status = page_append(sets, p, true, err);
    for (int k = 0; k < copies && !status; k++) {
        page other;
        status = page_variant(&other, p, r, err);
        if (!status && other.placed > 1) status = page_append(sets, &other, true, err);
        page_free(&other);
    }
    return status;
}

static bool has_separators(const page *p) {
    for (int i = 0; i < p->count; i++)
        if (p->regions[i].kind == KIND_SEPARATOR) return true;
    return false;
}

/* A page with separators is also learned without them, so that pages of files that have none are ordered as
 * well as before. */
static onet_status make_sets(onet_sets **sets, page **pages, size_t count, const train_values *v,
                             bool variants, onet_error *err) {
    onet_status status = onet_sets_new(sets, page_feature_count(), err);
    for (size_t i = 0; i < count && !status; i++) {
        const page *p = pages[i];
        int copies = !variants ? 0 : p->placed > PAGE_VARIED ? v->copies : v->small_copies;
        rng r;
        rng_seed(&r, v->options.seed, i);
        status = add_page(*sets, p, copies, &r, err);
        if (!variants || !has_separators(p)) continue;
        page bare = {0};
        if (!status) status = page_without_context(&bare, p, err);
        if (!status) status = add_page(*sets, &bare, copies, &r, err);
        page_free(&bare);
    }
    return status;
}

/* Appends plain layouts of every family that is read from left to right; pages that are not were mirrored. */
static onet_status add_plain(onet_sets *sets, const train_values *v, onet_error *err) {
    onet_status status = ONET_OK;
    for (int family = 0; family < FAMILY_RIGHT_TO_LEFT; family++)
        for (int k = 0; k < v->plain && !status; k++) {
            page p;
            rng r;
            rng_seed(&r, v->options.seed, (uint64_t)(family + 1) << 32 | (uint32_t)k);
            status = page_generate(&p, (page_family)family, &r, err);
            if (!status) status = page_append(sets, &p, true, err);
            page_free(&p);
        }
    return status;
}

/* Sets an entry of the training record of the model in a file. */
static onet_status keep_entry(const char *path, const char *key, const char *value, onet_error *err) {
    onet_model *model = NULL;
    onet_status status = onet_model_load(&model, path, err);
    if (!status) status = onet_model_set_record(model, key, value, err);
    if (!status) status = onet_model_save(model, path, err);
    onet_model_free(model);
    return status;
}

/* Sets an entry of the training record in the model and in its files. */
static onet_status keep(const train_values *v, const division *d, onet_model *model, const char *key,
                        const char *value, onet_error *err) {
    char best[PATH_MAX];
    onet_train_path(best, sizeof best, v->options.model_path, ONET_TRAIN_BEST);
    onet_status status = onet_model_set_record(model, key, value, err);
    if (!status) status = keep_entry(v->options.model_path, key, value, err);
    if (!status && d->valid_count) status = keep_entry(best, key, value, err);
    return status;
}

/* Learns how the pages are usually read, and if they are read across what divides them. */
static onet_status learn_style(const train_values *v, const division *d, onet_model *model, onet_error *err) {
    int usual;
    char name[PAGE_WAY_NAME];
    bool cross = false;
    onet_status status = pages_usual_way(&usual, d->train, d->train_count, err);
    if (!status && usual != PAGE_WAY_GUTTERS) {
        page_way_name(usual, name);
        status = keep(v, d, model, PAGES_USUAL_KEY, name, err);
        if (!status && !v->pages.quiet)
            printf("right on more pages than any other rule, and preferred: %s\n", name);
    }
    if (!status && v->options.from) status = pages_cross(&cross, d->train, d->train_count, err);
    if (!status && cross) status = keep(v, d, model, PAGES_CROSSES_KEY, "yes", err);
    return status;
}

/* Prints how good the model is on the documents held out. */
static onet_status report_valid(const train_values *v, const onet_model *model, const division *d,
                                onet_error *err) {
    pages_net net;
    size_t exact = 0;
    double neighbours = 0;
    onet_status status = pages_net_with(&net, model, &v->pages, err);
    if (!status) status = pages_order(&net, 0, v->pages.rtl, d->valid, d->valid_count, NULL, NULL, err);
    for (size_t i = 0; i < d->valid_count && !status; i++) {
        const page *p = d->valid[i];
        int right = 0, same = 0;
        int32_t *given = array_new((size_t)p->placed, sizeof *given);
        if (!given) {
            status = fail_memory(err, "the orders");
            break;
        }
        page_order_of(p, false, given);
        for (int k = 0; k < p->placed; k++) {
            same += p->regions[given[k]].found == k;
            right += k && p->regions[given[k]].found == p->regions[given[k - 1]].found + 1;
        }
        exact += same == p->placed;
        neighbours += (double)right / (p->placed - 1);
        free(given);
    }
    if (!status)
        printf("%s held out: neighbours right %.1f%%, %zu of %zu pages exact; 'ordernet pages eval' has "
               "more\n",
               d->single ? "pages" : "documents", 100 * neighbours / (double)d->valid_count, exact,
               d->valid_count);
    pages_net_close(&net);
    return status;
}

/* Warns if the pages held out do not tell how good the model is on new documents. */
static void warn_of_share(const train_values *v, const division *d, size_t count) {
    static const char hint[] = "documents are told apart by their folders, by names that differ in more than "
                               "their last number, and by the key doc in JSON Lines";
    double share = 100 * (double)d->valid_count / (double)count;
    if (d->single)
        printf("other pages of their documents are trained on, so the figures are better than on new "
               "documents: %s\n",
               hint);
    else if (d->valid_count && (share < v->holdout / 2 || share > v->holdout * 2))
        printf("that is %.0f%% of the pages, not %.0f%%: %s\n", share, v->holdout, hint);
}

static onet_status learn(train_values *v, page **pages, size_t count, size_t left_out, onet_error *err) {
    division d = {0};
    onet_sets *train = NULL, *valid = NULL;
    onet_model *model = NULL;
    training t = {.judges = true};
    char text[128], held_out[128];
    for (size_t i = 0; i < count && v->pages.rtl; i++) page_mirror(pages[i]);
    onet_status status = divide(&d, pages, count, v, err);
    if (!status) status = pages_describe(pages, count, text, sizeof text, err);
    if (!status) status = pages_describe(d.valid, d.valid_count, held_out, sizeof held_out, err);
    if (!status && !v->pages.quiet) {
        printf("%s", text);
        if (left_out) printf("; %zu pages without an order of two regions or more left out", left_out);
        printf("\nheld out: %s\n", d.valid_count     ? held_out
                                   : v->holdout <= 0 ? "nothing"
                                                     : "nothing, since the pages are too few");
        warn_of_share(v, &d, count);
        size_t documents;
        if (v->holdout > 0 && !pages_documents(pages, count, NULL, &documents, err) && documents == count &&
            count > 1)
            printf(
                "every page looks like a document of its own: if pages of one book are both trained on and "
                "held out, the figures are too good\n");
        if (!v->options.from && count < FEW)
            printf("from random weights, which takes thousands of pages: --from shipped begins with a model "
                   "that knows others\n");
        fflush(stdout);
    }
    if (!status) status = make_sets(&train, d.train, d.train_count, v, true, err);
    if (!status) status = add_plain(train, v, err);
    if (!status && d.valid_count) status = make_sets(&valid, d.valid, d.valid_count, v, false, err);
    if (!status) status = training_run(&t, &model, train, valid, &v->options, v->pages.quiet, err);
    if (status == ONET_INTERRUPTED)
        fail(err, status,
             "interrupted at step %llu of %llu; the same command with --resume continues from there",
             (unsigned long long)t.last.step, (unsigned long long)t.last.steps);
    if (!status && !v->pages.quiet) training_summarise(&t, &v->options, model);
    if (!status) status = learn_style(v, &d, model, err);
    for (size_t i = 0; i < count && v->pages.rtl; i++) page_mirror(pages[i]);
    if (!status && !v->pages.quiet && d.valid_count) status = report_valid(v, model, &d, err);
    onet_sets_free(train);
    onet_sets_free(valid);
    onet_model_free(model);
    free(d.train);
    free(d.valid);
    return status;
}

static onet_status run(void *values, int count, char **operands, onet_error *err) {
    train_values *v = values;
    pages_known known = {0};
    onet_model *from = NULL;
    char shipped[PATH_MAX];
    onet_status status = ONET_OK;
    v->options.keep = !v->force;
    if (v->force && v->options.resume)
        return fail(err, ONET_USAGE,
                    "--resume continues the training that is there, --force replaces it: leave one of "
                    "them out");
    if (v->from && !strcmp(v->from, "shipped")) {
        status = model_path(shipped, sizeof shipped, "pages.safetensors", err);
        v->from = shipped;
    }
    if (!status) status = training_place(v->options.model_path, err);
    if (!status) status = training_keeps("--from", v->from, &v->options, err);
    if (!status) status = onet_train_possible(&v->options, err);
    if (!status && v->from) status = onet_model_load(&from, v->from, err);
    if (!status && from) status = pages_model_check(from, v->from, err);
    if (!status) status = choose_options(v, from, err);
    if (!status) status = pages_known_read(&known, &v->pages, count, operands, true, err);
    for (size_t i = 0; i < known.paths.count && !status; i++)
        status = training_keeps("the pages of", known.paths.path[i], &v->options, err);
    if (!status) status = learn(v, known.pages, known.count, known.left_out, err);
    if (!status) status = pages_known_complete(&known, err);
    pages_known_free(&known);
    onet_model_free(from);
    return status;
}

#define AT(field) offsetof(train_values, field)

static const option options[] = {
    OPTION(STRING, "model", AT(options.model_path), .required = true, .argument = "FILE",
           .help = "Where the model is written."),
    OPTION_HALF(AT(options.half)),
    OPTION(STRING, "from", AT(from), .argument = "FILE",
           .help = "Begin with this model; 'shipped' is the one that comes with the program. For a few dozen "
                   "pages."),
    OPTION_MODELS(AT(options.models), false),
    OPTION(DOUBLE, "holdout", AT(holdout), .argument = "PERCENT", RANGE(0, 90),
           .help = "Share of the pages that is kept for validation, in whole documents; 0 keeps none."),
    OPTION(INT, "epochs", AT(epochs), .argument = "N", RANGE(1, 100000), .default_text = "6; with --from 12",
           .help = "Passes over the pages and their variants."),
    OPTION(DOUBLE, "learning-rate", AT(rate), .argument = "X", RANGE(1e-9, 1),
           .default_text = "0.005; with --from 0.001", .help = "Adam's learning rate."),
    OPTION(INT, "variants", AT(copies), .argument = "N", RANGE(0, 1000), .default_text = "12; with --from 40",
           .help =
               "Variants made of each page of over 12 regions: parts of it, other segmentations, askew, ..."),
    OPTION(INT, "small-variants", AT(small_copies), .argument = "N", RANGE(0, 1000), .default_text = "0",
           .help = "Variants made of each page of 12 regions or fewer."),
    OPTION(INT, "plain", AT(plain), .argument = "N", RANGE(0, 100000),
           .help = "Plain layouts of each family of 'ordernet pages generate' to learn beside the pages."),
    OPTION(U64, "seed", AT(options.seed), .argument = "N",
           .help = "Seed of the initial weights, the variants and the documents held out."),
    OPTION(FLAG, "resume", AT(options.resume),
           .help = "Continue from the checkpoint beside the model, or from the start where there is none. "
                   "Pages and options must be the same."),
    OPTION(FLAG, "force", AT(force),
           .help = "Replace the model and the other files of an earlier training. Without it, and without "
                   "--resume, they are kept and the training is refused."),
    OPTION(STRING, "types", AT(pages.types), .argument = "A,B,...", .default_text = "as the file has it",
           .help = "Types of the regions that belong into the order, as in 'ordernet pages order'."),
    OPTION(CHOICE, "direction", AT(pages.rtl), .argument = "NAME", .choices = page_directions,
           .help = "Direction in which lines and columns are read."),
    OPTION_THREADS(AT(pages.order.threads)),
    OPTION_QUIET(AT(pages.quiet)),
    {0},
};

const command cmd_pages_train = {
    .name = "pages train",
    .summary = "Learn reading orders from corrected pages",
    .operands = "FILE|DIR ...",
    .least = 1,
    .most = -1,
    .about = "Learns from the pages of the files that have a reading order. Whole documents are held out to "
             "measure the "
             "model: pages of one folder whose names differ only in their last number are of one document. "
             "With --from, a few dozen pages of a title are enough to teach its style to a trained model.",
    .examples = "ordernet pages train corrected --from shipped --model mine.safetensors\n"
                "ordernet pages train pages.jsonl --model pages.safetensors",
    .options = options,
    .size = sizeof(train_values),
    .defaults = defaults,
    .run = run,
};
