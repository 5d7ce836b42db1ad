/* frame: parses a line of a stack, normalises names, tells the target's code from the runtime's.  Reads no files. */
#include "triage/frame.h"

#include "base/buf.h"
#include "base/die.h"
#include "base/str.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* --- names --------------------------------------------------------------------------------------- */

/* Where the bracket opened at p closes, or the end. */
static const char *closing(const char *p)
{
    int depth = 0;
    for (char open = *p, close = open == '(' ? ')' : '>'; *p; p++) {
        depth += *p == open;
        depth -= *p == close && p[-1] != '-'; /* not -> */
        if (!depth)
            return p;
    }
    return p - 1;
}

static bool ends_with_operator(const struct buf *b)
{
    static const char word[] = "operator";
    size_t n = sizeof word - 1, at = b->len - n;
    return b->len >= n && memcmp(b->p + at, word, n) == 0 &&
           (at == 0 || !(isalnum((unsigned char)b->p[at - 1]) || b->p[at - 1] == '_'));
}

/* The symbols of an operator's name, brackets among them. */
static const char *copy_operator(const char *p, struct buf *out)
{
    if (p[0] == '(' && p[1] == ')') {
        buf_str(out, "()");
        return p + 2;
    }
    size_t n = strspn(p, "<>=+-*/%^&|~!,[]");
    buf_add(out, p, n);
    return p + n;
}

/* Cut at the first thing that is a compiler's, as in f.isra.0, f.cold, f.llvm.123 and f[abi:cxx11]. */
static void cut_suffixes(char *name)
{
    static const char *const suffixes[] = {".isra.", ".part.",     ".constprop.", ".cold",
                                           ".llvm.", ".lto_priv.", "[abi:"};
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        char *at = strstr(name, suffixes[i]);
        if (at)
            *at = '\0';
    }
}

char *frame_function(const char *name)
{
    struct buf out = BUF_INIT(BUF_TEXT_MAX);
    buf_str(&out, "");
    for (const char *p = name; *p;) {
        if (ends_with_operator(&out) && strchr("<>=+-*/%^&|~!,[]()", *p)) {
            p = copy_operator(p, &out);
        } else if (*p == '<' || (*p == '(' && !str_starts(p, "(anonymous namespace)"))) {
            bool last =
                *p == '('; /* parameters: after them only "const" and the like, or ::inner */
            p = closing(p) + 1;
            while (last && *p && !str_starts(p, "::"))
                p++;
        } else if (*p == '(') {
            buf_str(&out, "(anonymous)");
            p += strlen("(anonymous namespace)");
        } else if (*p == ' ' && !ends_with_operator(&out)) {
            if (p[1] != '<' && p[1] != '(')
                out.len = 0; /* what came before was a return type */
            p++;
        } else {
            buf_add(&out, p++, 1);
        }
    }
    char *text = str_fmt("%.*s", (int)out.len, out.p);
    buf_free(&out);
    cut_suffixes(text);
    return text;
}

/* --- a line -------------------------------------------------------------------------------------- */

static char *piece(const char *p, const char *end)
{
    return str_fmt("%.*s", (int)(end - p), p);
}

/* "(module+0x12)" at the end of the text. */
static bool take_module(struct frame *f, char *text)
{
    char *open = strrchr(text, '('), *plus = open ? strrchr(open, '+') : NULL;
    size_t n = strlen(text);
    if (!plus || text[n - 1] != ')' || plus[1] != '0' || plus[2] != 'x')
        return false;
    f->module = piece(open + 1, plus);
    f->offset = strtoull(plus + 1, NULL, 16);
    while (open > text && open[-1] == ' ')
        open--;
    *open = '\0';
    return true;
}

/* ":12:5" or ":12" at the end of a path. */
static void take_line(struct frame *f, char *path)
{
    for (int i = 0; i < 2; i++) {
        char *colon = strrchr(path, ':');
        if (!colon || !isdigit((unsigned char)colon[1]) ||
            strspn(colon + 1, "0123456789") != strlen(colon + 1))
            return;
        f->line = (int)strtol(colon + 1, NULL, 10);
        *colon = '\0';
    }
}

/* An absolute path may have spaces in it; a relative one is the last word. */
static void take_source(struct frame *f, char *text)
{
    char *at = strstr(text, " /");
    at = at ? at : strrchr(text, ' ');
    if (!at || str_starts(at, " const"))
        return;
    *at++ = '\0';
    take_line(f, at);
    if (strcmp(at, "<null>") != 0)
        f->file = xstrdup(at);
}

static void take_rest(struct frame *f, char *text)
{
    char *id = strstr(text, " (BuildId: ");
    if (id)
        *id = '\0';
    bool named = str_starts(text, "in ");
    char *name = named ? text + 3 : text;
    if (!take_module(f, text) && named)
        take_source(f, name);
    f->function = named ? frame_function(name) : xstrdup("");
}

bool frame_parse(struct frame *f, const char *line, size_t len)
{
    char *text = str_fmt("%.*s", (int)(len > 65536 ? 65536 : len), line), *p = text, *end;
    *f = (struct frame){0};
    while (*p == ' ' || *p == '\t')
        p++;
    bool ok = *p == '#' && isdigit((unsigned char)p[1]);
    if (ok) {
        f->n = (int)strtol(p + 1, &end, 10);
        while (*end == ' ')
            end++;
        ok = end[0] == '0' && end[1] == 'x';
    }
    if (ok) {
        f->pc = strtoull(end, &end, 16);
        while (*end == ' ')
            end++;
        take_rest(f, end);
        f->file = f->file ? f->file : xstrdup("");
        f->module = f->module ? f->module : xstrdup("");
    }
    free(text);
    return ok;
}

void frame_free(struct frame *f)
{
    free(f->function);
    free(f->file);
    free(f->module);
    *f = (struct frame){0};
}

/* --- whose --------------------------------------------------------------------------------------- */

static bool begins_with_one(const char *s, const char *const *prefixes)
{
    for (; *prefixes; prefixes++)
        if (str_starts(s, *prefixes))
            return true;
    return false;
}

static bool has_one(const char *s, const char *const *parts)
{
    for (; *parts; parts++)
        if (strstr(s, *parts))
            return true;
    return false;
}

static const char *const runtime_names[] = {
    "__asan::",     "__ubsan::",       "__lsan::",       "__asan_",        "__ubsan_",
    "__lsan_",      "__sanitizer",     "__interceptor_", "__interception", "___interceptor_",
    "__libc_",      "__GI_",           "__assert",       "__cxa_",         "__gnu_cxx::",
    "__pthread_",   "__restore_rt",    "__fortify_",     "__stack_chk",    "__chk_fail",
    "operator new", "operator delete", "std::",          "fuzzer::",       "asan_thread_start",
    "gsignal",      "__msan_",         "__kernel_",      "__clone",        NULL};
static const char *const runtime_paths[] = {"/compiler-rt/",
                                            "/sanitizer_common/",
                                            "/usr/include/",
                                            "/usr/lib/gcc",
                                            "/usr/lib/llvm",
                                            "/include/c++/",
                                            "/libstdc++-v3/",
                                            "/sysdeps/",
                                            "/c++/v1/",
                                            "runtime/drv/driver.c",
                                            "runtime/cov/",
                                            "/llvm-toolchain",
                                            NULL};
/* glibc's, which has no directory of its own in front. */
static const char *const libc_dirs[] = {
    "csu/",          "nptl/",   "signal/",  "stdlib/",     "assert/", "malloc/", "string/",
    "stdio-common/", "libio/",  "sysdeps/", "../sysdeps/", "elf/",    "debug/",  "posix/",
    "misc/",         "setjmp/", "time/",    "math/",       "wcsmbs/", "iconv/",  NULL};
static const char *const system_modules[] = {"/lib/",      "/usr/lib/", "/lib64/",
                                             "linux-vdso", "<unknown",  NULL};

static bool is_named(const char *function, const char *name)
{
    return strcmp(function, name) == 0;
}

enum frame_owner frame_owner(const struct frame *f)
{
    const char *path = str_starts(f->file, "./") ? f->file + 2 : f->file;
    if (begins_with_one(f->function, runtime_names) || is_named(f->function, "_start") ||
        is_named(f->function, "raise") || is_named(f->function, "abort"))
        return FRAME_RUNTIME;
    if (has_one(path, runtime_paths) || (*path != '/' && begins_with_one(path, libc_dirs)))
        return FRAME_RUNTIME;
    if (begins_with_one(f->module, system_modules))
        return FRAME_RUNTIME;
    return *path ? FRAME_OWN : FRAME_UNKNOWN;
}

bool frame_is_harness(const struct frame *f)
{
    return is_named(f->function, "LLVMFuzzerTestOneInput") || is_named(f->function, "main");
}
