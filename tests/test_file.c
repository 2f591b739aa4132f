/* Tests the file helpers: input plain, compressed or from a pipe, by lines of any length, by blocks or as a
 * whole; atomic output (compressed, to a full disk, beside temporary files that killed processes left);
 * SHA-256; half precision. */
#include <errno.h>
#include <fcntl.h>
#include <lzma.h>
#include <math.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <zlib.h>

#include "data_help.h"
#include "engine/base/file.h"
#include "engine/base/half.h"
#include "engine/base/rng.h"
#include "engine/base/sha256.h"

/* ---- SHA-256 ------------------------------------------------------------------------------------------ */

static void test_sha256(void **state) {
    static const struct {
        const char *text, *sum;
    } known[] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    };
    char hex[65];
    sha256 s;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        sha256_start(&s);
        sha256_add(&s, known[i].text, strlen(known[i].text));
        sha256_hex(&s, hex);
        assert_string_equal(hex, known[i].sum);
    }
    /* A million times 'a', in pieces of every length. */
    char a[200];
    memset(a, 'a', sizeof a);
    sha256_start(&s);
    for (size_t left = 1000000, piece = 0; left; piece = (piece + 1) % sizeof a) {
        size_t take = piece < left ? piece : left;
        sha256_add(&s, a, take);
        left -= take;
    }
    sha256_hex(&s, hex);
    assert_string_equal(hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

static void test_sha256_instructions(void **state) {
    rng r;
    rng_seed(&r, 2, 0);
    for (int turn = 0; turn < 100; turn++) {
        uint32_t a[8], b[8];
        uint8_t blocks[3 * 64];
        for (int i = 0; i < 8; i++) a[i] = b[i] = (uint32_t)rng_u64(&r);
        for (size_t i = 0; i < sizeof blocks; i++) blocks[i] = (uint8_t)rng_u64(&r);
        sha256_blocks(a, blocks, 3);
        sha256_blocks_plain(b, blocks, 3);
        assert_memory_equal(a, b, sizeof a);
    }
}

/* ---- Half precision ----------------------------------------------------------------------------------- */

static void test_half(void **state) {
    for (uint32_t h = 0; h < 65536; h++) {
        float x = half_to_float((uint16_t)h);
        if (isnan(x))
            assert_true((h & 0x7fff) > 0x7c00);
        else
            assert_int_equal(half_from_float(x), h);
    }
    assert_true(half_to_float(0x3c00) == 1.0f && half_to_float(0x0001) == 0x1p-24f);
    assert_true(half_to_float(0x7bff) == HALF_MAX && isinf(half_to_float(0xfc00)));
    assert_int_equal(half_from_float(65519.0f), 0x7bff);
    assert_int_equal(half_from_float(65520.0f), 0x7c00); /* the tie goes to even: infinity */
    assert_int_equal(half_from_float(-1e30f), 0xfc00);
    assert_int_equal(half_from_float(0x1p-25f), 0); /* a tie too */
    assert_int_equal(half_from_float(0x1.8p-24f), 2);
    assert_true(isnan(half_to_float(half_from_float(NAN))));
    /* Nothing between two halves is rounded to the farther one; in the middle the even one wins. */
    rng r;
    rng_seed(&r, 1, 0);
    for (int i = 0; i < 200000; i++) {
        uint16_t low = (uint16_t)rng_below(&r, 0x7bff);
        double a = half_to_float(low), b = half_to_float((uint16_t)(low + 1));
        float x = (float)(i % 8 ? a + (b - a) * rng_uniform(&r) : (a + b) / 2);
        double at = (double)x;
        uint16_t expected = (uint16_t)(low + (at - a > b - at || (at - a == b - at && low & 1)));
        assert_int_equal(half_from_float(x), expected);
        assert_int_equal(half_from_float(-x), expected | 0x8000);
    }
    /* Arrays too: in place, as a file is read, and of every length. */
    static float wide[65536];
    static uint16_t halves[65536], again[65536];
    for (uint32_t h = 0; h < 65536; h++) halves[h] = (uint16_t)(h * 40503); /* every one, in another order */
    for (size_t count = 65536; count; count = count > 20 ? 20 : count - 1) {
        memcpy((char *)wide + 2 * count, halves, 2 * count);
        half_to_floats(wide, (char *)wide + 2 * count, count);
        half_from_floats(again, wide, count);
        for (size_t i = 0; i < count; i++) {
            float x = half_to_float(halves[i]);
            assert_true(isnan(x) ? isnan(wide[i]) : !memcmp(&x, &wide[i], sizeof x));
            assert_true(isnan(x) ? (again[i] & 0x7fff) > 0x7c00 : again[i] == halves[i]);
        }
    }
    for (int i = 0; i < 65536; i++) {
        uint32_t bits = (uint32_t)rng_u64(&r);
        memcpy(&wide[i], &bits, sizeof bits);
        if (isnan(wide[i])) wide[i] = 65520.0f;
        if (i & 1) wide[i] = (float)ldexp(rng_uniform(&r), -25 + i % 42);
    }
    half_from_floats(again, wide, 65536);
    for (int i = 0; i < 65536; i++) assert_int_equal(again[i], half_from_float(wide[i]));
}

/* ---- Input -------------------------------------------------------------------------------------------- */

/* Writes all lines, joined by '|', to `all`; returns the status at the end. */
static onet_status lines_of(const char *path, char *all, size_t room, onet_error *err) {
    input *in;
    onet_status status = input_open(&in, path, err);
    if (status) return status;
    size_t used = 0, length;
    long number, expected = 1;
    char *line;
    all[0] = 0;
    while (!(status = input_line(in, &line, &length, &number, err)) && line) {
        assert_int_equal(number, expected++);
        assert_int_equal(line[length], 0);
        assert_true(used + length + 2 < room);
        memcpy(all + used, line, length);
        used += length;
        all[used++] = '|';
        all[used] = 0;
    }
    input_close(in);
    return status;
}

static void expect_lines(const char *text, size_t size, const char *expected) {
    char all[1000];
    onet_error err = {.text = ""};
    assert_int_equal(lines_of(help_file_of("lines", text, size), all, sizeof all, &err), ONET_OK);
    assert_string_equal(all, expected);
}

static size_t gzip_of(const char *text, char *packed, size_t room) {
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (Bytef *)text;
    z.avail_in = (uInt)strlen(text);
    z.next_out = (Bytef *)packed;
    z.avail_out = (uInt)room;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    deflateEnd(&z);
    return room - z.avail_out;
}

static size_t xz_of(const char *text, char *packed, size_t room) {
    size_t size = 0;
    assert_int_equal(lzma_easy_buffer_encode(1, LZMA_CHECK_CRC64, NULL, (const uint8_t *)text, strlen(text),
                                             (uint8_t *)packed, &size, room),
                     LZMA_OK);
    return size;
}

static void test_lines(void **state) {
    expect_lines("", 0, "");
    expect_lines("\n", 1, "|");
    expect_lines("a\nb\n", 4, "a|b|");
    expect_lines("a\r\n\r\nb\rc\r", 9, "a||b\rc|");
    expect_lines("last line", 9, "last line|");
    expect_lines("\x1f", 1, "\x1f|");
    expect_lines("\xfd"
                 "7z",
                 3,
                 "\xfd"
                 "7z|");
}

static void test_line_with_nul(void **state) {
    input *in;
    onet_error err;
    char *line;
    size_t length;
    assert_int_equal(input_open(&in, help_file_of("nul", "a\0b\nc", 5), &err), ONET_OK);
    assert_int_equal(input_line(in, &line, &length, NULL, &err), ONET_OK);
    assert_int_equal(length, 3);
    assert_memory_equal(line, "a\0b", 4);
    input_close(in);
}

static void test_compressed(void **state) {
    char packed[2000], all[1000];
    size_t first = gzip_of("one\ntw", packed, sizeof packed);
    expect_lines(packed, first, "one|tw|");
    size_t both = first + gzip_of("o\nthree", packed + first, sizeof packed - first);
    expect_lines(packed, both, "one|two|three|");
    onet_error err;
    for (size_t cut = 3; cut < first; cut++) {
        assert_int_equal(lines_of(help_file_of("cut", packed, cut), all, sizeof all, &err), ONET_BAD);
        assert_non_null(strstr(err.text, "gzip data ends too early"));
    }
    memcpy(packed + first, "garbage", 7);
    assert_int_equal(lines_of(help_file_of("tail", packed, first + 7), all, sizeof all, &err), ONET_BAD);
    packed[first - 6] ^= 1; /* within the checksum */
    assert_int_equal(lines_of(help_file_of("sum", packed, first), all, sizeof all, &err), ONET_BAD);
    assert_non_null(strstr(err.text, "gzip data is corrupt"));

    first = xz_of("one\ntw", packed, sizeof packed);
    expect_lines(packed, first, "one|tw|");
    both = first + xz_of("o\nthree", packed + first, sizeof packed - first);
    expect_lines(packed, both, "one|two|three|");
    assert_int_equal(lines_of(help_file_of("cut", packed, first - 1), all, sizeof all, &err), ONET_BAD);
    assert_non_null(strstr(err.text, "xz data ends too early"));
    packed[first / 2] ^= 1;
    assert_int_equal(lines_of(help_file_of("bits", packed, first), all, sizeof all, &err), ONET_BAD);
}

/* Lines that cross the edges of what is read at once. */
static void test_long_lines(void **state) {
    enum { SIZE = 1 << 20 };
    char *text = malloc(SIZE);
    assert_non_null(text);
    memset(text, 'x', SIZE);
    for (size_t at = 0, step = 1; at < SIZE; at += step, step = step * 3 / 2 + 1) text[at] = '\n';
    const char *path = help_file_of("long", text, SIZE);
    input *in;
    onet_error err;
    char *line, hex[65], expected[65];
    size_t length, at = 0;
    assert_int_equal(input_open(&in, path, &err), ONET_OK);
    while (!input_line(in, &line, &length, NULL, &err) && line) {
        char *end = memchr(text + at, '\n', SIZE - at);
        assert_int_equal(length, (size_t)(end ? end - text : SIZE) - at);
        assert_memory_equal(line, text + at, length);
        at += length + 1;
    }
    assert_int_equal(at, SIZE + 1);
    sha256 s;
    sha256_start(&s);
    sha256_add(&s, text, SIZE);
    sha256_hex(&s, expected);
    input_sha256(in, hex);
    assert_string_equal(hex, expected);
    input_close(in);
    free(text);
}

static void test_too_long_line(void **state) {
    const char *path = help_file("huge", "short\n");
    assert_int_equal(truncate(path, 3000000), 0); /* zeros */
    input *in;
    onet_error err;
    char *line, expected[300];
    assert_int_equal(input_open(&in, path, &err), ONET_OK);
    input_line_limit(in, 1000000);
    assert_int_equal(input_line(in, &line, NULL, NULL, &err), ONET_OK);
    assert_string_equal(line, "short");
    assert_int_equal(input_line(in, &line, NULL, NULL, &err), ONET_BAD);
    assert_null(line);
    snprintf(expected, sizeof expected, "%s:2: the line is longer than 1000000 bytes", path);
    assert_memory_equal(err.text, expected, strlen(expected));
    /* Later calls return the same status. */
    assert_int_equal(input_line(in, &line, NULL, NULL, &err), ONET_BAD);
    input_close(in);
}

static void test_no_file(void **state) {
    input *in;
    onet_error err;
    assert_int_equal(input_open(&in, help_path("nowhere"), &err), ONET_IO);
    assert_null(in);
    assert_non_null(strstr(err.text, "No such file"));
    assert_int_equal(input_open(&in, "/tmp", &err), ONET_IO);
    assert_string_equal(err.text, "/tmp is a directory; name a file in it");
}

static void test_pipe(void **state) {
    int ends[2];
    char path[64], *line, buffer[100];
    size_t length, got;
    onet_error err;
    input *in;
    assert_int_equal(pipe(ends), 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", ends[0]);
    assert_int_equal(input_open(&in, path, &err), ONET_OK);
    assert_true(input_waits(in));
    assert_int_equal(write(ends[1], "one\ntwo\nthr", 11), 11);
    assert_false(input_waits(in));
    assert_int_equal(input_line(in, &line, &length, NULL, &err), ONET_OK);
    assert_string_equal(line, "one");
    assert_false(input_waits(in));
    assert_int_equal(input_line(in, &line, &length, NULL, &err), ONET_OK);
    assert_string_equal(line, "two");
    assert_true(input_waits(in));
    assert_int_equal(write(ends[1], "ee\nrest", 7), 7);
    assert_int_equal(input_line(in, &line, &length, NULL, &err), ONET_OK);
    assert_string_equal(line, "three");
    /* input_read does not wait until the buffer is full. */
    assert_int_equal(input_read(in, buffer, sizeof buffer, &got, &err), ONET_OK);
    assert_int_equal(got, 4);
    close(ends[1]);
    assert_false(input_waits(in));
    assert_int_equal(input_read(in, buffer, sizeof buffer, &got, &err), ONET_OK);
    assert_int_equal(got, 0);
    input_close(in);
    close(ends[0]);
}

static void test_peek_and_whole(void **state) {
    char packed[200], got_bytes[16];
    const char *start, *plain = help_file("plain", "0123456789");
    const char *zipped = help_file_of("zipped", packed, gzip_of("0123456789", packed, sizeof packed));
    for (int turn = 0; turn < 2; turn++) {
        input *in;
        onet_error err;
        size_t got, size;
        char *line, sum[65], again[65];
        assert_int_equal(input_open(&in, turn ? zipped : plain, &err), ONET_OK);
        assert_int_equal(input_peek(in, 4, &start, &got, &err), ONET_OK);
        assert_true(got >= 4 && !memcmp(start, "0123", 4));
        assert_int_equal(input_read(in, got_bytes, 2, &got, &err), ONET_OK);
        assert_int_equal(input_whole(in, 100, &size, &err), ONET_OK);
        assert_int_equal(size, 8);
        assert_int_equal(input_at(in, 3, got_bytes, 4, &err), ONET_OK);
        assert_memory_equal(got_bytes, "5678", 4);
        input_sha256(in, sum);
        input_close(in);
        assert_int_equal(input_open(&in, plain, &err), ONET_OK);
        while (!input_line(in, &line, NULL, NULL, &err) && line) continue;
        input_sha256(in, again);
        assert_string_equal(sum, again);
        input_close(in);
    }
    input *in;
    onet_error err;
    size_t size;
    assert_int_equal(input_open(&in, zipped, &err), ONET_OK);
    assert_int_equal(input_whole(in, 9, &size, &err), ONET_BAD);
    input_close(in);
}

/* ---- Output ------------------------------------------------------------------------------------------- */

/* Replaces open() of the C library; if set, it refuses O_TMPFILE, as some file systems do. */
static bool names_only;

int open(const char *path, int flags, ...) {
    va_list args;
    va_start(args, flags);
    unsigned mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, unsigned) : 0;
    va_end(args);
    if (names_only && (flags & O_TMPFILE) == O_TMPFILE) {
        errno = EOPNOTSUPP;
        return -1;
    }
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

static void expect_content(const char *path, const char *text) {
    char *content = help_content(path);
    assert_string_equal(content, text);
    free(content);
}

/* No PATH.tmp.PID is left in the folder. */
static void expect_no_temporary(const char *path) {
    char temporary[300];
    snprintf(temporary, sizeof temporary, "%s.tmp.%ld", path, (long)getpid());
    assert_int_equal(access(temporary, F_OK), -1);
}

static void test_commit_and_abort(void **state) {
    const char *path = help_file("out", "old");
    output *out;
    onet_error err;
    assert_int_equal(chmod(path, 0640), 0);
    assert_int_equal(output_open(&out, path, &err), ONET_OK);
    output_write(out, "new", 3);
    assert_int_equal(output_status(out, &err), ONET_OK);
    expect_content(path, "old");
    output_abort(out);
    expect_content(path, "old");
    expect_no_temporary(path);
    char link[300], text[1001];
    snprintf(link, sizeof link, "%s.link", path);
    assert_int_equal(symlink(path, link), 0);
    memset(text, 'x', 1000);
    text[1000] = 0;
    assert_int_equal(output_open(&out, link, &err), ONET_OK);
    output_printf(out, "%d %s", 7, text);
    assert_int_equal(output_flush(out, &err), ONET_OK);
    expect_content(path, "old");
    assert_int_equal(output_commit(out, &err), ONET_OK);
    char *content = help_content(path);
    assert_int_equal(strlen(content), 1002);
    assert_memory_equal(content, "7 xxx", 5);
    free(content);
    expect_no_temporary(path);
    struct stat about;
    assert_int_equal(lstat(link, &about), 0);
    assert_true(S_ISLNK(about.st_mode));
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0640);
}

static void test_output_gzip(void **state) {
    const char *path = help_path("out.gz");
    char all[1000];
    output *out;
    onet_error err;
    assert_int_equal(output_open(&out, path, &err), ONET_OK);
    output_printf(out, "one\n");
    assert_int_equal(output_flush(out, &err), ONET_OK);
    output_printf(out, "two\n");
    assert_int_equal(output_commit(out, &err), ONET_OK);
    char *content = help_content(path);
    assert_memory_equal(content, "\x1f\x8b", 2);
    free(content);
    assert_int_equal(lines_of(path, all, sizeof all, &err), ONET_OK);
    assert_string_equal(all, "one|two|");
}

static void test_unwritable(void **state) {
    output *out;
    onet_error err;
    assert_int_equal(output_open(&out, "/tmp", &err), ONET_IO);
    assert_non_null(strstr(err.text, "it is a directory"));
    assert_int_equal(output_open(&out, help_path("no/such/folder"), &err), ONET_IO);
    assert_non_null(strstr(err.text, "No such file or directory"));
    assert_int_equal(output_open(&out, "", &err), ONET_IO);
    assert_null(out);
}

/* Output on a file system without unnamed files. */
static void test_named(void **state) {
    const char *path = help_file("named", "old");
    char temporary[300];
    output *out;
    onet_error err;
    names_only = true;
    snprintf(temporary, sizeof temporary, "%s.tmp.%ld", path, (long)getpid());
    assert_int_equal(output_open(&out, path, &err), ONET_OK);
    assert_int_equal(access(temporary, F_OK), 0);
    output_abort(out);
    expect_no_temporary(path);
    expect_content(path, "old");
    help_file(strrchr(temporary, '/') + 1, "left by another"); /* by a killed process with the same PID */
    assert_int_equal(output_open(&out, path, &err), ONET_OK);
    output_printf(out, "new");
    assert_int_equal(output_commit(out, &err), ONET_OK);
    names_only = false;
    expect_no_temporary(path);
    expect_content(path, "new");
}

/* What killed processes left is removed; what a running one writes, and other files, stay. */
static void test_strays(void **state) {
    const char *path = help_file("model", "old"), *stray = help_file("model.tmp.999999", "half"),
               *held = help_file("model.tmp.1", "half"), *other = help_file("model.tmp.1x", "mine"),
               *longer = help_file("model2.tmp.7", "of another");
    int held_by = open(held, O_WRONLY);
    assert_int_equal(flock(held_by, LOCK_EX), 0);
    for (int turn = 0; turn < 2; turn++) {
        output *out;
        onet_error err;
        help_file("model.tmp.999999", "half");
        names_only = turn == 1;
        assert_int_equal(output_open(&out, path, &err), ONET_OK);
        assert_int_equal(access(stray, F_OK), -1);
        output_printf(out, "new");
        assert_int_equal(output_commit(out, &err), ONET_OK);
        names_only = false;
        expect_content(path, "new");
        assert_true(!access(held, F_OK) && !access(other, F_OK) && !access(longer, F_OK));
    }
    close(held_by);
    assert_int_equal(output_possible(path, NULL), ONET_OK);
    assert_int_equal(access(held, F_OK), -1); /* its writer is gone */
}

/* The disk is full: here, files may not grow over 100,000 bytes. */
static void test_full(void **state) {
    const char *path = help_file("full", "old");
    struct rlimit limit, small;
    static char data[300000];
    output *out;
    onet_error err;
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &limit);
    small = limit;
    small.rlim_cur = 100000;
    for (size_t size = 100001; size <= sizeof data; size += sizeof data - 100001) {
        assert_int_equal(output_open(&out, path, &err), ONET_OK);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
        output_write(out, data, size);
        onet_status status = output_commit(out, &err);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
        assert_int_equal(status, ONET_IO);
        assert_non_null(strstr(err.text, "cannot write"));
        expect_content(path, "old");
        expect_no_temporary(path);
    }
    /* Room that comes too late does not make a file with a hole. */
    assert_int_equal(output_open(&out, path, &err), ONET_OK);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    output_write(out, data, sizeof data);
    assert_int_equal(output_status(out, NULL), ONET_IO);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    assert_int_equal(output_commit(out, &err), ONET_IO);
    assert_non_null(strstr(err.text, "cannot write"));
    expect_content(path, "old");
    assert_int_equal(output_open(&out, "/dev/full", &err), ONET_OK);
    output_write(out, data, 10);
    assert_int_equal(output_status(out, &err), ONET_OK);
    assert_int_equal(output_commit(out, &err), ONET_IO);
    assert_non_null(strstr(err.text, "make room"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sha256),         cmocka_unit_test(test_sha256_instructions),
        cmocka_unit_test(test_half),           cmocka_unit_test(test_lines),
        cmocka_unit_test(test_line_with_nul),  cmocka_unit_test(test_compressed),
        cmocka_unit_test(test_long_lines),     cmocka_unit_test(test_too_long_line),
        cmocka_unit_test(test_no_file),        cmocka_unit_test(test_pipe),
        cmocka_unit_test(test_peek_and_whole), cmocka_unit_test(test_commit_and_abort),
        cmocka_unit_test(test_output_gzip),    cmocka_unit_test(test_unwritable),
        cmocka_unit_test(test_named),          cmocka_unit_test(test_strays),
        cmocka_unit_test(test_full),
    };
    return cmocka_run_group_tests(tests, NULL, help_clean);
}
