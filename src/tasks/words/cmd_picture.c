/* ordernet words picture: where a model would put the words of lines. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app/command.h"
#include "app/model_path.h"
#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/base/utf8.h"
#include "ordernet_words.h"
#include "tasks/words/places.h"

enum { MOST_WORDS = 5, MOST_ORDERS = 120, MOST_LINES = 12 };

typedef struct picture_values {
    const char *model, *out, *title;
} picture_values;

static void defaults(void *values) {
    picture_values *v = values;
    v->title = "Where the model puts each word";
}

/* One line: its words in their right order, and all that is drawn of it. */
typedef struct sentence {
    int n;
    char *word[MOST_WORDS]; /* they point into the operand */
    int32_t row[MOST_WORDS];
    double p[MOST_WORDS * MOST_WORDS];
    char *order[PLACES_ORDERS];
} sentence;

static onet_status split(sentence *s, char *line, const onet_words *words, onet_error *err) {
    if (utf8_valid(line, strlen(line)) < strlen(line)) return fail(err, ONET_BAD, "a line is not UTF-8");
    char *rest;
    for (char *word = strtok_r(line, " \t", &rest); word; word = strtok_r(NULL, " \t", &rest)) {
        if (s->n == MOST_WORDS)
            return fail(err, ONET_USAGE, "a line has more than %d words, whose orders cannot all be drawn",
                        MOST_WORDS);
        s->row[s->n] = onet_words_find(words, word, strlen(word), NULL);
        s->word[s->n++] = word;
    }
    return s->n ? ONET_OK : fail(err, ONET_USAGE, "a line has no words");
}

static bool same_word(const sentence *s, int i, int j) {
    return !strcmp(s->word[i], s->word[j]);
}

static bool reads_same(const sentence *s, const int32_t *x, const int32_t *y) {
    for (int t = 0; t < s->n; t++)
        if (!same_word(s, x[t], y[t])) return false;
    return true;
}

static char *spell(const sentence *s, const int32_t *order) {
    size_t length = 0;
    for (int i = 0; i < s->n; i++) length += strlen(s->word[i]) + 1;
    char *text = malloc(length), *p = text;
    for (int t = 0; t < s->n && text; t++) {
        if (t) *p++ = ' ';
        p = stpcpy(p, s->word[order[t]]);
    }
    return text;
}

/* From the probabilities of all orders: of each word at each place, and the most probable readings. */
static onet_status add_up(sentence *s, places_line *line, const onet_answer *a, onet_error *err) {
    int32_t right[MOST_WORDS] = {0, 1, 2, 3, 4};
    for (int k = 0; k < a->found; k++) {
        const int32_t *order = a->order + k * s->n;
        double p = exp(a->logprob[k]);
        for (int t = 0; t < s->n; t++)
            for (int i = 0; i < s->n; i++)
                if (same_word(s, i, order[t])) s->p[i * s->n + t] += p;
        int first = 0; /* of the orders that read like this one */
        while (!reads_same(s, a->order + first * s->n, order)) first++;
        if (first < k || line->orders == PLACES_ORDERS) continue;
        for (int j = k; j < a->found; j++)
            if (reads_same(s, a->order + j * s->n, order))
                line->probability[line->orders] += exp(a->logprob[j]);
        line->right[line->orders] = reads_same(s, order, right);
        s->order[line->orders] = spell(s, order);
        if (!s->order[line->orders]) return fail_memory(err, "the picture");
        line->order[line->orders] = s->order[line->orders];
        line->orders++;
    }
    line->n = s->n;
    line->word = s->word;
    line->p = s->p;
    return ONET_OK;
}

static onet_status ask(sentence *s, places_line *line, const onet_model *model, onet_orderer *orderer,
                       onet_error *err) {
    int32_t order[MOST_ORDERS * MOST_WORDS];
    double logprob[MOST_ORDERS];
    onet_answer answer = {.order = order, .logprob = logprob};
    size_t start[2] = {0, (size_t)s->n};
    /* Lent, not owned: this is never freed as sets. */
    const onet_words *words = onet_model_words(model);
    onet_sets set = {
        .count = 1, .width = onet_words_width(words), .start = start, .word = s->row, .words = words};
    onet_status status = onet_orderer_run(orderer, &set, &answer, err);
    return status ? status : add_up(s, line, &answer, err);
}

static onet_status draw(const picture_values *v, const onet_model *model, int count, char **operands,
                        sentence *sentences, places_line *lines, onet_error *err) {
    onet_orderer *orderer = NULL;
    onet_order_options o = {.size = sizeof o, .beam = MOST_ORDERS, .top = MOST_ORDERS, .threads = 1};
    onet_status status = onet_orderer_new(&orderer, model, &o, err);
    for (int i = 0; i < count && !status; i++) {
        status = split(&sentences[i], operands[i], onet_model_words(model), err);
        if (!status) status = ask(&sentences[i], &lines[i], model, orderer, err);
    }
    onet_orderer_free(orderer);
    places picture = {.title = v->title, .count = count, .line = lines};
    return status ? status : places_write(&picture, v->out, err);
}

static onet_status run(void *values, int count, char **operands, onet_error *err) {
    const picture_values *v = values;
    onet_model *model;
    onet_status status = model_load_words(&model, v->model, err);
    sentence *sentences = array_new((size_t)count, sizeof *sentences);
    places_line *lines = array_new((size_t)count, sizeof *lines);
    if (!status && (!sentences || !lines)) status = fail_memory(err, "the picture");
    if (!status) status = draw(v, model, count, operands, sentences, lines, err);
    for (int i = 0; i < count && sentences; i++)
        for (int k = 0; k < PLACES_ORDERS; k++) free(sentences[i].order[k]);
    free(sentences);
    free(lines);
    onet_model_free(model);
    return status;
}

static const option options[] = {
    {.name = "out",
     .kind = OPTION_STRING,
     .argument = "FILE",
     .field = offsetof(picture_values, out),
     .required = true,
     .help = "The picture, .svg or .png; without such an ending both are written."},
    OPTION_WORDS_MODEL(offsetof(picture_values, model)),
    {.name = "title",
     .kind = OPTION_STRING,
     .argument = "TEXT",
     .field = offsetof(picture_values, title),
     .help = "Written above it."},
    {0},
};

const command cmd_words_picture = {
    .name = "words picture",
    .summary = "Draw where a model puts the words of lines",
    .operands = "LINE ...",
    .least = 1,
    .most = MOST_LINES,
    .about =
        "For each line, given in its right order with up to five words: how probable each word is at each "
        "place, over all orders, its own place framed; and the most probable orders, the right one in green.",
    .examples = "ordernet words picture --out right 'this is an example sentence'",
    .options = options,
    .size = sizeof(picture_values),
    .defaults = defaults,
    .run = run,
};
