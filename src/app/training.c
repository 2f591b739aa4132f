/* Runs a training with a progress line, prints its summary, and checks beforehand that its files can be
 * written and overwrite nothing that it reads. */
#include "app/training.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "app/interrupt.h"
#include "app/processes.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/shown.h"
#include "ordernet_io.h"
#include "ordernet_train.h"

/* ", valid 93.00%, log-likelihood -0.0213"; nothing before the first validation. */
static const char *valid_text(const training *t, const onet_progress *now, char text[80]) {
    text[0] = '\0';
    if (!isnan(now->valid_exact) && t->judges)
        snprintf(text, 80, ", valid log-likelihood %.4f", now->valid_loglik);
    else if (!isnan(now->valid_exact))
        snprintf(text, 80, ", valid %.2f%%, log-likelihood %.4f", 100 * now->valid_exact, now->valid_loglik);
    return text;
}

static int show(void *context, const onet_progress *now) {
    training *t = context;
    if (now->steps_before && !t->told && !t->line.quiet)
        fprintf(
            stderr,
            "ordernet train: resumes after step %llu of a run of %llu, now of %llu steps: from here on the "
            "learning rate follows the schedule over all of these\n",
            (unsigned long long)now->resumed_at, (unsigned long long)now->steps_before,
            (unsigned long long)now->steps);
    t->told = true;
    t->last = *now;
    if (!isnan(now->loss) && progress_due(&t->line)) { /* nothing to report before the first loss */
        char text[256], left[32], valid[80], fold[48] = "", model[48] = "";
        if (t->folds) snprintf(fold, sizeof fold, "fold %d/%d, ", t->fold, t->folds);
        if (now->models > 1) snprintf(model, sizeof model, "model %d/%d, ", now->model, now->models);
        snprintf(text, sizeof text, "%s%sepoch %d/%d, step %llu/%llu, loss %.4f%s, %.0f sets/s, %s left",
                 fold, model, now->epoch, now->epochs, (unsigned long long)now->step,
                 (unsigned long long)now->steps, now->loss, valid_text(t, now, valid),
                 now->examples_per_second, duration_text(now->seconds_left, left));
        progress_draw(&t->line, text);
    }
    return interrupted();
}

onet_status training_run(training *t, onet_model **model, const onet_sets *data, const onet_sets *valid,
                         const onet_train_options *options, bool quiet, onet_error *err) {
    onet_train_options o = *options;
    o.progress = show;
    o.context = t;
    o.world = processes();
    t->last = (onet_progress){.valid_exact = NAN, .valid_loglik = NAN};
    interrupt_catch();
    progress_start(&t->line, quiet || !processes_is_rank0());
    onet_status status = onet_train(model, data, valid, &o, err);
    progress_end(&t->line);
    return status;
}

/* " on cuda:0" after the speed; nothing for CPUs. */
static const char *place_text(const onet_train_options *o, const onet_model *model, char text[64]) {
    const char *kernels = onet_model_record(model, "kernels");
    text[0] = '\0';
    if (kernels && !strcmp(kernels, "cuda")) {
        bool named = o->device && !strncmp(o->device, "cuda:", 5);
        const char *place = named ? o->device : "cuda:0";
        if (processes()) place = "GPUs";
        snprintf(text, 64, " on %s", place);
    }
    return text;
}

/* Prints the summary of several models: the measures are those of the merged one. */
static void summarise_several(const training *t, const onet_train_options *o, const onet_model *model) {
    const onet_progress *p = &t->last;
    char time[32], valid[80], path[PATH_MAX], name[SHOWN];
    printf("%s: %d models merged, %zu parameters%s, %s\n", shown(name, o->model_path), p->models,
           onet_model_parameters(model, 1), valid_text(t, p, valid),
           duration_text(progress_seconds(&t->line), time));
    if (!p->best_epoch) return;
    onet_train_path(path, sizeof path, o->model_path, ONET_TRAIN_BEST);
    printf("%s: the best of each by validation, merged\n", shown(name, path));
}

void training_summarise(const training *t, const onet_train_options *o, const onet_model *model) {
    const onet_progress *p = &t->last;
    char time[32], place[64], valid[80], name[SHOWN];
    if (p->models > 1) {
        summarise_several(t, o, model);
        return;
    }
    printf("%s: %zu parameters, %llu steps, loss %.4f", shown(name, o->model_path),
           onet_model_parameters(model, 1), (unsigned long long)p->step, p->loss);
    printf("%s", valid_text(t, p, valid));
    if (p->best_epoch) printf(", best epoch %d", p->best_epoch);
    printf(", %.0f sets/s%s, %s\n", p->examples_per_second, place_text(o, model, place),
           duration_text(progress_seconds(&t->line), time));
    if (p->step < p->steps)
        printf("stopped after epoch %d of %d: the log-likelihood has not improved since epoch %d\n", p->epoch,
               p->epochs, p->best_epoch);
    if (p->best_epoch && p->best_epoch < p->epoch) {
        char best[PATH_MAX];
        onet_train_path(best, sizeof best, o->model_path, ONET_TRAIN_BEST);
        printf("%s: the best by validation, after epoch %d of %d\n", shown(name, best), p->best_epoch,
               p->epoch);
    }
}

onet_status training_place(const char *path, onet_error *err) {
    struct stat there;
    if (!strcmp(path, "-") || (!stat(path, &there) && !S_ISREG(there.st_mode) && !S_ISDIR(there.st_mode)))
        return fail(err, ONET_USAGE, "the model cannot be written to %s; name a file",
                    *path == '-' ? "standard output" : path);
    return output_possible(path, err);
}

/* ONET_USAGE if `read` is the model, or one of the files beside it. */
static onet_status check_apart(const char *name, const char *read, const char *model, onet_error *err) {
    static const onet_train_file beside[] = {ONET_TRAIN_BEST, ONET_TRAIN_CHECKPOINT, ONET_TRAIN_LOG};
    for (int i = 0; i < 4; i++) {
        char path[PATH_MAX];
        if (i)
            onet_train_path(path, sizeof path, model, beside[i - 1]);
        else
            snprintf(path, sizeof path, "%s", model);
        if (output_replaces(path, read))
            return fail(err, ONET_USAGE, "%s %s would be overwritten by %s; name another model", name, read,
                        path);
    }
    return ONET_OK;
}

onet_status training_keeps(const char *name, const char *read, const onet_train_options *o, onet_error *err) {
    if (!read || !o->model_path) return ONET_OK;
    onet_status status = check_apart(name, read, o->model_path, err);
    for (int number = 1; number <= o->models && o->models > 1 && !status; number++) {
        char path[PATH_MAX];
        onet_train_model_path(path, sizeof path, o->model_path, number);
        status = check_apart(name, read, path, err);
    }
    return status;
}
