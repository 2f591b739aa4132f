/* Lists the tasks of the program in the order of the help page. A new task needs two lines here: one declares
 * it, one lists it. */
#include "app/task.h"

extern const task tours_task;
extern const task layout_task;
extern const task words_task;

const task *const tasks[] = {
    &tours_task,
    &layout_task,
    &words_task,
    NULL,
};
