/* Converts truth values and ISO 8601 dates and times to numbers, and hashes the fractions of a second that a
 * double rounds (text_value.h). */
#include "engine/data/text_value.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#include "engine/data/lost.h"
#include "ordernet_io.h"

/* Takes `count` digits and returns their value; -1: they are not there. */
static int digits(const char **at, const char *end, int count) {
    int value = 0;
    if (end - *at < count) return -1;
    for (int i = 0; i < count; i++, ++*at) {
        if (**at < '0' || **at > '9') return -1;
        value = 10 * value + (**at - '0');
    }
    return value;
}

static bool sign(const char **at, const char *end, char one) {
    if (*at == end || **at != one) return false;
    ++*at;
    return true;
}

/* Returns the days since 1970-01-01 in the Gregorian calendar. */
static double days_of(int year, int month, int day) {
    int y = month < 3 ? year - 1 : year, shifted = month < 3 ? month + 9 : month - 3; /* March is 0 */
    int in_year = (153 * shifted + 2) / 5 + day - 1;
    return 365.0 * y + y / 4 - y / 100 + y / 400 + in_year - 719468;
}

static int month_days(int year, int month) {
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return days[month - 1] + (month == 2 && leap);
}

/* Takes hh:mm, hh:mm:ss or hh:mm:ss.fff, in seconds. Second 60 is a leap second, which only ends an hour;
 * hour 24 is the end of the day, and has no minutes. */
static bool time_of(const char **at, const char *end, double *seconds) {
    int hour = digits(at, end, 2), minute = sign(at, end, ':') ? digits(at, end, 2) : -1, second = 0;
    double rest = 0, unit = 1;
    if (hour < 0 || hour > 24 || minute < 0 || minute > 59) return false;
    if (sign(at, end, ':')) {
        second = digits(at, end, 2);
        if (second < 0 || second > (minute == 59 ? 60 : 59)) return false;
        if (sign(at, end, '.')) {
            const char *first = *at;
            for (; *at < end && **at >= '0' && **at <= '9'; ++*at) {
                rest = 10 * rest + (**at - '0');
                unit *= 10;
            }
            if (*at == first || *at - first > 15) return false;
        }
    }
    *seconds = 3600.0 * hour + 60.0 * minute + second + rest / unit;
    return hour < 24 || *seconds == 24 * 3600.0;
}

/* Takes an offset, Z, +hh:mm, +hhmm or +hh, in seconds; at the end of the text it is 0. */
static bool offset_of(const char **at, const char *end, double *seconds) {
    *seconds = 0;
    if (*at == end || sign(at, end, 'Z')) return true;
    bool west = sign(at, end, '-');
    if (!west && !sign(at, end, '+')) return false;
    int hour = digits(at, end, 2), minute = 0;
    if (*at < end) {
        sign(at, end, ':');
        minute = digits(at, end, 2);
    }
    if (hour < 0 || hour > 23 || minute < 0 || minute > 59) return false;
    *seconds = (west ? -1 : 1) * (3600.0 * hour + 60.0 * minute);
    return true;
}

static bool date_of(const char *at, const char *end, double *value) {
    int year = digits(&at, end, 4), month = sign(&at, end, '-') ? digits(&at, end, 2) : -1,
        day = sign(&at, end, '-') ? digits(&at, end, 2) : -1;
    double time = 0, offset = 0;
    if (year < 1 || month < 1 || month > 12 || day < 1 || day > month_days(year, month)) return false;
    if (at < end) {
        if (!sign(&at, end, 'T') && !sign(&at, end, ' ')) return false;
        if (!time_of(&at, end, &time) || !offset_of(&at, end, &offset)) return false;
    }
    *value = 86400 * days_of(year, month, day) + time - offset;
    return at == end;
}

bool text_value(const char *text, size_t length, double *value) {
    bool yes = length == 4 && !strncasecmp(text, "true", 4);
    if (yes || (length == 5 && !strncasecmp(text, "false", 5))) {
        *value = yes;
        return true;
    }
    return date_of(text, text + length, value);
}

/* Doubles below 2^33 seconds, until the year 2242, are less than a microsecond apart: they hold 6 digits. */
uint64_t text_value_lost(const char *text, size_t length) {
    enum { TOLD = 6 };
    const double microseconds = 8589934592.0;
    const char *point = memchr(text, '.', length), *end = text + length;
    double value;
    if (!point || !text_value(text, length, &value)) return LOST_NOTHING;
    const char *last = point + 1;
    for (const char *at = last; at < end && *at >= '0' && *at <= '9'; at++)
        if (*at != '0') last = at + 1; /* zeros at the end are no digits */
    size_t digits = (size_t)(last - point - 1);
    return digits > TOLD || (digits && fabs(value) >= microseconds) ? lost_hash(point + 1, digits)
                                                                    : LOST_NOTHING;
}

int onet_text_value(const char *text, double *value) {
    return text && value && text_value(text, strlen(text), value);
}
