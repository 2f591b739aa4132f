/* Prints the help pages, list of commands and man page, generated from the commands' option tables. */
#include "front/cli/help.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "engine/base/error.h"

enum { INDENT = 26 }; /* column of the help texts, right of the options' names */

static const char exit_statuses[] = "Exit status: 0 done, 1 failed, 2 wrong usage, 3 bad data or model, 4 "
                                    "input or output error, 5 not enough memory, 130 interrupted.";

static int page_width(FILE *out) {
    struct winsize size;
    if (!isatty(fileno(out)) || ioctl(fileno(out), TIOCGWINSZ, &size) || !size.ws_col) return 80;
    if (size.ws_col < 60) return 60;
    return size.ws_col > 100 ? 100 : size.ws_col;
}

/* Prints text in lines of at most `width` columns; the first starts at column `at`, the others are indented
 * by `indent`. An empty line in text stays one. */
static void print_wrapped(FILE *out, const char *text, int at, int indent, int width) {
    int column = at;
    bool start = true; /* of a line: no blank before the word */
    while (*text) {
        if (text[0] == '\n' && text[1] == '\n') {
            fprintf(out, "\n\n%*s", indent, "");
            column = indent;
            start = true;
            text += 2;
            continue;
        }
        if (*text == ' ' || *text == '\n') {
            text++;
            continue;
        }
        int length = (int)strcspn(text, " \n");
        if (!start && column + 1 + length > width) {
            fprintf(out, "\n%*s", indent, "");
            column = indent;
            start = true;
        }
        fprintf(out, "%s%.*s", start ? "" : " ", length, text);
        column += length + !start;
        start = false;
        text += length;
    }
    fputc('\n', out);
}

void help_overview(FILE *out, const char *family) {
    int width = page_width(out);
    size_t length = family ? strlen(family) : 0;
    if (family)
        fprintf(out, "Usage: ordernet %s COMMAND [OPTION ...] [OPERAND ...]\n\n", family);
    else {
        fputs("Usage: ordernet COMMAND [OPTION ...] [OPERAND ...]\n\n", out);
        print_wrapped(out, "OrderNet learns an order from examples, and puts new sets in order.", 0, 0,
                      width);
        fputc('\n', out);
    }
    fputs("Commands:\n", out);
    for (const command *c = command_after(NULL); c; c = command_after(c)) {
        if (family && (strncmp(c->name, family, length) || c->name[length] != ' ')) continue;
        fprintf(out, "  %-14s ", c->name);
        print_wrapped(out, c->summary, 17, 17, width);
    }
    fputc('\n', out);
    print_wrapped(out,
                  "'ordernet COMMAND --help' explains a command; 'ordernet --version' prints the version.", 0,
                  0, width);
    if (family) return;
    fputc('\n', out);
    print_wrapped(out, exit_statuses, 0, 0, width);
}

/* Added to the help of commands that several ranks may share. */
static const char shared_work[] =
    "'mpirun -n 4 ordernet ...' shares the work over 4 ranks (docs/scale.md). Each rank then runs as many "
    "threads as its share of the CPUs, or as many as --threads says.";

/* Writes "--beam K". */
static void option_left(const option *o, char *text, size_t size) {
    bool takes = o->kind != OPTION_FLAG && o->kind != OPTION_OFF;
    snprintf(text, size, "--%s%s%s", o->name, takes ? " " : "", takes ? o->argument : "");
}

static void append(char *text, size_t size, const char *more) {
    size_t used = strlen(text);
    snprintf(text + used, size - used, "%s", more);
}

/* Writes the help text of an option, followed by its choices and its default. */
static void option_right(const option *o, const void *values, char *text, size_t size) {
    snprintf(text, size, "%s", o->help);
    if (o->choices) {
        append(text, size, " One of ");
        for (const onet_choice *c = o->choices(); c->name; c++) {
            append(text, size, c->name);
            if (c->help) {
                append(text, size, " (");
                append(text, size, c->help);
                append(text, size, ")");
            }
            append(text, size, c[1].name ? ", " : ".");
        }
    }
    char value[128];
    if (o->required && o->unless) {
        append(text, size, " (required without --");
        append(text, size, o->unless);
        append(text, size, ")");
    } else if (o->required)
        append(text, size, " (required)");
    else if (option_default(o, values, value, sizeof value)) {
        append(text, size, " (default: ");
        append(text, size, value);
        append(text, size, ")");
    }
}

/* Writes "ordernet train --data FILE --model FILE [OPTION ...]". */
static void usage_line(const command *c, char *text, size_t size) {
    snprintf(text, size, "ordernet %s", c->name);
    for (const option *o = c->options; o && (o->name || o->group); o++)
        if (o->required) {
            char left[128];
            option_left(o, left, sizeof left);
            append(text, size, " ");
            append(text, size, left);
        }
    append(text, size, " [OPTION ...]");
    if (c->operands) {
        append(text, size, " ");
        append(text, size, c->operands);
    }
}

static void print_option(FILE *out, const char *left, const char *right, int width) {
    int column = 2 + (int)strlen(left);
    fprintf(out, "  %s", left);
    if (column + 2 > INDENT)
        fprintf(out, "\n%*s", INDENT, "");
    else
        fprintf(out, "%*s", INDENT - column, "");
    print_wrapped(out, right, INDENT, INDENT, width);
}

/* Counts the options; returns how many of them are basic. */
static int count_options(const command *c, int *count) {
    int basic = 0;
    *count = 0;
    for (const option *o = c->options; o->name || o->group; o++) {
        *count += o->name != NULL;
        basic += o->basic;
    }
    return basic;
}

onet_status help_command(FILE *out, const command *c, bool all, onet_error *err) {
    void *values = command_values(c);
    if (!values) return fail_memory(err, "the help page");
    int width = page_width(out);
    char line[2048];
    usage_line(c, line, sizeof line);
    fputs("Usage: ", out);
    print_wrapped(out, line, 7, 11, width);
    fputc('\n', out);
    print_wrapped(out, c->about, 0, 0, width);
    if (c->shared) {
        fputc('\n', out);
        print_wrapped(out, shared_work, 0, 0, width);
    }
    int count;
    bool basic = count_options(c, &count) && !all;
    if (c->options[0].name || basic || !count) fputs("\nOptions:\n", out);
    for (const option *o = c->options; o->name || o->group; o++) {
        if (basic && !o->basic) continue;
        if (o->group) {
            fprintf(out, "\n%s:\n", o->group);
            continue;
        }
        char left[128];
        option_left(o, left, sizeof left);
        option_right(o, values, line, sizeof line);
        print_option(out, left, line, width);
    }
    print_option(out, "--help", "Show this page.", width);
    if (basic) {
        snprintf(line, sizeof line, "Show all %d options.", count);
        print_option(out, "--help all", line, width);
    }
    if (c->examples) {
        fputs(strchr(c->examples, '\n') ? "\nExamples:\n" : "\nExample:\n", out);
        for (const char *at = c->examples; *at;) {
            int length = (int)strcspn(at, "\n");
            fprintf(out, "  %.*s\n", length, at);
            at += length + (at[length] == '\n');
        }
    }
    free(values);
    return ONET_OK;
}

/* Prints text for troff: a backslash, a leading dot or quote and a minus would be commands. */
static void man_text(FILE *out, const char *text) {
    bool start = true;
    for (; *text; text++) {
        if (start && (*text == '.' || *text == '\'')) fputs("\\&", out);
        start = *text == '\n';
        if (text[0] == '\n' && text[1] == '\n') {
            fputs("\n.PP\n", out);
            text++;
        } else if (*text == '\\')
            fputs("\\e", out);
        else if (*text == '-')
            fputs("\\-", out);
        else
            fputc(*text, out);
    }
    fputc('\n', out);
}

static onet_status man_command(FILE *out, const command *c, onet_error *err) {
    void *values = command_values(c);
    if (!values) return fail_memory(err, "the man page");
    char line[2048];
    usage_line(c, line, sizeof line);
    fprintf(out, ".SS %s\n.B ", c->name);
    man_text(out, line);
    fputs(".PP\n", out);
    man_text(out, c->about);
    if (c->shared) {
        fputs(".PP\n", out);
        man_text(out, shared_work);
    }
    for (const option *o = c->options; o->name || o->group; o++) {
        if (o->group) {
            fputs(".PP\n.I ", out);
            man_text(out, o->group);
            continue;
        }
        option_left(o, line, sizeof line);
        fputs(".TP\n.B ", out);
        man_text(out, line);
        option_right(o, values, line, sizeof line);
        man_text(out, line);
    }
    if (c->examples) {
        fputs(".PP\n.I Examples\n.PP\n.nf\n", out);
        man_text(out, c->examples);
        fputs(".fi\n", out);
    }
    free(values);
    return ONET_OK;
}

onet_status help_man(FILE *out, onet_error *err) {
    fprintf(out, ".TH ORDERNET 1 \"\" \"OrderNet %s\" \"User Commands\"\n", onet_version());
    fputs(
        ".SH NAME\nordernet \\- learn an order from examples, and put new sets in order\n"
        ".SH SYNOPSIS\n.B ordernet\n.I command\n[\\fIoption\\fR ...] [\\fIoperand\\fR ...]\n"
        ".SH DESCRIPTION\nFrom sets of items and their right order a small neural network learns the order;\n"
        "it then puts sets in order that it has not seen, of any size.\n"
        "An option is written \\fB\\-\\-name value\\fR or \\fB\\-\\-name=value\\fR;\n"
        "\\fB\\-\\-\\fR ends the options; every command knows \\fB\\-\\-help\\fR.\n"
        ".SH COMMANDS\n",
        out);
    for (const command *c = command_after(NULL); c; c = command_after(c)) {
        onet_status status = man_command(out, c, err);
        if (status) return status;
    }
    fputs(".SH \"EXIT STATUS\"\n", out);
    man_text(out, exit_statuses);
    fputs(
        ".SH FILES\nA training that writes \\fIM\\fR.safetensors has beside it\n"
        "\\fIM\\fR.best.safetensors (the best model by validation), \\fIM\\fR.checkpoint.safetensors (to "
        "resume\n"
        "from) and \\fIM\\fR.log.csv. The shipped models are in ../share/ordernet/models from the program,\n"
        "the documents that help pages name, and what they order, in ../share/doc/ordernet.\n"
        ".SH ENVIRONMENT\n.TP\n.B ORDERNET_CUDA\nThe library of kernels for GPUs, libordernet\\-cuda.so, "
        "where it is\n"
        "neither beside the program, nor in ../lib from there, nor where the loader looks.\n"
        ".TP\n.B ORDERNET_MPI\nThe library for several ranks, libordernet\\-mpi.so, where it is in none of "
        "these places.\n",
        out);
    return ONET_OK;
}
