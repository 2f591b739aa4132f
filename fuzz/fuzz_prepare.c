/* Sets of words from any text: no crash, and either a sentence or sound sets of the length asked for. */
#include <string.h>

#include "data/sets.h"
#include "memory_file.h"
#include "words/prepare.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char vectors[] = "the 1 0\nis 0 1\n- 2 2\nrunning 3 1\n";
    char text_path[64], vector_path[64];
    int text = memory_file(data, size, text_path);
    int vector = memory_file((const uint8_t *)vectors, sizeof vectors - 1, vector_path);
    prepare_options o;
    prepared made;
    onet_error err = {""};
    prepare_defaults(&o);
    o.text = text_path;
    o.vectors = vector_path;
    o.first = 3;
    onet_status status = prepare_words(&made, &o, &err);
    if (status && !err.text[0]) abort();
    if (!status && (sets_check(made.sets, &err) || made.sets->count != made.report.kept)) abort();
    for (size_t s = 0; !status && s < made.sets->count; s++)
        if (sets_size(made.sets, s) != 3) abort();
    prepare_free(&made);
    close(text);
    close(vector);
    return 0;
}
