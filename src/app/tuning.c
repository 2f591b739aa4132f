/* Runs the search for the best training settings (`train --tune`): parses its budget, names its file of
 * trials, shows a live table of the best, prints the result. */
#include "app/training.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "app/interrupt.h"
#include "app/progress.h"
#include "engine/base/clock.h"
#include "engine/base/error.h"
#include "engine/base/shown.h"

typedef struct tuning {
    progress line;
    int lines; /* of the table on the terminal */
} tuning;

onet_status tuning_budget(onet_tune_options *how, const char *text, onet_error *err) {
    char *end;
    double value = strtod(text, &end);
    const double unit = *end == 's' ? 1 : *end == 'm' ? 60 : *end == 'h' ? 3600 : 0;
    bool good = end != text && value > 0 && value <= 1e6 && (unit > 0 ? !end[1] : !*end);
    if (!good || (unit <= 0 && (value != floor(value) || value < 4)))
        return fail(
            err, ONET_USAGE,
            "option --tune takes a time, as in 90s, 5m or 2h, or a number of trials of 4 or more, not '%s'",
            text);
    how->seconds = unit > 0 ? value * unit : 0;
    how->trials = unit > 0 ? 0 : (int)value;
    return ONET_OK;
}

void tuning_path(char path[PATH_MAX], const char *model_path) {
    static const char own[] = ".safetensors";
    size_t length = strlen(model_path), cut = sizeof own - 1;
    if (length > cut && !strcmp(model_path + length - cut, own)) length -= cut;
    snprintf(path, PATH_MAX, "%.*s.trials.csv", (int)length, model_path);
}

static void row_text(char *text, size_t room, const onet_tried *t) {
    char time[32];
    snprintf(text, room, "%7.2f%%  %7.2f%%  %7.4f  %-6s %9s  %s", 100 * t->exact, 100 * t->neighbours, t->tau,
             !t->whole       ? "short"
             : t->parts == 1 ? "1 part"
                             : "all",
             duration_text(t->seconds, time), t->settings);
}

static const char head[] = "   exact  neighbours    tau  measured  duration  settings";

static void draw_table(tuning *t, const onet_tune_progress *now) {
    struct winsize size;
    int width = !ioctl(STDERR_FILENO, TIOCGWINSZ, &size) && size.ws_col ? size.ws_col : 80;
    char text[512], spent[32], left[32], trials[32] = "";
    if (t->lines) fprintf(stderr, "\033[%dA", t->lines);
    if (now->most) snprintf(trials, sizeof trials, " of %d", now->most);
    snprintf(text, sizeof text, "%d%s trials, %s", now->trials, trials, duration_text(now->seconds, spent));
    if (!isnan(now->seconds_left)) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, ", %s left", duration_text(now->seconds_left, left));
    }
    fprintf(stderr, "\r%.*s\033[K\n\r%.*s\033[K\n", width - 1, text, width - 1, head);
    t->lines = 2;
    for (int i = 0; i < now->count; i++, t->lines++) {
        row_text(text, sizeof text, &now->tried[i]);
        fprintf(stderr, "%.*s\033[K\n", width - 1, text);
    }
    fflush(stderr);
}

static int show(void *context, const onet_tune_progress *now) {
    tuning *t = context;
    if (progress_due(&t->line)) {
        if (t->line.terminal) {
            draw_table(t, now);
            t->line.next = clock_seconds() + 0.25;
        } else if (now->count) {
            char text[512], spent[32];
            const onet_tried *best = &now->tried[0];
            snprintf(text, sizeof text, "%d trials, %s; best so far %.2f%% exact%s: %s", now->trials,
                     duration_text(now->seconds, spent), 100 * best->exact,
                     best->whole ? "" : ", after a short training", best->settings);
            progress_draw(&t->line, text);
        }
    }
    return interrupted();
}

onet_status tuning_run(onet_train_options *options, onet_tuned *result, const onet_sets *data,
                       const onet_tune_options *how, bool quiet, onet_error *err) {
    tuning t = {0};
    onet_tune_options own = *how;
    own.progress = show;
    own.context = &t;
    interrupt_catch();
    progress_start(&t.line, quiet);
    onet_status status = onet_tune(options, result, data, &own, err);
    if (t.line.terminal && t.lines) fprintf(stderr, "\033[%dA\033[J", t.lines);
    return status;
}

void tuning_summarise(const onet_tuned *result, int models, const char *trials_path) {
    char time[32], name[SHOWN];
    printf("%d trials in %s, listed in %s; chosen settings: %s\n", result->trials,
           duration_text(result->seconds, time), shown(name, trials_path), result->settings);
    if (!result->test.model.sets)
        printf("stopped before the chosen settings were measured on the test sets; exact match on the sets "
               "that they were chosen by (optimistic): %.2f%%\n",
               100 * result->best.exact);
    else if (result->test_models < models)
        printf("the model merges %d models; there was time to measure %d, which are usually less good\n",
               models, result->test_models);
}
