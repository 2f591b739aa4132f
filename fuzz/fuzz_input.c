/* Fuzz target: reads plain or compressed input from any bytes; line by line and block by block it must give
 * the same bytes, or the same failure. */
#include "bytes.h"

enum { LIMIT = 1 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    bytes b = {data, size}, again = {data, size};
    input *in = bytes_input(&b), *lines = bytes_input(&again);
    onet_error err;
    char some[300], *line, sum[65], line_sum[65];
    size_t got = 1, all = 0, length, letters = 0;
    onet_status status = ONET_OK, line_status = ONET_OK;
    while (got && all < LIMIT && !(status = input_read(in, some, sizeof some, &got, &err))) all += got;
    input_line_limit(lines, LIMIT);
    for (line = some; line && letters < LIMIT;) {
        if ((line_status = input_line(lines, &line, &length, NULL, &err))) break;
        if (line && (line[length] || memchr(line, '\n', length))) abort();
        if (line) letters += length + 1;
    }
    if (all < LIMIT && letters < LIMIT) {
        if (!status != !line_status) abort();
        input_sha256(in, sum);
        input_sha256(lines, line_sum);
        if (!status && strcmp(sum, line_sum)) abort();
        if (!status && letters > all + 1) abort();
    }
    input_close(in);
    input_close(lines);
    return 0;
}
