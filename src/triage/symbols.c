/* symbols: one llvm-symbolizer, its answers remembered, and the reports that wait for them. */
#include "triage/symbols.h"

#include "base/buf.h"
#include "base/die.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/str.h"
#include "proc/cage.h"
#include "proc/tree.h"
#include "target/run.h"
#include "triage/frame.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATIENCE_NS                                                                                \
    (60 * NS_PER_S)      /* reading the debug information of a large program takes a while */
#define FRAMES_ASKED 400 /* of one report */
#define SLOTS 16384      /* of the table of answers */
#define WARNINGS 3

struct answer {
    char *module;
    uint64_t offset;
    char *frames; /* "in f /a/b.c:1:2\n..." a line per inlined frame; NULL: asked, not answered */
    struct answer *next;
};

struct waiting {
    char *text;
    size_t len;
    symbols_done_fn *done;
    void *arg;
    uint64_t until; /* the question whose answer it waits for */
    bool again;     /* its questions were put to a second process already */
    bool failed;    /* which ended, too */
    struct waiting *next;
};

struct symbols {
    struct loop *loop;
    char *program, *cwd;
    struct cage cage;
    bool runs;
    int in, out;
    struct buf ask, got; /* not yet written, not yet understood */
    uint64_t asked, answered, ended;
    struct answer **order; /* of the questions, a ring would do; freed with the table */
    size_t order_cap;
    struct answer *table[SLOTS];
    struct waiting *first, **last;
    struct timer patience;
};

char *symbols_program(void)
{
    const char *own = getenv("ASAN_SYMBOLIZER_PATH");
    if (own && *own)
        return run_find(own); /* that one, or none */
    char *path = NULL;
    static const char *const names[] = {"llvm-symbolizer-19", "llvm-symbolizer",
                                        "/usr/lib/llvm-19/bin/llvm-symbolizer"};
    for (size_t i = 0; i < sizeof names / sizeof *names && !path; i++)
        path = run_find(names[i]);
    return path;
}

/* --- answers ------------------------------------------------------------------------------------ */

static struct answer **slot_of(struct symbols *s, const char *module, uint64_t offset)
{
    uint64_t h = offset * UINT64_C(0x9e3779b97f4a7c15);
    struct answer **p = &s->table[h >> 50];
    while (*p && ((*p)->offset != offset || strcmp((*p)->module, module) != 0))
        p = &(*p)->next;
    return p;
}

/* Frames of the C library need no lines, and its name says enough. */
static bool is_system(const char *module)
{
    return str_starts(module, "/lib/") || str_starts(module, "/usr/lib/") ||
           str_starts(module, "/lib64/");
}

static void add_frame(struct buf *b, json_t *symbol, const struct answer *a)
{
    const char *function = json_string_value(json_object_get(symbol, "FunctionName"));
    const char *file = json_string_value(json_object_get(symbol, "FileName"));
    long long line = json_integer_value(json_object_get(symbol, "Line"));
    long long column = json_integer_value(json_object_get(symbol, "Column"));
    bool lines = file && *file && !is_system(a->module);
    if (!function || !*function)
        buf_printf(b, " (%s+0x%llx)\n", a->module, (unsigned long long)a->offset);
    else if (lines && column)
        buf_printf(b, "in %s %s:%lld:%lld\n", function, file, line, column);
    else if (lines)
        buf_printf(b, "in %s %s:%lld\n", function, file, line);
    else
        buf_printf(b, "in %s (%s+0x%llx)\n", function, a->module, (unsigned long long)a->offset);
}

static char *frames_of(const char *json, size_t len, const struct answer *a)
{
    struct buf b = BUF_INIT(1 << 20);
    json_t *o = json_loadb(json, len, JSON_REJECT_DUPLICATES, NULL);
    json_t *list = json_object_get(o, "Symbol");
    for (size_t i = 0; i < json_array_size(list); i++)
        add_frame(&b, json_array_get(list, i), a);
    json_decref(o);
    if (!b.len)
        buf_printf(&b, " (%s+0x%llx)\n", a->module, (unsigned long long)a->offset);
    return buf_take(&b);
}

/* --- reports ------------------------------------------------------------------------------------ */

/* The text with every frame that was asked for in the words of the answer; frames are numbered anew, because of the
 * inlined ones. */
static void rewrite(struct symbols *s, const struct waiting *w, struct buf *out)
{
    int n = 0;
    for (const char *p = w->text, *end = p + w->len; p < end;) {
        const char *nl = memchr(p, '\n', (size_t)(end - p));
        size_t len = nl ? (size_t)(nl - p) : (size_t)(end - p);
        struct frame f = {0};
        bool is = frame_parse(&f, p, len);
        struct answer *a = is && !*f.function && *f.module ? *slot_of(s, f.module, f.offset) : NULL;
        n = is && f.n ? n : 0;
        for (const char *line = a ? a->frames : NULL; line && *line;) {
            size_t k = strcspn(line, "\n");
            buf_printf(out, "    #%d 0x%012llx %.*s\n", n++, (unsigned long long)f.pc, (int)k,
                       line);
            line += k + 1;
        }
        if (!a || !a->frames) {
            buf_add(out, p, len);
            buf_str(out, "\n");
            n += is;
        }
        frame_free(&f);
        p += len + 1;
    }
}

static void finish(struct symbols *s, struct waiting *w)
{
    struct buf out = BUF_INIT(BUF_TEXT_MAX);
    if (!w->failed)
        rewrite(s, w, &out);
    w->done(w->arg, w->failed ? NULL : out.p ? out.p : "", out.len);
    buf_free(&out);
    free(w->text);
    free(w);
}

static void finish_those_ready(struct symbols *s)
{
    while (s->first && s->first->until <= s->answered) {
        struct waiting *w = s->first;
        s->first = w->next;
        if (!s->first)
            s->last = &s->first;
        finish(s, w);
    }
    loop_timer_clear(s->loop, &s->patience);
    if (s->first)
        loop_timer(s->loop, &s->patience, loop_now(s->loop) + PATIENCE_NS);
}

/* --- the process -------------------------------------------------------------------------------- */

static void end(struct symbols *s)
{
    struct cage_end end;
    if (!s->runs)
        return;
    s->runs = false;
    loop_unwatch(s->loop, s->in);
    loop_unwatch(s->loop, s->out);
    close(s->in);
    close(s->out);
    cage_kill(&s->cage);
    cage_reap(&s->cage, &end);
}

static void lost(struct symbols *s, const char *why);
static void on_writable(void *arg, uint32_t events);

static void write_more(struct symbols *s)
{
    struct err e = {0};
    ssize_t n = 0;
    while (s->ask.len && (n = write(s->in, s->ask.p, s->ask.len)) > 0) {
        memmove(s->ask.p, s->ask.p + n, s->ask.len - (size_t)n);
        s->ask.len -= (size_t)n;
    }
    bool broken = n < 0 && errno != EAGAIN && errno != EINTR;
    loop_unwatch(s->loop, s->in);
    if (broken)
        lost(s, "ended");
    else if (s->ask.len && loop_watch(s->loop, s->in, EPOLLOUT, on_writable, s, &e) < 0)
        lost(s, e.msg);
}

static void on_writable(void *arg, uint32_t events)
{
    (void)events;
    write_more(arg);
    finish_those_ready(arg);
}

static void on_answer(void *arg, uint32_t events)
{
    struct symbols *s = arg;
    (void)events;
    char *room = buf_room(&s->got, 65536);
    ssize_t n = room ? read(s->out, room, 65536) : 0;
    if (n <= 0) {
        if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
            lost(s, "ended");
            finish_those_ready(s);
        }
        return;
    }
    s->got.len += (size_t)n;
    size_t used = 0;
    for (char *nl; (nl = memchr(s->got.p + used, '\n', s->got.len - used));) {
        char *line = s->got.p + used;
        struct answer *a = s->answered < s->asked ? s->order[s->answered++] : NULL;
        if (a)
            a->frames = frames_of(line, (size_t)(nl - line), a);
        used = (size_t)(nl - s->got.p) + 1;
    }
    memmove(s->got.p, s->got.p + used, s->got.len - used);
    s->got.len -= used;
    finish_those_ready(s);
}

static void on_no_patience(void *arg)
{
    struct symbols *s = arg;
    lost(s, "does not answer");
    finish_those_ready(s);
}

static void close_pipe(int p[2])
{
    for (int i = 0; i < 2; i++)
        if (p[i] >= 0)
            close(p[i]);
}

static int start(struct symbols *s, struct err *e)
{
    const char *argv[] = {s->program, "--output-style=JSON", "--inlines", "--demangle", NULL};
    int in[2] = {-1, -1}, out[2] = {-1, -1}, rc = 0;
    if (pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0)
        rc = err_sys(e, "cannot make pipes");
    if (rc == 0 &&
        (fcntl(in[1], F_SETFL, O_NONBLOCK) < 0 || fcntl(out[0], F_SETFL, O_NONBLOCK) < 0))
        rc = err_sys(e, "cannot set up pipes");
    struct cage_opts o = {.argv = argv, .in = in[0], .out = out[1], .cwd = s->cwd, .cpu = -1};
    if (rc == 0)
        rc = cage_start(&s->cage, &o, e);
    if (rc < 0) {
        close_pipe(in);
        close_pipe(out);
        return rc;
    }
    close(in[0]);
    close(out[1]);
    s->runs = true;
    s->in = in[1];
    s->out = out[0];
    rc = loop_watch(s->loop, s->out, EPOLLIN, on_answer, s, e);
    if (rc < 0)
        end(s);
    return rc;
}

struct symbols *symbols_new(struct loop *l, const char *cwd)
{
    char *program = symbols_program();
    struct err e = {0};
    if (!program)
        return NULL;
    struct symbols *s = xcalloc(1, sizeof *s);
    s->loop = l;
    s->program = program;
    s->cwd = xstrdup(cwd);
    s->ask = s->got = (struct buf)BUF_INIT(BUF_TEXT_MAX);
    s->last = &s->first;
    s->patience = (struct timer){.fn = on_no_patience, .arg = s};
    if (start(s, &e) == 0)
        return s;
    log_warn("%s: reports go on without functions and lines", e.msg);
    symbols_free(s);
    return NULL;
}

/* --- questions ---------------------------------------------------------------------------------- */

static void ask(struct symbols *s, const struct frame *f)
{
    struct answer **p = slot_of(s, f->module, f->offset);
    struct stat st;
    if (*p || strchr(f->module, '"') || strchr(f->module, '\n'))
        return;
    if (stat(f->module, &st) < 0 || !S_ISREG(st.st_mode)) /* a pipe would make it wait for ever */
        return;
    struct answer *a = *p = xcalloc(1, sizeof *a);
    *a = (struct answer){.module = xstrdup(f->module), .offset = f->offset};
    if (s->asked == s->order_cap) {
        s->order_cap = s->order_cap ? 2 * s->order_cap : 256;
        s->order = xrealloc(s->order, s->order_cap * sizeof *s->order);
    }
    s->order[s->asked++] = a;
    buf_printf(&s->ask, "\"%s\" 0x%llx\n", f->module, (unsigned long long)f->offset);
}

static void ask_all(struct symbols *s, const char *text, size_t len)
{
    int asked = 0;
    for (const char *p = text, *end = p + len; p < end && asked < FRAMES_ASKED;) {
        const char *nl = memchr(p, '\n', (size_t)(end - p));
        size_t n = nl ? (size_t)(nl - p) : (size_t)(end - p);
        struct frame f = {0};
        if (frame_parse(&f, p, n) && !*f.function && *f.module) {
            ask(s, &f);
            asked++;
        }
        frame_free(&f);
        p += n + 1;
    }
}

/* To the process there is, or a new one; where there is none to be had, it failed. */
static void put_questions(struct symbols *s, struct waiting *w)
{
    struct err e = {0};
    w->until = 0;
    if (!s->runs && start(s, &e) < 0) {
        log_warn("%s: a report stays without functions and lines", e.msg);
        w->failed = true;
        return;
    }
    ask_all(s, w->text, w->len);
    w->until = s->asked;
}

/* Forget what was asked and not answered, so that it is asked again. */
static void forget_questions(struct symbols *s)
{
    for (uint64_t i = s->answered; i < s->asked; i++) {
        struct answer *a = s->order[i], **p = slot_of(s, a->module, a->offset);
        *p = a->next;
        free(a->module);
        free(a);
    }
    s->asked = s->answered = 0;
    s->ask.len = s->got.len = 0;
}

/* The process is of no use any more: what waits for it is asked once again of another. */
static void lost(struct symbols *s, const char *why)
{
    if (s->ended++ < WARNINGS)
        log_warn("llvm-symbolizer %s; another is started", why);
    end(s);
    for (struct waiting *w = s->first; w; w = w->next)
        w->until = w->until > s->answered;
    forget_questions(s);
    for (struct waiting *w = s->first; w; w = w->next) {
        if (!w->until)
            continue;
        w->failed = w->again;
        w->again = true;
        w->until = 0;
        if (!w->failed)
            put_questions(s, w);
    }
    if (s->ask.len)
        write_more(s);
}

void symbols_fill(struct symbols *s, const char *text, size_t len, symbols_done_fn *done, void *arg)
{
    if (!s) {
        done(arg, text, len);
        return;
    }
    struct waiting *w = xcalloc(1, sizeof *w);
    *w = (struct waiting){.text = xmemdup(text, len), .len = len, .done = done, .arg = arg};
    put_questions(s, w);
    *s->last = w;
    s->last = &w->next;
    if (s->ask.len)
        write_more(s);
    finish_those_ready(s);
}

int64_t symbols_cpu_us(const struct symbols *s)
{
    struct tree_usage u = {0};
    pid_t pid = s && s->runs ? cage_program(&s->cage) : 0;
    if (pid > 0)
        tree_usage(pid, &u);
    return u.cpu_ns / 1000;
}

static void nobody(void *arg, const char *text, size_t len)
{
    (void)arg;
    (void)text;
    (void)len;
}

void symbols_forget(struct symbols *s, void *arg)
{
    for (struct waiting *w = s ? s->first : NULL; w; w = w->next)
        if (w->arg == arg)
            w->done = nobody;
}

void symbols_free(struct symbols *s)
{
    if (!s)
        return;
    end(s);
    loop_timer_clear(s->loop, &s->patience);
    while (s->first) {
        struct waiting *w = s->first;
        s->first = w->next;
        free(w->text);
        free(w);
    }
    for (size_t i = 0; i < SLOTS; i++)
        while (s->table[i]) {
            struct answer *a = s->table[i];
            s->table[i] = a->next;
            free(a->module);
            free(a->frames);
            free(a);
        }
    free(s->order);
    free(s->program);
    free(s->cwd);
    buf_free(&s->ask);
    buf_free(&s->got);
    free(s);
}
