/* Tests the handling of Ctrl-C, SIGTERM and SIGHUP: signals that come together count as one, a later one ends
 * the program, and a signal that was ignored before the start stays ignored. */
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "app/interrupt.h"
#include "unit.h"

static void pause_for(double seconds) {
    struct timespec t = {.tv_nsec = (long)(seconds * 1e9)};
    nanosleep(&t, NULL);
}

/* Returns how a process ends that catches signals and is sent a second one after a while. */
static int ends(int first, double seconds, int then) {
    pid_t child = fork();
    if (!child) {
        interrupt_catch();
        if (interrupted()) _exit(1);
        raise(first);
        if (!interrupted()) _exit(2);
        pause_for(seconds);
        raise(then);
        raise(then);
        _exit(interrupted() ? 3 : 4);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

/* As timeout(1) sends them, and a shell that passes on what its terminal sent. */
static void test_together(void **state) {
    for (int i = 0; i < 100; i++) assert_int_equal(ends(SIGTERM, 0, SIGTERM), 3);
    assert_int_equal(ends(SIGINT, 0, SIGINT), 3);
    assert_int_equal(ends(SIGINT, 0, SIGTERM), 3);
    assert_int_equal(ends(SIGINT, 0.05, SIGINT), 3);
    assert_int_equal(ends(SIGHUP, 0, SIGHUP), 3);
}

static void test_later(void **state) {
    assert_int_equal(ends(SIGINT, 0.6, SIGINT), -SIGINT);
    assert_int_equal(ends(SIGTERM, 0.6, SIGTERM), -SIGTERM);
    assert_int_equal(ends(SIGINT, 0.6, SIGTERM), -SIGTERM);
    assert_int_equal(ends(SIGHUP, 0.6, SIGHUP), -SIGHUP);
}

/* Under nohup(1) the end of the terminal changes nothing. */
static void test_ignored(void **state) {
    signal(SIGHUP, SIG_IGN);
    assert_int_equal(ends(SIGHUP, 0, SIGHUP), 2);
    signal(SIGHUP, SIG_DFL);
}

int main(void) {
    signal(SIGHUP, SIG_DFL); /* also where the tests themselves run under nohup(1) */
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_together), cmocka_unit_test(test_later),
                                       cmocka_unit_test(test_ignored)};
    signal(SIGHUP, SIG_DFL); /* the tests themselves may run under nohup(1) */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
