/* Numbers distinct names in the order first seen, with a hash table. */
#include "engine/base/names.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"

/* FNV-1a. */
static uint64_t hash(const char *text, size_t length) {
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < length; i++) h = (h ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
    return h ^ h >> 32;
}

/* Returns the slot that holds the name, or the empty one where it belongs. */
static size_t find(const names *n, const char *text, size_t length) {
    size_t slot = (size_t)hash(text, length) & (n->slots - 1);
    for (; n->table[slot]; slot = (slot + 1) & (n->slots - 1)) {
        size_t k = n->table[slot] - 1;
        if (n->at[k + 1] - n->at[k] == length && !memcmp(n->text + n->at[k], text, length)) break;
    }
    return slot;
}

/* Doubles the slots; at most half of them are ever used. */
static bool widen(names *n) {
    names wider = *n;
    wider.slots = n->slots ? 2 * n->slots : 64;
    wider.table = calloc(wider.slots, sizeof *wider.table);
    if (!wider.table) return false;
    for (size_t k = 0; k < n->count; k++)
        wider.table[find(&wider, n->text + n->at[k], n->at[k + 1] - n->at[k])] = k + 1;
    free(n->table);
    *n = wider;
    return true;
}

bool names_add(names *n, const char *text, size_t length, size_t *number) {
    if (2 * (n->count + 1) > n->slots && !widen(n)) return false;
    size_t slot = find(n, text, length);
    if (n->table[slot]) {
        *number = n->table[slot] - 1;
        return true;
    }
    size_t used = n->count ? n->at[n->count] : 0;
    if (!array_reserve(&n->text, &n->text_room, used + length + 1, 1) ||
        !array_reserve(&n->at, &n->at_room, n->count + 2, sizeof *n->at))
        return false;
    memcpy(n->text + used, text, length);
    n->at[n->count] = used;
    n->at[n->count + 1] = used + length;
    n->table[slot] = ++n->count;
    *number = n->count - 1;
    return true;
}

void names_free(names *n) {
    free(n->at);
    free(n->text);
    free(n->table);
    *n = (names){0};
}
