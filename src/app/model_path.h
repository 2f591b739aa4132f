/* Finds files that ship with the program: models and the browser page. Models are in models/ beside the
 * program (in the source tree), or in share/ordernet/models/ or share/ordernet/ beside its bin/ (an
 * installation). */
#ifndef APP_MODEL_PATH_H
#define APP_MODEL_PATH_H

#include <stdbool.h>
#include <stddef.h>

#include "ordernet.h"

/* Writes the path of the shipped model `name` ("words.safetensors"). If it is not found:
 * ONET_IO, and the error message names the places searched. */
onet_status model_path(char *path, size_t size, const char *name, onet_error *err);

/* Writes the path of the folder with the browser page's static files: page/ or build/page/ beside the
 * program, or share/ordernet/page/ of its installation. False if there is none. */
bool site_path(char *path, size_t size);

#endif
