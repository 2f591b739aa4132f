/* Parses the options of a command by its table (ranges, choices, a suggestion for a misspelt name), and
 * writes defaults as text and options back as a command line. */
#include "app/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/choice.h"
#include "engine/base/error.h"

enum { WORD_MAX = 64 };

/* Returns the edit distance of two short words: insert, delete, change or swap of two neighbours cost 1 each.
 */
static int edit_distance(const char *a, const char *b) {
    int la = (int)strlen(a), lb = (int)strlen(b);
    if (la > WORD_MAX || lb > WORD_MAX) return WORD_MAX;
    int d[WORD_MAX + 1][WORD_MAX + 1];
    for (int i = 0; i <= la; i++) d[i][0] = i;
    for (int j = 0; j <= lb; j++) d[0][j] = j;
    for (int i = 1; i <= la; i++)
        for (int j = 1; j <= lb; j++) {
            int best = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            if (d[i - 1][j] + 1 < best) best = d[i - 1][j] + 1;
            if (d[i][j - 1] + 1 < best) best = d[i][j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && d[i - 2][j - 2] + 1 < best)
                best = d[i - 2][j - 2] + 1;
            d[i][j] = best;
        }
    return d[la][lb];
}

const char *nearest_word(const char *typed, const char *(*next)(void *context), void *context) {
    const char *best = NULL;
    int length = (int)strlen(typed);
    int best_distance = length > 1 ? 1 + length / 3 : 0; /* a word farther off is more likely another one */
    for (const char *word; (word = next(context));) {
        /* The start of a longer word counts as near: --epoch for --epochs, --check for --checkpoint-seconds.
         */
        int distance =
            strlen(typed) > 2 && !strncmp(word, typed, strlen(typed)) ? 1 : edit_distance(typed, word);
        if (distance < best_distance || (distance == best_distance && !best))
            best = word, best_distance = distance;
    }
    return best;
}

static bool is_end(const option *o) {
    return !o->name && !o->group;
}

typedef struct option_walk {
    const option *at;
    bool help_given;
} option_walk;

static const char *next_option(void *context) {
    option_walk *walk = context;
    while (walk->at->group) walk->at++;
    if (!is_end(walk->at)) return (walk->at++)->name;
    if (walk->help_given) return NULL;
    walk->help_given = true;
    return "help";
}

static onet_status bad_value(const option *o, const char *text, const char *kind, onet_error *err) {
    if (o->low == 0 && o->high == 0)
        return fail(err, ONET_USAGE, "option --%s takes %s, not '%s'", o->name, kind, text);
    return fail(err, ONET_USAGE, "option --%s takes %s from %.10g to %.10g, not '%s'", o->name, kind, o->low,
                o->high, text);
}

static bool in_range(const option *o, double value) {
    return (o->low == 0 && o->high == 0) || (value >= o->low && value <= o->high);
}

static onet_status set_int(const option *o, int *field, const char *text, onet_error *err) {
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (end == text || *end || errno || value < INT_MIN || value > INT_MAX || !in_range(o, (double)value))
        return bad_value(o, text, "a whole number", err);
    *field = (int)value;
    return ONET_OK;
}

static onet_status set_character(const option *o, int *field, const char *text, onet_error *err) {
    bool tab = !strcmp(text, "tab") || !strcmp(text, "\\t");
    if (!tab && (!*text || text[1] || (unsigned char)*text > 127 || strchr("\"\r\n", *text)))
        return fail(err, ONET_USAGE, "option --%s takes one character, or tab, not '%s'", o->name, text);
    *field = tab ? '\t' : *text;
    return ONET_OK;
}

static onet_status set_u64(const option *o, uint64_t *field, const char *text, onet_error *err) {
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end || errno || !in_range(o, (double)value))
        return bad_value(o, text, o->high > 0 ? "a whole number" : "a whole number of 0 or more", err);
    *field = value;
    return ONET_OK;
}

static onet_status set_double(const option *o, double *field, const char *text, onet_error *err) {
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end || !(value - value == 0) || !in_range(o, value))
        return bad_value(o, text, "a number", err);
    *field = value;
    return ONET_OK;
}

static onet_status set_choice(const option *o, void *field, const char *text, onet_error *err) {
    const onet_choice *found = choice_named(o->choices(), text, strlen(text));
    if (!found) {
        char names[256];
        return fail(err, ONET_USAGE, "option --%s is one of %s, not '%s'", o->name,
                    choice_names(o->choices(), ", ", names, sizeof names), text);
    }
    if (o->kind == OPTION_NAME)
        memcpy(field, &found->name, sizeof found->name);
    else
        memcpy(field, &found->value, sizeof found->value);
    return ONET_OK;
}

/* "5-20,25,50": the sizes 5 to 20, 25 and 50. */
static onet_status set_sizes(const option *o, option_sizes *field, const char *text, onet_error *err) {
    option_sizes sizes = {0};
    const char *at = text;
    for (;;) {
        char *end;
        errno = 0;
        long first = strtol(at, &end, 10), last = first;
        bool good = end != at && !errno && *at >= '0' && *at <= '9';
        if (good && *end == '-') {
            at = end + 1;
            last = strtol(at, &end, 10);
            good = end != at && !errno && *at >= '0' && *at <= '9' && last >= first;
        }
        if (!good || (*end && *end != ',') || last > INT_MAX || !in_range(o, (double)first) ||
            !in_range(o, (double)last))
            return bad_value(o, text, "sizes such as 10 or 5-20,25,", err);
        for (long size = first; size <= last; size++) {
            if (sizes.count == (int)(sizeof sizes.value / sizeof *sizes.value))
                return fail(err, ONET_USAGE, "option --%s takes at most %d sizes; '%s' has more", o->name,
                            sizes.count, text);
            sizes.value[sizes.count++] = (int)size;
        }
        if (!*end) break;
        at = end + 1;
    }
    *field = sizes;
    return ONET_OK;
}

static onet_status add_to_list(const option *o, option_list *field, const char *text, onet_error *err) {
    int most = (int)(sizeof field->value / sizeof *field->value);
    if (field->count == most)
        return fail(err, ONET_USAGE, "option --%s can be given at most %d times", o->name, most);
    field->value[field->count++] = text;
    return ONET_OK;
}

static onet_status set_value(const option *o, void *values, const char *text, onet_error *err) {
    void *field = (char *)values + o->field;
    switch (o->kind) {
    case OPTION_FLAG:
        *(int *)field = 1;
        return ONET_OK;
    case OPTION_OFF:
        *(int *)field = 0;
        return ONET_OK;
    case OPTION_INT:
        return set_int(o, field, text, err);
    case OPTION_U64:
        return set_u64(o, field, text, err);
    case OPTION_DOUBLE:
        return set_double(o, field, text, err);
    case OPTION_STRING:
        memcpy(field, &text, sizeof text);
        return ONET_OK;
    case OPTION_CHARACTER:
        return set_character(o, field, text, err);
    case OPTION_CHOICE:
    case OPTION_NAME:
        return set_choice(o, field, text, err);
    case OPTION_SIZES:
        return set_sizes(o, field, text, err);
    case OPTION_LIST:
        return add_to_list(o, field, text, err);
    }
    return ONET_OK;
}

static const option *find_option(const option *table, const char *name, size_t length) {
    for (const option *o = table; !is_end(o); o++)
        if (o->name && strlen(o->name) == length && !memcmp(o->name, name, length)) return o;
    return NULL;
}

static onet_status unknown_option(const option *table, const char *argument, size_t length, onet_error *err) {
    char typed[WORD_MAX];
    snprintf(typed, sizeof typed, "%.*s", (int)(length < WORD_MAX ? length : WORD_MAX), argument);
    const char *bare = typed + strspn(typed, "-");
    option_walk walk = {.at = table};
    const char *near = nearest_word(bare, next_option, &walk);
    if (near) return fail(err, ONET_USAGE, "unknown option %s; did you mean --%s?", typed, near);
    return fail(err, ONET_USAGE, "unknown option %s", typed);
}

/* A required option counts as given if it is among the arguments, whatever its field holds. */
static onet_status check_required(const option *table, const bool *given, onet_error *err) {
    for (const option *o = table; !is_end(o); o++) {
        const option *unless = o->unless ? find_option(table, o->unless, strlen(o->unless)) : NULL;
        bool made_up_for = unless && given[unless - table];
        if (o->required && !made_up_for && !given[o - table])
            return fail(err, ONET_USAGE, "option --%s %s is missing", o->name, o->argument);
    }
    return ONET_OK;
}

onet_status options_parse(const option *table, void *values, int count, char **arguments, int *operands,
                          bool *help, bool *given, onet_error *err) {
    bool own[OPTIONS_MAX], only_operands = false;
    if (!given) given = own;
    memset(given, 0, sizeof own);
    *operands = 0;
    *help = false;
    for (int i = 0; i < count; i++) {
        char *argument = arguments[i];
        if (only_operands || argument[0] != '-' || !argument[1]) {
            arguments[(*operands)++] = argument;
            continue;
        }
        if (!strcmp(argument, "--")) {
            only_operands = true;
            continue;
        }
        if (!strcmp(argument, "--help") || !strcmp(argument, "-h")) {
            *help = true;
            continue;
        }
        size_t length = strcspn(argument, "=");
        const option *o = argument[1] == '-' ? find_option(table, argument + 2, length - 2) : NULL;
        if (!o) return unknown_option(table, argument, length, err);
        const char *text = argument[length] ? argument + length + 1 : NULL;
        bool takes = o->kind != OPTION_FLAG && o->kind != OPTION_OFF;
        if (!takes && text) return fail(err, ONET_USAGE, "option --%s takes no argument", o->name);
        if (takes && !text && o->otherwise && (i + 1 == count || arguments[i + 1][0] == '-'))
            text = o->otherwise;
        if (takes && !text) {
            if (i + 1 == count || !strncmp(arguments[i + 1], "--", 2))
                return fail(err, ONET_USAGE, "option --%s needs an argument: --%s %s", o->name, o->name,
                            o->argument);
            text = arguments[++i];
        }
        /* The last one would count, and the others be ignored silently. */
        if (takes && o->kind != OPTION_LIST && given[o - table])
            return fail(err, ONET_USAGE, "option --%s is given more than once; it takes one value", o->name);
        onet_status status = set_value(o, values, text, err);
        if (status) return status;
        given[o - table] = true;
    }
    return *help ? ONET_OK : check_required(table, given, err);
}

bool option_default(const option *o, const void *values, char *text, size_t size) {
    const void *field = (const char *)values + o->field;
    text[0] = 0;
    if (o->default_text) {
        snprintf(text, size, "%s", o->default_text);
        return text[0];
    }
    switch (o->kind) {
    case OPTION_FLAG:
    case OPTION_OFF:
    case OPTION_LIST:
        break;
    case OPTION_CHARACTER:
        break;
    case OPTION_INT:
        snprintf(text, size, "%d", *(const int *)field);
        break;
    case OPTION_U64:
        snprintf(text, size, "%llu", (unsigned long long)*(const uint64_t *)field);
        break;
    case OPTION_DOUBLE:
        snprintf(text, size, "%g", *(const double *)field);
        break;
    case OPTION_STRING:
    case OPTION_NAME:
        if (*(const char *const *)field) snprintf(text, size, "%s", *(const char *const *)field);
        break;
    case OPTION_CHOICE:
        snprintf(text, size, "%s", choice_name(o->choices(), *(const int *)field));
        break;
    case OPTION_SIZES: {
        const option_sizes *sizes = field;
        size_t used = 0;
        for (int i = 0; i < sizes->count && used < size; i++) {
            int last = i;
            while (last + 1 < sizes->count && sizes->value[last + 1] == sizes->value[last] + 1) last++;
            used += (size_t)snprintf(text + used, size - used, "%s%d", i ? "," : "", sizes->value[i]);
            if (last > i && used < size)
                used += (size_t)snprintf(text + used, size - used, "-%d", sizes->value[last]);
            i = last;
        }
        break;
    }
    }
    return text[0];
}

/* Quotes the text for a shell, unless it has no special characters. False if there is no room. */
static bool quote(const char *text, char *out, size_t size) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./,:=@%+-";
    bool bare = *text && !text[strspn(text, plain)];
    size_t at = 0;
    if (size < 4) return false;
    if (!bare) out[at++] = '\'';
    for (; *text; text++) {
        bool quoted = *text == '\'';
        if (at + 6 > size) return false;
        if (quoted) at += (size_t)snprintf(out + at, size - at, "'\\'");
        out[at++] = *text;
    }
    if (!bare) out[at++] = '\'';
    out[at] = 0;
    return true;
}

/* Writes the fewest digits that read back as the same number. */
static void double_text(double value, char text[32]) {
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, 32, "%.*g", digits, value);
        if (strtod(text, NULL) == value) return;
    }
}

bool option_given(const option *o, const void *values, const void *plain, char *text, size_t size) {
    const char *field = (const char *)values + o->field, *initial = (const char *)plain + o->field;
    char number[64], quoted[4200];
    const char *value = number;
    if (!o->name || o->kind == OPTION_SIZES || o->kind == OPTION_LIST) return false;
    if (o->kind == OPTION_STRING || o->kind == OPTION_NAME) {
        const char *now = *(const char *const *)field, *before = *(const char *const *)initial;
        if (!now || (before && !strcmp(now, before))) return false;
        value = now;
    } else if (o->kind == OPTION_DOUBLE) {
        if (*(const double *)field == *(const double *)initial) return false;
        double_text(*(const double *)field, number);
    } else if (o->kind == OPTION_U64) {
        if (*(const uint64_t *)field == *(const uint64_t *)initial) return false;
        snprintf(number, sizeof number, "%llu", (unsigned long long)*(const uint64_t *)field);
    } else {
        int now = *(const int *)field;
        if (now == *(const int *)initial) return false;
        if (o->kind == OPTION_FLAG || o->kind == OPTION_OFF) {
            int length = snprintf(text, size, "--%s", o->name);
            return length > 0 && (size_t)length < size;
        }
        if (o->kind == OPTION_CHOICE)
            value = choice_name(o->choices(), now);
        else if (o->kind == OPTION_CHARACTER)
            snprintf(number, sizeof number, now == '\t' ? "tab" : "%c", now);
        else
            snprintf(number, sizeof number, "%d", now);
    }
    if (!quote(value, quoted, sizeof quoted)) return false;
    int length = snprintf(text, size, "--%s %s", o->name, quoted);
    return length > 0 && (size_t)length < size;
}
