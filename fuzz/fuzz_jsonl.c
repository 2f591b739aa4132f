/* Fuzz target: reads JSON Lines from any bytes and compares each line with jansson, as a set and as a value
 * of any kind; then reads and converts the whole as a file of sets (convert_all.h). */
#include "../tests/json_oracle.h"
#include "convert_all.h"
#include "engine/base/json.h"
#include "engine/base/utf8.h"
#include "engine/data/jsonl.h"

static void compare_value(const char *line, size_t length) {
    json_scan s = scan_of(line, length), e = s;
    json_error_t error;
    bool valid = scan_skip(&s, 0) && scan_end(&s, "the end");
    bool extent = scan_extent(&e) && scan_end(&e, "the end");
    if (valid && !extent) abort();
    if (memchr(line, 0, length) || utf8_valid(line, length) < length) return; /* the line is refused for it */
    json_t *value = json_loadb(line, length, JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL, &error);
    if (!value && json_error_code(&error) == json_error_numeric_overflow) return;
    if (valid != (value != NULL) && (valid || !strstr(s.expected, "512 arrays"))) abort();
    json_decref(value);
}

static void compare_line(const char *line, size_t length) {
    record r = {0};
    onet_error err;
    json_t *set;
    int expected = json_oracle(line, length, &set);
    compare_value(line, length);
    if (record_line(&r, ONET_FORMAT_JSONL, line, length, 1, &err)) abort();
    onet_status status = jsonl_parse(&r, NULL, "line", &err);
    if (status && (strstr(err.text, "512 arrays") || strstr(err.text, "1000 fields"))) expected = -1;
    if (expected >= 0 && (status == ONET_OK) != expected) abort();
    const json_t *items = json_object_get(set, "items"), *pairs = json_object_get(set, "pairs");
    if (expected == 1 && (size_t)r.n != json_array_size(items ? items : pairs)) abort();
    if (expected == 1 && (r.relations > 0) != json_is_array(pairs)) abort();
    json_decref(set);
    record_free(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    onet_read_options options = {.size = sizeof options, .format = ONET_FORMAT_JSONL};
    const char *p = (const char *)data, *end = p + size, *newline;
    for (; p < end; p = newline + 1) {
        newline = memchr(p, '\n', (size_t)(end - p));
        if (!newline) newline = end;
        compare_line(p, (size_t)(newline - p));
    }
    convert_all(data, size, &options);
    return 0;
}
