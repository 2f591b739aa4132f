/* Looks up the entries of a list of named values (choice.h) by name or by value, and joins their names for
 * messages. */
#include "engine/base/choice.h"

#include <stdio.h>
#include <string.h>

const onet_choice *choice_of(const onet_choice *list, int value) {
    for (; list->name; list++)
        if (list->value == value) return list;
    return NULL;
}

const onet_choice *choice_named(const onet_choice *list, const char *name, size_t length) {
    for (; list->name; list++)
        if (strlen(list->name) == length && !memcmp(list->name, name, length)) return list;
    return NULL;
}

const char *choice_name(const onet_choice *list, int value) {
    const onet_choice *found = choice_of(list, value);
    return found ? found->name : "unknown";
}

const char *choice_names(const onet_choice *list, const char *last, char *text, size_t size) {
    size_t used = 0;
    text[0] = '\0';
    for (const onet_choice *c = list; c->name && used < size; c++) {
        const char *between = c[1].name ? ", " : last;
        used += (size_t)snprintf(text + used, size - used, "%s%s", c == list ? "" : between, c->name);
    }
    return text;
}
