/* plan: turns the options of a build into places, command, environment and key.  Starts nothing. */
#include "target/plan.h"

#include "base/buf.h"
#include "base/die.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/where.h"
#include "target/run.h"
#include "target/source.h"
#include "target/words.h"
#include "target/wrapper.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#define LARGE_BYTES ((uint64_t)32 << 20) /* copying this much, or this many files, takes a while */
#define LARGE_FILES 2000

#define DEFAULT_CFLAGS "-O2 -gline-tables-only"

static const char *user_flags(const char *name)
{
    const char *s = getenv(name);
    return s ? s : DEFAULT_CFLAGS;
}

static bool inside(const char *path, const char *dir)
{
    size_t n = strlen(dir);
    return strncmp(path, dir, n) == 0 && (path[n] == '/' || path[n] == 0);
}

static char *resolved(const char *path)
{
    char real[PATH_MAX];
    return realpath(path, real) ? xstrdup(real) : NULL;
}

/* A tree that nobody wants to copy once per family. */
static bool unlikely_source(const char *src)
{
    const char *home = getenv("HOME");
    char *real = home ? resolved(home) : NULL;
    bool bad = strcmp(src, "/") == 0 || strcmp(src, "/tmp") == 0 || strcmp(src, "/usr") == 0 ||
               (real && strcmp(src, real) == 0);
    free(real);
    return bad;
}

static int find_places(struct plan *p, const struct build_opts *o, struct err *e)
{
    const char *src = o->src ? o->src : getenv("SRC");
    int rc = fs_mkdirs(o->dir, e);
    if (rc < 0) {
        e->exit = ERR_EXIT_USAGE;
        return err_wrap(e, "cannot use the output directory");
    }
    p->dir = resolved(o->dir);
    p->cwd = getcwd(NULL, 0);
    p->src = resolved(src && *src ? src : ".");
    p->copy = o->command != NULL;
    if (!p->dir || !p->cwd)
        return err_sys(e, "cannot open %s", o->dir);
    if (!p->src || !fs_is_dir(p->src))
        return err_usage(e, "the source directory %s does not exist (--src, or $SRC)",
                         src ? src : ".");
    if (p->copy && inside(p->src, p->dir))
        return err_usage(e,
                         "the source directory %s lies inside the output directory; "
                         "choose another -o",
                         p->src);
    if (p->copy && unlikely_source(p->src))
        return err_usage(e,
                         "%s would be copied whole for every family; name the project's own "
                         "source directory with --src",
                         p->src);
    return 0;
}

/* The tree is read whole for the key and copied for each family.  Say so first when that takes time. */
static int measure_sources(struct plan *p, struct err *e)
{
    struct source_size size = {0};
    int rc = p->copy ? source_measure(p->src, p->dir, &size, e) : 0;
    p->large = size.bytes >= LARGE_BYTES || size.files >= LARGE_FILES;
    if (rc == 0 && p->large)
        log_info("the source tree %s (%" PRIu64
                 " files, %.0f MB) is read, and copied for each family "
                 "that must be built; --src DIR names a smaller one",
                 p->src, size.files, (double)size.bytes / 1e6);
    return rc;
}

/* --- the short form --- */

static bool is_cxx(const char *s)
{
    return str_ends(s, ".cc") || str_ends(s, ".cpp") || str_ends(s, ".cxx") || str_ends(s, ".C");
}

static bool is_source(const char *s)
{
    return is_cxx(s) || str_ends(s, ".c") || str_ends(s, ".S") || str_ends(s, ".s");
}

static void quote(struct buf *b, const char *s)
{
    char *word = str_shell(s);
    buf_str(b, word);
    free(word);
}

static void add_quoted(struct buf *b, const char *const *words)
{
    for (; words && *words; words++) {
        buf_str(b, " ");
        quote(b, *words);
    }
}

static int check_source(const char *path, struct err *e)
{
    struct stat st;
    if (stat(path, &st) < 0)
        return err_usage(e, "cannot read %s: %s", path, strerror(errno));
    if (!S_ISREG(st.st_mode))
        return err_usage(e,
                         "%s is not a file; to run a build script write "
                         "'carol build -o DIR -- CMD'",
                         path);
    if (!is_source(path) && !str_ends(path, ".o") && !str_ends(path, ".a"))
        return err_usage(e,
                         "%s is not a source by its name (.c .cc .cpp .cxx .C .s .S .o .a); "
                         "to run a build script write 'carol build -o DIR -- %s'",
                         path, path);
    return 0;
}

/* The target is named like the first source. */
static char *short_name(const char *source)
{
    const char *slash = strrchr(source, '/'), *base = slash ? slash + 1 : source;
    char *name = xstrdup(base), *dot = strrchr(name, '.');
    if (dot && dot != name)
        *dot = 0;
    for (char *c = name; *c; c++)
        if (*c == '.')
            *c = '_'; /* targets have no extension */
    return name;
}

static const char cc_words[] = "\"$CC\" $CFLAGS", cxx_words[] = "\"$CXX\" $CXXFLAGS";

static void write_short_script(struct buf *b, const struct build_opts *o)
{
    bool cxx = false;
    struct buf objects = BUF_INIT(1 << 20);
    for (size_t i = 0; o->sources[i]; i++) {
        const char *s = o->sources[i];
        if (!is_source(s)) {
            buf_str(&objects, " ");
            quote(&objects, s);
            continue;
        }
        buf_str(b, is_cxx(s) ? cxx_words : cc_words);
        add_quoted(b, o->flags);
        buf_printf(b, " -MMD -MF \"$WORK/%zu.d\" -c ", i);
        quote(b, s);
        buf_printf(b, " -o \"$WORK/%zu.o\"\n", i);
        buf_printf(&objects, " \"$WORK/%zu.o\"", i);
        cxx = cxx || is_cxx(s);
    }
    char *name = short_name(o->sources[0]);
    buf_printf(b, "%s%s", cxx ? cxx_words : cc_words, objects.p ? objects.p : "");
    add_quoted(b, o->flags);
    buf_str(b, " \"$LIB_FUZZING_ENGINE\" -o \"$OUT\"/");
    quote(b, name);
    free(name);
    buf_free(&objects);
}

static int plan_short(struct plan *p, const struct build_opts *o, struct err *e)
{
    int rc = 0;
    for (size_t i = 0; o->sources[i] && rc == 0; i++)
        rc = check_source(o->sources[i], e);
    if (rc < 0)
        return rc;
    struct buf script = BUF_INIT(1 << 20);
    write_short_script(&script, o);
    strv_add(&p->command, "/bin/sh");
    strv_add(&p->command, "-euc");
    strv_add(&p->command, script.p);
    buf_free(&script);
    for (size_t i = 0; o->sources[i]; i++)
        strv_add(&p->named, o->sources[i]);
    return 0;
}

/* --- the script form --- */

/* A word of the command.  The command runs in the same place of the copy, so a relative name of
 * something in the tree stays (`make test` is no path); one that leads elsewhere becomes absolute. */
static char *definite_word(const struct plan *p, const char *word)
{
    char *real = word[0] == '/' ? NULL : resolved(word), *full = NULL;
    bool stays = !real || (inside(p->cwd, p->src) && inside(real, p->src));
    while (!stays && str_starts(word, "./"))
        word += 2;
    full = stays ? xstrdup(word) : fs_join(p->cwd, word);
    free(real);
    return full;
}

static int plan_script(struct plan *p, const struct build_opts *o, struct err *e)
{
    for (size_t i = 0; o->command[i]; i++) {
        const char *word = o->command[i];
        bool program = i == 0 && !strchr(word, '/');
        char *full = program ? run_find(word) : definite_word(p, word);
        if (i == 0 && (!full || access(full, F_OK) < 0)) {
            free(full);
            return err_usage(e, "there is no command '%s' to build with", word);
        }
        if (i == 0 && access(full, X_OK) < 0) {
            free(full);
            return err_usage(e, "%s is not executable; chmod +x it, or write '-- bash %s'", word,
                             word);
        }
        struct stat st;
        if (i > 0 && !inside(full, p->src) && stat(full, &st) == 0 && S_ISREG(st.st_mode))
            strv_add(&p->named, full);
        else if (i == 0 && !program && !inside(full, p->src))
            strv_add(&p->named, full);
        strv_take(&p->command, full);
    }
    return 0;
}

/* --- key --- */

static const char *const counts[] = {"CFLAGS", "CXXFLAGS",        "CPPFLAGS",        "LDFLAGS",
                                     "LIBS",   "PKG_CONFIG_PATH", "FUZZING_LANGUAGE"};

void plan_env_counts(struct strv *env)
{
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (getenv(counts[i]))
            strv_addf(env, "%s=%s", counts[i], getenv(counts[i]));
}

static int make_source_key(struct plan *p, struct err *e)
{
    struct hasher *h = hash_begin();
    struct digest d;
    hash_add_str(h, "carol build 1");
    hash_add_str(h, p->copy ? p->src : p->cwd);
    for (size_t i = 0; i < p->command.n; i++)
        hash_add_str(h, p->command.v[i]);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        const char *v = getenv(counts[i]);
        hash_add_str(h, v ? v : "(unset)");
    }
    source_digest_files(&p->named, h);
    int rc = p->copy ? source_digest(p->src, p->dir, h, e) : 0;
    hash_end(h, &d);
    digest_hex(&d, p->source_key);
    return rc;
}

/* WRAPPER_VERSION, `what`, and all that makes a family's code what it is. */
static void digest_kit(const char *what, const struct family_kit *k, const char *compiler,
                       char hex[65])
{
    struct hasher *h = hash_begin();
    struct digest d;
    const struct strv *lists[] = {&k->first,       &k->compile,        &k->link,
                                  &k->with_engine, &k->without_engine, &k->env};
    hash_add_str(h, WRAPPER_VERSION);
    hash_add_str(h, what);
    hash_add_str(h, family_name(k->family));
    hash_add_str(h, compiler);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        for (size_t j = 0; j < lists[i]->n; j++)
            hash_add_str(h, lists[i]->v[j]);
    source_digest_files(&k->files, h);
    hash_end(h, &d);
    digest_hex(&d, hex);
}

int plan_key(const struct plan *p, const struct family_kit *k, const char *compiler, char hex[65],
             struct err *e)
{
    (void)e;
    digest_kit(p->source_key, k, compiler, hex);
    return 0;
}

/* --- what a family runs --- */

/* src -> the family's copy, in a path that lies inside src. */
static char *into_copy(const struct plan *p, const char *tmp, const char *path)
{
    if (!p->copy || !inside(path, p->src))
        return xstrdup(path);
    return str_fmt("%s/src%s", tmp, path + strlen(p->src));
}

void plan_command(const struct plan *p, const char *tmp, struct strv *argv, char **cwd)
{
    for (size_t i = 0; i < p->command.n; i++)
        strv_take(argv, into_copy(p, tmp, p->command.v[i]));
    if (!p->copy)
        *cwd = xstrdup(p->cwd);
    else
        *cwd = into_copy(p, tmp, inside(p->cwd, p->src) ? p->cwd : p->src);
}

static bool inherited(const char *var)
{
    static const char *const drop[] = {"AFL_",
                                       "LAF_",
                                       "HFUZZ_",
                                       "CCACHE_",
                                       "MAKEFLAGS=",
                                       "MFLAGS=",
                                       "MAKELEVEL=",
                                       "CC=",
                                       "CXX=",
                                       "CFLAGS=",
                                       "CXXFLAGS=",
                                       "SRC=",
                                       "WORK=",
                                       "OUT=",
                                       "LIB_FUZZING_ENGINE=",
                                       "SANITIZER=",
                                       "FUZZING_ENGINE=",
                                       "PWD=",
                                       "OLDPWD=",
                                       "CAROL_FAMILY=",
                                       "CAROL_SRC_",
                                       "CAROL_CHECK_ENTRY=",
                                       "CAROL_ENGINES=",
                                       "CAROL_CCACHE",
                                       "CAROL_WORDS=",
                                       "CAROL_DUMP="};
    for (size_t i = 0; i < sizeof drop / sizeof *drop; i++)
        if (str_starts(var, drop[i]))
            return false;
    size_t name = strcspn(var, "=");
    return !(name >= 11 && strncmp(var + name - 11, "SAN_OPTIONS", 11) == 0);
}

static void add_default(struct strv *env, const char *name, const char *value)
{
    if (!getenv(name))
        strv_addf(env, "%s=%s", name, value);
}

/* NULL: there is none that can be written, and ccache would fail instead of compiling. */
static char *ccache_dir(void)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    char *dir = NULL;
    if (cache && *cache)
        dir = fs_join(cache, "carol/ccache");
    else if (home && *home)
        dir = fs_join(home, ".cache/carol/ccache");
    struct err e = {0};
    if (dir && (fs_mkdirs(dir, &e) < 0 || access(dir, W_OK) < 0)) {
        free(dir);
        dir = NULL;
    }
    return dir;
}

/* ccache knows a compiler by its name and age, so it would serve an object of afl to laf: it is told
 * a key that has all of a family in it.  In a directory of ours no setting of the user's counts.
 * The name of the tree is in the key because it is in the objects, where ccache does not see it. */
static void add_ccache(const struct plan *p, const struct family_kit *k, const char *compiler,
                       struct strv *env)
{
    char key[65], real[PATH_MAX], *program = run_find("ccache"), *dir = ccache_dir();
    bool hidden = realpath(k->clang, real) && str_ends(real, "/ccache"); /* clang is a link to it */
    if (program && dir && !hidden && !getenv("CCACHE_DISABLE")) {
        digest_kit(p->src, k, compiler, key);
        strv_addf(env, "CAROL_CCACHE=%s", program);
        strv_addf(env, "CAROL_CCACHE_DIR=%s", dir);
        strv_addf(env, "CAROL_CCACHE_KEY=%s", key);
    }
    free(program);
    free(dir);
}

void plan_env(const struct plan *p, const struct family_kit *k, const char *compiler,
              const char *tmp, struct strv *env)
{
    extern char **environ;
    struct utsname u;
    for (char **v = environ; *v; v++)
        if (inherited(*v))
            strv_add(env, *v);
    char *cc = where_runtime("carol-cc"), *cxx = where_runtime("carol-c++");
    char *engines = where_engine("");
    strv_addf(env, "CC=%s", cc);
    strv_addf(env, "CXX=%s", cxx);
    strv_addf(env, "CFLAGS=%s", user_flags("CFLAGS"));
    strv_addf(env, "CXXFLAGS=%s", user_flags("CXXFLAGS"));
    strv_addf(env, "LIB_FUZZING_ENGINE=%s", k->engine);
    strv_addf(env, "SRC=%s%s", p->copy ? tmp : p->src, p->copy ? "/src" : "");
    strv_addf(env, "WORK=%s/work", tmp);
    strv_addf(env, "OUT=%s/out", tmp);
    strv_addf(env, "SANITIZER=%s", family_sanitizer(k->family));
    strv_addf(env, "FUZZING_ENGINE=%s", family_engine(k->family));
    add_default(env, "ARCHITECTURE", uname(&u) == 0 ? u.machine : "x86_64");
    add_default(env, "FUZZING_LANGUAGE", "c++");
    strv_addf(env, "CAROL_FAMILY=%s", family_name(k->family));
    strv_addf(env, "CAROL_ENGINES=%s", engines);
    strv_add(env, "CCACHE_DISABLE=1"); /* for what the script itself compiles with */
    if (k->words)                      /* ccache would give an object without its words */
        strv_addf(env, "CAROL_WORDS=%s/%s", tmp, WORDS_RAW);
    else
        add_ccache(p, k, compiler, env);
    if (k->family == FAMILY_ASAN)
        strv_add(env,
                 "ASAN_OPTIONS=detect_leaks=0"); /* build-time tools leak; that is no failure */
    if (p->copy) {
        strv_addf(env, "CAROL_SRC_COPY=%s/src", tmp);
        strv_addf(env, "CAROL_SRC_NAME=%s", p->src);
    } else {
        strv_add(env, "CAROL_CHECK_ENTRY=1");
    }
    free(cc);
    free(cxx);
    free(engines);
}

int plan_init(struct plan *p, const struct build_opts *o, struct err *e)
{
    *p = (struct plan){0};
    int rc = find_places(p, o, e);
    if (rc == 0)
        rc = measure_sources(p, e);
    if (rc == 0)
        rc = p->copy ? plan_script(p, o, e) : plan_short(p, o, e);
    if (rc == 0)
        rc = make_source_key(p, e);
    if (rc < 0)
        plan_free(p);
    return rc;
}

void plan_free(struct plan *p)
{
    free(p->dir);
    free(p->src);
    free(p->cwd);
    strv_free(&p->command);
    strv_free(&p->named);
    *p = (struct plan){0};
}
