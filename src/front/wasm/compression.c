/* Replaces zlib and liblzma in the WebAssembly module. The browser page decompresses files with the browser's
 * own decoder before the library reads them, so only zlib's crc32 is implemented; compressed streams are
 * refused. */
#include <lzma.h>
#include <zlib.h>

uLong crc32_z(uLong sum, const Bytef *data, z_size_t size) {
    if (!data) return 0;
    uint32_t c = ~(uint32_t)sum;
    for (z_size_t i = 0; i < size; i++) {
        c ^= data[i];
        for (int bit = 0; bit < 8; bit++) c = c >> 1 ^ (c & 1 ? 0xedb88320u : 0);
    }
    return ~c & 0xffffffffu;
}

uLong crc32(uLong sum, const Bytef *data, uInt size) {
    return crc32_z(sum, data, size);
}

int inflateInit2_(z_streamp z, int bits, const char *version, int size) {
    (void)z, (void)bits, (void)version, (void)size;
    return Z_OK;
}

int inflate(z_streamp z, int flush) {
    (void)z, (void)flush;
    return Z_DATA_ERROR;
}

int inflateReset(z_streamp z) {
    (void)z;
    return Z_OK;
}

int inflateEnd(z_streamp z) {
    (void)z;
    return Z_OK;
}

int deflateInit2_(z_streamp z, int level, int method, int bits, int memory, int strategy, const char *version,
                  int size) {
    (void)z, (void)level, (void)method, (void)bits, (void)memory, (void)strategy, (void)version, (void)size;
    return Z_STREAM_ERROR;
}

int deflate(z_streamp z, int flush) {
    (void)z, (void)flush;
    return Z_STREAM_ERROR;
}

int deflateEnd(z_streamp z) {
    (void)z;
    return Z_OK;
}

lzma_ret lzma_stream_decoder(lzma_stream *x, uint64_t memory, uint32_t flags) {
    (void)x, (void)memory, (void)flags;
    return LZMA_OK;
}

lzma_ret lzma_code(lzma_stream *x, lzma_action action) {
    (void)x, (void)action;
    return LZMA_DATA_ERROR;
}

void lzma_end(lzma_stream *x) {
    (void)x;
}
