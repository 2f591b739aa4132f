/* ordernet completion SHELL: prints a completion script for bash, zsh or fish, generated from the same option
 * tables as the help. */
#include <stdio.h>
#include <string.h>

#include "app/command.h"
#include "engine/base/error.h"

static bool takes_argument(const option *o) {
    return o->kind != OPTION_FLAG && o->kind != OPTION_OFF;
}
static bool takes_file(const option *o) {
    return o->argument && !strcmp(o->argument, "FILE");
}
static bool more(const option *o) {
    return o->name || o->group;
}

static void print_choices(const option *o) {
    for (const onet_choice *c = o->choices(); c->name; c++) printf(" %s", c->name);
}

/* Prints the first words of all commands, each once: several commands can share one. */
static void print_first_words(void) {
    const char *last = "";
    for (const command *c = command_after(NULL); c; c = command_after(c)) {
        size_t length = strcspn(c->name, " ");
        if (strncmp(last, c->name, length) || (last[length] && last[length] != ' '))
            printf(" %.*s", (int)length, c->name);
        last = c->name;
    }
}

static void print_second_words(const char *family, size_t length) {
    for (const command *c = command_after(NULL); c; c = command_after(c))
        if (!strncmp(c->name, family, length) && c->name[length] == ' ') printf(" %s", c->name + length + 1);
}

static void bash(void) {
    puts("# bash completion for ordernet\n"
         "_ordernet() {\n"
         "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
         "    local command=${COMP_WORDS[1]}\n"
         "    COMPREPLY=()\n"
         "    if ((COMP_CWORD == 1)); then");
    fputs("        COMPREPLY=($(compgen -W \"", stdout);
    print_first_words();
    puts(" --help --version\" -- \"$word\"))\n        return\n    fi\n    case $command in");
    const char *last = "";
    for (const command *c = command_after(NULL); c; c = command_after(c)) {
        size_t length = strcspn(c->name, " ");
        if (!c->name[length] || (!strncmp(last, c->name, length) && last[length] == ' ')) continue;
        last = c->name;
        printf("    %.*s)\n        if ((COMP_CWORD == 2)); then\n            COMPREPLY=($(compgen -W \"",
               (int)length, last);
        print_second_words(last, length);
        puts("\" -- \"$word\"))\n            return\n        fi\n        command+=\" ${COMP_WORDS[2]}\" ;;");
    }
    puts("    esac\n    case \"$command $before\" in");
    for (const command *c = command_after(NULL); c; c = command_after(c))
        for (const option *o = c->options; more(o); o++) {
            if (!o->name || !takes_argument(o)) continue;
            printf("    \"%s --%s\")", c->name, o->name);
            if (takes_file(o))
                puts(" COMPREPLY=($(compgen -f -- \"$word\")); return ;;");
            else if (o->choices) {
                fputs(" COMPREPLY=($(compgen -W \"", stdout);
                print_choices(o);
                puts("\" -- \"$word\")); return ;;");
            } else
                puts(" return ;;");
        }
    puts("    esac\n    if [[ $word != -* ]]; then\n"
         "        COMPREPLY=($(compgen -f -- \"$word\"))\n        return\n    fi\n    case $command in");
    for (const command *c = command_after(NULL); c; c = command_after(c)) {
        printf("    \"%s\") COMPREPLY=($(compgen -W \"--help", c->name);
        for (const option *o = c->options; more(o); o++)
            if (o->name) printf(" --%s", o->name);
        puts("\" -- \"$word\")) ;;");
    }
    puts("    esac\n}\ncomplete -o filenames -F _ordernet ordernet");
}

/* Prints text for a string in '...' of zsh or fish; a colon and brackets have a meaning in zsh's _arguments.
 */
static void print_quoted(const char *text, bool zsh) {
    for (; *text; text++) {
        if (*text == '\'')
            fputs(zsh ? "'\\''" : "\\'", stdout);
        else if (zsh && (*text == ':' || *text == '[' || *text == ']'))
            printf("\\%c", *text);
        else
            putchar(*text);
    }
}

static void zsh(void) {
    puts("#compdef ordernet\n# zsh completion for ordernet\n_ordernet() {\n"
         "    local command=$words[2] shift=1\n"
         "    if ((CURRENT == 2)); then");
    fputs("        compadd --", stdout);
    print_first_words();
    puts(" --help --version\n        return\n    fi\n    case $command in");
    const char *last = "";
    for (const command *c = command_after(NULL); c; c = command_after(c)) {
        size_t length = strcspn(c->name, " ");
        if (!c->name[length] || (!strncmp(last, c->name, length) && last[length] == ' ')) continue;
        last = c->name;
        printf("    %.*s)\n        if ((CURRENT == 3)); then\n            compadd --", (int)length, last);
        print_second_words(last, length);
        puts("\n            return\n        fi\n        command+=\" $words[3]\"\n        shift=2 ;;");
    }
    puts("    esac\n    words=(\"${(@)words[shift+1,-1]}\")\n    ((CURRENT -= shift))\n    case $command in");
    for (const command *c = command_after(NULL); c; c = command_after(c)) {
        printf("    '%s')\n        _arguments '--help[Show the help page.]'", c->name);
        for (const option *o = c->options; more(o); o++) {
            if (!o->name) continue;
            printf(" \\\n            '--%s[", o->name);
            print_quoted(o->help, true);
            putchar(']');
            if (takes_argument(o)) {
                putchar(':');
                print_quoted(o->argument, true);
                putchar(':');
                if (takes_file(o)) fputs("_files", stdout);
                if (o->choices) {
                    putchar('(');
                    print_choices(o);
                    putchar(')');
                }
            }
            putchar('\'');
        }
        if (c->operands) fputs(" \\\n            '*:file:_files'", stdout);
        puts(" ;;");
    }
    puts("    esac\n}\n_ordernet \"$@\"");
}

static void fish(void) {
    puts("# fish completion for ordernet\ncomplete -c ordernet -f");
    for (const command *c = command_after(NULL); c; c = command_after(c)) {
        const char *name = c->name;
        size_t length = strcspn(name, " ");
        char condition[192];
        if (name[length]) {
            printf("complete -c ordernet -n __fish_use_subcommand -a %.*s\n", (int)length, name);
            printf("complete -c ordernet -n '__fish_seen_subcommand_from %.*s' -a %s -d '", (int)length, name,
                   name + length + 1);
            snprintf(condition, sizeof condition,
                     "__fish_seen_subcommand_from %.*s; and __fish_seen_subcommand_from %s", (int)length,
                     name, name + length + 1);
        } else {
            printf("complete -c ordernet -n __fish_use_subcommand -a %s -d '", name);
            snprintf(condition, sizeof condition, "__fish_seen_subcommand_from %s", name);
        }
        print_quoted(c->summary, false);
        puts("'");
        if (c->operands) printf("complete -c ordernet -n '%s' -F\n", condition);
        printf("complete -c ordernet -n '%s' -l help -d 'Show the help page.'\n", condition);
        for (const option *o = c->options; more(o); o++) {
            if (!o->name) continue;
            printf("complete -c ordernet -n '%s' -l %s", condition, o->name);
            if (takes_argument(o)) fputs(takes_file(o) ? " -r -F" : " -x", stdout);
            if (o->choices) {
                fputs(" -a '", stdout);
                print_choices(o);
                putchar('\'');
            }
            fputs(" -d '", stdout);
            print_quoted(o->help, false);
            puts("'");
        }
    }
}

static onet_status run(void *values, int count, char **operands, onet_error *err) {
    (void)values;
    (void)count;
    static const struct {
        const char *name;
        void (*print)(void);
    } shells[] = {{"bash", bash}, {"zsh", zsh}, {"fish", fish}};
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++)
        if (!strcmp(operands[0], shells[i].name)) {
            shells[i].print();
            return ONET_OK;
        }
    return fail(err, ONET_USAGE, "there are completions for bash, zsh and fish, not for '%s'", operands[0]);
}

static const option options[] = {{0}};

const command cmd_completion = {
    .name = "completion",
    .summary = "Print a shell's completion script",
    .operands = "bash|zsh|fish",
    .least = 1,
    .most = 1,
    .about = "Prints a script that completes commands, options and their arguments. 'make install' puts the "
             "three scripts where the shells look for them.",
    .examples = "eval \"$(ordernet completion bash)\"",
    .options = options,
    .run = run,
};
