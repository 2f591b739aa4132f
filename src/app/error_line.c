/* Formats an error as one line, followed by what the user calls the library fields that it is about, and
 * translates such a field ("onet_train_options.clip") to a command-line option ("--clip"). */
#include "app/error_line.h"

#include <stdio.h>
#include <string.h>

/* Fields whose option has another name, or none (NULL). All others: dashes in place of underscores. */
static const struct {
    const char *field, *option;
} renamed[] = {
    {"onet_read_options.words", "train's --vectors"},
    {"onet_read_options.missing", "train's --missing"},
    {"onet_read_options.columns", NULL},
    {"onet_write_options.format", "--to"},
    {"onet_write_options.made", NULL},
    {"onet_write_options.errors", NULL},
    {"onet_train.train", "--data"},
    {"onet_train_options.model_path", "--model"},
    {"onet_train_options.keep", "--force"},
    {"onet_settings.width", NULL},
    {"onet_vocabulary_options.rare_until", NULL},
};

bool field_option(const char *field, char name[FIELD_NAME]) {
    for (size_t i = 0; i < sizeof renamed / sizeof *renamed; i++)
        if (!strcmp(renamed[i].field, field)) {
            if (renamed[i].option) snprintf(name, FIELD_NAME, "%s", renamed[i].option);
            return renamed[i].option;
        }
    const char *dot = strchr(field, '.');
    if (!dot) return false;
    snprintf(name, FIELD_NAME, "--%s", dot + 1);
    for (char *p = name; *p; p++)
        if (*p == '_') *p = '-';
    return true;
}

const char *error_line(const onet_error *err, field_namer *namer, char line[ERROR_LINE]) {
    onet_error fields = *err;
    char name[FIELD_NAME], *rest;
    size_t used = (size_t)snprintf(line, ERROR_LINE, "%s", err->text);
    bool some = false;
    for (char *field = strtok_r(fields.field, " ", &rest); field; field = strtok_r(NULL, " ", &rest))
        if (namer(field, name)) {
            used += (size_t)snprintf(line + used, ERROR_LINE - used, "%s%s", some ? ", " : " (", name);
            some = true;
        }
    if (some) snprintf(line + used, ERROR_LINE - used, ")");
    return line;
}
