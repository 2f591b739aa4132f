/* Tests the server's list of connections: slow ones are shut down, and a closed one is left alone. */
#include <sys/socket.h>
#include <unistd.h>

#include "front/serve/clients.h"
#include "unit.h"

/* Returns whether the other end was shut down. */
static bool is_cut(int fd) {
    char byte;
    return recv(fd, &byte, 1, MSG_DONTWAIT) == 0;
}

static void cut_off(void **state) {
    enum { COUNT = 4 };
    clients all;
    client *one[COUNT];
    int pair[COUNT][2];
    clients_start(&all);
    for (int i = 0; i < COUNT; i++) {
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair[i]), 0);
        one[i] = clients_add(&all, pair[i][0]);
        assert_non_null(one[i]);
    }
    client_waits(&all, one[1]);   /* it waits for its answer */
    clients_remove(&all, one[2]); /* gone: its descriptor may mean another file */
    clients_remove(&all, NULL);
    assert_int_equal(clients_cut(&all, 60), 0);
    assert_int_equal(clients_cut(&all, -1), 2);
    assert_int_equal(clients_cut(&all, -1), 0); /* each is shut down once */
    for (int i = 0; i < COUNT; i++) assert_int_equal(is_cut(pair[i][1]), i == 0 || i == 3);
    client_waited_for(&all, one[1]);
    assert_int_equal(clients_cut(&all, -1), 1);
    assert_true(is_cut(pair[1][1]));
    clients_remove(&all, one[0]);
    clients_remove(&all, one[3]);
    clients_remove(&all, one[1]);
    assert_null(all.first);
    for (int i = 0; i < COUNT; i++) close(pair[i][0]), close(pair[i][1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(cut_off)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
