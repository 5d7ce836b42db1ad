/* records: makes records of campaigns for the oracle (tests/oracle), with everything in them that a real one may
 * have and a short one seldom has: kills, resumes, deaths, late finds, hangs, echoes, quarantine, learned calls.
 *
 *     unit-records DIR [NAME...]      DIR/NAME/out and DIR/NAME/table.edges, all or those named
 *
 * The fakes of fakes.h on virtual time, with two layers around them: an instance that also saves other kinds of
 * finds, and an evaluator that gives other results. */
#include "fakes.h"

#include "base/die.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/log.h"
#include "corpus/import.h"

#include <stdlib.h>
#include <string.h>

static struct fakes f;
static struct campaign_env inner; /* the fakes' own */

/* --- instances that save more ------------------------------------------------------------------------ */
/* What an input is beside its depth says its third byte. */
enum mark { HANG = 'h', SLOW = 't', HUGE_ = 'o', LEAVES = 'x', KILLER = 'q', QUIET = 'c' };

static struct instance_ops saving; /* the fake's operations with our harvest and deliver */
static const struct instance_ops *fake_ops;
static struct {
    struct instance *in;
    int64_t id;
    unsigned char data[2];
} given; /* the newest import, and to whom */
static struct loop *loop;
#define STARTUP_S 7
static struct run {
    struct instance *in;
    bool fresh;          /* started for this turn */
    int64_t from, since; /* resumed, and started up */
    struct turn_quota quota;
    struct timer timer; /* armed while it starts up */
} runs[32];

static bool awake; /* no input sleeps */

static void add_find(struct harvest *h, enum find_kind kind, uint16_t depth, enum mark mark,
                     unsigned char number)
{
    unsigned char *data = xmalloc(4);
    memcpy(data, &depth, 2);
    data[2] = (unsigned char)mark;
    data[3] = number;
    harvest_add(h, (struct find){.kind = kind,
                                 .data = data,
                                 .size = 4,
                                 .entry = -1,
                                 .parent_entry = -1,
                                 .name = str_fmt("%c of depth %u", mark, depth)});
}

/* With a find of some depth come others. */
static void add_more(struct harvest *h, uint16_t depth)
{
    for (unsigned char i = 0; depth % 10 == 3 && i < 1 + depth / 10 % 7; i++)
        add_find(h, FIND_HANG, depth, HANG, i);
    if (depth % 5 == 1 && !awake)
        add_find(h, FIND_SEED, depth, SLOW, 0);
    if (depth % 6 == 1)
        add_find(h, FIND_SEED, depth, LEAVES, 0);
    if (depth % 7 == 1)
        add_find(h, FIND_SEED, depth, KILLER, 0);
    if (depth % 8 == 1)
        add_find(h, FIND_SEED, depth, HUGE_, 0);
    if (depth % 9 == 1)
        add_find(h, FIND_SEED, depth, QUIET, 0);
    if (depth % 4 == 2 && depth > 12) /* nothing new */
        add_find(h, FIND_SEED, depth - 12, LEAVES, 1);
}

/* It keeps the newest import in its corpus, and crashes on it. */
static void add_given(struct harvest *h)
{
    harvest_add(h, (struct find){.kind = FIND_IMPORTED,
                                 .entry = 1000000 + given.id,
                                 .parent_entry = -1,
                                 .seed = given.id});
    harvest_add(h, (struct find){.kind = FIND_ECHO,
                                 .data = xmemdup(given.data, 2),
                                 .size = 2,
                                 .entry = -1,
                                 .parent_entry = -1,
                                 .signal = 6,
                                 .name = xstrdup("echo")});
}

static int saving_harvest(struct instance *in, struct harvest *h, struct err *e)
{
    int rc = fake_ops->harvest(in, h, e);
    size_t n = rc < 0 ? 0 : h->n;
    for (size_t i = 0; i < n; i++)
        add_more(h, *(const uint16_t *)h->finds[i].data);
    if (n && given.in == in)
        add_given(h);
    return rc;
}

static void saving_harvested(struct instance *in, const struct harvest *h)
{
    if (given.in == in)
        given.in = NULL;
    fake_ops->harvested(in, h);
}

static int saving_deliver(struct instance *in, uint64_t batch, const struct input *v, size_t n,
                          struct err *e)
{
    if (n && v[n - 1].size == 2 && *(const uint16_t *)v[n - 1].data % 97) {
        given.in = in;
        given.id = v[n - 1].id;
        memcpy(given.data, v[n - 1].data, 2);
    }
    return fake_ops->deliver(in, batch, v, n, e);
}

static struct run *run_of(struct instance *in)
{
    size_t i = 0;
    while (runs[i].in && runs[i].in != in)
        i++;
    BUG_ON(i + 1 == sizeof runs / sizeof *runs);
    runs[i].in = in;
    return &runs[i];
}

static int saving_start(struct instance *in, const struct input *seeds, size_t n, bool again,
                        struct err *e)
{
    run_of(in)->fresh = true;
    return fake_ops->start(in, seeds, n, again, e);
}

/* The time of the turn begins when start-up ends. */
static void started_up(void *arg)
{
    struct run *r = arg;
    r->since = loop_now(loop);
    r->fresh = false;
    if (fake_ops->resume(r->in, &r->quota, 0, NULL) < 0)
        BUG("a fake does not resume");
    r->in->report.startup_ns = r->since - r->from;
}

static int saving_resume(struct instance *in, const struct turn_quota *q, int cpu, struct err *e)
{
    struct run *r = run_of(in);
    r->quota = *q;
    r->from = r->since = loop_now(loop);
    if (!r->fresh)
        return fake_ops->resume(in, q, cpu, e);
    in->state = INST_RUNNING;
    r->timer = (struct timer){.fn = started_up, .arg = r};
    loop_timer(loop, &r->timer, r->from + STARTUP_S * NS_PER_S);
    return 0;
}

/* A turn that is cut lasted until now, even if it is still starting up. */
static void saving_suspend(struct instance *in)
{
    struct run *r = run_of(in);
    if (r->fresh) {
        loop_timer_clear(loop, &r->timer);
        r->quota = (struct turn_quota){0};
        started_up(r);
    }
    in->report.active_ns = loop_now(loop) - r->since;
    fake_ops->suspend(in);
}

static void saving_free(struct instance *in)
{
    if (run_of(in)->fresh)
        loop_timer_clear(loop, &run_of(in)->timer);
    fake_ops->free(in);
}

static int open_saving(void *arg, struct instance **out, const struct instance_opts *o,
                       struct err *e)
{
    int rc = inner.open_instance(arg, out, o, e);
    if (rc < 0)
        return rc;
    fake_ops = (*out)->ops;
    saving = *fake_ops;
    saving.harvest = saving_harvest;
    saving.harvested = saving_harvested;
    saving.deliver = saving_deliver;
    saving.start = saving_start;
    saving.resume = saving_resume;
    saving.suspend = saving_suspend;
    saving.free = saving_free;
    (*out)->ops = &saving;
    return 0;
}

/* --- an evaluator with other results -------------------------------------------------------------------- */
struct judge {
    struct evaluator ev;
    struct evaluator *real;
    void (*done)(void *arg, struct eval_job *job);
    void *arg;
};

static uint32_t limit_ms; /* of one run: a hang takes all of it */

/* Not every edge on the way is covered by everybody. */
static void thin_out(struct edges *s)
{
    uint32_t n = 0, deepest = s->n ? s->ids[s->n - 1] : 0;
    for (uint32_t i = 0; i < s->n; i++)
        if (s->ids[i] == deepest || (s->ids[i] * 7 + deepest) % 4)
            s->ids[n++] = s->ids[i];
    s->n = n;
}

static void judge_one(const struct eval_input *in, struct eval_result *r)
{
    unsigned char mark = in->size == 4 ? ((const unsigned char *)in->data)[2] : 0;
    if (mark)
        r->signal = 0;
    switch (mark) {
    case HANG:
    case SLOW:
        r->status = RUN_TIMEOUT;
        r->cpu_us = mark == HANG ? 1000 * limit_ms : 0; /* a slow one sleeps */
        break;
    case HUGE_: r->status = RUN_OOM; break;
    case LEAVES:
        r->status = RUN_EXIT;
        r->signal = 3;
        break;
    case KILLER:
        r->status = RUN_QUARANTINED;
        r->edges.n = 0;
        break;
    case QUIET:
        r->status = RUN_CRASH;
        r->signal = 8;
        break;
    }
    thin_out(&r->edges);
}

/* The functions on the way to the deepest edge are called indirectly, from two blocks before; two of three
 * of those calls are seen, and told at every job. */
static void tell_calls(struct eval_job *j)
{
    uint32_t deepest = 0, each = FAKE_EDGES / FAKE_FUNCS;
    for (size_t i = 0; i < j->n; i++)
        if (j->results[i].edges.n)
            deepest = deepest > j->results[i].edges.ids[j->results[i].edges.n - 1]
                          ? deepest
                          : j->results[i].edges.ids[j->results[i].edges.n - 1];
    j->calls = xcalloc(FAKE_FUNCS, sizeof *j->calls);
    for (uint32_t entry = each; entry <= deepest; entry += each)
        if (entry / each % 3)
            j->calls[j->n_calls++] = (struct eval_call){entry - 2, entry};
}

static void on_judged(void *arg, struct eval_job *job)
{
    struct judge *k = arg;
    for (size_t i = 0; i < job->n; i++)
        judge_one(&job->inputs[i], &job->results[i]);
    tell_calls(job);
    job->done = k->done;
    job->arg = k->arg;
    job->done(job->arg, job);
}

static int judge_submit(struct evaluator *ev, struct eval_job *job, struct err *e)
{
    struct judge *k = (struct judge *)ev;
    k->done = job->done;
    k->arg = job->arg;
    job->done = on_judged;
    job->arg = k;
    return k->real->ops->submit(k->real, job, e);
}

static void judge_free(struct evaluator *ev)
{
    struct judge *k = (struct judge *)ev;
    k->real->ops->free(k->real);
    free(k);
}

static const struct eval_ops judge_ops = {judge_submit, judge_free};

static int open_judge(void *arg, struct evaluator **out, int slot, int cpu, struct err *e)
{
    struct judge *k = xcalloc(1, sizeof *k);
    int rc = inner.open_evaluator(arg, &k->real, slot, cpu, e);
    k->ev.ops = &judge_ops;
    *out = &k->ev;
    return rc;
}

/* --- the target ------------------------------------------------------------------------------------------ */
/* Entries of functions have no predecessor but those that are seen to call them. */
static void make_target(int arms)
{
    fakes_init(&f, arms);
    for (uint32_t i = 0; i < FAKE_EDGES; i++) {
        struct table_edge *k = &f.table.edges[i];
        if (i % (FAKE_EDGES / FAKE_FUNCS) == 0)
            k->pred_n = 0;
        k->succ_n = 1 + i % 3;
        k->memw = (uint16_t)(i % 7 == 0);
    }
}

/* As docs/FILES.md describes it. */
static void write_table(const char *path)
{
    const struct table *t = &f.table;
    struct buf b = BUF_INIT(1 << 20);
    char build_id[64] = {0};
    snprintf(build_id, sizeof build_id, "%.63s", t->build_id);
    buf_add(&b, "CAROLTAB", 8);
    buf_add(&b, (uint32_t[]){1, 120}, 8);
    buf_add(&b, build_id, sizeof build_id);
    buf_add(&b, (uint32_t[]){1, t->n_edges, t->n_funcs, t->n_preds, 5, 0}, 24);
    buf_add(&b, (uint64_t[]){0, 0}, 16);
    for (uint32_t i = 0; i < t->n_edges; i++) {
        const struct table_edge *k = &t->edges[i];
        buf_add(&b, &k->pc, 8);
        buf_add(&b, (uint32_t[]){k->func, k->pred_off, k->pred_n, k->succ_n}, 16);
        buf_add(&b, (uint16_t[]){k->depth, k->mem, k->memw, k->ind, k->flags, 0, 0, 0}, 16);
    }
    buf_add(&b, t->preds, t->n_preds * 4);
    for (uint32_t i = 0; i < t->n_funcs; i++) {
        buf_add(&b, (uint32_t[]){0, t->funcs[i].entry}, 8);
        buf_add(&b, (uint16_t[]){t->funcs[i].depth, 0}, 4);
    }
    buf_add(&b, "fake", 5);
    if (fs_write_quick(path, b.p, b.len, NULL) < 0)
        BUG("table");
    buf_free(&b);
}

/* --- campaigns ---------------------------------------------------------------------------------------------- */
static const char *here; /* DIR/NAME */
static bool moody;       /* f1 dies in two of its turns, then not in the third */
static bool hopeless;    /* the campaign must fail */
static int64_t cut_s[2]; /* asked to end after so many seconds, and once more; 0: not */

static void must(int rc, const struct err *e)
{
    if (rc < 0) {
        fprintf(stderr, "%s: %s\n", here, e->msg);
        exit(1);
    }
}

static struct settings options(const char *scheduler, int jobs, int64_t budget_s)
{
    struct settings o = fakes_options(here, scheduler, f.n_arms, jobs, budget_s);
    o.timeout_ms = limit_ms;
    return o;
}

static void on_cut(void *arg)
{
    campaign_interrupt(arg);
}

/* So many steps of the loop, then gone as with kill -9; steps < 0: to its end.  Whoever dies has found something
 * before. */
static void live(struct settings o, int steps)
{
    struct loop *l = loop_new_virtual(1000 * NS_PER_S);
    struct campaign *c = NULL;
    struct err e = {0};
    inner = fakes_env(&f, l);
    struct campaign_env env = inner;
    env.open_instance = open_saving;
    env.open_evaluator = open_judge;
    given.in = NULL;
    loop = l;
    memset(runs, 0, sizeof runs);
    must(campaign_new(&c, &o, &env, NULL, &e), &e);
    struct timer cut[2] = {{.fn = on_cut, .arg = c}, {.fn = on_cut, .arg = c}};
    for (int i = 0; i < 2; i++)
        if (cut_s[i])
            loop_timer(l, &cut[i], (1000 + cut_s[i]) * NS_PER_S);
    if (steps < 0 && hopeless)
        must(campaign_run(c, &e) < 0 && e.exit == ERR_EXIT_USAGE ? 0 : -1,
             &(struct err){.msg = "it did not fail as it should"});
    else if (steps < 0)
        must(campaign_run(c, &e), &e);
    else
        must(campaign_begin(c, &e), &e);
    for (int i = 0; i < steps; i++) {
        f.odd = ODD_EDGES;
        if (moody)
            f.dies = f.resumes / (uint64_t)f.n_arms % 3 < 2 ? 1 : -1;
        f.odd_turn = f.dies >= 0 ? f.resumes + 1 : 0;
        if (!loop_step(l, -1))
            break;
    }
    campaign_free(c);
    loop_free(l);
}

static void go_on(const char *scheduler, int jobs, int64_t budget_s, int steps)
{
    struct settings o = options(scheduler, jobs, budget_s);
    o.resume = true;
    o.budget_given = budget_s > 0;
    live(o, steps);
}

/* One life after the other, each killed somewhere; then the last one to its end. */
static void live_often(struct settings first, const char *scheduler, int jobs, int lives,
                       int64_t budget_s)
{
    live(first, 30);
    for (int i = 1; i < lives; i++) {
        f.dies = i % 5 == 2 ? 1 : -1;
        f.stray = i % 3 == 1 && !f.stray ? 1501 : f.stray;
        f.bad_reads += i % 4 == 1;
        go_on(scheduler, jobs, i % 2 ? 0 : budget_s / 2 + i * 600, 9 + i * 37 % 80);
    }
    f.dies = -1;
    f.stray = 0;
    go_on(scheduler, jobs, budget_s, -1);
}

/* The copies for people, which a resume writes again. */
static void lose_copies(void)
{
    for (const char *const *name = (const char *const[]){"out/crashes", "out/hangs", NULL}; *name;
         name++) {
        char *dir = fs_join(here, *name);
        must(fs_remove_tree(dir, NULL), &(struct err){.msg = "cannot remove the copies"});
        free(dir);
    }
}

static void equal(void)
{
    f.lost_answers = 3;
    limit_ms = 10000; /* there is not time for every hang */
    live(options("equal", 1, 3 * 3600), -1);
    lose_copies();
    go_on("equal", 1, 4 * 3600, -1);
}

/* Hangs of which none sleeps: more are measured as time goes on. */
static void hangs(void)
{
    awake = true;
    limit_ms = 10000;
    live(options("equal", 1, 6 * 3600), -1);
    awake = false;
}

static void contextual(void)
{
    live_often(options("contextual", 3, 4 * 3600), "contextual", 3, 9, 3 * 3600);
}

static void contextual_alone(void)
{
    live(options("contextual", 1, 5 * 3600), -1);
}

static void phase(void)
{
    live_often(options("phase", 2, 3 * 3600), "phase", 2, 6, 2 * 3600);
}

static void bandfuzz(void)
{
    live_often(options("bandfuzz", 2, 5 * 3600), "bandfuzz", 2, 5, 5 * 3600);
}

static void rate(void)
{
    live_often(options("rate", 2, 2 * 3600), "rate", 2, 5, 3600);
}

static void autofz(void)
{
    live_often(options("autofz", 3, 2 * 3600), "autofz", 3, 6, 3600);
}

/* Its lives end where its rounds do. */
static void legion(void)
{
    live(options("legion", 3, 600), -1);
    for (int i = 2; i <= 7; i++)
        go_on("legion", 3, 600 * i, -1);
}

/* Shares only what opens an edge. */
static void random_new_only(void)
{
    struct settings o = options("random", 4, 3 * 3600);
    o.share_new_only = true;
    o.reward = REWARD_FRONTIER_BRANCH;
    live_often(o, "random", 4, 8, 2 * 3600);
}

/* Each gets what is worth it. */
static void worth(void)
{
    struct settings o = options("equal", 2, 3600);
    o.share = SHARE_WORTH;
    live_often(o, "equal", 2, 4, 3600);
}

/* Three of the four are modes of one. */
static void fused(void)
{
    struct settings o = options("random", 3, 3 * 3600);
    o.instances = INSTANCES_FUSED;
    live_often(o, "random", 3, 8, 2 * 3600);
    f.stray = 901;
    go_on("random", 3, 3 * 3600, -1);
    f.stray = 0;
}

static void fused_alone(void)
{
    struct settings o = options("contextual", 1, 2 * 3600);
    o.instances = INSTANCES_FUSED;
    o.share = SHARE_WORTH;
    live(o, -1);
}

static void single(void)
{
    live(options("single:f1", 2, 1800), -1);
}

/* Dropped, mended at a resume, dying again but not three times in a row. */
static void deaths(void)
{
    struct settings o = options("equal", 2, 3600);
    o.reward = REWARD_RARITY_DENSITY;
    f.dies = 1;
    live(o, 200);
    f.dies = -1;
    go_on("equal", 2, 0, 40);
    f.dies = 2;
    go_on("equal", 2, 2 * 3600, 14);
    f.dies = -1;
    go_on("equal", 2, 0, 60);
    f.dies = 0;
    go_on("equal", 2, 0, 25);
    f.dies = -1;
    go_on("equal", 2, 9000, -1);
}

static void never_three_in_a_row(void)
{
    moody = true;
    live(options("equal", 1, 3600), 700);
    moody = false;
}

/* More than one turn may import: by number, and by size. */
static void seeds_of(struct settings *o, unsigned n, size_t size)
{
    char *dir = fs_join(here, "seeds"), *data = xcalloc(1, size);
    must(fs_mkdirs(dir, &(struct err){0}), &(struct err){0});
    for (unsigned i = 0; i < n; i++) {
        char *path = str_fmt("%s/%05u", dir, i);
        data[0] = (char)(1 + i % 3);
        memcpy(data + 4, &i, sizeof i);
        must(fs_write_quick(path, data, size, NULL), &(struct err){.msg = "cannot write a seed"});
        free(path);
    }
    strv_take(&o->seeds, dir);
    free(data);
}

/* Initial seeds that crash, hang, leave or need too much are set aside. */
static void bad_seeds(bool all)
{
    static const unsigned char marks[] = {HANG, HUGE_, QUIET, LEAVES};
    struct settings o = options("equal", 2, 600);
    for (size_t i = 0; i < sizeof marks - all; i++) {
        char *path = str_fmt("%s/seed-%zu", here, i);
        unsigned char data[4] = {(unsigned char)(30 + i), 0, marks[i], 0};
        must(fs_write_quick(path, data, 4, NULL), &(struct err){.msg = "cannot write a seed"});
        strv_take(&o.seeds, path);
    }
    must(fs_write_quick(o.seeds.v[0], all ? "\141\0" : "\2\0", 2, NULL), &(struct err){0});
    hopeless = all;
    live(o, -1);
    hopeless = false;
}

static void some_bad_seeds(void)
{
    bad_seeds(false);
}

static void all_bad_seeds(void)
{
    bad_seeds(true);
}

/* Ctrl-C, once and twice, before and between turns. */
static void interrupted(void)
{
    cut_s[0] = 500;
    live(options("contextual", 2, 3600), -1);
    cut_s[1] = 501;
    cut_s[0] = 500;
    go_on("contextual", 2, 0, -1);
    cut_s[0] = cut_s[1] = 50;
    go_on("contextual", 2, 0, -1);
    cut_s[0] = cut_s[1] = 0;
    struct settings o = options("contextual", 2, 0);
    o.resume = o.stop_on_crash = true;
    live(o, -1);
    go_on("contextual", 2, 3600, 60);
}

/* Its last word is that it was interrupted. */
static void cut_short(void)
{
    cut_s[0] = 500;
    live(options("random", 2, 3600), -1);
    cut_s[0] = 0;
}

static void many(void)
{
    struct settings o = options("equal", 1, 960);
    seeds_of(&o, 22300, 8);
    live(o, -1);
}

static void large(void)
{
    struct settings o = options("equal", 1, 600);
    seeds_of(&o, 70, 1000000);
    live(o, -1);
}

/* Finds made outside turns, and the gathering of them cut off. */
static void late(void)
{
    f.stray = 501;
    live(options("random", 3, 4 * 3600), 60);
    for (int steps = 0; steps < 14; steps++) {
        f.stray = steps % 5 ? 0 : 601 + (uint16_t)(steps * 10);
        go_on("random", 3, steps % 2 ? 1 : 4 * 3600, steps % 5 ? steps : 40 + steps);
    }
    f.stray = 901;
    go_on("random", 3, 3600, -1);
}

/* Files of these depths, and one of each kind that does not run through, into the campaign at rest. */
static void bring(uint16_t from, uint16_t n, bool bad)
{
    static const unsigned char marks[] = {SLOW, HUGE_, QUIET, LEAVES, KILLER};
    char *dir = str_fmt("%s/given-%u", here, from), *out = fs_join(here, "out");
    struct import_result r;
    struct err e = {0};
    must(fs_mkdirs(dir, &e), &e);
    for (uint16_t i = 0; i < n; i++) {
        uint16_t depth = (uint16_t)(from + i);
        unsigned char data[4] = {0, 0, marks[i % sizeof marks], 1};
        memcpy(data, &depth, sizeof depth);
        char *path = str_fmt("%s/depth:%u", dir, depth);
        must(fs_write_quick(path, data, bad ? 4 : 2, &e), &e);
        free(path);
    }
    must(import_inputs(out, (const char *const *)&dir, 1, &r, &e), &e);
    free(dir);
    free(out);
}

/* What the user imports between two lives: new edges, known content, inputs that do not run through; into a
 * campaign that was killed, and one that is killed while it measures them. */
static void imported(void)
{
    live(options("contextual", 3, 4 * 3600), 70);
    bring(2, 3, false);
    bring(700, 20, false);
    go_on("contextual", 3, 0, 3);
    bring(900, 10, true);
    go_on("contextual", 3, 0, 1);
    go_on("contextual", 3, 0, 60);
    bring(700, 30, false);
    go_on("contextual", 3, 6 * 3600, -1);
    bring(1000, 2, false);
}

static void short_budget(void)
{
    live(options("equal", 2, 6), -1);
    go_on("equal", 2, 100, -1);
    go_on("equal", 2, 300, -1);
}

/* One without an end, killed in the middle. */
static void endless(void)
{
    live(options("contextual", 2, 0), 120);
}

/* Turns of ten seconds: times scale, a cycle is long against them. */
static void quick(void)
{
    struct settings o = options("bandfuzz", 2, 900);
    o.turn_ns = 10 * NS_PER_S;
    live(o, -1);
}

static const struct {
    const char *name;
    int arms;
    void (*make)(void);
} table[] = {
    {"equal", 3, equal},
    {"hangs", 3, hangs},
    {"contextual", 4, contextual},
    {"contextual_alone", 3, contextual_alone},
    {"phase", 3, phase},
    {"bandfuzz", 3, bandfuzz},
    {"rate", 4, rate},
    {"autofz", 4, autofz},
    {"legion", 4, legion},
    {"random_new_only", 2, random_new_only},
    {"worth", 3, worth},
    {"fused", 4, fused},
    {"fused_alone", 4, fused_alone},
    {"single", 2, single},
    {"deaths", 3, deaths},
    {"never_three_in_a_row", 3, never_three_in_a_row},
    {"some_bad_seeds", 2, some_bad_seeds},
    {"all_bad_seeds", 2, all_bad_seeds},
    {"interrupted", 3, interrupted},
    {"cut_short", 2, cut_short},
    {"many", 2, many},
    {"large", 2, large},
    {"late", 4, late},
    {"imported", 4, imported},
    {"short_budget", 2, short_budget},
    {"endless", 3, endless},
    {"quick", 3, quick},
};

static bool wanted(char **names, const char *name)
{
    bool any = names[0];
    for (; *names; names++)
        if (strcmp(*names, name) == 0)
            return true;
    return !any;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: unit-records DIR [NAME...]\n");
        return 2;
    }
    log_set_level(LOG_NONE);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (!wanted(argv + 2, table[i].name))
            continue;
        char *dir = fs_join(argv[1], table[i].name), *edges = fs_join(dir, "table.edges");
        struct err e = {0};
        must(fs_mkdirs(dir, &e), &e);
        here = dir;
        make_target(table[i].arms);
        limit_ms = 1000;
        table[i].make();
        write_table(edges);
        fakes_free(&f);
        free(edges);
        free(dir);
    }
    return 0;
}
