/* Reads and writes whole files of sets, converts a file from one format to another, and turns records into
 * sets and back. */
#include "engine/data/sets_io.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/arguments.h"
#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/base/sized.h"
#include "engine/data/columns.h"
#include "engine/data/constraints.h"
#include "engine/data/doubles.h"
#include "engine/data/jsonl_texts.h"
#include "engine/data/sets.h"
#include "engine/words/words.h"

/* ---- Records and sets -------------------------------------------------------------------------------- */

/* Appends items, with missing values filled in as the columns of the sets say. */
static onet_status append_numbers(onet_sets *sets, const record *r, onet_error *err) {
    const onet_columns *c = sets->columns;
    size_t n = (size_t)r->n;
    if (!c || !c->fill || r->width != c->width)
        return sets_append_doubles(sets, n, r->width, r->items, r->order, err);
    double *items = array_new(n, (size_t)c->inputs * sizeof *items);
    if (!items) return fail_memory(err, "a set's items");
    columns_fill(c, r->items, n, items);
    onet_status status = sets_append_doubles(sets, n, c->inputs, items, r->order, err);
    free(items);
    return status;
}

static onet_status append_items(onet_sets *sets, const record *r, const onet_words *words, onet_error *err) {
    size_t n = (size_t)r->n;
    if (r->items) return append_numbers(sets, r, err);
    if (!words)
        return r->format == ONET_FORMAT_TEXT
                   ? fail_field(
                         err, ONET_BAD, "onet_read_options.words onet_read_options.format",
                         "the items are words of plain text, and there are no vectors for words; if these "
                         "are other data, name their format")
                   : fail_field(err, ONET_BAD, "onet_read_options.words",
                                "the items are words, and there are no vectors for words");
    int32_t *row = malloc(n * sizeof *row); /* [n] */
    if (!row) return fail_memory(err, "a set's words");
    lost_rows lost = {0};
    bool made = true;
    for (size_t i = 0; i < n && made; i++) {
        bool known;
        size_t length = strlen(r->word[i]);
        row[i] = words_find(words, r->word[i], length, &known);
        if (!known) made = lost_note(&lost, i, 0, 0, lost_hash(r->word[i], length));
    }
    made = made && lost_extend(&lost, n);
    onet_status status =
        made ? sets_append_words(sets, n, row, r->order, err) : fail_memory(err, "a set's words");
    if (!status) sets->width = words->width;
    if (!status && lost.of) status = sets_append_lost(sets, lost.of, 0, err);
    lost_free(lost.of);
    free(row);
    return status;
}

onet_status sets_append_record(onet_sets *sets, const record *r, const onet_words *words, onet_error *err) {
    onet_status status = append_items(sets, r, words, err);
    if (!status && (status = sets_append_pairs(sets, r->relations, r->pairs, err)))
        sets->count--; /* it has no row there */
    if (!status && r->pair_names && sets->count == 1) status = sets_name_pairs(sets, r->pair_names, err);
    if (!status && r->lost) status = sets_append_lost(sets, r->lost, r->lost_from, err);
    if (!status && r->context) status = sets_append_context(sets, r->context, err);
    if (!status && r->constraint_count)
        status = sets_append_constraints(sets, r->constraints, r->constraint_count, err);
    return status;
}

onet_status onet_sets_append_record(onet_sets *sets, const onet_record *r, const onet_words *words,
                                    int with_order, onet_error *err) {
    NEED(sets, "sets");
    NEED(r, "record");
    record given = *r;
    if (!with_order) given.order = NULL;
    return sets_append_record(sets, &given, words, err);
}

/* Gives the record its words as text, from the vocabulary. */
static onet_status give_words(const onet_sets *sets, const int32_t *word, record *r, onet_error *err) {
    size_t n = (size_t)r->n, letters = 0;
    const size_t *at = sets->words->at;
    for (size_t i = 0; i < n; i++) letters += at[word[i] + 1] - at[word[i]] + 1;
    if (!array_reserve(&r->letters, &r->letter_room, letters, 1) ||
        !array_reserve(&r->word_store, &r->word_room, n, sizeof *r->word_store))
        return fail_memory(err, "a set's words");
    char *to = r->letters;
    for (size_t i = 0; i < n; i++) {
        size_t length = at[word[i] + 1] - at[word[i]];
        r->word_store[i] = memcpy(to, sets->words->text + at[word[i]], length);
        to += length;
        *to++ = 0;
    }
    r->word = r->word_store;
    return ONET_OK;
}

static onet_status give_constraints(const onet_sets *sets, size_t s, record *r, onet_error *err) {
    size_t base = sets->start[s], from, count;
    constraints_of(sets, base, sets->start[s + 1], &from, &count);
    if (!count) return ONET_OK;
    if (!array_reserve(&r->constraint_store, &r->constraint_room, count, sizeof *r->constraint_store))
        return fail_memory(err, "a set's constraints");
    for (size_t k = 0; k < count; k++) {
        onet_constraint c = sets->constraints[from + k];
        c.item -= base;
        if (constraint_is_pair(c.kind)) c.other -= base;
        r->constraint_store[k] = c;
    }
    r->constraints = r->constraint_store;
    r->constraint_count = count;
    return ONET_OK;
}

onet_status sets_record(const onet_sets *sets, size_t s, onet_format format, record *r, onet_error *err) {
    const double *exact = sets->exact;
    size_t from = sets->start[s];
    onet_status status = record_line(r, format, "", 0, (long)s + 1, err);
    if (status) return status;
    r->n = (int)sets_size(sets, s);
    r->order = sets->order ? sets->order + from : NULL;
    r->context = sets_placed(sets, s) < sets_size(sets, s) ? sets->context + from : NULL;
    if ((status = give_constraints(sets, s, r, err))) return status;
    r->relations = sets_relations(sets);
    if (r->relations) r->pairs = sets_pairs(sets, from);
    if (r->relations) r->pair_names = sets->pairs->names;
    if (sets->word) return give_words(sets, sets->word + from, r, err);
    size_t count = (size_t)r->n * (size_t)sets->width;
    if (!array_reserve(&r->item_store, &r->item_room, count + 1, sizeof *r->item_store))
        return fail_memory(err, "a set's items");
    from *= (size_t)sets->width;
    for (size_t i = 0; i < count; i++)
        r->item_store[i] = exact ? exact[from + i] : (double)sets->items[from + i];
    r->width = sets->width;
    r->items = r->item_store;
    r->single = !exact;
    r->lost = sets->lost;
    r->lost_from = sets->start[s];
    r->columns = sets->columns;
    return ONET_OK;
}

onet_status onet_sets_record(const onet_sets *sets, size_t s, onet_record *r, onet_error *err) {
    NEED(sets, "sets");
    NEED(r, "record");
    NEED(sets->start, "onet_sets.start");
    if (s >= sets->count) return fail(err, ONET_USAGE, "there is no set %zu; there are %zu", s, sets->count);
    onet_sets one;
    sets_slice(&one, sets, s, s + 1);
    onet_status status = sets_check(&one, err);
    return status ? status : sets_record(sets, s, ONET_FORMAT_SAFETENSORS, r, err);
}

/* ---- Reading ----------------------------------------------------------------------------------------- */

/* Reads all records into sets; missing values are counted, and filled in later. */
static onet_status read_records(onet_sets *sets, reader *in, const onet_read_options *options,
                                missing_count *missing, onet_error *err) {
    jsonl_texts texts = {.missing = options && options->missing != ONET_MISSING_ERROR};
    const onet_words *words = options ? options->words : NULL;
    record r = {.texts = options && options->columns ? NULL : &texts};
    int end;
    onet_status status;
    sets_allow_missing(sets);
    reader_allow_missing(in);
    while (!(status = onet_reader_next(in, &r, &end, err)) && !end) {
        if (r.items) missing_add(missing, r.items, (size_t)r.n, r.width, r.line, sets->count);
        status = sets_append_record(sets, &r, words, err);
        if (!status && sets->count == 1 && r.columns && r.columns->inputs == sets->width)
            status = onet_sets_set_columns(sets, r.columns, err);
        if (status == ONET_BAD) error_prefix(err, "%s:%ld", onet_reader_name(in), r.line);
        if (status) break;
    }
    record_free(&r);
    const onet_columns *before = sets->columns;
    if (!status && texts.width) status = jsonl_texts_expand(&texts, sets, onet_reader_name(in), err);
    if (!status && sets->columns != before) {
        /* Text columns have become one-hot features, where a missing text is all zeros, not a missing value:
         * count the missing values again. */
        *missing = (missing_count){0};
        for (size_t s = 0; s < sets->count; s++)
            for (size_t i = sets->start[s] * (size_t)sets->width;
                 i < sets->start[s + 1] * (size_t)sets->width; i++)
                if (isnan(sets->items[i]) && !missing->count++) {
                    missing->set = s;
                    missing->item = i / (size_t)sets->width - sets->start[s];
                    missing->feature = (int)(i % (size_t)sets->width);
                }
    }
    jsonl_texts_free(&texts);
    if (!status && sets->word && !(sets->words = words_copy(words)))
        status = fail_memory(err, "the vocabulary");
    return status;
}

/* Replaces the vocabulary of sets by another one, in which their words are looked up. */
static onet_status use_words(onet_sets *sets, const onet_words *words, onet_error *err) {
    const onet_words *own = sets->words;
    int32_t *row = malloc((size_t)own->count * sizeof *row);
    onet_words *copy = words_copy(words);
    uint64_t *hash = array_new((size_t)own->count, sizeof *hash); /* of the words that are unknown */
    if (!row || !copy || !hash) {
        free(row);
        free(hash);
        words_free(copy);
        return fail_memory(err, "the vocabulary");
    }
    for (int32_t w = 0; w < own->count; w++) {
        const char *text = own->text + own->at[w];
        size_t length = own->at[w + 1] - own->at[w];
        bool known = true;
        row[w] = words_exact(words, text, length);
        if (row[w] < 0) row[w] = words_find(words, text, length, &known);
        if (!known) hash[w] = lost_hash(text, length);
    }
    size_t items = sets->start[sets->count];
    lost_rows lost = {0};
    bool made = true;
    for (size_t i = 0; i < items && made; i++) {
        made = lost_note(&lost, i, 0, 0, hash[sets->word[i]]);
        sets->word[i] = row[sets->word[i]];
    }
    made = made && lost_extend(&lost, items);
    sets->lost = lost.of;
    free(row);
    free(hash);
    sets_drop_words(sets);
    sets->words = copy;
    sets->width = copy->width;
    sets_taken(sets);
    return made ? ONET_OK : fail_memory(err, "the vocabulary");
}

/* Reads all sets from `from`, which is closed. settle: fill in or refuse missing values; else they stay NaN.
 */
static onet_status read_sets(onet_sets **result, input *from, const onet_read_options *options, bool settle,
                             onet_error *err) {
    onet_sets *sets = NULL;
    reader *in;
    missing_count missing = {0};
    bool counted = false;
    *result = NULL;
    onet_status status = reader_start(&in, from, options, err);
    if (status) return status;
    status = reader_take(in, &sets, err);
    if (!status && !sets) {
        counted = true;
        status = sets_new(&sets, 0, err);
        if (!status) status = read_records(sets, in, options, &missing, err);
    } else if (!status && options && options->words && sets->word)
        status = use_words(sets, options->words, err);
    const char *said = status ? NULL : onet_columns_unknown(sets->columns);
    if (!status && !said) said = onet_reader_unknown(in);
    char *unknown = said ? strdup(said) : NULL; /* settling may replace the columns */
    if (said && !unknown) status = fail_memory(err, "the texts of a column");
    if (!status && settle)
        status = missing_settle(sets, onet_reader_name(in), options, counted ? &missing : NULL, err);
    if (!status && sets->columns) {
        free(sets->columns->unknown);
        sets->columns->unknown = unknown;
        unknown = NULL;
    }
    free(unknown);
    /* For a model the doubles stay: which features it takes in double does not depend on the sets of the
     * file. */
    if (!status && !(options && options->columns)) status = doubles_settle(sets, err);
    if (!status) onet_reader_hash(in, sets->hash);
    onet_reader_close(in);
    if (status)
        onet_sets_free(sets);
    else
        *result = sets;
    return status;
}

/* Reads sets from an input of which nothing was read yet, and closes it. */
static onet_status sets_read(onet_sets **result, input *from, const onet_read_options *options,
                             onet_error *err) {
    return read_sets(result, from, options, true, err);
}

onet_status onet_sets_read(onet_sets **result, const char *path, const onet_read_options *options,
                           onet_error *err) {
    NEED(result, "sets");
    *result = NULL;
    NEED(path, "path");
    input *in;
    onet_read_options own;
    onet_status status = reader_input(&in, path, options, &own, err);
    return status ? status : sets_read(result, in, &own, err);
}

void onet_read_defaults(onet_read_options *options, size_t size) {
    onet_read_options own = {.size = sizeof own};
    sized_give(options, size, &own, sizeof own);
}

/* ---- Writing ----------------------------------------------------------------------------------------- */

static onet_status write_records(const onet_sets *sets, const char *path, onet_format format,
                                 onet_error *err) {
    writer *w;
    record r = {0};
    onet_write_options options = {.size = sizeof options, .format = format};
    onet_status status = onet_writer_open(&w, path, &options, err);
    if (status) return status;
    status = onet_writer_begin(w, NULL, err);
    for (size_t s = 0; s < sets->count && !status; s++) {
        status = sets_record(sets, s, ONET_FORMAT_SAFETENSORS, &r, err);
        if (!status) status = onet_writer_put(w, &r, NULL, err);
        if (status == ONET_BAD) error_prefix(err, "set %zu", s + 1);
    }
    record_free(&r);
    if (!status) status = onet_writer_end(w, err);
    if (!status) return onet_writer_commit(w, err);
    onet_writer_abort(w);
    return status;
}

onet_status onet_sets_write(const onet_sets *sets, const char *path, onet_format format, onet_error *err) {
    NEED(sets, "sets");
    NEED(path, "path");
    const data_format *found;
    onet_status status = format_to_write(path, format, &found, err);
    if (!status) status = sets_check(sets, err);
    if (status) return status;
    return found->write ? found->write(sets, path, NULL, err) : write_records(sets, path, found->format, err);
}

onet_status onet_format_of_path(const char *path, onet_format *format, onet_error *err) {
    NEED(format, "format");
    *format = ONET_FORMAT_AUTO;
    NEED(path, "path");
    const data_format *found;
    onet_status status = format_to_write(path, ONET_FORMAT_AUTO, &found, err);
    *format = status ? ONET_FORMAT_AUTO : found->format;
    return status;
}

/* ---- From one format to another ---------------------------------------------------------------------- */

static onet_status convert_records(reader *in, writer *w, onet_error *err) {
    record r = {0};
    int end;
    onet_status status = onet_writer_begin(w, in, err);
    while (!status && !(status = onet_reader_next(in, &r, &end, err)) && !end) {
        status = onet_writer_put(w, &r, NULL, err);
        if (!status && onet_reader_waits(in)) status = onet_writer_flush(w, err);
    }
    record_free(&r);
    return status ? status : onet_writer_end(w, err);
}

onet_status onet_sets_convert(const char *from, const char *to, const onet_read_options *reading,
                              const onet_write_options *writing, onet_error *err) {
    NEED(from, "from");
    NEED(to, "to");
    onet_write_options options;
    onet_read_options read;
    onet_status status = writer_options(&options, writing, err);
    read = (onet_read_options){.size = sizeof read};
    if (!status) status = sized_take(&read, sizeof read, reading, "onet_read_options", err);
    if (status) return status;
    if (!read.columns) read.missing = (onet_missing)MISSING_COPIED;
    const data_format *found = format_find(options.format);
    /* Standard output has no name to tell a format: it gets that of the input. */
    if (strcmp(to, "-") && (status = format_to_write(to, options.format, &found, err))) return status;
    if (found) options.format = found->format;
    if (found && found->write) {
        onet_sets *sets = NULL;
        onet_read_options own;
        input *in_file;
        status = reader_input(&in_file, from, &read, &own, err);
        if (!status) status = read_sets(&sets, in_file, &own, false, err);
        if (!status) status = found->write(sets, to, options.made, err);
        onet_sets_free(sets);
        return status;
    }
    reader *in;
    writer *w;
    if ((status = onet_reader_open(&in, from, &read, err))) return status;
    if (!(status = onet_writer_open(&w, to, &options, err))) {
        status = convert_records(in, w, err);
        if (!status)
            status = onet_writer_commit(w, err);
        else
            onet_writer_abort(w);
    }
    onet_reader_close(in);
    return status;
}
