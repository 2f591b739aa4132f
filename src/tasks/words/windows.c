/* Parses --windows and --length of the `words` commands, and draws random windows (successive words) from
 * sentences, with the starting points and lengths that these ask for. */
#include "tasks/words/prepare.h"

#include <string.h>

#include "engine/base/error.h"
#include "engine/base/number.h"

static const char *const sort_names[WINDOW_SORTS] = {"paragraph", "sentence", "anywhere", "whole"};

/* Reads ":NUMBER" at *text, or 1 if there is none; then the end of the list, or a comma, which is passed
 * over. */
static bool scan_weight(const char **text, const char *end, double most, double *weight) {
    *weight = 1;
    if (*text < end && **text == ':') {
        const char *after = number_scan(*text + 1, end, NUMBER_LOOSE, weight);
        if (after == *text + 1) return false;
        *text = after;
    }
    if (!(*weight >= 0 && *weight <= most)) return false;
    if (*text == end) return true;
    return *(*text)++ == ',' && *text < end;
}

static onet_status parse_sorts(windows *w, const char *sorts, onet_error *err) {
    const char *end = sorts + strlen(sorts);
    double sum = 0;
    for (const char *p = sorts; p < end || p == sorts;) {
        int sort = 0;
        size_t length = strcspn(p, ":,");
        while (sort < WINDOW_SORTS &&
               (strlen(sort_names[sort]) != length || memcmp(p, sort_names[sort], length)))
            sort++;
        p += length;
        double rate;
        if (sort == WINDOW_SORTS || !scan_weight(&p, end, WINDOWS_MOST_RATE, &rate))
            return fail(err, ONET_USAGE,
                        "--windows %s: give paragraph, sentence, anywhere or whole, each with a number of "
                        "windows per sentence from 0 to %d, as in sentence:1,anywhere:0.5",
                        sorts, WINDOWS_MOST_RATE);
        w->rate[sort] = rate;
        sum += rate;
    }
    return sum > 0
               ? ONET_OK
               : fail(err, ONET_USAGE, "--windows %s: all its numbers are 0; give one that is larger", sorts);
}

static const char *scan_length(const char *p, const char *end, int *length) {
    *length = 0;
    while (p < end && *p >= '0' && *p <= '9' && *length <= WINDOWS_LONGEST)
        *length = *length * 10 + *p++ - '0';
    return p;
}

static onet_status parse_lengths(windows *w, const char *lengths, onet_error *err) {
    const char *end = lengths + strlen(lengths);
    double weight[WINDOWS_LONGEST + 1] = {0};
    for (const char *p = lengths; p < end || p == lengths;) {
        int low, high;
        double each;
        p = scan_length(p, end, &low);
        high = low;
        if (p < end && *p == '-') p = scan_length(p + 1, end, &high);
        if (low < 2 || high < low || high > WINDOWS_LONGEST || !scan_weight(&p, end, 1e9, &each))
            return fail(
                err, ONET_USAGE,
                "--length %s: give lengths or ranges from 2 to %d, with weights where they differ, as "
                "in 5, 2-20 or 3-8:3,9-20:1",
                lengths, WINDOWS_LONGEST);
        for (int k = low; k <= high; k++) weight[k] = each;
    }
    w->shortest = WINDOWS_LONGEST + 1;
    for (int k = 0; k <= WINDOWS_LONGEST; k++) {
        w->below[k + 1] = w->below[k] + weight[k];
        if (weight[k] > 0) w->longest = k;
        if (weight[k] > 0 && w->shortest > k) w->shortest = k;
    }
    return w->longest ? ONET_OK
                      : fail(err, ONET_USAGE, "--length %s: all its weights are 0; give one that is larger",
                             lengths);
}

onet_status windows_parse(windows *w, const char *sorts, const char *lengths, onet_error *err) {
    *w = (windows){.longest = 0};
    onet_status status = parse_sorts(w, sorts, err);
    return status ? status : parse_lengths(w, lengths, err);
}

/* Returns a random length of at most `most`, by the weights of the lengths; at least one length is that
 * short. */
static int random_length(const windows *w, rng *r, int most) {
    double at = rng_uniform(r) * w->below[most + 1];
    int k = w->shortest;
    while (k < most && w->below[k + 1] <= at) k++;
    return k;
}

static int random_count(double rate, rng *r) {
    int count = (int)rate;
    return rate > count ? count + (rng_uniform(r) < rate - count) : count;
}

int windows_sample(const windows *w, rng *r, int n, bool opens_paragraph, window list[WINDOWS_OF_SENTENCE]) {
    if (n < w->shortest) return 0;
    int most = n < w->longest ? n : w->longest, count = 0;
    for (int sort = 0; sort < WINDOW_SORTS; sort++) {
        if (sort == (opens_paragraph ? WINDOW_SENTENCE : WINDOW_PARAGRAPH)) continue;
        if (sort == WINDOW_WHOLE && (n > w->longest || !(w->below[n + 1] > w->below[n]))) continue;
        for (int left = random_count(w->rate[sort], r); left; left--) {
            window *next = &list[count++];
            *next = (window){.count = n, .sort = (window_sort)sort};
            if (sort == WINDOW_WHOLE) continue;
            next->count = random_length(w, r, most);
            if (sort == WINDOW_ANYWHERE) next->from = (int)rng_below(r, (uint64_t)(n - next->count) + 1);
        }
    }
    return count;
}
