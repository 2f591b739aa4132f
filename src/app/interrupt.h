/* Turns Ctrl-C, SIGTERM and SIGHUP (the terminal was closed) into a flag, so that long-running work can stop
 * cleanly. A second signal ends the program at once, unless it comes within half a second of the first. */
#ifndef APP_INTERRUPT_H
#define APP_INTERRUPT_H

#include <stdbool.h>

void interrupt_catch(void);
bool interrupted(void);
/* Whether it was Ctrl-C, not SIGTERM or SIGHUP. */
bool interrupted_by_user(void);
/* Resets the flag, so that the next signal counts as the first: other work begins. */
void interrupt_forget(void);
/* `interrupted` as a callback of the library. */
int interrupt_asked(void *unused);

#endif
