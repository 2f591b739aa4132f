/* Computes SHA-256 hashes (FIPS 180-4), piece by piece. */
#ifndef BASE_SHA256_H
#define BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

typedef struct sha256 {
    uint32_t h[8];
    uint64_t length; /* bytes so far; the last length % 64 of them wait in block */
    uint8_t block[64];
} sha256;

void sha256_start(sha256 *s);
void sha256_add(sha256 *s, const void *data, size_t size);
/* Writes the hash of all bytes added so far, as 64 lower-case hex digits; more may be added afterwards. */
void sha256_hex(const sha256 *s, char hex[65]);

/* Both add blocks of 64 bytes to the state h: sha256_blocks with the CPU's SHA instructions if it has them,
 * sha256_blocks_plain in plain C, with which the test compares it. */
void sha256_blocks(uint32_t h[8], const uint8_t *p, size_t blocks);
void sha256_blocks_plain(uint32_t h[8], const uint8_t *p, size_t blocks);

#endif
