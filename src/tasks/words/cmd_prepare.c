/* ordernet words prepare: makes training sets of words, and their vocabulary, from text and word vectors,
 * with counts of neighbours as a relation if asked for (--bigrams), and reports what became of lines and
 * words. */
#include <stdio.h>

#include "app/command.h"
#include "app/progress.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "tasks/words/prepare.h"

typedef struct prepare_values {
    prepare_options o;
    const char *vocabulary, *out, *windows, *length;
    int quiet, bigrams;
} prepare_values;

static void defaults(void *values) {
    prepare_values *v = values;
    prepare_defaults(&v->o);
}

static double percent(size_t part, size_t whole) {
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void print_report(const prepare_report *r, bool cut, double seconds) {
    fprintf(stderr, "lines     %zu read, %zu kept; dropped: %zu blank, %zu headers, %zu too short\n", r->read,
            r->kept, r->blank, r->headers, r->shorter);
    if (cut)
        fprintf(stderr,
                "windows   %zu: %zu at the beginning of a paragraph, %zu of another sentence, %zu anywhere, "
                "%zu whole sentences\n",
                r->sets, r->sorts[WINDOW_PARAGRAPH], r->sorts[WINDOW_SENTENCE], r->sorts[WINDOW_ANYWHERE],
                r->sorts[WINDOW_WHOLE]);
    fprintf(stderr, "words     %zu in the %s, %zu distinct\n", r->words, cut ? "windows" : "kept lines",
            r->distinct);
    if (r->vectors)
        fprintf(stderr, "vectors   %zu words, %zu numbers each; %zu repeated words passed over\n", r->vectors,
                r->vectors_width, r->vectors_repeated);
    if (r->rows) {
        fprintf(stderr, "rows      %zu in the vocabulary\n", r->rows);
        fprintf(stderr,
                "tokens    %.3f%% with a vector; %zu with a row of their own, %zu @-@ @,@ @.@, %zu <unk>, "
                "%zu by their kind\n",
                percent(r->with_vector, r->words), r->own_row, r->special, r->unk, r->kind);
        fprintf(stderr, "unknown   words in %zu %s, %.2f%%\n", r->sets_unknown, cut ? "windows" : "lines",
                percent(r->sets_unknown, r->sets));
    }
    fprintf(stderr, "time      %.1f s\n", seconds);
}

static onet_status run(void *values, int count, char **operands, onet_error *err) {
    prepare_values *v = values;
    (void)count, (void)operands;
    if (!v->out && !v->o.lines)
        return fail(err, ONET_USAGE, "nothing to write: give --out FILE for sets, or --lines FILE for text");
    if (v->out && !v->o.vectors && !v->vocabulary)
        return fail(err, ONET_USAGE, "--out needs --vectors FILE, or --vocabulary FILE of data made before");
    onet_format format;
    if (v->out && !onet_format_of_path(v->out, &format, NULL) && format != ONET_FORMAT_SAFETENSORS)
        return fail(
            err, ONET_USAGE,
            "--out %s: sets with a vocabulary are written as safetensors; end the name in .safetensors",
            v->out);
    if (v->bigrams && !v->out) return fail(err, ONET_USAGE, "--bigrams is for sets: give --out FILE");
    if (v->o.vectors && v->vocabulary)
        return fail(err, ONET_USAGE, "--vectors and --vocabulary cannot both be given");
    if (v->length && !v->windows)
        return fail(err, ONET_USAGE, "--length is for --windows; --first K takes K words of each line");
    if (v->windows) {
        onet_status wrong = windows_parse(&v->o.windows, v->windows, v->length ? v->length : "5", err);
        if (wrong) return wrong;
    }
    progress p;
    progress_start(&p, true);
    onet_sets *before = NULL;
    prepared made = {.sets = NULL};
    onet_status status = v->out ? output_possible(v->out, err) : ONET_OK;
    if (!status && v->vocabulary) {
        status = onet_sets_read(&before, v->vocabulary, NULL, err);
        if (!status && !before->words)
            status = fail(err, ONET_BAD, "%s: its items are numbers, not words", v->vocabulary);
        if (!status) v->o.words = before->words;
        v->o.unk_share = 0;
    }
    if (!status) status = prepare_words(&made, &v->o, err);
    if (!status && v->bigrams) {
        status = bigrams_relate(made.sets, before ? before : made.sets, err);
        if (status && before) error_prefix(err, "%s", v->vocabulary);
    }
    if (!status && v->out) status = onet_sets_write(made.sets, v->out, ONET_FORMAT_SAFETENSORS, err);
    if (!status && !v->quiet) print_report(&made.report, v->windows, progress_seconds(&p));
    prepare_free(&made);
    onet_sets_free(before);
    return status;
}

static const option options[] = {
    OPTION(STRING, "text", offsetof(prepare_values, o.text), .required = true, .argument = "FILE",
           .help = "The text: WikiText's raw format, or a line of words for each set. May be .gz, .xz or -."),
    OPTION(STRING, "vectors", offsetof(prepare_values, o.vectors), .argument = "FILE",
           .help =
               "Word vectors in the text format of Stanford's GloVe, of any width. May be .gz, .xz or -."),
    OPTION(STRING, "vocabulary", offsetof(prepare_values, vocabulary), .argument = "FILE",
           .help = "Data made before, whose words and vectors are to be used: for validation sets."),
    OPTION(INT, "first", offsetof(prepare_values, o.first), .argument = "K", RANGE(1, 1000),
           .help = "Words taken from each line; lines with fewer are dropped. Not used with --windows."),
    OPTION(STRING, "windows", offsetof(prepare_values, windows), .argument = "LIST",
           .help =
               "Each line is a sentence, and sets are windows of it. NAME:COUNT is how many windows per "
               "sentence (0.5: in half of them), as in paragraph:1,sentence:1,anywhere:0.5,whole:1. "
               "paragraph: the first words of a sentence that opens a paragraph, whose line begins with ^ "
               "and a blank; sentence: the first words of any other sentence; anywhere: words from a "
               "random place of any sentence; whole: the whole sentence."),
    OPTION(STRING, "length", offsetof(prepare_values, length), .argument = "LIST",
           .help =
               "Words of a window, drawn for each: a number, a range as in 2-20, or several with weights, as "
               "in 3-8:3,9-20:1, where each length from 3 to 8 is three times as frequent as one from 9 to "
               "20. Shorter sentences give the shorter ones of these lengths. (default: 5)"),
    OPTION(STRING, "out", offsetof(prepare_values, out), .argument = "FILE",
           .help = "Where the sets are written, with their vocabulary, for train and eval."),
    OPTION(FLAG, "bigrams", offsetof(prepare_values, bigrams),
           .help = "Add a relation between the words of a set, log(1 + how often the second directly follows "
                   "the first) in the sets of this text, the set itself left out; with --vocabulary in the "
                   "sets of that file. A model that is trained with it orders sets that were prepared so."),
    OPTION(STRING, "lines", offsetof(prepare_values, o.lines), .argument = "FILE",
           .help = "Where the kept lines, or the windows, are written as text."),
    OPTION(CHOICE, "unknown", offsetof(prepare_values, o.vocabulary.unknown), .argument = "HOW",
           .choices = onet_unknowns, .help = "Vectors for words that have none."),
    OPTION(INT, "own-row", offsetof(prepare_values, o.vocabulary.own_row), .argument = "TIMES",
           RANGE(0, 1000000000),
           .help =
               "With kinds: a word without a vector that occurs this often has a row of its own; 0: never."),
    OPTION(DOUBLE, "unk-share", offsetof(prepare_values, o.unk_share), .argument = "SHARE", RANGE(0, 1),
           .help = "With kinds: share of the unknown words that are written <unk>, so that training text in "
                   "which rare words still stand teaches what <unk> is. Not used with --vocabulary."),
    OPTION(INT, "limit-words", offsetof(prepare_values, o.vocabulary.limit), .argument = "N",
           RANGE(64, 100000000),
           .help = "Rows of the vocabulary at most; the least frequent words are dropped."),
    OPTION(U64, "seed", offsetof(prepare_values, o.seed), .argument = "N",
           .help = "Seed of the windows, and of the order in which the items of a set are written."),
    OPTION_QUIET(offsetof(prepare_values, quiet)),
    {0},
};

const command cmd_words_prepare = {
    .name = "words prepare",
    .summary = "Make sets of words from text and word vectors",
    .about =
        "Takes the first K words of each line, lower-cased, as a set and their order in the text as its "
        "right order. Blank lines, headers (\" = Title = \") and lines with fewer words are dropped. With "
        "--windows, takes such sets from sentences: at their beginning or anywhere, of one length or "
        "several.\n\n"
        "The vocabulary goes into the data, and from there into a model: the words of the text that "
        "have a vector, then further words of the file of vectors. See --unknown for the others.",
    .examples = "ordernet words prepare --text wiki.train.tokens --vectors glove.6B.50d.txt --first 5 --out "
                "train.safetensors\n"
                "ordernet words prepare --text wiki.valid.tokens --vocabulary train.safetensors --first 5 "
                "--out valid.safetensors\n"
                "ordernet words prepare --text wiki.valid.tokens --first 5 --lines valid.txt\n"
                "ordernet words prepare --text sentences.txt.xz --vectors glove.6B.50d.txt --windows "
                "paragraph,sentence,anywhere:2 --length 2-20 --out windows.safetensors",
    .options = options,
    .size = sizeof(prepare_values),
    .defaults = defaults,
    .run = run,
};
