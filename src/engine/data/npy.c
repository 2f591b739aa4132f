/* Reads an array in NumPy's .npy format: its header, and booleans, integers or floats of up to 64 bits in
 * any byte order and layout. */
#include "engine/data/npy.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/ascii.h"
#include "engine/base/error.h"
#include "engine/base/half.h"
#include "engine/base/memory.h"
#include "engine/base/number.h"

enum { MAX_HEADER = 65536, SOME = 4096 };

static onet_status bad(const npy *a, const char *what, onet_error *err) {
    return fail(err, ONET_BAD, "%s: %s %s", a->file, a->name, what);
}

static onet_status read_bytes(npy *a, void *buffer, size_t size, onet_error *err) {
    if (a->member) return zip_member_read(a->member, buffer, size, err);
    if (size > a->size - a->at) return bad(a, "is cut off; make the file again", err);
    onet_status status = input_at(a->in, a->at, buffer, size, err);
    a->at += size;
    return status;
}

/* ---- The header: a Python dictionary in text ---------------------------------------------------------- */

static const char *skip(const char *p, const char *text) {
    while (ascii_space(*p)) p++;
    size_t length = strlen(text);
    return strncmp(p, text, length) ? NULL : p + length;
}

/* Reads 'text' or "text" of less than `room` bytes; returns what follows it, or NULL. */
static const char *scan_string(const char *p, char *text, size_t room) {
    while (ascii_space(*p)) p++;
    char quote = *p;
    if (quote != '\'' && quote != '"') return NULL;
    const char *end = strchr(++p, quote);
    if (!end || (size_t)(end - p) >= room) return NULL;
    memcpy(text, p, (size_t)(end - p));
    text[end - p] = 0;
    return end + 1;
}

/* Reads a shape such as (10, 5, 2); returns what follows it, or NULL. */
static const char *scan_shape(const char *p, npy *a) {
    if (!(p = skip(p, "("))) return NULL;
    for (a->dims = 0;; a->dims++) {
        const char *end = skip(p, ")");
        if (end) return end;
        if (a->dims == NPY_DIMS) return NULL;
        while (ascii_space(*p)) p++;
        if (!ascii_digit(*p)) return NULL;
        size_t value = 0;
        for (; ascii_digit(*p); p++) {
            if (value > (SIZE_MAX - 9) / 10) return NULL;
            value = value * 10 + (size_t)(*p - '0');
        }
        a->shape[a->dims] = value;
        if ((end = skip(p, ",")))
            p = end;
        else if (!skip(p, ")"))
            return NULL;
    }
}

static bool scan_header(const char *p, npy *a) {
    bool type = false, order = false, shape = false;
    if (!(p = skip(p, "{"))) return false;
    for (;;) {
        char key[16];
        const char *end = skip(p, "}");
        if (end) return type && order && shape && !*(end + strspn(end, " \n"));
        if (!(p = scan_string(p, key, sizeof key)) || !(p = skip(p, ":"))) return false;
        if (!type && !strcmp(key, "descr"))
            type = (p = scan_string(p, a->type, sizeof a->type)) != NULL;
        else if (!order && !strcmp(key, "fortran_order")) {
            a->fortran = (end = skip(p, "True")) != NULL;
            order = (p = end ? end : skip(p, "False")) != NULL;
        } else if (!shape && !strcmp(key, "shape"))
            shape = (p = scan_shape(p, a)) != NULL;
        else
            return false;
        if (!p) return false;
        if ((end = skip(p, ",")))
            p = end;
        else if (!skip(p, "}"))
            return false;
    }
}

/* Returns the bytes of one number; 0 for an unknown type. */
static size_t number_size(const npy *a) {
    const char *t = a->type;
    if (strlen(t) != 3 || !strchr("<>|=", t[0]) || !strchr("fiub", t[1])) return 0;
    size_t size = (size_t)(t[2] - '0');
    bool known = size == 2 || size == 4 || size == 8 || (size == 1 && t[1] != 'f');
    return known && (t[1] != 'b' || size == 1) ? size : 0;
}

static onet_status check_size(npy *a, size_t bytes, onet_error *err) {
    size_t each = number_size(a), all;
    if (!each) {
        bool real = !strcmp(a->name, "items") || !strcmp(a->name, "pairs");
        const char *time = a->type[1] == 'M' ? "datetime64" : a->type[1] == 'm' ? "timedelta64" : NULL;
        if (real && time)
            return fail(
                err, ONET_BAD,
                "%s: %s is of type %s, not of numbers; save %s.astype(\"%s[s]\").astype(\"int64\"), in "
                "seconds, or in another unit",
                a->file, a->name, a->type, a->name, time);
        return fail(err, ONET_BAD, "%s: %s is of type %s, not of numbers%s; save %s.astype(\"%s\")", a->file,
                    a->name, a->type, a->type[1] == 'f' ? " of up to 64 bits" : "", a->name,
                    real ? "float64" : "int32");
    }
    a->count = 1;
    for (int i = 0; i < a->dims; i++)
        if (!size_mul(a->count, a->shape[i], &a->count)) return bad(a, "has an impossibly large shape", err);
    if (!size_mul(a->count, each, &all)) return bad(a, "has an impossibly large shape", err);
    if (all != bytes)
        return bad(a, "does not have as many bytes as its shape and type ask for; it is cut off or corrupt",
                   err);
    return ONET_OK;
}

onet_status npy_open(npy *a, onet_error *err) {
    unsigned char first[12];
    onet_status status = read_bytes(a, first, 10, err);
    if (status) return status;
    if (memcmp(first, "\x93NUMPY", 6) || first[6] < 1 || first[6] > 3)
        return bad(a, "is not an array as NumPy saves it; make it with numpy.save or numpy.savez", err);
    size_t length = first[8] | (size_t)first[9] << 8, start = 10;
    if (first[6] > 1) {
        if ((status = read_bytes(a, first + 10, 2, err))) return status;
        length |= (size_t)first[10] << 16 | (size_t)first[11] << 24;
        start = 12;
    }
    if (length > MAX_HEADER) return bad(a, "has a header of over 64 KiB; it is corrupt", err);
    char *text = calloc(length + 1, 1);
    if (!text) return fail_memory(err, "an array's header");
    status = read_bytes(a, text, length, err);
    if (!status && !scan_header(text, a))
        status =
            bad(a, "has a header that cannot be understood; make it with numpy.save or numpy.savez", err);
    free(text);
    if (status) return status;
    return check_size(a, (a->member ? zip_member_size(a->member) : a->size) - start - length, err);
}

const char *npy_shape(const npy *a, char text[128]) {
    size_t used = (size_t)snprintf(text, 128, "(");
    for (int i = 0; i < a->dims && used < 100; i++)
        used += (size_t)snprintf(text + used, 128 - used, i ? ", %zu" : "%zu", a->shape[i]);
    snprintf(text + used, 128 - used, a->dims == 1 ? ",)" : ")");
    return text;
}

/* ---- Numbers ----------------------------------------------------------------------------------------- */

/* Returns the number of the bytes, least significant first. */
static double number_of(const unsigned char *bytes, char kind, size_t size) {
    uint64_t bits = 0;
    for (size_t i = size; i--;) bits = bits << 8 | bytes[i];
    if (kind == 'f' && size == 2) return (double)half_to_float((uint16_t)bits);
    if (kind == 'f' && size == 4) {
        uint32_t low = (uint32_t)bits;
        float x;
        memcpy(&x, &low, sizeof x);
        return (double)x;
    }
    if (kind == 'f') {
        double x;
        memcpy(&x, &bits, sizeof x);
        return x;
    }
    /* Negative: the absolute value is rounded once, like that of a positive number. */
    uint64_t sign = (uint64_t)1 << (8 * size - 1), all = sign | (sign - 1);
    return kind == 'i' && bits & sign ? -(double)((~bits & all) + 1) : (double)bits;
}

/* Returns the place in C order of number k of the file. */
static size_t place_of(const npy *a, size_t k) {
    if (!a->fortran) return k;
    size_t index[NPY_DIMS], place = 0;
    for (int i = 0; i < a->dims; i++) {
        index[i] = k % a->shape[i];
        k /= a->shape[i];
    }
    for (int i = 0; i < a->dims; i++) place = place * a->shape[i] + index[i];
    return place;
}

/* Writes the index of a number, such as "[3][0][1]"; returns text. */
static const char *index_text(const npy *a, size_t place, char text[128]) {
    size_t index[NPY_DIMS], used = 0;
    text[0] = '\0';
    for (int i = a->dims; i--;) {
        index[i] = place % a->shape[i];
        place /= a->shape[i];
    }
    for (int i = 0; i < a->dims && used < 100; i++)
        used += (size_t)snprintf(text + used, 128 - used, "[%zu]", index[i]);
    return text;
}

/* Refuses what float32 cannot hold, whatever the type of the array is. */
static onet_status check_finite(const npy *a, size_t place, double value, onet_error *err) {
    char text[128];
    if (!isinf((float)value)) return ONET_OK;
    return fail(err, ONET_BAD, "%s: %s%s is %g, which is not a finite float32; put another number there",
                a->file, a->name, index_text(a, place, text), value);
}

static onet_status put_double(const npy *a, void *to, size_t place, double value, onet_error *err) {
    ((double *)to)[place] = value;
    return check_finite(a, place, value, err);
}

/* Refuses a whole number of 64 bits, least significant byte first, that double rounds (of relations: that
 * float32 rounds). */
static onet_status check_whole(const npy *a, const unsigned char *bytes, size_t place, double value,
                               onet_error *err) {
    uint64_t bits = 0;
    char digits[NUMBER_TEXT], text[128];
    for (size_t i = 8; i--;) bits = bits << 8 | bytes[i];
    bool negative = a->type[1] == 'i' && bits >> 63;
    int length = snprintf(digits, sizeof digits, "%s%" PRIu64, negative ? "-" : "", negative ? -bits : bits);
    bool rounded = number_is_rounded(digits, digits + length, value);
    if (a->ignored) rounded = rounded || (double)(float)value != value;
    if (!rounded) return ONET_OK;
    return fail(err, ONET_BAD, "%s: %s%s: \"%s\" is %s", a->file, a->name, index_text(a, place, text), digits,
                a->ignored ? NUMBER_ROUNDED_IN_FLOAT : NUMBER_ROUNDED);
}

static onet_status refuse_relation(const npy *a, size_t place, double value, onet_error *err) {
    char text[128];
    return fail(err, ONET_BAD, "%s: %s%s: %.17g is " NUMBER_ROUNDED_IN_FLOAT, a->file, a->name,
                index_text(a, place, text), value);
}

/* Stores one number of the array at `place` of `to`. */
typedef onet_status put_number(const npy *a, void *to, size_t place, double value, onet_error *err);

static onet_status each_number(npy *a, put_number *put, void *to, onet_error *err) {
    unsigned char some[SOME * 8];
    size_t size = number_size(a);
    bool whole = (put == put_double || a->ignored) && size == 8 && a->type[1] != 'f';
    for (size_t k = 0; k < a->count;) {
        size_t part = a->count - k < SOME ? a->count - k : SOME;
        onet_status status = read_bytes(a, some, part * size, err);
        if (status) return status;
        for (size_t i = 0; i < part; i++, k++) {
            unsigned char *bytes = some + i * size;
            for (size_t b = 0; a->type[0] == '>' && b < size / 2; b++) {
                unsigned char other = bytes[b];
                bytes[b] = bytes[size - 1 - b];
                bytes[size - 1 - b] = other;
            }
            double value = number_of(bytes, a->type[1], size);
            size_t place = place_of(a, k);
            if (a->ignored && isinf((float)value) && a->ignored(a->context, place)) value = 0;
            bool far = whole && fabs(value) >= 0x1p53, rounds = a->ignored && number_rounds_in_float(value);
            if ((far || rounds) && !(a->ignored && a->ignored(a->context, place)))
                status =
                    rounds ? refuse_relation(a, place, value, err) : check_whole(a, bytes, place, value, err);
            if (status || (status = put(a, to, place, value, err))) return status;
        }
    }
    return ONET_OK;
}

bool npy_is_rounded(const npy *a) {
    return a->type[2] == '8' || (a->type[2] == '4' && a->type[1] != 'f');
}

onet_status npy_doubles(npy *a, double *to, onet_error *err) {
    return each_number(a, put_double, to, err);
}

static onet_status put_float(const npy *a, void *to, size_t place, double value, onet_error *err) {
    ((float *)to)[place] = (float)value;
    return check_finite(a, place, value, err);
}

onet_status npy_floats(npy *a, float *to, onet_error *err) {
    static const uint16_t one = 1;
    bool plain = !a->fortran && a->type[1] == 'f' && a->type[2] == '4' && a->type[0] != '>';
    if (!plain || !*(const char *)&one) return each_number(a, put_float, to, err);
    onet_status status = read_bytes(a, to, a->count * sizeof *to, err);
    for (size_t i = 0; i < a->count && !status; i++)
        if (isinf(to[i]) && a->ignored && a->ignored(a->context, i))
            to[i] = 0;
        else if (isinf(to[i]))
            status = put_float(a, to, i, (double)to[i], err);
    return status;
}

static onet_status put_int(const npy *a, void *to, size_t place, double value, onet_error *err) {
    char text[128];
    if (value >= INT32_MIN && value <= INT32_MAX && value == floor(value)) {
        ((int32_t *)to)[place] = (int32_t)value;
        return ONET_OK;
    }
    return fail(err, ONET_BAD, "%s: %s%s is %.15g, which is not a whole number of 32 bits", a->file, a->name,
                index_text(a, place, text), value);
}

onet_status npy_ints(npy *a, int32_t *to, onet_error *err) {
    return each_number(a, put_int, to, err);
}

static onet_status put_flag(const npy *a, void *to, size_t place, double value, onet_error *err) {
    (void)a, (void)err;
    ((uint8_t *)to)[place] = value == 0 || value == 1 ? value == 1 : NPY_NO_FLAG;
    return ONET_OK;
}

onet_status npy_flags(npy *a, uint8_t *to, onet_error *err) {
    return each_number(a, put_flag, to, err);
}
