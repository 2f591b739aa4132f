/* Reads JSON text into a tree of values, and looks up the members of objects. */
#include "engine/base/json_tree.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"

typedef struct values {
    json_value *at;
    size_t count, room;
} values;

/* A tree that is being built. Values wait in `open` until the array or object that they are in ends; then
 * they move to `done`, where its items are contiguous. */
typedef struct builder {
    json_scan *s;
    values open, done;
    char *texts; /* where the next string goes */
} builder;

static bool add(values *v, const json_value *from, size_t count) {
    if (!array_reserve(&v->at, &v->room, v->count + count, sizeof *v->at)) return false;
    memcpy(v->at + v->count, from, count * sizeof *from);
    v->count += count;
    return true;
}

static bool read_string(builder *b, json_value *v, bool key) {
    size_t length;
    v->kind = '"';
    v->text = b->texts;
    if (key ? !scan_key(b->s, b->texts, &length) : !scan_string(b->s, b->texts, &length)) return false;
    b->texts[length] = '\0'; /* where the text had a quote */
    b->texts += length + 1;
    return true;
}

static bool read_value(builder *b, int depth);

static bool read_items(builder *b, json_value *v, int depth) {
    char close = v->kind == '[' ? ']' : '}';
    size_t from = b->open.count;
    b->s->at++;
    if (depth >= JSON_DEPTH) return scan_fail(b->s, "no more than 512 arrays and objects in one another");
    for (bool first = true; scan_more(b->s, close, &first);) {
        json_value key = {0};
        if (close == '}' && (!read_string(b, &key, true) || !add(&b->open, &key, 1))) return false;
        if (!read_value(b, depth + 1)) return false;
    }
    v->count = b->open.count - from;
    v->first = b->done.count;
    b->open.count = from;
    return !b->s->expected && (!v->count || add(&b->done, b->open.at + from, v->count));
}

static bool read_value(builder *b, int depth) {
    json_scan *s = b->s;
    json_value v = {.kind = scan_next(s), .at = s->at};
    if (v.kind == '"') {
        if (!read_string(b, &v, false)) return false;
    } else if (v.kind == '[' || v.kind == '{') {
        if (!read_items(b, &v, depth)) return false;
    } else if (scan_number(s, &v.number)) {
        v.kind = '0';
    } else if (!scan_literal(s, "true") && !scan_literal(s, "false") && !scan_literal(s, "null")) {
        return scan_fail(s, "a value");
    }
    v.end = s->at;
    return add(&b->open, &v, 1);
}

/* Sets v->items. To be called once `done` does not move any more. */
static void link_items(json_value *v, const json_value *done) {
    if (v->kind == '[' || v->kind == '{') v->items = v->count ? done + v->first : NULL;
}

bool json_tree_read(json_tree *tree, json_scan *s) {
    builder b = {.s = s, .texts = malloc((size_t)(s->end - s->at) + 1)};
    *tree = (json_tree){.texts = b.texts};
    bool read = b.texts && read_value(&b, 0) && scan_end(s, "nothing more");
    if (read) tree->root = b.open.at[0];
    tree->values = b.done.at;
    free(b.open.at);
    for (size_t i = 0; i < b.done.count && read; i++) link_items(&b.done.at[i], b.done.at);
    if (read)
        link_items(&tree->root, b.done.at);
    else
        json_tree_free(tree);
    return read;
}

void json_tree_free(json_tree *tree) {
    free(tree->values);
    free(tree->texts);
    *tree = (json_tree){0};
}

/* Returns the index behind the last value of the key among the first `count` items (keys and values in turn);
 * 0: the key is not among them. */
static size_t find_last(const json_value *object, size_t count, const char *key) {
    while (count && strcmp(object->items[count - 2].text, key)) count -= 2;
    return count;
}

const json_value *json_member(const json_value *object, const char *key) {
    size_t end = json_is(object, '{') ? find_last(object, object->count, key) : 0;
    return end ? &object->items[end - 1] : NULL;
}

bool json_is_twice(const json_value *object, const char *key) {
    size_t end = json_is(object, '{') ? find_last(object, object->count, key) : 0;
    return end && find_last(object, end - 2, key);
}
