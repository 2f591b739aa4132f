/* Tests whole trainings on GPUs by several ranks, as mpirun would start them, but without MPI: they are
 * forked before CUDA starts and communicate through shared memory. On a machine with one GPU they share it.
 * The model must be that of a single rank; a training begun by 2 ranks is finished by 1, and vice versa.
 * Needs a GPU. usage: test_cuda_ranks [LIBRARY [small|bench]] */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/model/model.h"
#include "engine/train/train.h"
#include "number_sets.h"

static int passed, failed;
static char folder[] = "/tmp/ordernet-ranks-XXXXXX";

static void die(const char *what) {
    fprintf(stderr, "test_cuda_ranks: %s\n", what);
    exit(1);
}

static void report(const char *what, int ok) {
    if (!ok) printf("FAILED %s\n", what);
    ok ? passed++ : failed++;
}

/* ---- ranks as forked processes ---- */

enum { RANKS = 3, PIECE = 1 << 20 };

typedef struct hall { /* in shared memory */
    pthread_barrier_t all;
    unsigned char place[RANKS][PIECE];
} hall;

typedef struct member {
    world w;
    hall *h;
} member;

/* Each rank shows a piece; `use` then receives the pieces of all. */
typedef void use_fn(const world *w, const hall *h, void *mine, size_t bytes, int root);

static void exchange(const world *w, void *data, size_t bytes, int root, use_fn *use) {
    hall *h = ((const member *)w)->h;
    for (size_t done = 0; done < bytes; done += PIECE) {
        unsigned char *mine = (unsigned char *)data + done;
        size_t here = bytes - done < PIECE ? bytes - done : PIECE;
        memcpy(h->place[w->rank], mine, here);
        pthread_barrier_wait(&h->all);
        use(w, h, mine, here, root);
        pthread_barrier_wait(&h->all);
    }
}

static void add_doubles(const world *w, const hall *h, void *mine, size_t bytes, int root) {
    (void)root;
    for (size_t i = 0; i < bytes / sizeof(double); i++) {
        double total = 0;
        for (int r = 0; r < w->size; r++) total += ((const double *)(const void *)h->place[r])[i];
        ((double *)mine)[i] = total;
    }
}

static void add_floats(const world *w, const hall *h, void *mine, size_t bytes, int root) {
    (void)root;
    for (size_t i = 0; i < bytes / sizeof(float); i++) {
        float total = 0;
        for (int r = 0; r < w->size; r++) total += ((const float *)(const void *)h->place[r])[i];
        ((float *)mine)[i] = total;
    }
}

static void copy_root(const world *w, const hall *h, void *mine, size_t bytes, int root) {
    (void)w;
    memcpy(mine, h->place[root], bytes);
}

static void sum(const world *w, double *values, size_t count) {
    exchange(w, values, count * sizeof *values, 0, add_doubles);
}

static void sum_floats(const world *w, float *values, size_t count) {
    exchange(w, values, count * sizeof *values, 0, add_floats);
}

static void broadcast(const world *w, int root, void *data, size_t bytes) {
    exchange(w, data, bytes, root, copy_root);
}

/* Training distributes its sets with these: rank 0 sends to the others in turn, through pipes. */
static int pipes[RANKS][2];

static void send_bytes(const world *w, int to, const void *data, size_t bytes) {
    (void)w;
    for (size_t done = 0; done < bytes;) {
        ssize_t n = write(pipes[to][1], (const char *)data + done, bytes - done);
        if (n <= 0) die("a pipe broke");
        done += (size_t)n;
    }
}

static void receive_bytes(const world *w, int from, void *data, size_t bytes) {
    (void)from; /* only rank 0 sends */
    for (size_t done = 0; done < bytes;) {
        ssize_t n = read(pipes[w->rank][0], (char *)data + done, bytes - done);
        if (n <= 0) die("a pipe broke");
        done += (size_t)n;
    }
}

/* ---- trainings ---- */

typedef struct job {
    const char *model;
    int words, ranks; /* 0: a single rank, without a world */
    int batch;
    uint64_t stop; /* after so many steps; 0: at the end */
} job;

static int stops(void *context, const onet_progress *p) {
    const job *j = context;
    return j->stop && p->step >= j->stop;
}

static const char *path_of(const char *model) {
    static char path[2][128];
    static int at;
    at = !at;
    snprintf(path[at], sizeof path[at], "%s/%s.safetensors", folder, model);
    return path[at];
}

static int train(const job *j, const world *w) {
    onet_train_options o;
    onet_model *model;
    onet_error err;
    onet_train_defaults(&o, sizeof o);
    o.settings = (onet_settings){0, 2, 32, 16, ONET_POOL_MEAN, 2, 16, 0, 0, {0}};
    o.batch = j->batch;
    o.max_steps = 12; /* the second epoch has begun; after 40 steps rounding alone is at 1e-3 */
    o.epochs = 100;
    o.train_vectors = j->words;
    o.average = 0.9;
    o.learning_rate = 1e-3;
    o.checkpoint_seconds = 1e-9;
    o.device = "cuda";
    o.model_path = path_of(j->model);
    o.resume = 1;
    o.progress = stops;
    o.context = (void *)(uintptr_t)j;
    onet_sets *sets = !w || !w->rank ? number_sets(300, j->words, 5) : NULL;
    if (!sets && (!w || !w->rank)) die("out of memory");
    onet_status status = train_together(w, &model, sets, NULL, &o, &err);
    if (status && !(status == ONET_INTERRUPTED && j->stop)) {
        fprintf(stderr, "%s, rank %d: %s\n", j->model, w ? w->rank : 0, err.text);
        return 1;
    }
    if (!status) onet_model_free(model);
    onet_sets_free(sets);
    return 0;
}

/* Runs the job in forked processes; true if all of them succeed. */
static int run(const job *j) {
    int size = j->ranks ? j->ranks : 1, ok = 1;
    hall *h = mmap(NULL, sizeof *h, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_barrierattr_t attr;
    if (h == MAP_FAILED || pthread_barrierattr_init(&attr) ||
        pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED) ||
        pthread_barrier_init(&h->all, &attr, (unsigned)size))
        die("no shared memory");
    pid_t child[RANKS];
    for (int r = 0; r < size; r++)
        if (pipe(pipes[r])) die("no pipe");
    fflush(stdout);
    for (int r = 0; r < size; r++) {
        child[r] = fork();
        if (child[r] < 0) die("no process");
        if (child[r]) continue;
        alarm(100); /* a rank that waits for a dead one ends */
        member m = {{r, size, r, 1, sum, sum_floats, broadcast, send_bytes, receive_bytes, NULL}, h};
        _exit(train(j, j->ranks ? &m.w : NULL));
    }
    for (int r = 0; r < size; r++) {
        int status;
        waitpid(child[r], &status, 0);
        ok = ok && WIFEXITED(status) && WEXITSTATUS(status) == 0;
        close(pipes[r][0]);
        close(pipes[r][1]);
    }
    pthread_barrier_destroy(&h->all);
    munmap(h, sizeof *h);
    return ok;
}

static void same_model(const char *what, const char *one, const char *other) {
    onet_model *a, *b;
    onet_error err;
    if (onet_model_load(&a, path_of(one), &err) || onet_model_load(&b, path_of(other), &err)) {
        printf("%s\n", err.text);
        report(what, 0);
        return;
    }
    double apart = relative_difference(a->theta, b->theta, a->sh.total);
    if (a->words) apart += relative_difference(a->words->vectors, b->words->vectors, (size_t)a->words->count);
    if (!(apart < 1e-4)) printf("the models differ by %.3g\n", apart);
    report(what, apart < 1e-4);
    onet_model_free(a);
    onet_model_free(b);
}

static void check(int words, int few) {
    job alone = {"alone", words, 0, 32, 0}, two = {"two", words, 2, 32, 0},
        three = {"three", words, 3, 32, 0};
    report("a training alone", run(&alone));
    report("a training by 2 ranks", run(&two));
    same_model("2 ranks: the model of one", "alone", "two");
    if (few) return;
    report("a training by 3 ranks", run(&three));
    same_model("3 ranks: the model of one", "alone", "three");
    job tiny = {"tiny", words, 0, 2, 0}, tiny3 = {"tiny3", words, 3, 2, 0};
    report("batches of 2, alone", run(&tiny));
    report("batches of 2 by 3 ranks: one has no set", run(&tiny3));
    same_model("batches of 2: the model of one rank", "tiny", "tiny3");
    job begun = {"begun", words, 2, 32, 5}, ended = {"begun", words, 0, 32, 0};
    report("2 ranks stop", run(&begun));
    report("1 rank goes on", run(&ended));
    same_model("begun by 2 ranks, ended by 1", "alone", "begun");
    job one = {"one", words, 0, 32, 5}, by_two = {"one", words, 2, 32, 0};
    report("1 rank stops", run(&one));
    report("2 ranks go on", run(&by_two));
    same_model("begun by 1 rank, ended by 2", "alone", "one");
}

int main(int argc, char **argv) {
    const char *mode = argc > 2 ? argv[2] : "all";
    if (argc > 1) setenv("ORDERNET_CUDA", argv[1], 1);
    if (strcmp(mode, "bench") == 0) return 0; /* test_cuda has those */
    if (!mkdtemp(folder)) die("no folder");
    for (int words = 0; words < 2; words++) {
        check(words, strcmp(mode, "small") == 0);
        char command[160];
        snprintf(command, sizeof command, "rm -f %s/*", folder);
        if (system(command)) die("cannot remove files");
    }
    rmdir(folder);
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
