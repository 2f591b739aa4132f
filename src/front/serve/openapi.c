/* The assembler copies the file into the program, so that the one in docs/ is the one that is served. */
#include "front/serve/openapi.h"

__asm__(".section .rodata\n"
        ".global openapi_json\n.hidden openapi_json\nopenapi_json:\n"
        ".incbin \"docs/openapi.json\"\n"
        ".global openapi_json_end\n.hidden openapi_json_end\nopenapi_json_end:\n.byte 0\n"
        ".previous\n");
