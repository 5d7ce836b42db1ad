/* wrapper: rewrites one compiler command line for a family.  Does not run it and reads nothing but
 * the object and response files named on it. */
#include "target/wrapper.h"

#include "base/buf.h"
#include "base/fs.h"
#include "target/elf.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum mode { MODE_LINK = 0, MODE_COMPILE, MODE_RELOCATE, MODE_SHARED };

struct line {
    enum mode mode;
    bool inputs;      /* there is something to compile or link */
    bool header;      /* a header is precompiled */
    bool engine;      /* the engine was asked for */
    bool linker;      /* there are words for the linker, such as the question -Wl,--version */
    bool opaque;      /* ... of which something is not an object file of ours */
    bool has_main;    /* an object defines main() */
    bool has_entry;   /* an object defines LLVMFuzzerTestOneInput */
    bool cxx_entry;   /* ... but as a C++ name */
    struct strv kept; /* the user's words that stay */
};

/* Options whose value is the next word, so that it is not taken for an input. */
static bool takes_word(const char *a)
{
    static const char *const list[] = {
        "-o",           "-x",        "-I",        "-L",           "-D",
        "-U",           "-include",  "-isystem",  "-idirafter",   "-iquote",
        "-imacros",     "-iprefix",  "-isysroot", "-MF",          "-MT",
        "-MQ",          "-MJ",       "-Xlinker",  "-Xclang",      "-Xpreprocessor",
        "-Xassembler",  "-mllvm",    "-target",   "-T",           "-u",
        "-z",           "-l",        "-e",        "-arch",        "--param",
        "-A",           "-B",        "-F",        "--sysroot",    "-framework",
        "-rpath",       "-soname",   "-h",        "-iwithprefix", "-iwithprefixbefore",
        "-ivfsoverlay", "--include", "--imacros", "-include-pch"};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (strcmp(a, list[i]) == 0)
            return true;
    return false;
}

static bool is_header(const char *path)
{
    return str_ends(path, ".h") || str_ends(path, ".hh") || str_ends(path, ".hpp") ||
           str_ends(path, ".hxx");
}

static void note_mode(struct line *l, const char *a)
{
    static const char *const compile[] = {
        "-c", "-S", "-E", "-M", "-MM", "-fsyntax-only", "--precompile", "--analyze", "-emit-ast"};
    for (size_t i = 0; i < sizeof compile / sizeof *compile; i++)
        if (strcmp(a, compile[i]) == 0)
            l->mode = MODE_COMPILE;
    l->header = l->header || (str_starts(a, "-x") && str_ends(a, "-header"));
    if (l->mode == MODE_LINK && (strcmp(a, "-r") == 0 || strcmp(a, "-Wl,-r") == 0))
        l->mode = MODE_RELOCATE;
    if (l->mode == MODE_LINK && (strcmp(a, "-shared") == 0 || strcmp(a, "--shared") == 0))
        l->mode = MODE_SHARED;
}

static void look_at_input(struct line *l, const char *path)
{
    static const char *const names[] = {"main", "LLVMFuzzerTestOneInput",
                                        "_Z22LLVMFuzzerTestOneInputPKhm"};
    enum elf_def d[3];
    l->inputs = true;
    if (!str_ends(path, ".o") || elf_look(path, names, d, 3) != ELF_OBJECT) {
        l->opaque = true;
        return;
    }
    l->has_main = l->has_main || d[0] == ELF_STRONG;
    l->has_entry = l->has_entry || d[1] == ELF_STRONG;
    l->cxx_entry = l->cxx_entry || d[2] != ELF_ABSENT;
}

static bool drop_sanitizer(const struct family_kit *k, const char *name)
{
    if (k->family != FAMILY_ASAN || str_starts(name, "fuzzer"))
        return true;
    return strcmp(name, "memory") == 0 || strcmp(name, "thread") == 0 ||
           strcmp(name, "hwaddress") == 0;
}

/* -fsanitize=a,b,fuzzer: the engine is remembered; only the asan family keeps the others. */
static void take_sanitize(const struct family_kit *k, struct line *l, const char *list)
{
    struct strv items = {0};
    struct buf b = BUF_INIT(1 << 16);
    strv_split(&items, list, ',');
    for (size_t i = 0; i < items.n; i++) {
        l->engine = l->engine || strcmp(items.v[i], "fuzzer") == 0;
        if (!drop_sanitizer(k, items.v[i]))
            buf_printf(&b, "%s%s", b.len ? "," : "", items.v[i]);
    }
    if (b.len)
        strv_addf(&l->kept, "-fsanitize=%s", b.p);
    buf_free(&b);
    strv_free(&items);
}

/* Words that belong to other instrumentations, or cannot go with ours. */
static bool dropped(const struct family_kit *k, const char *a)
{
    if (str_starts(a, "-fsanitize-coverage"))
        return true;
    if (k->family == FAMILY_ASAN)
        return strcmp(a, "-static") == 0 ||
               strcmp(a, "-static-pie") == 0; /* ASan is dynamic only */
    return str_starts(a, "-fsanitize-") || str_starts(a, "-fno-sanitize-recover");
}

/* The engine's archive, also by another spelling of its path (build systems normalise paths). */
static bool is_engine(const struct family_kit *k, const char *a)
{
    const char *base = strrchr(a, '/'), *own = strrchr(k->engine, '/');
    struct stat x, y;
    if (strcmp(a, k->engine) == 0 || strcmp(a, "-lFuzzingEngine") == 0)
        return true;
    return base && own && strcmp(base, own) == 0 && stat(a, &x) == 0 && stat(k->engine, &y) == 0 &&
           x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* What stands for a word in the family.  A program of afl-clang-fast linked with -static-pie dies at
 * its start.  asan only runs crashes again, so it need not be fast; but -O0 would make frames many times
 * larger, and recursion that is limited for small ones would overflow the stack. */
static const char *instead(const struct family_kit *k, const char *a)
{
    if (family_is_afl(k->family) && strcmp(a, "-static-pie") == 0)
        return "-static";
    if (k->family == FAMILY_ASAN && (strcmp(a, "-O2") == 0 || strcmp(a, "-O3") == 0))
        return "-O1";
    return a;
}

static void take_word(const struct family_kit *k, struct line *l, const char *a)
{
    if (str_starts(a, "-fsanitize=")) {
        take_sanitize(k, l, a + strlen("-fsanitize="));
    } else if (is_engine(k, a)) {
        l->engine = true;
        l->inputs = true;
    } else if (!dropped(k, a)) {
        note_mode(l, a);
        l->linker = l->linker || str_starts(a, "-Wl,");
        if (a[0] != '-' && is_header(a))
            l->header = true;
        else if (a[0] != '-' || a[1] == 0)
            look_at_input(l, a);
        strv_add(&l->kept, instead(k, a));
    }
}

/* The words of a response file as compilers read it: blanks separate, quotes and backslashes keep. */
static void split_response(const char *p, struct strv *words)
{
    struct buf word = BUF_INIT(1 << 20);
    char quote = 0;
    bool any = false;
    for (;; p++) {
        bool blank = *p == 0 || (!quote && strchr(" \t\r\n", *p));
        if (blank && any)
            strv_add(words, word.p ? word.p : "");
        if (*p == 0)
            break;
        if (blank) {
            buf_clear(&word);
            any = false;
            continue;
        }
        any = true;
        if (quote ? *p == quote : (*p == '\'' || *p == '"'))
            quote = quote ? 0 : *p;
        else if (*p == '\\' && p[1])
            buf_add(&word, ++p, 1);
        else
            buf_add(&word, p, 1);
    }
    buf_free(&word);
}

/* All words, response files (cmake and meson write them for long lines) in their place. */
static void expand(const char *const *argv, struct strv *words)
{
    for (size_t i = 0; argv[i]; i++) {
        struct buf b = BUF_INIT(BUF_TEXT_MAX);
        if (argv[i][0] == '@' && fs_read(argv[i] + 1, &b, NULL) == 0)
            split_response(b.p ? b.p : "", words);
        else
            strv_add(words, argv[i]);
        buf_free(&b);
    }
}

static void add_all(struct strv *to, const struct strv *from)
{
    for (size_t i = 0; i < from->n; i++)
        strv_add(to, from->v[i]);
}

static int check_entry(const struct line *l, struct err *e)
{
    if (l->has_main || l->has_entry || l->opaque)
        return 0;
    if (l->cxx_entry)
        return err_usage(e,
                         "LLVMFuzzerTestOneInput is defined as a C++ function, so no fuzzer finds "
                         "it: write extern \"C\" before it");
    return err_usage(e, "no entry point: the sources define neither "
                        "int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) nor main(); "
                        "add the file that does");
}

/* The end of a program's link: -x none first, because a user's `-x c` would make the archive C. */
static int finish_link(const struct family_kit *k, struct line *l, const struct wrapper_job *job,
                       struct strv *out, struct err *e)
{
    if (job->check_entry) {
        int rc = check_entry(l, e);
        if (rc < 0)
            return rc;
    }
    for (size_t i = 0; i < k->link.n; i++) /* with words for the linker, -v alone would link */
        if (l->inputs || l->linker || !str_starts(k->link.v[i], "-Wl,"))
            strv_add(out, k->link.v[i]);
    if (!l->inputs)
        return 0; /* a question to the compiler or the linker */
    bool engine = l->engine && !l->has_main;
    strv_add(out, "-xnone");
    if (engine) /* a harness inside an archive is fetched before the engine's own weak one */
        strv_add(out, "-Wl,-u,LLVMFuzzerTestOneInput");
    add_all(out, engine ? &k->with_engine : &k->without_engine);
    return 0;
}

int wrapper_rewrite(const struct family_kit *k, const char *const *argv, bool cxx,
                    const struct wrapper_job *job, struct strv *out, struct err *e)
{
    struct line l = {0};
    struct strv words = {0};
    int rc = 0;
    expand(argv, &words);
    for (size_t i = 0; i < words.n; i++) {
        const char *word = words.v[i];
        if (i + 1 < words.n && takes_word(word)) {
            strv_add(&l.kept, word);
            l.inputs = l.inputs || strcmp(word, "-l") == 0;
            strv_add(&l.kept, words.v[++i]);
            l.header = l.header || (strcmp(word, "-x") == 0 && str_ends(words.v[i], "-header"));
        } else {
            take_word(k, &l, word);
        }
    }
    strv_free(&words);
    if (l.header && l.mode == MODE_LINK) { /* afl-clang-fast would link without it */
        strv_add(&l.kept, "-c");
        l.mode = MODE_COMPILE;
    }
    if (job->ccache && l.mode == MODE_COMPILE)
        strv_add(out, job->ccache);
    strv_add(out, cxx ? k->cxx : k->cc);
    add_all(out, &k->first);
    add_all(out, &l.kept);
    add_all(out, &k->compile);
    if (job->from && job->to)
        strv_addf(out, "-ffile-prefix-map=%s=%s", job->from, job->to);
    if (l.mode == MODE_LINK)
        rc = finish_link(k, &l, job, out, e);
    else if (l.mode == MODE_SHARED && k->family != FAMILY_PLAIN)
        strv_add(out, "-Wl,-z,undefs"); /* the runtime's symbols come from the program */
    strv_free(&l.kept);
    return rc;
}
