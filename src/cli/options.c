/* options: getopt and help out of one table. */
#include "cli/options.h"

#include "base/die.h"
#include "base/fs.h"

#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIRST_LONG 256 /* option i without a letter is this plus i */
#define HELP_COLUMN 25
#define LETTERS 128

static int code_of(size_t i)
{
    return settings_table[i].letter ? settings_table[i].letter : FIRST_LONG + (int)i;
}

static const struct setting *setting_of(int code)
{
    for (size_t i = 0; i < settings_count; i++)
        if (settings_table[i].flag && code_of(i) == code)
            return &settings_table[i];
    return NULL;
}

/* The table in getopt's words. */
static struct option *make_getopt(char letters[LETTERS])
{
    struct option *o = xcalloc(settings_count + 2, sizeof *o);
    size_t n = 0, at = (size_t)snprintf(letters, LETTERS, "+h");
    for (size_t i = 0; i < settings_count; i++) {
        const struct setting *st = &settings_table[i];
        if (!st->flag)
            continue;
        int has = !st->arg                ? no_argument
                  : st->kind == SET_PLACE ? optional_argument
                                          : required_argument;
        o[n++] = (struct option){st->flag, has, NULL, code_of(i)};
        if (st->letter)
            at += (size_t)snprintf(letters + at, LETTERS - at, "%c%s", st->letter,
                                   st->arg ? ":" : "");
    }
    o[n] = (struct option){"help", no_argument, NULL, 'h'};
    return o;
}

/* One word of the target's command line.  Its programs run in directories of their own, so a word that
 * names a file here must name it there too. */
static char *target_word(const char *word)
{
    char cwd[PATH_MAX];
    if (strcmp(word, "___FILE___") == 0)
        return xstrdup("@@");
    bool relative = word[0] != '-' && word[0] != '/' && fs_exists(word);
    return relative && getcwd(cwd, sizeof cwd) ? fs_join(cwd, word) : xstrdup(word);
}

static int fixed_at_start(struct err *e)
{
    struct buf b = BUF_INIT(BUF_TEXT_MAX);
    for (size_t i = 0; i < settings_count; i++)
        if (settings_table[i].again && settings_table[i].kind != SET_RESUME)
            buf_printf(&b, "%s--%s", b.len ? ", " : "", settings_table[i].flag);
    int rc = err_usage(e,
                       "--resume goes on with the options the campaign was begun with; only %s can "
                       "be given with it",
                       b.p);
    buf_free(&b);
    return rc;
}

static int parse(struct settings *s, int argc, char **argv, const struct option *options,
                 const char *letters, bool *help, struct err *e)
{
    bool shapes = false; /* an option was given that a resumed campaign has already */
    optind = 0; /* glibc: begin anew, also in the middle of a word of another command line */
    for (int c; (c = getopt_long(argc, argv, letters, options, NULL)) != -1;) {
        if (c == 'h') {
            *help = true;
            return 0;
        }
        const struct setting *st = c == '?' ? NULL : setting_of(c);
        if (!st)
            return err_usage(e, "'carol fuzz --help' lists the options");
        if (st->kind == SET_PLACE && !optarg && optind < argc && argv[optind][0] != '-')
            optarg = argv[optind++]; /* getopt takes it only after = */
        int rc = settings_set(s, st, optarg, e);
        if (rc < 0)
            return rc;
        shapes = shapes || !st->again;
        s->budget_given = s->budget_given || c == 'd';
    }
    if (optind < argc && strcmp(argv[optind - 1], "--") != 0)
        return err_usage(
            e, "what is '%s'? Seeds are given with -i; the target's own arguments after --",
            argv[optind]);
    if (s->resume && (shapes || optind < argc))
        return fixed_at_start(e);
    for (int i = optind; i < argc; i++)
        strv_take(&s->args, target_word(argv[i]));
    return 0;
}

int options_parse(struct settings *s, int argc, char **argv, bool *help, struct err *e)
{
    char letters[LETTERS];
    struct option *options = make_getopt(letters);
    int rc = settings_defaults(s, e);
    if (rc == 0)
        rc = parse(s, argc, argv, options, letters, help, e);
    if (rc == 0 && s->paper && !s->resume) { /* once more: what is given overrides it */
        settings_free(s);
        rc = settings_defaults(s, e);
        if (rc == 0)
            rc = settings_paper(s, e);
        if (rc == 0)
            rc = parse(s, argc, argv, options, letters, help, e);
    }
    free(options);
    return rc;
}

bool options_ask_help(const char *params)
{
    struct strv words = {0};
    strv_split(&words, params, ',');
    bool yes = strv_has(&words, "help");
    strv_free(&words);
    return yes;
}

void options_help(struct buf *out)
{
    for (size_t i = 0; i < settings_count; i++) {
        const struct setting *st = &settings_table[i];
        char head[64];
        if (!st->flag)
            continue;
        if (st->letter)
            snprintf(head, sizeof head, "  -%c, --%s%s%s", st->letter, st->flag, st->arg ? " " : "",
                     st->arg ? st->arg : "");
        else
            snprintf(head, sizeof head, "      --%s%s%s", st->flag, st->arg ? " " : "",
                     st->arg ? st->arg : "");
        buf_printf(out, "%c%-*s", st->again && st->kind != SET_RESUME ? '*' : ' ', HELP_COLUMN - 2,
                   head + 1);
        buf_str(out, strlen(head) > HELP_COLUMN - 2 ? "  " : " ");
        for (const char *c = st->help; *c; c++)
            if (*c == '\n')
                buf_printf(out, "\n%*s", HELP_COLUMN, "");
            else
                buf_add(out, c, 1);
        buf_str(out, "\n");
    }
}
