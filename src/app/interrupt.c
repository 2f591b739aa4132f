/* Catches Ctrl-C, SIGTERM and SIGHUP: the first signal sets a flag that long-running work checks, the second
 * ends the program. */
#include "app/interrupt.h"

#include <signal.h>
#include <stdatomic.h>
#include <time.h>

/* Signals this close to the first belong to it: timeout(1) sends its signal to the program and then to the
 * whole group, so that the program gets it twice. */
static const long long together = 500 * 1000000LL;

/* When the first signal came, in nanoseconds of the monotonic clock; 0: none came. Any thread may catch one.
 */
static atomic_llong first;
static atomic_int which; /* its number */

static void catch_signal(int number) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    long long now = t.tv_sec * 1000000000LL + t.tv_nsec, before = 0;
    if (atomic_compare_exchange_strong(&first, &before, now)) {
        atomic_store(&which, number);
        return;
    }
    if (now - before < together) return;
    signal(number, SIG_DFL);
    raise(number); /* it is held back until this function ends */
}

void interrupt_catch(void) {
    struct sigaction action = {.sa_handler = catch_signal, .sa_flags = SA_RESTART};
    sigaction(SIGINT, &action, 0);
    sigaction(SIGTERM, &action, 0);
    struct sigaction before; /* nohup(1) has it ignored */
    if (!sigaction(SIGHUP, 0, &before) && before.sa_handler != SIG_IGN) sigaction(SIGHUP, &action, 0);
}

bool interrupted(void) {
    return atomic_load(&first) != 0;
}

bool interrupted_by_user(void) {
    return interrupted() && atomic_load(&which) == SIGINT;
}

void interrupt_forget(void) {
    atomic_store(&first, 0);
}

int interrupt_asked(void *unused) {
    (void)unused;
    return interrupted();
}
