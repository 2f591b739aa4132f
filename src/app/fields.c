/* Replaces the names of struct fields in the library's error messages by those of the options. */
#include "app/fields.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "ordernet_io.h"

/* Fields whose option has another name; the others differ in their dashes only. */
static const struct {
    const char *field, *option;
} renamed[] = {
    {"onet_read_options.words", "train's --vectors"},
    {"onet_read_options.missing", "train's --missing"},
    {"onet_write_options.format", "--to"},
    {"onet_train_options.model_path", "--model"},
    {"onet_train_options.keep", "--force"},
};

/* The length of "onet_NAME_options.FIELD" at text; 0: it is something else. *field: where FIELD starts. */
static size_t field_at(const char *text, const char **field) {
    static const char start[] = "onet_", middle[] = "_options.";
    if (strncmp(text, start, strlen(start)) != 0) return 0;
    const char *p = text + strlen(start);
    while (islower((unsigned char)*p)) p++;
    if (strncmp(p, middle, strlen(middle)) != 0) return 0;
    *field = p += strlen(middle);
    while (islower((unsigned char)*p) || isdigit((unsigned char)*p) || *p == '_') p++;
    return p > *field ? (size_t)(p - text) : 0;
}

static int option_text(const char *text, size_t length, const char *field, char *to, size_t room) {
    for (size_t i = 0; i < sizeof renamed / sizeof *renamed; i++)
        if (strlen(renamed[i].field) == length && !memcmp(renamed[i].field, text, length))
            return snprintf(to, room, "%s", renamed[i].option);
    int used = snprintf(to, room, "--%.*s", (int)(text + length - field), field);
    for (size_t i = 0; i < room && to[i]; i++)
        if (to[i] == '_') to[i] = '-';
    return used;
}

void fields_to_options(onet_error *err) {
    onet_error said;
    size_t used = 0;
    for (const char *p = err->text; *p && used + 1 < sizeof said.text;) {
        const char *field;
        size_t length = field_at(p, &field), room = sizeof said.text - used;
        if (!length) {
            said.text[used++] = *p++;
            continue;
        }
        int written = option_text(p, length, field, said.text + used, room);
        used += (size_t)written < room ? (size_t)written : room - 1;
        p += length;
    }
    said.text[used] = '\0';
    *err = said;
}
