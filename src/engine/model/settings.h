/* Lists the settings of a network with their names and limits, and checks them. All code that reads, writes,
 * compares or shows every setting goes through this list, so that a new setting is a member of onet_settings
 * and a row here. */
#ifndef MODEL_SETTINGS_H
#define MODEL_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "ordernet.h"

typedef struct setting {
    const char *key;   /* in model files behind "settings.", and in the JSON of `inspect` */
    const char *field; /* the name of the field, for errors */
    const char *what;  /* for error messages: "the number of encoder blocks is 70" */
    size_t at;         /* of the int in onet_settings */
    int low, high;
    int version;   /* format_version of the first model files that have it; before that it was 0 */
    bool flag;     /* 0 or 1, shown as a truth value */
    bool in_parts; /* equal in all parts of a merged network; merge.c says what becomes of the others */
    const onet_choice *(*choices)(void); /* named values; NULL: numbers */
} setting;

enum { SETTINGS = offsetof(onet_settings, reserved) / sizeof(int) }; /* all members are int */
extern const setting settings_list[SETTINGS];

static inline int *setting_of(const onet_settings *s, const setting *k) {
    return (int *)((char *)s + k->at);
}

/* Returns the value as text: its name if it has one, else text. */
const char *setting_text(const onet_settings *s, const setting *k, char text[16]);

onet_status settings_check(const onet_settings *s, onet_error *err);

#endif
