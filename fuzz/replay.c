/* Runs a fuzz target on every file of a corpus folder, so that past findings stay fixed.
 * usage: replay_TARGET LABEL FOLDER; LABEL is only printed */
#include <dirent.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bytes.h"

static int by_name(const struct dirent **a, const struct dirent **b) {
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int visible(const struct dirent *entry) {
    return entry->d_name[0] != '.';
}

static int feed(const char *path) {
    FILE *file = fopen(path, "rb");
    long size = -1;
    if (file && !fseek(file, 0, SEEK_END)) size = ftell(file);
    uint8_t *data = size < 0 ? NULL : malloc((size_t)size + 1);
    int good = data && !fseek(file, 0, SEEK_SET) && fread(data, 1, (size_t)size, file) == (size_t)size;
    if (good) LLVMFuzzerTestOneInput(data, (size_t)size);
    if (file) fclose(file);
    free(data);
    return good;
}

/* Runs in a process of its own, so that a crash can be reported with the file's name. */
static int replay(const char *folder, const char *name) {
    char path[4096];
    int status = -1;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) exit(!feed(path));
    if (child > 0) waitpid(child, &status, 0);
    if (status) fprintf(stderr, "%s: failed\n", path);
    return status == 0;
}

int main(int argc, char **argv) {
    struct dirent **entry;
    if (argc != 3) return 2;
    int count = scandir(argv[2], &entry, visible, by_name), failed = 0;
    if (count <= 0) {
        fprintf(stderr, "%s: %s\n", argv[2], count < 0 ? "no such folder" : "no files to replay");
        return 1;
    }
    for (int i = 0; i < count; i++) {
        failed += !replay(argv[2], entry[i]->d_name);
        free(entry[i]);
    }
    free(entry);
    printf("%s:\n%d passed, %d failed\n", argv[1], count - failed, failed);
    return failed != 0;
}
