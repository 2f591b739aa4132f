/* Fuzz target: reads page files from any bytes. It must not crash; a file that is read can be written with
 * its order reversed and, unless it declares another encoding than UTF-8, read again. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tasks/layout/format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    page_file f, again;
    onet_error err;
    char *changed;
    size_t length;
    if (page_file_from(&f, "fuzz", data, size, NULL, &err)) return 0;
    for (size_t i = 0; i < f.count; i++) {
        page *p = &f.pages[i];
        int next = p->placed;
        if (page_order_lines(p, true, &err)) abort();
        for (int k = 0; k < p->count; k++) p->regions[k].found = p->regions[k].placed ? --next : -1;
    }
    if (f.format->change(&f, &err) || page_text_changed(&f.text, &changed, &length, &err)) abort();
    /* The changed text is UTF-8; a declaration of another encoding would be wrong for it, unless a mark says
     * so. */
    if (!f.text.encoding[0]) {
        char *marked = malloc(f.text.mark_size + length + 1);
        if (!marked) abort();
        memcpy(marked, f.text.mark, f.text.mark_size);
        memcpy(marked + f.text.mark_size, changed, length);
        if (page_file_from(&again, "again", marked, f.text.mark_size + length, NULL, &err)) abort();
        if (again.count != f.count) abort();
        page_file_free(&again);
        free(marked);
    }
    page_file_free(&f);
    free(changed);
    return 0;
}
