/* arms_corpus: what is in the fuzzer's own directory, against what was given to it and what was harvested. */
#include "arms.h"

#include "base/die.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool was_given(const void *data, size_t n)
{
    for (size_t i = 0; i < t.n_given; i++)
        if (t.given[i].size == n && memcmp(t.given[i].data, data, n) == 0)
            return true;
    return false;
}

void keep_find(const struct find *f)
{
    t.kept = xrealloc(t.kept, (t.n_kept + 1) * sizeof *t.kept);
    t.kept[t.n_kept++] = (struct kept){fnv(f->data, f->size), f->size, f->kind};
}

/* Was this seed ever in libFuzzer's corpus?  Its files are named by their hash, and all that were there at the end
 * of a turn are in the list of what was seen. */
static bool was_in_corpus(const struct given *g)
{
    char name[41], *path = fs_join(t.o.dir, "finds");
    struct buf b = BUF_INIT((size_t)64 << 20);
    hash_sha1_hex(g->data, g->size, name);
    bool found = fs_read(path, &b, NULL) == 0 && b.p && strstr(b.p, name);
    buf_free(&b);
    free(path);
    return found;
}

/* Is this seed in the fuzzer's own corpus?  honggfuzz and libFuzzer keep many more than AFL does, make copies of
 * them by mutations that change nothing, and run them again when they are started again. */
bool in_own_corpus(const struct given *g)
{
    struct strv files = {0};
    if (is_libfuzzer())
        return was_in_corpus(g);
    char *dir = fs_join(t.o.dir, "out");
    bool found = false;
    if (is_honggfuzz() && fs_walk(dir, &files, NULL) == 0)
        for (size_t i = 0; i < files.n && !found; i++) {
            struct buf b = BUF_INIT((size_t)64 << 20);
            found = fs_read(files.v[i], &b, NULL) == 0 && b.len == g->size &&
                    memcmp(b.p, g->data, g->size) == 0;
            buf_free(&b);
        }
    strv_free(&files);
    free(dir);
    return found;
}

void check_marks(void)
{
    size_t marks = 0, once = 0, twice = 0, gates = 0, known = 0;
    for (size_t i = 0; i < t.n_given; i++) {
        char text[32];
        snprintf(text, sizeof text, "mark %.8s\n", t.given[i].data + 4);
        if (t.given[i].mark) {
            int n = logged(text);
            marks++;
            bool kept = n > 1 && in_own_corpus(&t.given[i]);
            once += n == 1 || kept;
            twice += n > 1 && !kept;
            if (n != 1 && !kept)
                printf("# seed %zu was executed %d times\n", i, n);
        }
        gates += t.given[i].gate;
        known += t.given[i].gate && (t.given[i].imported == 1 || in_own_corpus(&t.given[i]));
    }
    check(t.taken == t.offered, "%llu of %llu delivered seeds were taken",
          (unsigned long long)t.taken, (unsigned long long)t.offered);
    check(twice == 0, "no marked seed was executed twice (%zu were)", twice);
    /* An execution that was under way when the machine stood still may have been cut short. */
    check_faults(marks - once - twice, stalls(), STOOD_STILL,
                 "%zu of %zu marked seeds were executed", once, marks);
    check_faults(gates - known, stalls(), STOOD_STILL,
                 "%zu of %zu seeds that open an edge are in its corpus, told once", known, gates);
    check(t.echoes == 0, "nothing we gave came back as a find (%zu did)", t.echoes);
}

/* How often these bytes were harvested: as a seed, or as a crash, a hang or the echo of one. */
static size_t harvested(const void *data, size_t n, bool seed)
{
    uint64_t hash = fnv(data, n);
    size_t times = 0;
    for (size_t i = 0; i < t.n_kept; i++)
        times +=
            t.kept[i].hash == hash && t.kept[i].size == n && (t.kept[i].kind == FIND_SEED) == seed;
    return times;
}

struct file {
    char *name;
    struct buf b;
};

/* The files of a directory of the fuzzer whose names begin so; returns how many. */
static size_t read_files(const char *sub, const char *start, struct file **out)
{
    struct strv names = {0};
    char *dir = fs_join(t.o.dir, sub);
    size_t n = 0;
    if (fs_is_dir(dir) && fs_list(dir, &names, NULL) < 0)
        give_up("queue", dir);
    *out = xcalloc(names.n + 1, sizeof **out);
    for (size_t i = 0; i < names.n; i++) {
        struct file f = {.b = BUF_INIT((size_t)64 << 20)};
        char *path = fs_join(dir, names.v[i]);
        if (str_starts(names.v[i], start) && !fs_is_dir(path)) {
            if (fs_read(path, &f.b, NULL) < 0)
                give_up("queue", path);
            f.name = xstrdup(names.v[i]);
            (*out)[n++] = f;
        }
        free(path);
    }
    strv_free(&names);
    free(dir);
    return n;
}

static void free_files(struct file *files, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        free(files[i].name);
        buf_free(&files[i].b);
    }
    free(files);
}

/* Every file in the queue was harvested once; no name was harvested twice. */
static void check_afl_queue(void)
{
    struct file *files;
    size_t n = read_files("out/default/queue", "id:", &files), missing = 0, twice = 0;
    for (size_t i = 0; i < n; i++)
        if (!strv_has(&t.names, files[i].name)) {
            missing++;
            printf("# missing: %s\n", files[i].name);
        }
    for (size_t i = 0; i < t.names.n; i++)
        for (size_t k = i + 1; k < t.names.n; k++)
            twice += strcmp(t.names.v[i], t.names.v[k]) == 0;
    check(n > 0 && missing == 0 && twice == 0 && n == t.names.n,
          "%zu files in its queue, %zu harvested, %zu missing, %zu twice", n, t.names.n, missing,
          twice);
    free_files(files, n);
}

/* A file of honggfuzz's corpus has its size in its name; a kill in mid-write leaves another one.  An empty
 * input is none. */
static bool is_whole(const struct file *f)
{
    const char *dot = strchr(f->name, '.');
    return f->b.len && dot && strtoull(dot + 1, NULL, 16) == f->b.len;
}

/* At a start honggfuzz executes the first 4, 8, 16, ... bytes of each of its inputs before the whole, and keeps
 * those that cover something.  They are no finds. */
static bool is_beginning(const struct file *f, const struct file *files, size_t n)
{
    size_t len = f->b.len;
    if (len < 4 || (len & (len - 1)) != 0)
        return false;
    for (size_t i = 0; i < t.n_given; i++)
        if (t.given[i].size > len && memcmp(t.given[i].data, f->b.p, len) == 0)
            return true;
    for (size_t i = 0; i < n; i++)
        if (files[i].b.len > len && memcmp(files[i].b.p, f->b.p, len) == 0)
            return true;
    return false;
}

/* By their bytes: what honggfuzz has in its corpus was given to it or harvested once, and what was harvested is
 * in its corpus.  It writes a find to `out` and then to `new`, where it is harvested: one that a kill catches
 * in between stays in its corpus alone.  On a busy machine that is not one kill in four. */
static void check_corpus(void)
{
    struct file *files;
    size_t n = read_files("out", "", &files), own = 0, missing = 0, twice = 0;
    for (size_t i = 0; i < n; i++) {
        const struct file *f = &files[i];
        size_t times = harvested(f->b.p, f->b.len, true);
        own += times > 0;
        twice += times > 1;
        if (!times && is_whole(f) && !was_given(f->b.p, f->b.len) && !is_beginning(f, files, n)) {
            missing++;
            printf("# missing: %s\n", f->name);
        }
    }
    check(own > 0 && twice == 0 && own == t.finds,
          "%zu finds in its corpus, %zu harvested, %zu twice", own, t.finds, twice);
    check_faults(missing, (t.kills + 3) / 4, "a kill may have come between its two writes",
                 "what else is in its corpus was given to it (%zu were not)", missing);
    free_files(files, n);
}

/* What honggfuzz finds again it may save again. */
static void check_new(void)
{
    struct file *files;
    size_t n = read_files("new", "", &files), left = 0;
    for (size_t i = 0; i < n; i++)
        left += is_whole(&files[i]) && !was_given(files[i].b.p, files[i].b.len) &&
                !harvested(files[i].b.p, files[i].b.len, true);
    check(left == 0, "nothing new was left by the harvest (%zu were)", left);
    free_files(files, n);
}

/* Of what libFuzzer has in DIR/sub: how much was neither given to it nor harvested, and how much was harvested
 * more than once. */
static size_t count_strangers(const char *sub, size_t *own, size_t *twice)
{
    struct file *files;
    size_t n = read_files(sub, "", &files), strangers = 0;
    for (size_t i = 0; i < n; i++) {
        const struct file *f = &files[i];
        size_t times = harvested(f->b.p, f->b.len, true);
        *own += times > 0;
        *twice += times > 1;
        if (!times && f->b.len && !was_given(f->b.p, f->b.len)) {
            strangers++;
            printf("# missing: %s/%s\n", sub, f->name);
        }
    }
    free_files(files, n);
    return strangers;
}

/* What libFuzzer has in its corpus was given to it or harvested once.  What it has replaced by something smaller is
 * not there any more. */
static void check_lf_corpus(void)
{
    size_t own = 0, twice = 0, same = 0;
    size_t missing = count_strangers("new", &own, &twice) + count_strangers("old", &own, &twice);
    for (size_t i = 0; i < t.names.n; i++)
        for (size_t k = i + 1; k < t.names.n; k++)
            same += strcmp(t.names.v[i], t.names.v[k]) == 0;
    check(own > 0 && own <= t.finds && twice == 0 && same == 0,
          "%zu finds in its corpus, %zu harvested, %zu twice, %zu names twice", own, t.finds, twice,
          same);
    check(missing == 0, "what else is in its corpus was given to it (%zu were not)", missing);
}

/* A hang on an import is nobody's find; a crash on one is an echo. */
static void check_crashes(void)
{
    struct file *files;
    const char *dir = is_afl() ? "out/default/crashes" : "crash";
    size_t n = read_files(dir, is_afl() ? "id:" : "SIG", &files), missing = 0;
    for (size_t i = 0; i < n; i++) {
        bool hang = str_starts(files[i].name, "SIGVTALRM") || str_starts(files[i].name, "SIGALRM");
        missing += files[i].b.len && !harvested(files[i].b.p, files[i].b.len, false) &&
                   !(hang && was_given(files[i].b.p, files[i].b.len));
    }
    check(missing == 0, "each of its %zu crash files was harvested as it is (%zu were not)", n,
          missing);
    free_files(files, n);
}

void check_queue(void)
{
    if (is_honggfuzz()) {
        check_corpus();
        check_new();
    } else if (is_libfuzzer()) {
        check_lf_corpus();
    } else {
        check_afl_queue();
    }
    check_crashes();
}
