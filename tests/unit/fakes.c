/* fakes: see the header. */
#include "fakes.h"

#include "base/die.h"
#include "base/fs.h"
#include "base/rng.h"
#include "journal/settings.h"
#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

struct fake {
    struct instance in;
    struct fakes *f;
    struct loop *l;
    struct timer timer;
    struct rng rng;
    int arm;
    char *queue, *inbox; /* files: u16 depths found; i64 ids delivered */
    char *known;         /* u16 depths given to it, as an import stays in a real one's queue */
    char *ctl;           /* u64: the last batch it was given, which outlives its supervisor */
    uint16_t depth;      /* deepest it knows */
    uint64_t batch, offered;
    int64_t from, cycle_ns;
    int turns;
    enum instance_event event;
};

static void append(const char *path, const void *data, size_t n)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (fd < 0 || fs_write_fd(fd, data, n, NULL) < 0)
        BUG("fake file");
    close(fd);
}

static void learn_depth(struct fake *k, uint16_t depth)
{
    if (depth > k->depth)
        k->depth = depth;
}

static void recall(struct fake *k, const char *path)
{
    struct buf b = BUF_INIT(1 << 20);
    if (fs_exists(path) && fs_read(path, &b, NULL) == 0)
        for (size_t i = 0; i + 1 < b.len; i += 2)
            learn_depth(k, *(uint16_t *)(void *)(b.p + i));
    buf_free(&b);
}

static void take(struct fake *k, const struct input *in)
{
    append(k->known, in->data, 2);
    learn_depth(k, *(const uint16_t *)in->data);
}

static void fire(void *arg)
{
    struct fake *k = arg;
    k->in.state = k->event == INSTANCE_PARKED ? INST_PARKED
                  : k->event == INSTANCE_DIED ? INST_DEAD
                                              : INST_STOPPED;
    k->f->stopped += k->event == INSTANCE_STOPPED;
    k->in.on_event(k->in.arg, &k->in, k->event);
}

static int fake_start(struct instance *in, const struct input *seeds, size_t n, bool again,
                      struct err *e)
{
    (void)e;
    struct fake *k = (struct fake *)in;
    if (again) {
        k->f->again++;
        recall(k, k->queue);
        recall(k, k->known);
    }
    for (size_t i = 0; i < n; i++)
        take(k, &seeds[i]);
    in->state = INST_PARKED;
    return 0;
}

static int fake_deliver(struct instance *in, uint64_t batch, const struct input *v, size_t n,
                        struct err *e)
{
    struct fake *k = (struct fake *)in;
    if (batch <= k->batch)
        return 0;
    k->batch = batch;
    if (fs_write_quick(k->ctl, &batch, sizeof batch, NULL) < 0)
        BUG("fake control page");
    struct buf b = BUF_INIT(1 << 22);
    if (fs_exists(k->inbox) && fs_read(k->inbox, &b, NULL) < 0)
        BUG("fake inbox");
    for (size_t i = 0; i < n; i++) {
        k->f->imports++;
        for (size_t j = 0; j + 8 <= b.len; j += 8)
            k->f->doubles += memcmp(b.p + j, &v[i].id, 8) == 0;
        append(k->inbox, &v[i].id, 8);
        take(k, &v[i]);
    }
    buf_free(&b);
    k->offered = n;
    if (k->f->lost_answers > 0 && k->f->lost_answers--)
        return err_set(e, -EIO, "the answer was lost");
    return 0;
}

/* One cycle: one step deeper if this arm can take it; now and then a useless new input. */
static void one_cycle(struct fake *k)
{
    uint16_t next = (uint16_t)(k->depth + 1);
    if (next < FAKE_EDGES && next % k->f->n_arms == k->arm && rng_below(&k->rng, 3) == 0) {
        append(k->queue, &next, 2);
        if (next % 97 == 0 && ++next < FAKE_EDGES) /* a crash is not shared: the way on is */
            append(k->queue, &next, 2);
        k->depth = next;
    }
}

/* Deeper than this arm can go alone; a crash that nobody else finds. */
static void odd_finds(struct fake *k)
{
    for (int i = 0; k->f->odd == ODD_EDGES && i < 7; i++) {
        k->depth++;
        append(k->queue, &k->depth, 2);
    }
    uint16_t crash = 97 * 30;
    if (k->f->odd == ODD_CRASH)
        append(k->queue, &crash, 2);
}

/* Of a second, of a turn's eleventh part, longer than a turn, getting shorter, getting longer. */
static void change_cycle(struct fake *k)
{
    static const int64_t first_ms[] = {1000, 10950, 200000, 8000, 700};
    static const double factor[] = {1, 1, 1, 0.95, 1.05};
    double ms = (double)first_ms[k->arm] * pow(factor[k->arm], (double)k->turns++);
    k->cycle_ns = (int64_t)(ms * NS_PER_MS * (0.8 + (double)rng_below(&k->rng, 400) / 1000));
}

static void become(struct fake *k, const char *fuzzer)
{
    int arm = fuzzer[1] - '0';
    k->f->changes += arm != k->arm;
    k->arm = arm;
    k->cycle_ns = (3 + arm) * NS_PER_S;
}

static int fake_resume(struct instance *in, const struct turn_quota *q, int cpu, struct err *e)
{
    (void)cpu;
    (void)e;
    struct fake *k = (struct fake *)in;
    if (q->as)
        become(k, q->as);
    if (k->f->uneven)
        change_cycle(k);
    int64_t length = q->cycles ? (int64_t)q->cycles * k->cycle_ns : q->cap_ns;
    if (length < q->least_ns)
        length = q->least_ns;
    if (length > q->cap_ns)
        length = q->cap_ns;
    bool dies = k->arm == k->f->dies, odd = ++k->f->resumes == k->f->odd_turn;
    uint64_t cycles = (uint64_t)(length / k->cycle_ns);
    for (uint64_t i = 0; i < cycles && !dies && !(odd && k->f->odd == ODD_NOTHING); i++)
        one_cycle(k);
    if (odd)
        odd_finds(k);
    if (odd && k->f->odd == ODD_TIME)
        length += 11 * NS_PER_S;
    in->state = INST_RUNNING;
    in->report = (struct turn_report){.execs = cycles * 1000,
                                      .cycles = cycles,
                                      .active_ns = length,
                                      .cycle_ns = (int64_t)cycles * k->cycle_ns,
                                      .offered = k->offered,
                                      .taken = k->offered,
                                      .died = dies};
    if (dies)
        snprintf(in->report.why, sizeof in->report.why, "fake death");
    k->offered = 0;
    k->event = dies ? INSTANCE_DIED : INSTANCE_PARKED;
    loop_timer(k->l, &k->timer, loop_now(k->l) + length);
    return 0;
}

static void fake_suspend(struct instance *in)
{
    struct fake *k = (struct fake *)in;
    loop_timer(k->l, &k->timer, loop_now(k->l));
}

static void *heavy_input(const struct fakes *f, uint16_t depth)
{
    char *data = xcalloc(1, f->heavy_bytes);
    memcpy(data, &depth, 2);
    memcpy(data + 2, &f->heavy_us, 4);
    return data;
}

static void add_find(struct harvest *h, uint16_t depth, void *data, size_t size, size_t at)
{
    harvest_add(h, (struct find){.kind = depth % 97 == 0 ? FIND_CRASH : FIND_SEED,
                                 .data = data,
                                 .size = size,
                                 .entry = (int64_t)at,
                                 .parent_entry = (int64_t)at - 1,
                                 .signal = depth % 97 == 0 ? 11 : 0,
                                 .name = str_fmt("depth:%u", depth)});
}

#define HANG_SIZE 9 /* a depth of 0, the CPU time, a number */

static void add_hangs(struct fake *k, struct harvest *h)
{
    for (int i = 0; i < k->f->hangs; i++) {
        uint16_t number = (uint16_t)rng_below(&k->rng, 65536);
        char *data = xcalloc(1, HANG_SIZE);
        memcpy(data + 2, &k->f->hang_us, 4);
        memcpy(data + 6, &number, 2);
        harvest_add(h, (struct find){.kind = FIND_HANG,
                                     .data = data,
                                     .size = HANG_SIZE,
                                     .entry = -1,
                                     .parent_entry = -1,
                                     .name = str_fmt("hang:%u", number)});
    }
}

static int fake_harvest(struct instance *in, struct harvest *h, struct err *e)
{
    struct fake *k = (struct fake *)in;
    struct buf b = BUF_INIT(1 << 20);
    size_t at = in->cursor ? strtoull(in->cursor, NULL, 10) : 0;
    if (fs_exists(k->queue) && fs_read(k->queue, &b, e) < 0)
        return e->code;
    for (; at * 2 + 1 < b.len; at++) {
        uint16_t depth = *(uint16_t *)(void *)(b.p + at * 2);
        enum fake_heavy heavy = k->arm ? HEAVY_NONE : k->f->heavy;
        if (heavy != HEAVY_NONE)
            add_find(h, depth, heavy_input(k->f, depth), k->f->heavy_bytes, at);
        if (heavy != HEAVY_ONLY)
            add_find(h, depth, xmemdup(&depth, 2), 2, at);
    }
    add_hangs(k, h);
    h->cursor = str_fmt("%zu", at);
    buf_free(&b);
    if (h->n && k->f->bad_reads > 0 && k->f->bad_reads--)
        return err_set(e, -EIO, "a file could not be read");
    return 0;
}

static void fake_harvested(struct instance *in, const struct harvest *h)
{
    free(in->cursor);
    in->cursor = xstrdup(h->cursor ? h->cursor : "0");
}

static void fake_usage(struct instance *in, struct tree_usage *u)
{
    (void)in;
    *u = (struct tree_usage){0};
}

/* As a fuzzer that is told to end finishes the execution at hand. */
static void save_stray(struct fake *k)
{
    if (k->f->stray) {
        append(k->queue, &k->f->stray, 2);
        k->f->stray++;
    }
}

static void fake_stop(struct instance *in)
{
    struct fake *k = (struct fake *)in;
    save_stray(k);
    in->state = INST_STOPPING;
    k->event = INSTANCE_STOPPED;
    loop_timer(k->l, &k->timer, loop_now(k->l) + (k->arm + 1) * NS_PER_MS); /* one by one */
}

static void fake_free(struct instance *in)
{
    struct fake *k = (struct fake *)in;
    loop_timer_clear(k->l, &k->timer);
    if (in->state == INST_PARKED)
        save_stray(k);
    free(k->queue);
    free(k->inbox);
    free(k->known);
    free(k->ctl);
    free(in->cursor);
    free(k);
}

static const struct instance_ops fake_ops = {fake_start,   fake_deliver, fake_resume,
                                             fake_suspend, fake_harvest, fake_harvested,
                                             fake_usage,   fake_stop,    fake_free};

struct env_of_fakes {
    struct fakes *f;
    struct loop *l;
};
static struct env_of_fakes the_env;

static int open_fake(void *arg, struct instance **out, const struct instance_opts *o, struct err *e)
{
    struct env_of_fakes *env = arg;
    struct fake *k = xcalloc(1, sizeof *k);
    int rc = fs_mkdirs(o->dir, e);
    k->in.ops = &fake_ops;
    k->in.fuzzer = "fake";
    k->in.number = o->number;
    k->f = env->f;
    k->l = env->l;
    k->timer = (struct timer){.fn = fire, .arg = k};
    rng_seed(&k->rng, o->seed);
    k->arm = o->fuzzer[1] - '0';
    k->cycle_ns = (3 + k->arm) * NS_PER_S;
    k->queue = fs_join(o->dir, "queue");
    k->inbox = fs_join(o->dir, "inbox");
    k->known = fs_join(o->dir, "known");
    k->ctl = fs_join(o->dir, "ctl");
    struct buf b = BUF_INIT(sizeof k->batch);
    if (fs_exists(k->ctl) && fs_read(k->ctl, &b, NULL) == 0)
        memcpy(&k->batch, b.p, b.len);
    buf_free(&b);
    *out = &k->in;
    return rc;
}

/* --- the evaluator ---------------------------------------------------------------------------- */
struct fake_eval {
    struct evaluator ev;
    struct loop *l;
    struct timer timer;
    struct eval_job *job;
};

static void measured(void *arg)
{
    struct fake_eval *fe = arg;
    struct eval_job *j = fe->job;
    if (the_env.f->no_judge) {
        j->failed = err_usage(&j->error, "the neutral binary does not come up");
        j->done(j->arg, j);
        return;
    }
    j->results = xcalloc(j->n, sizeof *j->results);
    for (size_t i = 0; i < j->n; i++) {
        size_t size = j->inputs[i].size;
        bool broken = the_env.f->rigid && size > 2 && size < the_env.f->heavy_bytes;
        uint16_t depth = size < 2 || broken ? 0 : *(const uint16_t *)j->inputs[i].data;
        struct eval_result *r = &j->results[i];
        r->status = depth && depth % 97 == 0 ? RUN_CRASH : RUN_OK;
        if (size == HANG_SIZE)
            r->status = RUN_TIMEOUT;
        r->signal = r->status == RUN_CRASH ? 11 : 0;
        if (size >= 6)
            memcpy(&r->cpu_us, (const char *)j->inputs[i].data + 2, 4);
        r->edges.n = depth % FAKE_EDGES + 1u;
        r->edges.ids = xmalloc(r->edges.n * sizeof *r->edges.ids);
        for (uint32_t k = 0; k < r->edges.n; k++)
            r->edges.ids[k] = k;
    }
    j->done(j->arg, j);
}

static int fake_submit(struct evaluator *ev, struct eval_job *job, struct err *e)
{
    (void)e;
    struct fake_eval *fe = (struct fake_eval *)ev;
    fe->job = job;
    loop_timer(fe->l, &fe->timer, loop_now(fe->l) + (int64_t)job->n * NS_PER_MS);
    return 0;
}

static void fake_eval_free(struct evaluator *ev)
{
    struct fake_eval *fe = (struct fake_eval *)ev;
    loop_timer_clear(fe->l, &fe->timer);
    free(fe);
}

static const struct eval_ops fake_eval_ops = {fake_submit, fake_eval_free};

static int open_fake_eval(void *arg, struct evaluator **out, int slot, int cpu, struct err *e)
{
    (void)slot;
    (void)cpu;
    (void)e;
    struct env_of_fakes *env = arg;
    struct fake_eval *fe = xcalloc(1, sizeof *fe);
    *fe = (struct fake_eval){.ev = {&fake_eval_ops}, .l = env->l};
    fe->timer = (struct timer){.fn = measured, .arg = fe};
    *out = &fe->ev;
    return 0;
}

/* --- the target: a chain ------------------------------------------------------------------------ */
void fakes_init(struct fakes *f, int n_arms)
{
    *f = (struct fakes){.n_arms = n_arms, .dies = -1};
    struct table *t = &f->table;
    t->n_edges = FAKE_EDGES;
    t->n_funcs = FAKE_FUNCS;
    t->n_preds = FAKE_EDGES - 1;
    t->edges = xcalloc(FAKE_EDGES, sizeof *t->edges);
    t->preds = xcalloc(FAKE_EDGES, sizeof *t->preds);
    t->funcs = xcalloc(FAKE_FUNCS, sizeof *t->funcs);
    for (uint16_t i = 0; i < FAKE_FUNCS; i++)
        t->funcs[i] = (struct table_func){"fake", i * (FAKE_EDGES / FAKE_FUNCS), i};
    for (uint32_t i = 0; i < FAKE_EDGES; i++) {
        t->edges[i].func = i / (FAKE_EDGES / FAKE_FUNCS);
        t->edges[i].depth = (uint16_t)t->edges[i].func;
        t->edges[i].pred_off = i ? i - 1 : 0;
        t->edges[i].pred_n = i ? 1 : 0;
        t->edges[i].succ_n = 2;
        t->edges[i].mem = (uint16_t)(i % 5);
        if (i)
            t->preds[i - 1] = i - 1;
    }
    snprintf(t->build_id, sizeof t->build_id, "fake");
}

void fakes_free(struct fakes *f)
{
    free(f->table.edges);
    free(f->table.preds);
    free(f->table.funcs);
}

static const char *host_of(const char *fuzzer)
{
    return fuzzer[1] < '3' ? "f012" : NULL;
}

struct campaign_env fakes_env(struct fakes *f, struct loop *l)
{
    the_env = (struct env_of_fakes){f, l};
    return (struct campaign_env){.loop = l,
                                 .table = &f->table,
                                 .arg = &the_env,
                                 .open_instance = open_fake,
                                 .open_evaluator = open_fake_eval,
                                 .host = host_of};
}

/* --- whole campaigns ------------------------------------------------------------------------------ */
char fakes_dir[64];

int fakes_fresh_dir(void **state)
{
    (void)state;
    snprintf(fakes_dir, sizeof fakes_dir, "/dev/shm/carol-campaign-XXXXXX");
    if (mkdtemp(fakes_dir))
        return 0;
    snprintf(fakes_dir, sizeof fakes_dir, "/tmp/carol-campaign-XXXXXX");
    return mkdtemp(fakes_dir) ? 0 : -1;
}

int fakes_remove_dir(void **state)
{
    (void)state;
    return fs_remove_tree(fakes_dir, NULL);
}

struct settings fakes_options(const char *dir, const char *scheduler, int arms, int jobs,
                              int64_t budget_s)
{
    struct settings o = {.out = fs_join(dir, "out"),
                         .scheduler = xstrdup(scheduler),
                         .jobs = jobs,
                         .budget_ns = budget_s * NS_PER_S,
                         .turn_ns = 120 * NS_PER_S,
                         .seed = 7,
                         .timeout_ms = 1000,
                         .exec_ms = 1000,
                         .reward = REWARD_COVERAGE_INTERVAL};
    char *seed = fs_join(dir, "seed");
    assert_int_equal(fs_write_quick(seed, "\1\0", 2, NULL), 0);
    strv_take(&o.seeds, seed);
    for (int i = 0; i < arms; i++)
        strv_addf(&o.fuzzers, "f%d", i);
    return o;
}

void fakes_run(struct fakes *f, struct settings o, struct tally *out)
{
    struct loop *l = loop_new_virtual(5 * NS_PER_S);
    struct campaign_env env = fakes_env(f, l);
    struct campaign *c = NULL;
    struct err e = {0};
    if (campaign_new(&c, &o, &env, NULL, &e) < 0 || campaign_run(c, &e) < 0)
        fail_msg("%s", e.msg);
    *out = *campaign_tally(c);
    campaign_free(c);
    loop_free(l);
}

void fakes_replay(struct fakes *f, const char *dir, const char *other, const struct replay_how *how,
                  struct replay *r)
{
    struct store *s;
    struct err e = {0};
    char *out = fs_join(dir, "out");
    struct settings o = {0};
    struct fold_settings st;
    if (store_open(&s, out, STORE_READ, &e) < 0 || settings_read(&o, s, &e) < 0)
        fail_msg("%s", e.msg);
    settings_fold(&o, &f->table, &st);
    if (other) {
        st.scheduler = other;
        st.params = NULL;
    }
    if (replay_journal(r, s, &st, how, &e) < 0)
        fail_msg("%s", e.msg);
    settings_free(&o);
    store_close(s);
    free(out);
}
