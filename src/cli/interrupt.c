#include "cli/interrupt.h"

#include <signal.h>

static volatile sig_atomic_t caught;

static void catch_signal(int number) {
    (void)number;
    caught = 1;
}

void interrupt_catch(void) {
    struct sigaction action = {.sa_handler = catch_signal, .sa_flags = SA_RESTART | SA_RESETHAND};
    sigaction(SIGINT, &action, 0);
    sigaction(SIGTERM, &action, 0);
}

bool interrupted(void) {
    return caught;
}
