/* Pictures that cannot be drawn are refused. */
#include <unistd.h>

#include "show/tours.h"
#include "unit.h"

static void no_tours(void **state) {
    (void)state;
    const char *path = "/tmp/ordernet-show.svg";
    tour_panel panel = {.n = 1, .xy = (double[]){0, 0}, .tour = (int32_t[]){0}};
    onet_error err;
    remove(path);
    assert_int_equal(tours_write(&(tour_page){.columns = 1}, path, &err), ONET_USAGE);
    assert_string_equal(err.text, "there are no tours to draw");
    assert_int_equal(tours_write(&(tour_page){.count = 1, .panels = &panel}, path, &err), ONET_USAGE);
    assert_int_equal(access(path, F_OK), -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_tours)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
