/* Fuzz target: parses a command line from any bytes, an argument per line; it must be refused with an error
 * message, or the values must be within their ranges. */
#include "app/options.h"
#include "bytes.h"

typedef struct values {
    int flag, off, number;
    uint64_t large;
    double real;
    const char *text, *name;
    int choice;
    option_sizes sizes;
} values;

#define AT(field) offsetof(values, field)
static const option table[] = {
    {.group = "All kinds"},
    {.name = "flag", .kind = OPTION_FLAG, .field = AT(flag)},
    {.name = "no-off", .kind = OPTION_OFF, .field = AT(off)},
    {.name = "number", .kind = OPTION_INT, .argument = "N", .low = -3, .high = 1000, .field = AT(number)},
    {.name = "large", .kind = OPTION_U64, .argument = "N", .field = AT(large)},
    {.name = "real", .kind = OPTION_DOUBLE, .argument = "X", .low = 0, .high = 1, .field = AT(real)},
    {.name = "text", .kind = OPTION_STRING, .argument = "TEXT", .field = AT(text)},
    {.name = "choice", .kind = OPTION_CHOICE, .argument = "C", .choices = onet_formats, .field = AT(choice)},
    {.name = "name", .kind = OPTION_NAME, .argument = "C", .choices = onet_formats, .field = AT(name)},
    {.name = "sizes", .kind = OPTION_SIZES, .argument = "S", .low = 1, .high = 5000, .field = AT(sizes)},
    {0},
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    enum { MOST = 32 };
    char *text = malloc(size + 1), *argument[MOST + 1];
    int count = 0, operands = 0;
    bool help = false;
    if (!text) abort();
    memcpy(text, data, size);
    text[size] = 0;
    for (char *p = text, *next; p && count < MOST; p = next) {
        if ((next = strchr(p, '\n'))) *next++ = 0;
        argument[count++] = p;
    }
    argument[count] = NULL;
    values v = {.number = 1};
    onet_error err = {.text = ""};
    onet_status status = options_parse(table, &v, count, argument, &operands, &help, NULL, &err);
    if (status ? status != ONET_USAGE || !err.text[0] : operands < 0 || operands > count) abort();
    if (!status && (v.number < -3 || v.number > 1000 || !(v.real >= 0 && v.real <= 1))) abort();
    for (int i = 0; i < v.sizes.count && !status; i++)
        if (v.sizes.value[i] < 1 || v.sizes.value[i] > 5000) abort();
    free(text);
    return 0;
}
