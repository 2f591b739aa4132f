/* Parses and prints numbers independently of the program's locale, and tells whether a double or float rounds
 * a number and whether numbers look like ids. */
#include "engine/base/number.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/ascii.h"
#include "engine/base/once.h"

static once made = ONCE_INIT;
static locale_t plain; /* the "C" locale, in which the decimal point is a point; 0 if there is none */

static void make_plain(void) {
    plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

/* For numbers with many digits or large exponents, which are rare: the C library's correctly rounded
 * conversion, given as many digits as can matter and one more for all the others. */
static double slow_value(const char *text, const char *end, int64_t exponent) {
    enum { DIGITS = 780, EXPONENT = 100000 };
    char copy[DIGITS + 16];
    int kept = 0;
    bool point = false, rest = false;
    for (; text < end; text++) {
        if (*text == '.') {
            point = true;
        } else if (kept == DIGITS) {
            rest |= *text != '0';
            exponent += !point;
        } else {
            if (kept || *text != '0') copy[kept++] = *text;
            exponent -= point;
        }
    }
    if (rest) {
        copy[kept++] = '1';
        exponent--;
    }
    if (exponent > EXPONENT) exponent = EXPONENT;
    if (exponent < -EXPONENT) exponent = -EXPONENT;
    sprintf(copy + kept, "e%d", (int)exponent);
    return number_parse(copy, NULL);
}

const char *number_scan(const char *text, const char *end, number_grammar grammar, double *value) {
    static const double power[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                   1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    const int64_t exponent_limit = INT64_C(1) << 60;
    bool loose = grammar == NUMBER_LOOSE, negative = false, exact = true;
    const char *p = text;
    if (p < end && (*p == '-' || (loose && *p == '+'))) negative = *p++ == '-';
    const char *mantissa = p;
    uint64_t m = 0;
    int64_t exponent = 0, scale = 0; /* the exponent as written; that of m */
    while (p < end && ascii_digit(*p)) {
        if (m < UINT64_C(1000000000000000000))
            m = m * 10 + (uint64_t)(*p - '0');
        else
            exact = false;
        p++;
    }
    size_t whole = (size_t)(p - mantissa);
    if (!loose && (!whole || (whole > 1 && *mantissa == '0'))) return text;
    if (p < end && *p == '.') {
        const char *fraction = ++p;
        while (p < end && ascii_digit(*p)) {
            if (m < UINT64_C(1000000000000000000)) {
                m = m * 10 + (uint64_t)(*p - '0');
                scale--;
            } else {
                exact = false;
            }
            p++;
        }
        if (p == fraction && (!loose || !whole)) return text;
    } else if (!whole) {
        return text;
    }
    const char *after = p; /* the mantissa's end */
    if (p < end && (*p == 'e' || *p == 'E')) {
        const char *e = p + 1;
        bool minus = false;
        if (e < end && (*e == '-' || *e == '+')) minus = *e++ == '-';
        if (e < end && ascii_digit(*e)) {
            for (; e < end && ascii_digit(*e); e++)
                if (exponent < exponent_limit / 10) exponent = exponent * 10 + (*e - '0');
            if (minus) exponent = -exponent;
            p = e;
        } else if (!loose) {
            return text;
        }
    }
    /* Both factors are exact as doubles, so the product is rounded once, correctly. */
    scale += exponent;
    double v;
    if (exact && !m)
        v = 0;
    else if (exact && m < UINT64_C(1) << 53 && scale >= -22 && scale <= 22)
        v = scale < 0 ? (double)m / power[-scale] : (double)m * power[scale];
    else
        v = slow_value(mantissa, after, exponent);
    *value = negative ? -v : v;
    return p;
}

bool number_to_float(double value, float *result) {
    if (!(fabs(value) < 0x1.ffffffp127)) return false; /* halfway from FLT_MAX to the next float */
    *result = (float)value;
    return true;
}

/* Returns the exponent written at p. */
static int64_t exponent_of(const char *p, const char *end) {
    int64_t exponent = 0;
    bool minus = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+')) p++;
    for (; p < end && ascii_digit(*p) && exponent < INT32_MAX; p++) exponent = exponent * 10 + (*p - '0');
    return minus ? -exponent : exponent;
}

bool number_is_rounded(const char *text, const char *end, double value) {
    enum { DIGITS = 309 }; /* of DBL_MAX */
    char digit[DIGITS], near[DIGITS + 16];
    int digits = 0, zeros = 0; /* digits from the first to the last that is not 0; zeros behind the last */
    int64_t places = 0;        /* digits behind the point */
    int64_t power = 0;         /* of ten, of the last digit that is not 0 */
    bool point = false;
    if (!(fabs(value) >= 0x1p53) || isinf(value)) return false;
    const char *p = text;
    if (p < end && (*p == '-' || *p == '+')) p++;
    for (; p < end && (ascii_digit(*p) || *p == '.'); p++) {
        places += point;
        power += !point && *p != '.';
        if (*p == '.') {
            point = true;
        } else if (*p == '0') {
            zeros += digits > 0;
        } else {
            if (digits + zeros >= DIGITS) return false; /* not whole, or value would be infinite */
            for (; zeros; zeros--) digit[digits++] = '0';
            digit[digits++] = *p;
            power = -places;
        }
    }
    if (p < end && (*p == 'e' || *p == 'E')) power += exponent_of(p + 1, end);
    if (power < 0) return false;
    number_print(near, sizeof near, "%.*e", digits - 1, fabs(value)); /* d.ddde+18 */
    return near[0] != digit[0] || (digits > 1 && memcmp(near + 2, digit + 1, (size_t)digits - 1));
}

bool number_rounds_in_float(double value) {
    return fabs(value) <= 0x1p53 && value == floor(value) && (double)(float)value != value;
}

int number_ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

bool numbers_are_ids(double *value, size_t count) {
    if (count < NUMBERS_ENOUGH) return false;
    for (size_t i = 0; i < count; i++)
        if (value[i] != floor(value[i])) return false;
    qsort(value, count, sizeof *value, number_ascending);
    if (value[count - 1] - value[0] > 1000.0 * (double)count) return false;
    for (size_t i = 1; i < count; i++)
        if (value[i] == value[i - 1]) return false;
    return true;
}

size_t number_not_finite(const char *text, const char *end) {
    static const char *const name[] = {"infinity", "inf", "nan"};
    const char *p = text;
    if (p < end && (*p == '-' || *p == '+')) p++;
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        size_t length = strlen(name[i]);
        if ((size_t)(end - p) >= length && ascii_same(p, name[i], length)) return (size_t)(p - text) + length;
    }
    return 0;
}

int number_vprint(char *text, size_t room, const char *format, va_list args) {
    int error = errno; /* for %m */
    once_run(&made, make_plain);
    locale_t user = plain ? uselocale(plain) : (locale_t)0;
    errno = error;
    int length = vsnprintf(text, room, format, args);
    if (plain) uselocale(user);
    return length;
}

int number_print(char *text, size_t room, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int length = number_vprint(text, room, format, args);
    va_end(args);
    return length;
}

double number_parse(const char *text, char **end) {
    once_run(&made, make_plain);
    return plain ? strtod_l(text, end, plain) : strtod(text, end);
}

/* How many digits are tried, from the fewest, until they read back as the same value. */
enum { FLOAT_LEAST = 6, FLOAT_MOST = 9, DOUBLE_LEAST = 15, DOUBLE_MOST = 17 };

/* Writes m, which has `digits` digits, as d.ddd * 10^exponent without the zeros at its end; exponent is -4
 * or more. */
static size_t place_point(char *text, bool negative, uint64_t m, int digits, int exponent) {
    char digit[DOUBLE_MOST], *p = text;
    for (int i = digits; i-- > 0; m /= 10) digit[i] = (char)('0' + m % 10);
    while (digits > 1 && digit[digits - 1] == '0') digits--;
    if (negative) *p++ = '-';
    if (exponent < 0) {
        *p++ = '0';
        *p++ = '.';
        for (int i = -1; i > exponent; i--) *p++ = '0';
    }
    for (int i = 0; i < digits || i <= exponent; i++) {
        if (i && i == exponent + 1) *p++ = '.';
        *p++ = i < digits ? digit[i] : '0';
    }
    *p = '\0';
    return (size_t)(p - text);
}

/* Writes what "%.*g" writes, many times as fast, for numbers from 1e-4 to 1e5; returns 0 for others. A float
 * has 24 bits and 5^12 has 28, so that their product is exact as a double, and rounded once. */
static size_t text_at_once(char *text, float value) {
    static const double power[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12};
    static const double bound[] = {1e-4, 1e-3, 1e-2, 1e-1, 1e0, 1e1, 1e2, 1e3, 1e4, 1e5};
    double x = fabs((double)value);
    if (!(x >= 1e-4 && x < 1e5)) return 0;
    int exponent = -4;
    while (x >= bound[exponent + 5]) exponent++;
    for (int digits = FLOAT_LEAST; digits <= FLOAT_MOST; digits++) {
        int places = digits - 1 - exponent;
        double m = rint(x * power[places]);
        if (digits < FLOAT_MOST && (float)(m / power[places]) != (float)x) continue;
        bool carried = m == power[digits]; /* 9.999999 became 10.00000 */
        return place_point(text, value < 0, (uint64_t)(carried ? m / 10 : m), digits, exponent + carried);
    }
    return 0;
}

size_t number_text_float(char text[NUMBER_TEXT], float value) {
    int length = (int)text_at_once(text, value);
    if (length) return (size_t)length;
    for (int digits = FLOAT_LEAST; digits <= FLOAT_MOST; digits++) {
        length = number_print(text, NUMBER_TEXT, "%.*g", digits, (double)value);
        double back;
        if (number_scan(text, text + length, NUMBER_JSON, &back) == text + length && (float)back == value)
            break;
    }
    return (size_t)length;
}

/* Writes the text of a number with few digits, as most have; returns 0 for others. Both m and the power are
 * exact as doubles, so that number_scan, which divides them too, reads the same value. */
static size_t text_of_few_digits(char text[NUMBER_TEXT], double value) {
    static const double power[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8, 1e9,
                                   1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18};
    double x = fabs(value);
    if (!(x >= 1e-4 && x < 1e15)) return 0;
    for (int places = 0; places <= 18; places++) {
        double m = rint(x * power[places]);
        if (m >= 1e15) return 0;
        if (m / power[places] != x) continue;
        int digits = 1;
        while (m >= power[digits]) digits++;
        return place_point(text, value < 0, (uint64_t)m, digits, digits - 1 - places);
    }
    return 0;
}

size_t number_text_exact(char text[NUMBER_TEXT], double value) {
    int length = (int)text_of_few_digits(text, value);
    if (length) return (size_t)length;
    for (int digits = DOUBLE_LEAST; digits <= DOUBLE_MOST; digits++) {
        double back;
        length = number_print(text, NUMBER_TEXT, "%.*g", digits, value);
        if (number_scan(text, text + length, NUMBER_JSON, &back) == text + length && back == value) break;
    }
    return (size_t)length;
}

size_t number_text_int(char text[NUMBER_TEXT], int64_t value) {
    char digit[NUMBER_TEXT], *p = text;
    uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;
    int digits = 0;
    do digit[digits++] = (char)('0' + rest % 10);
    while (rest /= 10);
    if (value < 0) *p++ = '-';
    while (digits) *p++ = digit[--digits];
    *p = '\0';
    return (size_t)(p - text);
}

size_t number_text_double(char text[NUMBER_TEXT], double value) {
    return (size_t)number_print(text, NUMBER_TEXT, "%.9g", value == 0 ? 0.0 : value);
}
