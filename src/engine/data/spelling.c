/* Recognises numbers, dates, times and dashes that are written in other ways than this program reads, one
 * function per way, and decides whether a column consists of them (spelling.h). */
#include "engine/data/spelling.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "engine/base/ascii.h"
#include "engine/base/number.h"
#include "engine/data/text_value.h"
#include "ordernet_io.h"

typedef struct span {
    const char *at;
    size_t length;
} span;

/* Takes a text from the beginning of the span. */
static bool accept(span *s, const char *text) {
    size_t own = strlen(text);
    if (s->length < own || memcmp(s->at, text, own) != 0) return false;
    s->at += own;
    s->length -= own;
    return true;
}

/* Takes a text from the end of the span. */
static bool accept_back(span *s, const char *text) {
    size_t own = strlen(text);
    if (s->length < own || memcmp(s->at + s->length - own, text, own) != 0) return false;
    s->length -= own;
    return true;
}

/* Blanks: also those that do not break a line, and thin ones, as typesetters have between thousands. */
static const char *const blank[] = {" ", "\t", "\u00a0", "\u202f", "\u2009"};
enum { BLANKS = sizeof blank / sizeof *blank };

static span trimmed(span s) {
    for (size_t i = 0; i < BLANKS;) i = accept(&s, blank[i]) || accept_back(&s, blank[i]) ? 0 : i + 1;
    return s;
}

static bool is_plain(span s) {
    double value;
    return s.length && number_scan(s.at, s.at + s.length, NUMBER_LOOSE, &value) == s.at + s.length;
}

bool spelling_has_thousands(const char *text, size_t length) {
    char plain[32];
    size_t used = 0;
    if (!memchr(text, ',', length) || length >= sizeof plain) return false;
    for (size_t i = 0; i < length; i++)
        if (text[i] != ',') plain[used++] = text[i];
    return is_plain((span){plain, used});
}

/* Whether the span is a number with a comma for the decimal point, such as 48,85. Three digits behind the
 * comma may be thousands. */
static bool has_decimal_comma(span s) {
    const char *comma = memchr(s.at, ',', s.length);
    size_t behind = comma ? (size_t)(s.at + s.length - comma - 1) : 0;
    if (!behind || memchr(comma + 1, ',', behind) || memchr(comma + 1, '.', behind)) return false;
    return behind != 3 && spelling_has_thousands(s.at, s.length);
}

/* Takes digits; returns how many, and the value of up to 6. */
static size_t accept_digits(span *s, int *value) {
    size_t count = 0;
    *value = 0;
    for (; count < s->length && ascii_digit(s->at[count]); count++)
        if (count < 6) *value = 10 * *value + (s->at[count] - '0');
    s->at += count;
    s->length -= count;
    return count;
}

/* Whether the span is a number with this mark between thousands: 1 000 or 12'345'678.9. */
static bool has_groups(span s, const char *mark) {
    int value;
    size_t groups = 0;
    if (!accept(&s, "-")) accept(&s, "+");
    size_t digits = accept_digits(&s, &value);
    if (!digits || digits > 3) return false;
    for (; accept(&s, mark); groups++)
        if (accept_digits(&s, &value) != 3) return false;
    if (groups && (accept(&s, ".") || accept(&s, ",")) && !accept_digits(&s, &value)) return false;
    return groups && !s.length;
}

static bool has_blanks(span s) {
    for (size_t i = 0; i < BLANKS; i++)
        if (has_groups(s, blank[i])) return true;
    return false;
}

/* Whether the span is a number, perhaps with marks between its thousands. */
static bool is_number(span s) {
    return is_plain(s) || spelling_has_thousands(s.at, s.length) || has_blanks(s) || has_groups(s, "'") ||
           has_groups(s, "\u2019") || has_groups(s, "_");
}

/* Whether the text is a number beside this sign: 5%, $5. */
static bool has_sign(span s, const char *sign) {
    return (accept_back(&s, sign) || accept(&s, sign)) && is_number(trimmed(s));
}

/* Whether the span is a number with a unit of measure. A letter alone needs a blank before it: 5 m is a
 * length, 5m may be a name. */
static bool has_unit(span s) {
    static const char *const unit[] = {
        "kg",  "g",      "mg",      "t",       "lb",      "lbs",     "oz",      "km",  "m",   "cm",
        "mm",  "mi",     "ft",      "in",      "yd",      "h",       "hr",      "hrs", "min", "mins",
        "s",   "sec",    "secs",    "ms",      "day",     "days",    "l",       "ml",  "cl",  "w",
        "kw",  "mw",     "wh",      "kwh",     "v",       "hz",      "khz",     "mhz", "ghz", "kb",
        "mb",  "gb",     "tb",      "km/h",    "mph",     "m/s",     "px",      "pt",  "m2",  "m3",
        "km2", "\u00b0", "\u00b0c", "\u00b0f", "m\u00b2", "m\u00b3", "km\u00b2"};
    span rest = s;
    while (rest.length && (ascii_digit(*rest.at) || strchr("+-.,", *rest.at))) rest.at++, rest.length--;
    span number = {s.at, s.length - rest.length}, name = trimmed(rest);
    if (!is_plain(number) && !spelling_has_thousands(number.at, number.length)) return false;
    for (size_t i = 0; i < sizeof unit / sizeof *unit; i++)
        if (strlen(unit[i]) == name.length && !strncasecmp(unit[i], name.at, name.length))
            return name.length > 1 || name.at > rest.at;
    return false;
}

static bool has_currency(span s) {
    static const char *const sign[] = {"$", "\u20ac", "\u00a3", "\u00a5", "EUR", "USD", "GBP", "CHF", "JPY"};
    for (size_t i = 0; i < sizeof sign / sizeof *sign; i++)
        if (has_sign(s, sign[i])) return true;
    return false;
}

/* Whether the span is a number with a minus that is not a hyphen. */
static bool has_minus(span s) {
    return (accept(&s, "\u2212") || accept(&s, "\u2013")) && is_number(s);
}

static bool is_hexadecimal(span s) {
    if (!accept(&s, "0x") && !accept(&s, "0X")) return false;
    for (size_t i = 0; i < s.length; i++)
        if (!memchr("0123456789abcdefABCDEF", s.at[i], 22)) return false;
    return s.length > 0;
}

/* Takes 10:30, 9:05 pm or 10:30:15.5. */
static bool take_time(span *s) {
    int hour, minute, second;
    size_t digits = accept_digits(s, &hour);
    if (!digits || digits > 2 || hour > 24 || !accept(s, ":") || accept_digits(s, &minute) != 2 ||
        minute > 59)
        return false;
    if (accept(s, ":") && (accept_digits(s, &second) != 2 || second > 60)) return false;
    if (accept(s, ".") && !accept_digits(s, &second)) return false;
    *s = trimmed(*s);
    if (s->length == 2 && (!strncasecmp(s->at, "am", 2) || !strncasecmp(s->at, "pm", 2))) s->length = 0;
    return true;
}

static bool is_day(int day, int month) {
    return day >= 1 && day <= 31 && month >= 1 && month <= 12;
}

/* Whether the span is a date of another order or with other marks than ISO 8601: 31.12.2024, 1/2/2024,
 * 12/31/24, 2024/1/5. */
static bool is_date(span s) {
    int a, b, c;
    size_t first = accept_digits(&s, &a);
    const char *mark = accept(&s, ".") ? "." : accept(&s, "/") ? "/" : accept(&s, "-") ? "-" : NULL;
    if (!mark) return false;
    size_t second = accept_digits(&s, &b);
    if (!accept(&s, mark)) return false;
    size_t third = accept_digits(&s, &c);
    bool day = is_day(a, b) || is_day(b, a), found = false;
    if (first == 4 && second && second <= 2 && third && third <= 2)
        found = is_day(c, b) && !(*mark == '-' && second == 2 && third == 2); /* no such day in ISO 8601 */
    else if (first && first <= 2 && second && second <= 2 && third == 4)
        found = day;
    else if (first && first <= 2 && second && second <= 2 && third == 2) /* 1.2.24 may be a version */
        found = day && (*mark == '/' || (*mark == '.' && first == 2 && second == 2));
    if (!found || !s.length) return found;
    accept(&s, ",");
    if (!accept(&s, " ") && !accept(&s, "T")) return false;
    return take_time(&s) && !s.length;
}

/* Whether the span is a month alone: 2024-12 or 12/2024. */
static bool is_month(span s) {
    int a, b;
    size_t first = accept_digits(&s, &a);
    bool year = first == 4 && accept(&s, "-");
    if (!year && (!first || first > 2 || !accept(&s, "/"))) return false;
    size_t second = accept_digits(&s, &b);
    return !s.length && (year ? second == 2 && is_day(1, b) : second == 4 && is_day(1, a));
}

static bool is_time(span s) {
    return take_time(&s) && !s.length;
}

const char *spelling(const char *text, size_t length) {
    double value;
    span s = {text, length};
    bool digits = false;
    for (size_t i = 0; i < length && !digits; i++) digits = ascii_digit(text[i]);
    if (!digits || is_plain(s) || text_value(text, length, &value)) return NULL;
    if (has_decimal_comma(s)) return "write the decimal point as a dot";
    if (spelling_has_thousands(text, length)) return "write it without the commas";
    if (has_sign(s, "%")) return "write it without the sign of per cent";
    if (has_currency(s)) return "write it without the currency";
    if (has_blanks(s) || is_plain(trimmed(s))) return "write it without the blanks, as 1000";
    if (is_number(s)) return "write it without the marks between thousands, as 1000";
    if (has_minus(s)) return "write the minus as a hyphen, as -5";
    if (has_unit(s)) return "write it without the unit";
    if (is_hexadecimal(s)) return "write it as a decimal number";
    if (is_date(s)) return "write dates as 2024-12-31";
    if (is_month(s)) return "write a day of the month, as 2024-12-01";
    if (is_time(s)) return "write the minutes since midnight, or date and time as 2024-12-31T10:30";
    return NULL;
}

bool spelling_is_dash(const char *text, size_t length) {
    static const char *const known[] = {"-", "--", "---", "\u2013", "\u2014", ".", "n.a."};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strlen(known[i]) == length && !memcmp(text, known[i], length)) return true;
    return false;
}

bool spelling_prevails(size_t texts, size_t spelt, size_t dashes) {
    return 2 * spelt > texts - dashes;
}

size_t spelling_first(const names *values, const size_t *code, size_t items) {
    size_t texts = 0, spelt = 0, dashes = 0, first = SIZE_MAX;
    for (size_t i = 0; i < items; i++) {
        if (code[i] == SIZE_MAX) continue;
        const char *text = values->text + values->at[code[i]];
        size_t length = values->at[code[i] + 1] - values->at[code[i]];
        texts++;
        dashes += spelling_is_dash(text, length);
        if (!spelling(text, length)) continue;
        if (!spelt++) first = i;
    }
    return spelling_prevails(texts, spelt, dashes) ? first : SIZE_MAX;
}

const char *onet_text_spelling(const char *text) {
    return text ? spelling(text, strlen(text)) : NULL;
}
