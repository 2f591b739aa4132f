/* The main function of the program: finds the command, parses its options, runs it, prints its error, and
 * turns its status into an exit status. Handles --help and --version, and standard streams that are closed or
 * full. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/error_line.h"
#include "app/json_report.h"
#include "app/processes.h"
#include "engine/base/error.h"
#include "front/cli/help.h"

/* Opens /dev/null for standard streams that are closed: a data file must not get their number, or what is
 * printed would go into it. Reading and writing still fail, since it is opened the other way round. */
static void fill_streams(void) {
    for (int fd = 0; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF && open("/dev/null", fd ? O_RDONLY : O_WRONLY) < 0)
            _exit(ONET_IO);
}

/* Whether standard output is a pipe whose reader went away, as head does: an error message about it would
 * only disturb, the exit status remains. */
static bool reader_gone(void) {
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return poll(&out, 1, 0) == 1 && (out.revents & POLLERR);
}

/* Closes standard output: a full disk or a closed pipe may show only when the last bytes are written. */
static onet_status close_output(bool quiet) {
    errno = 0;
    bool failed = fflush(stdout) || ferror(stdout);
    if (!failed && !fclose(stdout)) return ONET_OK;
    if (!quiet)
        fprintf(stderr, "ordernet: cannot write standard output: %s\n",
                errno ? strerror(errno) : "an earlier write failed; is the disk full?");
    return ONET_IO;
}

static onet_status check_operands(const command *c, int operands, char **arguments, onet_error *err) {
    if (operands < c->least) return fail(err, ONET_USAGE, "an operand is missing: %s", c->operands);
    if (c->most >= 0 && operands > c->most)
        return fail(err, ONET_USAGE, "'%s' is one operand too many", arguments[c->most]);
    return ONET_OK;
}

static onet_status run_command(const command *c, int count, char **arguments, onet_error *err) {
    onet_status status = c->shared ? processes_start(err) : ONET_OK;
    if (status) return status;
    void *values = command_values(c);
    int operands = 0;
    bool help = false;
    bool *given = values && c->given ? (bool *)((char *)values + c->given) : NULL;
    status = values ? options_parse(c->options, values, count, arguments, &operands, &help, given, err)
                    : fail_memory(err, "the command's options");
    if (!status && !help) status = check_operands(c, operands, arguments, err);
    status = world_agree(processes(), status, err);
    if (!status) status = processes_same_command(c, values, help, err);
    if (!status && !help) status = c->run(values, operands, arguments, err);
    if (!status && help && (!c->shared || processes_is_rank0()))
        status = help_command(stdout, c, operands && !strcmp(arguments[0], "all"), err);
    free(values);
    return status;
}

static bool asks_help(const char *argument) {
    return !strcmp(argument, "--help") || !strcmp(argument, "-h");
}

static onet_status start(int count, char **arguments, onet_error *err, const command **ran) {
    bool tells = processes_is_rank0();
    if (!count || asks_help(arguments[0])) {
        if (tells) help_overview(count ? stdout : stderr, NULL);
        return count ? ONET_OK : ONET_USAGE;
    }
    if (!strcmp(arguments[0], "--version")) {
        if (tells) printf("ordernet %s\n", onet_version());
        return ONET_OK;
    }
    if (arguments[0][0] == '-')
        return fail(err, ONET_USAGE, "unknown option %s; a command comes first, see 'ordernet --help'",
                    arguments[0]);
    if (count == 2 && command_family(arguments[0]) && asks_help(arguments[1])) {
        if (tells) help_overview(stdout, arguments[0]);
        return ONET_OK;
    }
    int words;
    *ran = command_find(count, arguments, &words, err);
    return *ran ? run_command(*ran, count - words, arguments + words, err) : ONET_USAGE;
}

int main(int argc, char **argv) {
    fill_streams();
    /* Writes then fail with EPIPE and EFBIG, which are handled like any failed write. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    json_watch();
    onet_error err = {.text = ""};
    const command *ran = NULL;
    onet_status status = start(argc - 1, argv + 1, &err, &ran);
    bool gone = reader_gone();
    onet_status closed = close_output(gone);
    if (!status) err.text[0] = '\0'; /* close_output has printed its own message */
    status = world_agree(processes(), status ? status : closed, &err);
    bool alone = ran && !ran->shared; /* each rank runs this command by itself, even under mpirun */
    bool apart = status && !alone && !processes();
    if (apart) processes_await_rank0(&err);
    if (status && err.text[0] && (alone || apart || processes_is_rank0()) && !(status == ONET_IO && gone)) {
        char line[ERROR_LINE];
        fprintf(stderr, "ordernet%s%s: %s\n", ran ? " " : "", ran ? ran->name : "",
                error_line(&err, field_option, line));
        if (status == ONET_USAGE && ran)
            fprintf(stderr, "'ordernet %s --help' lists its options.\n", ran->name);
    }
    if (apart) world_abandon(status);
    processes_end();
    return (int)status;
}
