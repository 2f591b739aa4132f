/* ordernet train: trains a model (a network, or a linear ranker) on sets whose right order is known. Checks
 * the options, reads the files, and runs --tune, --folds, --learning-curve and the comparison with simple
 * rules on held-out sets; prints the command lines that train the same model, or the ranker, again. */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/command.h"
#include "app/comparison.h"
#include "app/division.h"
#include "app/feature_report.h"
#include "app/interrupt.h"
#include "app/processes.h"
#include "app/report.h"
#include "app/training.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/limits.h"
#include "engine/base/shown.h"
#include "ordernet_train.h"
#include "ordernet_words.h"

typedef struct train_values {
    const char *data, *valid, *valid_pairs, *holdout, *vectors, *preset, *from, *tune;
    onet_read_options read;
    onet_settings settings; /* 0, for the pool -1: as the preset says */
    onet_train_options options;
    int batch; /* 0: as suits the data */
    int folds, quiet, force, ranker, learning_curve;
    char **group; /* [grouped]: the group of each set; NULL: no --group-column */
    size_t grouped;
    bool given[OPTIONS_MAX]; /* which of the options were given */
    onet_sets *shuffled; /* copy of the data with shuffled items, for --folds and --tune; NULL: not needed */
} train_values;

static void defaults(void *values) {
    train_values *v = values;
    onet_read_defaults(&v->read, sizeof v->read);
    onet_train_defaults(&v->options, sizeof v->options);
    v->settings.pool = (onet_pool)-1;
}

/* Fills in the settings of the net: the preset, changed by the options given. */
static onet_status choose_settings(train_values *v, onet_error *err) {
    onet_settings *s = &v->options.settings;
    onet_status status = onet_settings_preset(s, v->preset ? v->preset : "default", err);
    if (status) return status;
    s->width = 0;
    if (v->settings.encoder_blocks) s->encoder_blocks = v->settings.encoder_blocks;
    if (v->settings.hidden) s->hidden = v->settings.hidden;
    if (v->settings.encoder_out) s->encoder_out = v->settings.encoder_out;
    if ((int)v->settings.pool >= 0) s->pool = v->settings.pool;
    if (v->settings.decoder_blocks) s->decoder_blocks = v->settings.decoder_blocks;
    if (v->settings.decoder_out) s->decoder_out = v->settings.decoder_out;
    s->relative = v->settings.relative;
    if (v->batch) v->options.batch = v->batch;
    return ONET_OK;
}

/* Checks that the options agree with the network of the model that the training begins with. */
static onet_status check_from(const train_values *v, onet_error *err) {
    const onet_settings *now = &v->options.settings, *has = onet_model_settings(v->options.from);
    const struct {
        const char *name;
        bool given;
        int now, has;
    } all[] = {
        {"encoder-blocks", v->settings.encoder_blocks > 0, now->encoder_blocks, has->encoder_blocks},
        {"hidden", v->settings.hidden > 0, now->hidden, has->hidden},
        {"encoder-out", v->settings.encoder_out > 0, now->encoder_out, has->encoder_out},
        {"pool", (int)v->settings.pool >= 0, (int)now->pool, (int)has->pool},
        {"decoder-blocks", v->settings.decoder_blocks > 0, now->decoder_blocks, has->decoder_blocks},
        {"decoder-out", v->settings.decoder_out > 0, now->decoder_out, has->decoder_out},
        /* No preset sets it: without the option it is as in the model. */
        {"relative", v->settings.relative > 0, now->relative, now->relative ? has->relative : 0},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if ((all[i].given || v->preset) && all[i].now != all[i].has)
            return fail(err, ONET_USAGE,
                        "--%s asks for another net than that of %s ('ordernet inspect' shows it): leave it "
                        "out, or train without --from",
                        all[i].given ? all[i].name : "preset", v->from);
    return ONET_OK;
}

enum { COMMAND = PATH_MAX + 4096, NAMES = 4096 };
/* Writes the command line that trains the linear ranker on the same data; NULL if it is too long. */
static const char *ranker_command(const train_values *v, char text[COMMAND]);

/* Whether more examples may help the model, and enough sets are held out to tell: not if a simple rule does
 * as well, or nearly all is right. */
static bool wants_examples(const onet_comparison *c) {
    return c->distinct >= 30 && (c->conclusion == ONET_WORTH_MODEL || c->conclusion == ONET_WORTH_NOTHING) &&
           !c->is_ranker && c->model.exact.mean < 0.95;
}

/* Compares the model with simple rules on the sets that it was validated with. */
static onet_status compare(const train_values *v, const onet_model *model, const onet_sets *data,
                           const onet_sets *valid, onet_error *err) {
    onet_sets some = *valid;
    onet_comparison c;
    size_t limit = (size_t)v->options.valid_limit;
    if (limit && limit < some.count) {
        some.count = limit;
        while (some.constraint_count && some.constraints[some.constraint_count - 1].item >= some.start[limit])
            some.constraint_count--;
    }
    onet_status status = comparison_make(&c, model, data, &some, &v->options, err);
    char ranker[COMMAND];
    if (!status && v->quiet) {
        comparison_warn(&c, "train"); /* no better than guessing: not to be missed */
        return ONET_OK;
    }
    if (!status) status = comparison_print(&c, data, "train", ranker_command(v, ranker), err);
    if (!status && v->learning_curve)
        status = learning_curve(model, data, &some, &v->options, v->quiet, err);
    else if (!status && wants_examples(&c))
        puts("Would more examples help? --learning-curve tells.");
    return status;
}

/* Printed at the end if no set was held out to measure the model on. */
static void note_nothing_held_out(const train_values *v, const onet_sets *valid) {
    if (!valid && !v->folds && !v->tune)
        printf("nothing was held out, so what the model is worth on other sets is not known; --holdout 10%% "
               "measures it\n");
}

/* Trains the linear ranker instead of the network. */
static onet_status train_ranker(const train_values *v, const onet_sets *data, const onet_sets *valid,
                                onet_error *err) {
    onet_ranker_options o = {.size = sizeof o,
                             .relative = v->settings.relative,
                             .standardise = v->options.standardise,
                             .seed = v->options.seed,
                             .threads = v->options.threads,
                             .scale = v->options.scale,
                             .within = v->options.within};
    onet_model *model = NULL;
    char name[SHOWN];
    onet_status status = onet_ranker_train(&model, data, &o, err);
    if (!status) status = onet_model_save(model, v->options.model_path, err);
    if (!status && !v->quiet)
        printf("%s: a ranker of %d feature%s, penalty %s, loss %s\n", shown(name, v->options.model_path),
               data->width, data->width == 1 ? "" : "s", onet_model_record(model, "penalty"),
               onet_model_record(model, "loss"));
    if (!status && !v->quiet) note_nothing_held_out(v, valid);
    if (!status && valid) status = compare(v, model, data, valid, err);
    onet_model_free(model);
    return status;
}

static onet_status train(const train_values *v, const onet_sets *data, const onet_sets *valid,
                         onet_error *err) {
    training t = {0};
    onet_model *model = NULL;
    onet_status status = training_run(&t, &model, data, valid, &v->options, v->quiet, err);
    if (status == ONET_INTERRUPTED) {
        char which[64] = "";
        if (t.last.models > 1)
            snprintf(which, sizeof which, " of model %d of %d", t.last.model, t.last.models);
        fail(err, status,
             "interrupted at step %llu of %llu%s; the same command with --resume continues from there",
             (unsigned long long)t.last.step, (unsigned long long)t.last.steps, which);
    }
    if (!status && !v->quiet && processes_is_rank0()) {
        training_summarise(&t, &v->options, model);
        if (v->holdout)
            printf("held out for validation: %zu of %zu sets, drawn by seed %llu\n", valid->count,
                   valid->count + data->count, (unsigned long long)v->options.seed);
        note_nothing_held_out(v, valid);
    }
    if (!status && valid && processes_is_rank0()) status = compare(v, model, data, valid, err);
    onet_model_free(model);
    return status;
}

/* Runs the cross-validation and prints how good its models were. */
static onet_status measure_folds(const train_values *v, const onet_sets *data, onet_error *err) {
    onet_report report;
    onet_comparison comparison;
    onet_status status = folds_run(&report, &comparison, data, (const char *const *)v->group, v->folds,
                                   &v->options, v->quiet, err);
    if (status || !processes_is_rank0()) return status;
    printf("%d folds: each set is measured by a model that was trained without it\n", v->folds);
    report_print(&report);
    char ranker[COMMAND];
    return comparison_print(&comparison, data, "train", ranker_command(v, ranker), err);
}

/* Sets without a group may be of the same document or day as others, and nothing keeps them together. */
static void warn_ungrouped(const train_values *v) {
    size_t alone = 0;
    for (size_t s = 0; s < v->grouped; s++) alone += !v->group[s];
    if (alone)
        fprintf(stderr,
                "ordernet train: warning: %zu of %zu sets have no `%.100s`, and each is a group of its own\n",
                alone, v->grouped, v->read.group_column);
}

/* Parses --holdout, "10%" of all sets or "50", into *count. */
static onet_status holdout_count(const train_values *v, size_t all, size_t *count, onet_error *err) {
    char *end;
    errno = 0;
    double value = strtod(v->holdout, &end);
    bool share = *end == '%';
    if (end == v->holdout || end[share] || !(value > 0) || (share ? value >= 100 : value != floor(value)))
        return fail(err, ONET_USAGE,
                    "option --holdout takes a number of sets, or a share of them as in 10%%, not '%s'",
                    v->holdout);
    double wanted = share ? fmax(1, floor(value / 100 * (double)all + 0.5)) : value;
    if (wanted >= (double)all)
        return fail(err, ONET_USAGE, "--holdout %s leaves no set to learn from: %s has %zu", v->holdout,
                    v->data, all);
    *count = (size_t)wanted;
    return ONET_OK;
}

/* Refuses options that exclude each other. */
static onet_status check_options(const train_values *v, onet_error *err) {
    onet_tune_options how;
    onet_status status = v->tune ? tuning_budget(&how, v->tune, err) : ONET_OK;
    if (status) return status;
    if (v->tune && v->ranker) return fail(err, ONET_USAGE, "--tune tries the ranker too: leave out --ranker");
    if (v->tune && (v->folds || v->valid || v->holdout || v->options.patience))
        return fail(err, ONET_USAGE, "--tune divides the data itself: leave out %s",
                    v->folds     ? "--folds"
                    : v->valid   ? "--valid"
                    : v->holdout ? "--holdout"
                                 : "--patience");
    if (v->tune && processes())
        return fail(err, ONET_USAGE, "--tune tries settings in one process: start it without mpirun");
    if (v->valid && v->holdout)
        return fail(err, ONET_USAGE, "--holdout takes validation sets out of the data: leave out --valid");
    const char *of_net = !v->ranker                 ? NULL
                         : v->from                  ? "from"
                         : v->folds                 ? "folds"
                         : v->options.resume        ? "resume"
                         : v->options.patience      ? "patience"
                         : v->learning_curve        ? "learning-curve"
                         : v->options.models > 1    ? "models"
                         : v->options.train_vectors ? "train-vectors"
                         : v->options.half          ? "half"
                         : v->options.relate        ? "relate"
                                                    : NULL;
    if (of_net)
        return fail(err, ONET_USAGE, "--%s is for training a net: leave it out with --ranker", of_net);
    if (v->learning_curve && (!(v->valid || v->holdout) || v->quiet || processes()))
        return fail(err, ONET_USAGE, "--learning-curve %s",
                    v->quiet ? "only prints its result: leave out --quiet"
                    : processes()
                        ? "needs one process"
                        : "measures with sets that are held out: give some, with --valid or --holdout");
    if (v->ranker && processes())
        return fail(err, ONET_USAGE, "--ranker needs one process: it takes seconds");
    if (v->force && v->options.resume)
        return fail(err, ONET_USAGE,
                    "--resume continues the training that is there, --force replaces it: leave "
                    "one of them out");
    if (v->from && (v->vectors || !v->options.standardise))
        return fail(err, ONET_USAGE, "--from keeps the %s of its model: leave out --%s",
                    v->vectors ? "words" : "standardisation", v->vectors ? "vectors" : "no-standardise");
    if (v->from && (strcmp(v->options.scale, "auto") != 0 || v->options.within))
        return fail(err, ONET_USAGE, "--from keeps the scale of the features of its model: leave out --%s",
                    v->options.within ? "within" : "scale");
    if (v->from && v->options.relate)
        return fail(err, ONET_USAGE, "--from keeps the relations that its model makes: leave out --relate");
    if (v->folds && (v->valid || v->holdout || v->options.patience || v->options.resume))
        return fail(err, ONET_USAGE,
                    "--folds measures with sets of the data, at the end of each training: leave out %s",
                    v->valid              ? "--valid"
                    : v->holdout          ? "--holdout"
                    : v->options.patience ? "--patience"
                                          : "--resume");
    return ONET_OK;
}

/* Checks before a search that no file of an earlier one would be replaced without --force or --resume. */
static onet_status tune_possible(const train_values *v, onet_error *err) {
    onet_train_options o = v->options;
    char path[PATH_MAX];
    tuning_path(path, o.model_path);
    if (o.resume) o.keep = o.resume = 0; /* a resumed search may end with another number of models */
    onet_status status = onet_train_possible(&o, err);
    if (!status && o.keep && !access(path, F_OK))
        status =
            fail(err, ONET_USAGE,
                 "%s is there already: resume that search (--resume), replace it (--force), or name another "
                 "model",
                 path);
    if (!status && output_replaces(path, v->data))
        status =
            fail(err, ONET_USAGE, "--data %s would be overwritten by %s; name another model", v->data, path);
    return status ? status : output_possible(path, err);
}

/* Reads all input files, and checks that the model can be written. */
static onet_status open_files(train_values *v, onet_model **from, onet_words **words, onet_sets **data,
                              onet_sets **valid, onet_error *err) {
    const char *model = v->options.model_path;
    onet_status status = model ? training_place(model, err) : ONET_OK;
    if (!status) status = training_keeps("--data", v->data, &v->options, err);
    if (!status) status = training_keeps("--valid", v->valid, &v->options, err);
    if (!status) status = training_keeps("--pairs", v->read.pairs, &v->options, err);
    if (!status) status = training_keeps("--valid-pairs", v->valid_pairs, &v->options, err);
    if (!status) status = training_keeps("--vectors", v->vectors, &v->options, err);
    if (!status) status = training_keeps("--from", v->from, &v->options, err);
    if (!status && v->tune)
        status = tune_possible(v, err);
    else if (!status && model)
        status = onet_train_possible(&v->options, err);
    if (!status && v->valid && !strcmp(v->data, "-") && !strcmp(v->valid, "-"))
        status = fail(err, ONET_USAGE, "--data and --valid cannot both be standard input");
    if (!status && v->vectors) status = onet_words_read(words, v->vectors, err);
    v->read.words = *words;
    if (!status && v->from && !(status = onet_model_load(from, v->from, err))) {
        v->options.from = *from;
        v->read.words = onet_model_words(*from); /* words that it does not have are unknown ones */
        v->read.columns = onet_model_columns(*from);
        v->read.relations = onet_model_relations(*from);
        v->read.relation_fill = onet_model_relation_fill(*from);
        status = check_from(v, err);
    }
    if (!status) status = onet_sets_read(data, v->data, &v->read, err);
    bool made = v->options.relate || (*from && onet_model_relate(*from));
    if (!status && !v->batch)
        v->options.batch = made ? onet_train_batch_related(*data) : onet_train_batch(*data);
    if (!status && v->valid) {
        onet_read_options read = v->read;
        if ((*data)->words) read.words = (*data)->words;
        read.columns = (*data)->columns; /* the same features, and values for missing ones */
        read.pairs = v->valid_pairs;
        if ((*data)->pairs) read.relations = (*data)->pairs->names;
        if ((*data)->pairs) read.relation_fill = (*data)->pairs->fill;
        status = onet_sets_read(valid, v->valid, &read, err);
        if (!status)
            print_lines(onet_columns_unknown((*valid)->columns), stderr, "ordernet train: warning: ");
    }
    if (!status && v->read.group_column && (v->holdout || v->folds || v->tune)) {
        v->grouped = (*data)->count;
        status = groups_read(&v->group, v->grouped, v->data, &v->read, err);
        if (!status) warn_ungrouped(v);
    }
    const char *const *group = (const char *const *)v->group;
    size_t count = 0;
    if (!status && v->holdout) status = holdout_count(v, (*data)->count, &count, err);
    if (count) {
        status = division_hold_out(data, valid, group, count, v->options.seed, err);
        if (status == ONET_USAGE) error_prefix(err, "--holdout %s", v->holdout);
    }
    if (!status && *valid) status = shuffle_right_orders(*valid, err);
    /* A copy: the model is trained on the data as they are, as without --folds and --tune. */
    if (!status && (v->folds || v->tune)) status = copy_shuffled(&v->shuffled, *data, err);
    if (!status && v->folds && (size_t)v->folds > (*data)->count)
        status = fail(err, ONET_USAGE, "--folds %d: %s has only %zu sets", v->folds, v->data, (*data)->count);
    return status || v->quiet ? status : feature_report(*data, &v->options, err);
}

/* Sets in v->settings, the values of the options, those settings of the net that differ from the preset. */
static onet_status settings_as_options(train_values *v, onet_error *err) {
    const onet_settings *s = &v->options.settings;
    onet_settings plain = {0};
    onet_status status = onet_settings_preset(&plain, v->preset ? v->preset : "default", err);
    v->settings =
        (onet_settings){.pool = s->pool == plain.pool ? (onet_pool)-1 : s->pool, .relative = s->relative};
    if (s->encoder_blocks != plain.encoder_blocks) v->settings.encoder_blocks = s->encoder_blocks;
    if (s->hidden != plain.hidden) v->settings.hidden = s->hidden;
    if (s->encoder_out != plain.encoder_out) v->settings.encoder_out = s->encoder_out;
    if (s->decoder_blocks != plain.decoder_blocks) v->settings.decoder_blocks = s->decoder_blocks;
    if (s->decoder_out != plain.decoder_out) v->settings.decoder_out = s->decoder_out;
    return status;
}

/* Writes the names of the options that were given, as onet_tune_options.keep takes them. */
static void names_given(const train_values *v, char text[NAMES]);
/* Prints the command line that trains the same model again. */
static void print_command(const train_values *v, const onet_tuned *result);

/* Searches for the best settings, and sets the options to them for the training that follows. */
static onet_status tune(train_values *v, const onet_sets *data, onet_error *err) {
    onet_tune_options how;
    onet_tuned result = {0};
    char path[PATH_MAX], ranker[COMMAND], keep[NAMES];
    onet_tune_defaults(&how, sizeof how);
    onet_status status = tuning_budget(&how, v->tune, err);
    tuning_path(path, v->options.model_path);
    names_given(v, keep);
    how.keep = keep;
    how.path = path;
    how.resume = v->options.resume;
    size_t *number = NULL;
    if (!status && v->group) status = groups_number(&number, v->group, v->grouped, err);
    how.group = number;
    int batch = v->options.batch;
    if (!status) status = tuning_run(&v->options, &result, data, &how, v->quiet, err);
    free(number);
    if (!status && result.stopped && !interrupted_by_user())
        status = fail(err, ONET_INTERRUPTED,
                      "stopped after %d trials; the same command with --resume continues it", result.trials);
    if (status) return status;
    interrupt_forget();
    if (!v->quiet) tuning_summarise(&result, v->options.models, path);
    if (!v->quiet && result.test.model.sets)
        status =
            comparison_print_tuned(&result.test, &result.test_default, data, ranker_command(v, ranker), err);
    else
        comparison_warn(&result.test, "train"); /* no better than guessing: reported with --quiet too */
    if (status) return status;
    v->ranker = result.ranker;
    if (v->ranker) v->options.relate = NULL;                         /* the ranker sees each item alone */
    if (v->options.models == 1) v->options.vary = ONET_VARY_NOTHING; /* it needs several models */
    v->options.resume = v->options.resume && !result.new_trials && !result.ranker;
    v->options.keep = 0; /* checked before the search */
    status = settings_as_options(v, err);
    if (v->options.batch != batch) v->batch = v->options.batch;
    if (!status && !v->quiet) print_command(v, &result);
    fflush(stdout);
    return status;
}

static onet_status run(void *values, int count, char **operands, onet_error *err) {
    (void)count;
    (void)operands;
    train_values *v = values;
    onet_sets *data = NULL, *valid = NULL;
    onet_words *words = NULL;
    onet_model *from = NULL;
    onet_status status = check_options(v, err);
    if (!status && v->options.vary && v->options.models == 1 && !v->tune && processes_is_rank0())
        fprintf(stderr,
                "ordernet train: warning: --vary is for several models and does nothing here: say how "
                "many with --models\n");
    v->options.keep = !v->force;
    if (!status) status = choose_settings(v, err);
    if (!status) {
        /* Rank 0 reads for all. */
        if (processes_is_rank0()) status = open_files(v, &from, &words, &data, &valid, err);
        status = world_agree(processes(), status, err);
    }
    const onet_sets *measured = v->shuffled ? v->shuffled : data;
    if (!status && v->folds) status = measure_folds(v, measured, err);
    if (!status && v->tune) status = tune(v, measured, err);
    onet_sets_free(v->shuffled);
    if (!status && v->ranker)
        status = train_ranker(v, data, valid, err);
    else if (!status && v->options.model_path)
        status = train(v, data, valid, err);
    groups_free(v->group, v->grouped);
    onet_sets_free(valid);
    onet_sets_free(data);
    onet_words_free(words);
    onet_model_free(from);
    return status;
}

#define AT(field) offsetof(train_values, field)
#define PRESET    "as the preset says"

static const option options[] = {
    {.group = "Files"},
    OPTION(STRING, "data", AT(data), .required = true, .basic = true, .argument = "FILE",
           .help = "Sets with their right order; - for standard input."),
    OPTION(STRING, "model", AT(options.model_path), .required = true, .basic = true, .argument = "FILE",
           .unless = "folds",
           .help =
               "Where the model is written, with the weights as they are at the end. The checkpoint, the CSV "
               "log and the best model by validation (log-likelihood of the right orders) stand beside it."),
    OPTION(FLAG, "ranker", AT(ranker), .basic = true,
           .help =
               "Train a linear ranker in place of the net, in about a second: each item has a score, a "
               "weighted sum of its own features, and the highest goes first. The model is used as any "
               "other. --scale, --within, --relative, --no-standardise, --seed and --threads apply; other "
               "options of the net and of its training are ignored; some, such as --from and --models, "
               "are refused."),
    OPTION_HALF(AT(options.half)),
    OPTION(STRING, "from", AT(from), .argument = "FILE",
           .help =
               "Fine-tuning: begin with the weights of this model instead of random ones. Its net, its "
               "standardisation of the features and its words are kept; words of the data that it does not "
               "have count as unknown. Adam, the schedule and the average of the weights start anew."),
    OPTION(STRING, "valid", AT(valid), .basic = true, .argument = "FILE",
           .help = "Sets to measure the model with after each epoch."),
    OPTION(STRING, "holdout", AT(holdout), .basic = true, .argument = "SHARE", .default_text = "none",
           .help = "Without --valid: take validation sets out of the data, drawn by the seed; a share as in "
                   "10%, or a number of sets."),
    OPTION(INT, "folds", AT(folds), .basic = true, .argument = "K", RANGE(2, 1000), .default_text = "none",
           .help = "Cross-validation: divide the data, drawn by the seed, into K parts, train K models, each "
                   "without one part, and measure each on that part, as 'ordernet eval' does. With --model "
                   "the model is then trained on all of the data; without, none is written."),
    OPTION(STRING, "group-column", AT(read.group_column), .basic = true, .argument = "NAME",
           .default_text = "none",
           .help = "--holdout, --folds and --tune keep sets with the same value in this column of CSV, or "
                   "under this key of JSON, in one part: a document, a customer, a day. Equal sets stay "
                   "together in any case. The column is not a feature."),
    OPTION(
        STRING, "tune", AT(tune), .basic = true, .argument = "[BUDGET]", .otherwise = "5m",
        .default_text = "none; 5m where it is given alone",
        .help =
            "Look for the best settings first: try many by successive halving, each measured on parts of "
            "the data that it was not trained on. The budget is a time for the whole search, as in 90s, 5m "
            "or 2h, or a number of trials as in 40, which gives the same model on every machine with the "
            "same --kernels. "
            "Options that are given stay as they are. The model is then trained on all of the data with the "
            "best settings; "
            "the command that trains it again is printed. Every trial is a row of MODEL.trials.csv. "
            "Ctrl-C ends the search with the best so far, --resume continues it."),
    OPTION(FLAG, "learning-curve", AT(learning_curve),
           .help = "After the training, train on a quarter and on a half of the sets too, for as many steps "
                   "each, and say whether more examples would help. Takes three times as long."),
    OPTION(INT, "valid-limit", AT(options.valid_limit), .argument = "N", RANGE(0, INT_MAX),
           .help = "Measure with the first N validation sets at most; 0 takes all."),
    OPTION(INT, "patience", AT(options.patience), .argument = "N", RANGE(0, 1e6),
           .help = "Stop when the log-likelihood of the validation sets has not improved for N epochs; 0 "
                   "never does."),
    OPTION(DOUBLE, "checkpoint-seconds", AT(options.checkpoint_seconds), .argument = "X", RANGE(0, 1e9),
           .help = "Time between two checkpoints; 0 writes one at the end and on interruption only."),
    OPTION(
        FLAG, "resume", AT(options.resume), .basic = true,
        .help =
            "Continue from the checkpoint beside the model, or from the start where there is none. The "
            "result is that of an unbroken run, byte for byte. Data and settings must be the same, but there "
            "may be more epochs: from then on the learning rate follows the schedule over all of them."),
    OPTION(FLAG, "force", AT(force), .basic = true,
           .help = "Replace the model, the checkpoint, the log and the best model of an earlier training. "
                   "Without it, and without --resume, they are kept and the training is refused."),
    OPTION_QUIET(AT(quiet)),

    {.group = "Data format"},
    OPTIONS_READ(AT(read)),
    OPTIONS_PAIRS(AT(read)),
    OPTION(STRING, "valid-pairs", AT(valid_pairs), .argument = "FILE", .default_text = "none",
           .help = "The relations of --valid, as --pairs has those of --data."),
    OPTION(CHOICE, "missing", AT(read.missing), .basic = true, .argument = "HOW", .choices = onet_missings,
           .help = "What to do with missing values (an empty field, NA, null, NaN). The model keeps the "
                   "means, and treats missing values in new sets in the same way."),
    OPTION(STRING, "scale", AT(options.scale), .basic = true, .argument = "SCALE",
           .help = "How each feature is scaled, learned from the data and kept in the model: standard (mean "
                   "0 and variance 1), quantile (the share of the data that is smaller) or none. auto looks "
                   "at each: standard, or quantile and the rank within the set where heavy tails or far "
                   "clusters would crowd most of its values; the training says what it chose. Single "
                   "features by name, or by number from 1 where they have none: quantile:price,standard:x"),
    OPTION(STRING, "relate", AT(options.relate), .argument = "LIST", .default_text = "none",
           .help = "Numbers: make relations between items from their features, beside those of the data, and "
                   "keep in the model how: distance (Euclidean), difference (the second less the first, for "
                   "each column), product (summed over the columns) or equal (1 or 0). Columns by name, or "
                   "by number from 1; all columns if none is named: distance:x+y,difference:age,equal:type"),
    OPTION(FLAG, "within", AT(options.within), .basic = true,
           .help = "Add the rank of each feature within the set as a feature; equal values have one rank."),
    OPTION(OFF, "no-standardise", AT(options.standardise),
           .help = "Take the features as they are, unless --scale names them. Otherwise they are shifted and "
                   "scaled to mean 0 and variance 1, by numbers that are kept in the model."),

    OPTION(STRING, "vectors", AT(vectors), .argument = "FILE",
           .help = "Words: their vectors, as text in GloVe's format, for data that does not bring its own."),

    {.group = "Net"},
    OPTION(NAME, "preset", AT(preset), .argument = "NAME", .choices = onet_presets, .default_text = "default",
           .help = "Widths and depths to start from."),
    OPTION(INT, "encoder-blocks", AT(settings.encoder_blocks), .argument = "N", RANGE(1, MAX_BLOCKS),
           .default_text = PRESET, .help = "Blocks of the encoder."),
    OPTION(INT, "hidden", AT(settings.hidden), .argument = "N", RANGE(1, MAX_HIDDEN), .default_text = PRESET,
           .help = "Channels inside an encoder block (H)."),
    OPTION(INT, "encoder-out", AT(settings.encoder_out), .argument = "N", RANGE(1, MAX_OUT),
           .default_text = PRESET, .help = "Channels that an encoder block adds (O)."),
    OPTION(CHOICE, "pool", AT(settings.pool), .argument = "POOL", .choices = onet_pools,
           .default_text = PRESET, .help = "Pooling over an item's pairs with the others."),
    OPTION(INT, "decoder-blocks", AT(settings.decoder_blocks), .argument = "N", RANGE(1, MAX_BLOCKS),
           .default_text = PRESET, .help = "Blocks of the decoder."),
    OPTION(INT, "decoder-out", AT(settings.decoder_out), .argument = "N", RANGE(1, MAX_OUT),
           .default_text = PRESET,
           .help = "Channels that a decoder block adds, twice: itself and its pool (C)."),
    OPTION(FLAG, "relative", AT(settings.relative),
           .help =
               "Give the net each feature twice: as it is, and relative to the set (less its mean, divided "
               "by its deviation). For orders that depend on where an item stands among the others (pages, "
               "maps, tours), not on the values alone (a score, a colour). Not for words."),
    OPTION(FLAG, "train-vectors", AT(options.train_vectors), .help = "Words: train the words' vectors too."),
    OPTION(DOUBLE, "forget", AT(options.forget), .argument = "SHARE", RANGE(0, 0.9),
           .help =
               "Words: replace this share of the words by unknown ones (word dropout), drawn anew in each "
               "epoch; a tenth of this share for the most frequent 1% of the vocabulary."),

    OPTION(DOUBLE, "drop", AT(options.drop), .argument = "SHARE", RANGE(0, 0.9),
           .help = "Leave out up to this share of the items of each set, drawn anew in each epoch; two items "
                   "at least stay, in their order. For few examples."),
    OPTION(INT, "crop", AT(options.crop), .argument = "N", RANGE(0, 1e6), .default_text = "whole sets",
           .help =
               "Train on a stretch of N consecutive items of the order of each set that has more, drawn anew "
               "in each epoch, and on N of its context items. Time grows with the square of the items, so "
               "that a few large sets can take most of it."),
    OPTION(DOUBLE, "jitter", AT(options.jitter), .argument = "X", RANGE(0, 10),
           .help = "Numbers: add noise to the features, drawn anew in each epoch, X times the deviation of "
                   "each. A feature with two values at most, a flag, stays as it is. For few examples."),

    OPTION(DOUBLE, "dropout", AT(options.dropout), .argument = "SHARE", RANGE(0, 0.9),
           .help = "Set this share of the encoder's pooled features to 0, drawn anew for each item and step, "
                   "and scale the others up. For few examples that are seen often; best with --statistics "
                   "measured."),
    OPTION(
        DOUBLE, "stray", AT(options.stray), .argument = "SHARE", RANGE(0, 0.9),
        .help =
            "Share of the steps, drawn anew in each epoch, at which a random item of those left is placed "
            "instead of the right one. The net learns to recover from its own errors: the next target is "
            "the successor of the item placed last or, if that is placed already, the first item left. For "
            "large sets whose neighbours matter, as on pages."),

    {.group = "Training"},
    OPTION(INT, "epochs", AT(options.epochs), .basic = true, .argument = "N", RANGE(1, 1e6),
           .help = "Passes over the data."),
    OPTION(U64, "max-steps", AT(options.max_steps), .argument = "N", .default_text = "no limit but --epochs",
           .help = "Stop after this many steps."),
    OPTION(INT, "batch", AT(batch), .argument = "N", RANGE(1, 65536),
           .default_text = "32; fewer for large sets with relations", .help = "Sets per step."),
    OPTION(DOUBLE, "learning-rate", AT(options.learning_rate), .argument = "X", RANGE(1e-12, 100),
           .help = "Adam's learning rate."),
    OPTION(CHOICE, "schedule", AT(options.schedule), .argument = "NAME", .choices = onet_schedules,
           .help = "How the learning rate changes after the warm-up."),
    OPTION(DOUBLE, "warmup", AT(options.warmup), .argument = "X", RANGE(0, 1),
           .help = "Share of all steps over which the learning rate rises from 0."),
    OPTION(DOUBLE, "beta1", AT(options.beta1), .argument = "X", RANGE(0, 0.999999),
           .help = "Decay of Adam's mean of the gradient."),
    OPTION(DOUBLE, "beta2", AT(options.beta2), .argument = "X", RANGE(0, 0.99999999),
           .help = "Decay of Adam's mean of the squared gradient."),
    OPTION(DOUBLE, "epsilon", AT(options.epsilon), .argument = "X", RANGE(1e-30, 1),
           .help = "Epsilon of Adam."),
    OPTION(DOUBLE, "weight-decay", AT(options.weight_decay), .argument = "X", RANGE(0, 1),
           .default_text = "0.5 for up to 2,000 sets, 0.1 from 10,000 sets on and with --from, in between "
                           "1,000 / sets",
           .help = "Weight decay: each step multiplies the weights by 1 - X times the learning rate."),
    OPTION(DOUBLE, "clip", AT(options.clip), .argument = "X", RANGE(0, 1e9),
           .help = "Largest norm of the gradient; 0 sets no limit."),
    OPTION(CHOICE, "batches", AT(options.batches), .argument = "NAME", .choices = onet_batch_kinds,
           .help = "Which sets share a batch."),
    OPTION(CHOICE, "statistics", AT(options.statistics), .argument = "NAME", .choices = onet_norm_statistics,
           .help = "Statistics of the batch norms when sets are ordered."),
    OPTION(DOUBLE, "average", AT(options.average), .argument = "X", RANGE(0, 0.9999999),
           .help = "Decay of the EMA of the weights that becomes the model; 0 takes the last weights."),
    OPTION(U64, "seed", AT(options.seed), .argument = "N",
           .help = "Seed of the initial weights and of the order of the data."),
    OPTION_MODELS(AT(options.models), true),
    OPTION(CHOICE, "vary", AT(options.vary), .argument = "WHAT", .choices = onet_variations,
           .help = "With --models, for numbers: how every fourth model (2, 6, 10, ...) differs from the "
                   "others beside its seed. Models with different input features make different mistakes, "
                   "so the merged model is right more often, provided that each is nearly as good as the "
                   "best."),

    {.group = "Machine"},
    OPTION_THREADS(AT(options.threads)),
    OPTION_KERNELS(AT(options.kernels)),
    OPTION_DEVICE(AT(options.device)),
    OPTION(CHOICE, "precision", AT(options.precision), .argument = "NAME", .choices = onet_precisions,
           .help = "Precision of the matrix products."),
    {0},
};

static const char *ranker_command(const train_values *v, char text[COMMAND]) {
    static const char *const also[] = {"data", "valid", "holdout", "group-column", "valid-limit"};
    train_values *plain = calloc(1, sizeof *plain);
    const char *group = "";
    size_t used = (size_t)snprintf(text, COMMAND, "ordernet train --ranker");
    if (!plain) return NULL;
    defaults(plain);
    for (const option *o = options; o->name || o->group; o++) {
        char one[PATH_MAX + 256];
        if (o->group) group = o->group;
        bool take = !strcmp(group, "Data format");
        for (size_t i = 0; i < sizeof also / sizeof *also; i++) take |= o->name && !strcmp(o->name, also[i]);
        if (take && option_given(o, v, plain, one, sizeof one) && used < COMMAND)
            used += (size_t)snprintf(text + used, COMMAND - used, " %s", one);
    }
    free(plain);
    if (used < COMMAND) used += (size_t)snprintf(text + used, COMMAND - used, " --model ranker.safetensors");
    return used < COMMAND ? text : NULL;
}

static void names_given(const train_values *v, char text[NAMES]) {
    size_t used = 0;
    text[0] = '\0';
    for (const option *o = options; o->name || o->group; o++)
        if (v->given[o - options] && used < NAMES)
            used += (size_t)snprintf(text + used, NAMES - used, "%s%s", used ? "," : "", o->name);
}

static void print_command(const train_values *v, const onet_tuned *result) {
    /* Options left out, since they do not change the model. */
    static const char *const skipped[] = {"tune",  "resume",  "force",
                                          "quiet", "threads", "checkpoint-seconds"};
    train_values *plain = calloc(1, sizeof *plain);
    if (!plain) return;
    defaults(plain);
    bool on_gpu = !strcmp(result->kernels, "cuda");
    printf("to train the same model again, byte for byte%s:\nordernet train",
           result->ranker ? ""
           : on_gpu       ? ", on the same kind of GPU"
                          : ", with these kernels");
    for (const option *o = options; o->name || o->group; o++) {
        char text[PATH_MAX + 256];
        bool skip = false;
        for (size_t i = 0; i < sizeof skipped / sizeof *skipped; i++)
            skip |= o->name && !strcmp(o->name, skipped[i]);
        if (!skip && option_given(o, v, plain, text, sizeof text)) printf(" %s", text);
    }
    const char *device = v->options.device, *kernels = v->options.kernels;
    if (!result->ranker && on_gpu && (!device || !strcmp(device, "auto"))) printf(" --device cuda");
    if (!result->ranker && !on_gpu && *result->kernels && (!kernels || !strcmp(kernels, "auto")))
        printf(" --kernels %s", result->kernels);
    printf("\n");
    free(plain);
}

const command cmd_train = {
    .name = "train",
    .summary = "Learn an order from examples",
    .about = "Learns from sets of items and their right order, and writes a model with which 'ordernet "
             "order' puts "
             "other sets in order. Sets may be of any size and of mixed sizes; sets of one item teach "
             "nothing.\n\n"
             "Ctrl-C ends the training with a checkpoint and exit status 130; the same command with --resume "
             "continues it.",
    .examples = "ordernet train --data sets.jsonl --valid held-out.jsonl --model sets.safetensors\n"
                "ordernet train --data sets.jsonl --tune --model sets.safetensors\n"
                "ordernet train --data tours.txt --preset tsp --holdout 10% --model tsp.safetensors",
    .options = options,
    .size = sizeof(train_values),
    .given = offsetof(train_values, given),
    .shared = true,
    .defaults = defaults,
    .run = run,
};
