/* build: `carol build`: options in, progress and reasons out.  The work is in target/build.c. */
#include "target/build.h"
#include "base/buf.h"
#include "base/die.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/where.h"
#include "cli/cli.h"
#include "cli/host.h"
#include "cli/term.h"
#include "fuzzer/fuzzer.h"
#include "target/family.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char options[] =
    "  carol build -o DIR -- ./build.sh        an OSS-Fuzz-style script, once per family\n"
    "  carol build -o DIR harness.c lib.c -- -Iinclude -lm\n"
    "\n"
    "  -o, --output DIR      where the builds go: DIR/<family>/, DIR/logs/, DIR/carol-build.json\n"
    "      --families LIST   some of those below, separated by commas (default: all)\n"
    "      --target NAME     the target to use, when the script leaves several in $OUT\n"
    "      --src DIR         the source tree, copied fresh for each family (default: $SRC, or .)\n"
    "      --kind file|stdin how a main() program reads its input\n"
    "      --args 'WORDS'    how a main() program is called; @@ is the input file\n"
    "  -j, --jobs N          families built at the same time (default: one per cpu)\n"
    "      --engines DIR     the fuzzers to build for, instead of Carol's own\n"
    "      --force           build again even if nothing changed\n"
    "      --json            print the manifest (DIR/carol-build.json) when done\n"
    "\n"
    "The script sees CC CXX CFLAGS CXXFLAGS LIB_FUZZING_ENGINE SRC WORK OUT SANITIZER\n"
    "FUZZING_ENGINE ARCHITECTURE FUZZING_LANGUAGE.  A family that is up to date is not built "
    "again.\n"
    "Exit: 0 done, 2 wrong usage or a failing script, 3 something is not installed.\n";

static int help(void)
{
    cli_help(cli_find("build"), options);
    printf("\nThe families, and what each is for:\n");
    for (int f = FAMILY_NONE + 1; f < FAMILY_END; f++) {
        struct buf who = BUF_INIT(4096);
        fuzzer_list((enum family)f, ", ", &who);
        if (family_use((enum family)f))
            buf_printf(&who, "%s%s", who.len ? "; " : "", family_use((enum family)f));
        printf("  %-9s %s\n", family_name((enum family)f), who.p);
        buf_free(&who);
    }
    return 0;
}

/* --- progress --- */

struct screen {
    bool tty;
    unsigned lines; /* drawn so far, to be drawn over */
    enum build_state shown[FAMILY_END];
    bool asked[FAMILY_END];
};

static void describe_state(struct buf *b, const struct build_progress *p)
{
    switch (p->state) {
    case BUILD_WAITING: buf_str(b, "waiting"); break;
    case BUILD_COPYING: buf_printf(b, "copying the sources %3.0f s", p->seconds); break;
    case BUILD_RUNNING: buf_printf(b, "building %3.0f s", p->seconds); break;
    case BUILD_CACHED: buf_str(b, "cached"); break;
    case BUILD_DONE:
        buf_printf(b, "built in %.1f s, %.1f MB", p->seconds, (double)p->bytes / 1e6);
        break;
    case BUILD_FAILED: buf_str(b, "FAILED"); break; /* the reason follows at the end */
    case BUILD_SKIPPED: buf_printf(b, "skipped: %s", p->last); break;
    default: break;
    }
}

static void draw_all(struct screen *s, const struct build_progress *all)
{
    struct buf b = BUF_INIT(1 << 16);
    if (s->lines)
        buf_printf(&b, "\033[%uA", s->lines);
    s->lines = 0;
    int columns = term_size(STDERR_FILENO).columns;
    for (int f = 1; f < FAMILY_END; f++) {
        struct buf line = BUF_INIT(4096);
        if (!s->asked[f] || all[f].state == BUILD_NONE)
            continue;
        buf_printf(&line, "  %-8s ", family_name((enum family)f));
        describe_state(&line, &all[f]);
        if (all[f].state == BUILD_RUNNING)
            buf_printf(&line, "  %s", all[f].last);
        buf_printf(&b, "\r\033[K%.*s\n", (int)term_clip(line.p, line.len, columns - 1), line.p);
        buf_free(&line);
        s->lines++;
    }
    fputs(b.p ? b.p : "", stderr);
    buf_free(&b);
}

static void on_progress(void *arg, enum family f, const struct build_progress *all)
{
    struct screen *s = arg;
    if (s->tty) {
        draw_all(s, all);
        return;
    }
    if (f == FAMILY_NONE || !s->asked[f] || s->shown[f] == all[f].state)
        return;
    struct buf line = BUF_INIT(4096);
    s->shown[f] = all[f].state;
    if (all[f].state == BUILD_COPYING)
        buf_str(&line, "copying the sources");
    else if (all[f].state == BUILD_RUNNING)
        buf_str(&line, "building");
    else
        describe_state(&line, &all[f]);
    log_info("%s: %s", family_name(f), line.p);
    buf_free(&line);
}

/* --- failures --- */

/* A line of a log as the script saw it: the private directory is gone by now, and differs between families
 * that fail for the same reason. */
static void add_line(struct buf *out, const char *line, const char *tmp)
{
    static const char *const sub[] = {"/src", "/work", "/out"}, *const var[] = {"$SRC", "$WORK",
                                                                                "$OUT"};
    struct buf b = BUF_INIT(1 << 20);
    size_t n = strlen(tmp);
    for (const char *at; (at = strstr(line, tmp)); line = at + n) {
        size_t k = 0;
        while (k < 3 && !str_starts(at + n, sub[k]))
            k++;
        buf_add(&b, line, (size_t)(at - line));
        if (k < 3) {
            buf_str(&b, var[k]);
            at += strlen(sub[k]);
        } else {
            buf_add(&b, at, n);
        }
    }
    buf_str(&b, line);
    buf_printf(out, "    %.300s\n", b.p ? b.p : "");
    buf_free(&b);
}

/* The last lines of a log, indented. */
static char *log_tail(const struct build_progress *p, unsigned lines)
{
    struct buf text = BUF_INIT((size_t)256 << 20), out = BUF_INIT(1 << 16);
    if (fs_read(p->log, &text, NULL) == 0 && text.len) {
        size_t at = text.len;
        while (at > 0 && text.p[at - 1] == '\n')
            text.p[--at] = 0;
        for (unsigned n = 0; at > 0 && n < lines; at -= at > 0)
            n += text.p[at - 1] == '\n';
        struct strv rows = {0};
        strv_split(&rows, text.p + at, '\n');
        for (size_t i = 0; i < rows.n; i++)
            add_line(&out, rows.v[i], p->tmp);
        strv_free(&rows);
    }
    buf_free(&text);
    return out.p ? buf_take(&out) : xstrdup("");
}

/* Does the script miss $SRC/NAME, and was it given the tree called NAME or NAME-VERSION itself? */
static char *missing_project(const char *tail, const char *src)
{
    const char *base = strrchr(src, '/') ? strrchr(src, '/') + 1 : src;
    for (const char *p = tail; (p = strstr(p, "$SRC/"));) {
        p += strlen("$SRC/");
        size_t n = strcspn(p, "/'\":; \n");
        char *name = str_fmt("%.*s", (int)n, p), *path = fs_join(src, name);
        bool is = n > 1 && strncasecmp(base, name, n) == 0 && !fs_exists(path);
        free(path);
        if (is)
            return name;
        free(name);
    }
    return NULL;
}

/* OSS-Fuzz's own layout: $SRC is the directory above the project, and the script begins in the project. */
static void hint_layout(const struct build_opts *o, const char *tail)
{
    const char *named = o->src ? o->src : getenv("SRC");
    char *src = realpath(named && *named ? named : ".", NULL);
    char *name = src && o->command ? missing_project(tail, src) : NULL;
    if (name)
        fprintf(stderr,
                "  The script looks for the project in $SRC/%s: in OSS-Fuzz $SRC is the directory "
                "above "
                "it.\n  Call the tree '%s' and run the script from inside it, with --src ..\n",
                name, name);
    free(name);
    free(src);
}

static void explain_failures(const struct build_opts *o, const struct build_result *r)
{
    struct strv seen = {0};
    for (int f = 1; f < FAMILY_END; f++) {
        const struct build_progress *p = &r->family[f];
        if (!o->family[f] || p->state != BUILD_FAILED)
            continue;
        char *tail = log_tail(p, 20);
        fprintf(stderr, "\n%s: %s\n", family_name((enum family)f), p->last);
        if (strv_has(&seen, tail) && *tail) {
            fprintf(stderr, "  (the log ends as above: %s)\n", p->log);
        } else if (*tail) {
            fprintf(stderr, "  %s ends with:\n%s", p->log, tail);
            hint_layout(o, tail);
        }
        strv_take(&seen, tail);
    }
    strv_free(&seen);
}

/* whole: every family that was asked for is there. */
static void say_what_was_made(const struct build_opts *o, const struct build_result *r, bool whole)
{
    struct buf names = BUF_INIT(4096);
    for (size_t i = 0; i < r->targets.n; i++)
        buf_printf(&names, "%s%s", i ? ", " : "", r->targets.v[i]);
    if (!r->chosen && r->targets.n > 1)
        log_info("%s has %zu targets: %s; choose one by adding --target NAME to this command",
                 o->dir, r->targets.n, names.p);
    else if (r->chosen)
        log_info("%s %s: target %s (%s)", o->dir, whole ? "is ready" : "holds what could be built",
                 r->chosen, target_kind_name(r->kind));
    if (r->kind_assumed)
        log_info("%s has its own main(); assumed that it reads standard input. If it reads a file, "
                 "add --args '@@' (with whatever else it needs)",
                 r->chosen);
    char *dir = str_shell(o->dir);
    if (r->chosen && whole && !r->fuzzable) {
        buf_clear(&names);
        for (int f = FAMILY_NONE + 1; f < FAMILY_END; f++)
            if (family_is_fuzzed((enum family)f))
                buf_printf(&names, "%s%s", names.len ? ", " : "", family_name((enum family)f));
        log_info("'carol fuzz' needs the family neutral and at least one of %s too", names.p);
    } else if (r->chosen && whole) {
        log_info("next: carol fuzz -b %s%s -o OUT%s", dir, r->seeds ? "" : " -i SEEDS",
                 r->seeds ? "   (with the build's own seeds; -i gives others)" : "");
    }
    free(dir);
    buf_free(&names);
}

static void say_what_is_kept(const struct build_opts *o)
{
    char *path = manifest_path(o->dir);
    if (fs_exists(path))
        log_info("the build that was in %s before is still there", o->dir);
    free(path);
}

static void print_manifest(const struct build_opts *o)
{
    char *path = manifest_path(o->dir);
    struct buf b = BUF_INIT(BUF_TEXT_MAX);
    if (fs_read(path, &b, NULL) == 0 && b.len)
        fputs(b.p, stdout);
    buf_free(&b);
    free(path);
}

/* --- options --- */

enum {
    OPT_FAMILIES = 256,
    OPT_TARGET,
    OPT_SRC,
    OPT_KIND,
    OPT_ARGS,
    OPT_FORCE,
    OPT_ENGINES,
    OPT_JSON
};

static const struct option longs[] = {
    {"output", required_argument, NULL, 'o'},
    {"families", required_argument, NULL, OPT_FAMILIES},
    {"target", required_argument, NULL, OPT_TARGET},
    {"src", required_argument, NULL, OPT_SRC},
    {"kind", required_argument, NULL, OPT_KIND},
    {"args", required_argument, NULL, OPT_ARGS},
    {"jobs", required_argument, NULL, 'j'},
    {"force", no_argument, NULL, OPT_FORCE},
    {"engines", required_argument, NULL, OPT_ENGINES},
    {"json", no_argument, NULL, OPT_JSON},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static int set_kind(struct build_opts *o, const char *s, struct err *e)
{
    if (strcmp(s, "file") == 0)
        o->kind = TARGET_FILE;
    else if (strcmp(s, "stdin") == 0)
        o->kind = TARGET_STDIN;
    else if (strcmp(s, "libfuzzer") == 0)
        o->kind = TARGET_LIBFUZZER;
    else
        return err_usage(e,
                         "--kind is file or stdin, not '%s' (a LLVMFuzzerTestOneInput harness is "
                         "recognised by itself)",
                         s);
    return 0;
}

static int set_option(struct build_opts *o, int c, const char *value, struct err *e)
{
    uint64_t n = 0;
    int rc = 0;
    switch (c) {
    case 'o': o->dir = value; break;
    case 'j':
        rc = str_to_u64(value, "--jobs", 1, 64, &n, e);
        o->jobs = (unsigned)n;
        break;
    case OPT_FAMILIES:
        o->families_named = strcmp(value, "all") != 0;
        rc = family_parse_list(value, o->family, e);
        break;
    case OPT_TARGET: o->target = value; break;
    case OPT_SRC: o->src = value; break;
    case OPT_KIND: rc = set_kind(o, value, e); break;
    case OPT_ARGS: o->args = value; break;
    case OPT_FORCE: o->force = true; break;
    case OPT_ENGINES: where_set_engines(value); break;
    default: rc = err_usage(e, "'carol build --help' lists the options"); break;
    }
    return rc;
}

static int check(const struct build_opts *o, struct err *e)
{
    if (!o->dir || !*o->dir)
        return err_usage(e, "say where the builds go with -o DIR");
    if (!o->command && !o->sources)
        return err_usage(e, "nothing to build: give sources, or a build command after --; "
                            "'carol build --help' shows both forms");
    if (o->kind == TARGET_FILE && o->args && !strstr(o->args, "@@"))
        return err_usage(e, "--kind file needs @@ in --args, the place of the input file's name");
    return 0;
}

int cli_build(int argc, char **argv)
{
    struct build_opts o = {0};
    struct err e = {0};
    bool json = false;
    int rc = family_parse_list("all", o.family, &e), dashes = 1, c;
    while (dashes < argc && strcmp(argv[dashes], "--") != 0)
        dashes++;
    const char *const *rest = dashes < argc ? (const char *const *)argv + dashes + 1 : NULL;
    if (rest)
        argv[dashes] = NULL;
    optind = 0;
    while (rc == 0 && (c = getopt_long(dashes, argv, "o:j:h", longs, NULL)) != -1) {
        if (c == 'h')
            return help();
        if (c == OPT_JSON) {
            json = true;
            continue;
        }
        rc = set_option(&o, c, optarg, &e);
    }
    if (rc == 0 && optind < dashes) {
        o.sources = (const char *const *)argv + optind;
        o.flags = rest;
    } else if (rest && rest[0]) {
        o.command = rest;
    }
    struct screen s = {.tty = term_draws(STDERR_FILENO)};
    memcpy(s.asked, o.family, sizeof s.asked);
    o.progress = on_progress;
    o.arg = &s;
    struct build_result r = {0};
    if (rc == 0)
        rc = check(&o, &e);
    if (rc == 0)
        rc = host_need_files(HOST_FILES_BUILD, &e);
    if (rc == 0)
        host_warn_limits();
    if (rc == 0)
        rc = build_run(&o, &r, &e);
    explain_failures(&o, &r);
    if (r.targets.n)
        say_what_was_made(&o, &r, rc == 0);
    else if (rc == -ECHILD)
        say_what_is_kept(&o);
    if (json && r.targets.n)
        print_manifest(&o);
    build_result_free(&r);
    if (rc == -EINTR) {
        cli_fail(&e);
        return 130;
    }
    return rc < 0 ? cli_fail(&e) : 0;
}
