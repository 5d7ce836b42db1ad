/* write: builds the store's steps from what a campaign knows.  Decides nothing. */
#include "journal/write.h"

#include "base/die.h"
#include "base/fs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* --- facts --------------------------------------------------------------------------------------- */

static void add_host(struct facts *f)
{
    struct utsname u;
    char line[256];
    uname(&u);
    facts_add(f, "host.kernel", str_fmt("%s %s %s", u.sysname, u.release, u.machine));
    facts_add(f, "host.name", xstrdup(u.nodename));
    facts_add(f, "host.cpus", str_fmt("%ld", sysconf(_SC_NPROCESSORS_ONLN)));
    if (fs_read_line("/proc/sys/kernel/core_pattern", line, sizeof line))
        facts_add(f, "host.core_pattern", xstrdup(line));
    if (fs_read_line("/proc/loadavg", line, sizeof line))
        facts_add(f, "host.loadavg", xstrdup(line));
}

static void add_budget(struct facts *f, int64_t t, int64_t ns)
{
    char *key = str_fmt("budget@%lld", (long long)t);
    facts_add(f, key, str_fmt("%lld", (long long)ns));
    facts_add(f, "budget_now", str_fmt("%lld", (long long)ns));
    free(key);
}

/* Puts them, frees them. */
static int put(struct store *s, struct facts *f, struct err *e)
{
    int rc = store_put(s, f->v, f->n, e);
    facts_free(f);
    return rc;
}

int journal_start(struct store *s, const struct settings *o, const struct table *t, bool simulated,
                  struct err *e)
{
    struct facts f = {0};
    settings_facts(o, &f);
    add_budget(&f, 1, o->budget_ns);
    facts_add(&f, "edges_total", str_fmt("%u", t->n_edges));
    facts_add(&f, "build_id", xstrdup(t->build_id));
    facts_add(&f, "version.carol", xstrdup(CAROL_VERSION));
    if (simulated)
        facts_add(&f, "simulated", xstrdup("1"));
    else
        add_host(&f);
    return put(s, &f, e);
}

int journal_set_budget(struct store *s, int64_t t, int64_t ns, struct err *e)
{
    struct facts f = {0};
    add_budget(&f, t, ns);
    return put(s, &f, e);
}

int journal_budget_at(struct store *s, int64_t t, int64_t *ns, struct err *e)
{
    char *key = str_fmt("budget@%lld", (long long)t), *text;
    int rc = store_get(s, key, &text, e);
    if (rc == 0 && text) {
        *ns = strtoll(text, NULL, 10);
        rc = 1;
    }
    free(key);
    free(text);
    return rc;
}

int journal_set_dropped(struct store *s, const char *fuzzer, const char *why, struct err *e)
{
    struct facts f = {0};
    char *key = str_fmt("dropped.%s", fuzzer);
    facts_add(&f, key, xstrdup(why));
    free(key);
    return put(s, &f, e);
}

int journal_dropped(struct store *s, const char *fuzzer, char **why, struct err *e)
{
    char *key = str_fmt("dropped.%s", fuzzer);
    int rc = store_get(s, key, why, e);
    free(key);
    if (rc == 0 && *why && !**why) {
        free(*why);
        *why = NULL;
    }
    return rc;
}

int journal_seeds_state(struct store *s, enum seeds_state *out, struct err *e)
{
    char *done;
    int rc = store_get(s, "seeds_done", &done, e);
    *out = !done ? SEEDS_OPEN : strcmp(done, "none") == 0 ? SEEDS_NONE_RUNS : SEEDS_MEASURED;
    free(done);
    return rc;
}

static int note_slowest(void *arg, const struct store_seed *seed, struct err *e)
{
    uint32_t *slowest_us = arg;
    (void)e;
    if (seed->status == RUN_OK && seed->cpu_us > *slowest_us)
        *slowest_us = seed->cpu_us;
    return 0;
}

int journal_exec_ms(struct store *s, const struct settings *o, uint32_t *ms, struct err *e)
{
    uint32_t slowest_us = 0;
    int rc = store_turn_results(s, 0, note_slowest, &slowest_us, e);
    *ms = settings_exec_ms(o, slowest_us);
    return rc;
}

int journal_is_simulated(struct store *s, bool *yes, struct err *e)
{
    char *said;
    int rc = store_get(s, "simulated", &said, e);
    *yes = said != NULL;
    free(said);
    return rc;
}

int journal_check_build(struct store *s, const struct table *t, const char *build, struct err *e)
{
    char *was;
    int rc = store_get(s, "build_id", &was, e);
    if (rc == 0 && was && strcmp(was, t->build_id) != 0)
        rc = err_usage(
            e,
            "the neutral build in %s is not the one this campaign was begun on, so its edges "
            "have other numbers: restore that build, or start a new campaign with another -o",
            build);
    free(was);
    return rc;
}

/* --- what was measured --------------------------------------------------------------------------- */

static bool opens_an_edge(const struct ledger *l, const struct edges *s)
{
    for (uint32_t i = 0; i < s->n; i++)
        if (l->first_round[s->ids[i]] == LEDGER_NEVER)
            return true;
    return false;
}

/* Everything a commit says of the inputs, with the memory it points to. */
struct draft {
    struct store_result *results;
    struct buf *edges;
    struct edges *sets;
    struct store_call *calls;
    struct exchange_input *offers; /* for the exchange */
    struct news news;
};

/* share: as far as the rest allows it. */
static struct exchange_input offer_of(const struct measured *m, size_t i, bool share)
{
    return (struct exchange_input){.seed = m->seeds[i],
                                   .cpu_us = m->results[i].cpu_us,
                                   .size = (uint32_t)m->inputs[i].size,
                                   .edges = &m->results[i].edges,
                                   .share = share};
}

static void draft_make(struct draft *d, struct measured *m)
{
    d->results = xcalloc(m->n, sizeof *d->results);
    d->edges = xcalloc(m->n, sizeof *d->edges);
    d->sets = xcalloc(m->n, sizeof *d->sets);
    d->calls = xcalloc(m->n_calls, sizeof *d->calls);
    d->offers = xcalloc(m->n, sizeof *d->offers);
    for (size_t i = 0; i < m->n; i++) {
        const struct eval_result *r = &m->results[i];
        d->edges[i] = (struct buf)BUF_INIT(BUF_TEXT_MAX);
        d->sets[i] = r->edges;
        edges_encode(&r->edges, &d->edges[i]);
        bool good = run_is_through(r->status);
        m->n_good += good;
        d->results[i] = (struct store_result){.seed = m->seeds[i],
                                              .status = (int)r->status,
                                              .signal = r->signal,
                                              .cpu_us = r->cpu_us,
                                              .edges = d->edges[i].p,
                                              .edges_size = d->edges[i].len,
                                              .share = good,
                                              .quarantine = r->status == RUN_QUARANTINED,
                                              .crash = r->status == RUN_CRASH};
    }
    for (size_t i = 0; i < m->n_calls; i++)
        d->calls[i] = (struct store_call){m->calls[i].caller, m->calls[i].callee};
    d->news = (struct news){d->sets, m->n, d->calls, m->n_calls};
}

/* Not everything that runs through is shared.  l: the ledger before the turn. */
static void draft_share(struct draft *d, const struct measured *m, const struct ledger *l,
                        const struct sharing *how)
{
    for (size_t i = 0; how->new_only && i < m->n; i++)
        d->results[i].share = d->results[i].share && opens_an_edge(l, &d->sets[i]);
    if (!how->x)
        return;
    for (size_t i = 0; i < m->n; i++)
        d->offers[i] = offer_of(m, i, d->results[i].share);
    exchange_judge(how->x, l, d->offers, m->n);
    for (size_t i = 0; i < m->n; i++)
        d->results[i].share = d->offers[i].share;
}

void journal_missed(const struct fold *f, const struct measured *m, const struct exchange *x,
                    struct edges *keep)
{
    struct exchange_input *v = xcalloc(m->n, sizeof *v);
    bool *good = xcalloc(m->n, sizeof *good);
    for (size_t i = 0; i < m->n; i++) {
        good[i] = run_is_through(m->results[i].status);
        v[i] = offer_of(m, i, good[i]);
    }
    exchange_judge(x, &f->ledger, v, m->n);
    exchange_missed(x, &f->ledger, v, good, m->n, keep);
    free(v);
    free(good);
}

/* Passes the answers on. */
static void draft_free(struct draft *d, struct measured *m)
{
    for (size_t i = 0; i < m->n; i++) {
        if (m->fresh)
            m->fresh[i] = d->results[i].fresh;
        buf_free(&d->edges[i]);
    }
    free(d->results);
    free(d->edges);
    free(d->sets);
    free(d->calls);
    free(d->offers);
}

/* Initial seeds that crash or hang are findings, given to nobody. */
int journal_seeds(struct store *s, struct fold *f, struct exchange *x, struct measured *m,
                  struct err *e)
{
    struct draft d;
    struct facts facts = {0};
    draft_make(&d, m);
    for (size_t i = 0; i < m->n; i++) {
        d.results[i].hang = m->results[i].status == RUN_TIMEOUT;
        d.results[i].crash = d.results[i].crash || d.results[i].hang;
    }
    fold_seeds(f, &d.news);
    facts_add(&facts, "seed_edges", str_fmt("%u", f->tally.seed_edges));
    facts_add(&facts, "seeds_done", xstrdup(m->n_good ? "1" : "none"));
    struct store_commit c = {.results = d.results,
                             .n = m->n,
                             .calls = d.calls,
                             .n_calls = d.news.n_calls,
                             .facts = facts.v,
                             .n_facts = facts.n};
    int rc = store_seeds_commit(s, &c, e);
    for (size_t i = 0; rc == 0 && x && i < m->n; i++)
        d.offers[i] = offer_of(m, i, d.results[i].share);
    if (rc == 0 && x)
        exchange_add(x, 0, d.offers, m->n);
    draft_free(&d, m);
    facts_free(&facts);
    return rc;
}

/* --- turns --------------------------------------------------------------------------------------- */

int journal_begin(struct store *s, struct store_turn *row, const struct decision *d,
                  const struct journal_begin *b, struct inputs *imports, struct err *e)
{
    struct buf record = BUF_INIT(BUF_TEXT_MAX);
    struct exchange_list list = {0};
    struct exchange_portion portion = {.max_inputs = b->max_inputs,
                                       .max_bytes = b->max_bytes,
                                       .turn_ns = b->turn_ns,
                                       .start = b->start};
    row->id = (int64_t)d->t;
    row->state = TURN_RUNNING;
    row->arm = d->choice;
    row->slot = d->worker;
    row->start_ns = d->now_ns;
    decision_encode(d, &record);
    int rc = b->x ? exchange_offer(b->x, s, row->instance, &portion, &list, e) : 0;
    struct store_claim claim = {.decision = record.p,
                                .decision_size = record.len,
                                .fuzzer = b->fuzzer,
                                .number = b->number,
                                .max_inputs = b->max_inputs,
                                .max_bytes = b->max_bytes,
                                .chosen = b->x != NULL,
                                .seeds = list.seeds,
                                .n_seeds = list.n};
    if (rc == 0)
        rc = store_turn_begin(s, row, &claim, imports, e);
    if (rc == 0 && b->x)
        exchange_given(b->x, row->instance);
    buf_free(&record);
    free(list.seeds);
    return rc;
}

/* A crash that only the neutral build shows is a crash of the turn all the same. */
static int count_neutral_crashes(struct store *s, struct store_turn *row, const struct measured *m,
                                 struct err *e)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < m->n; i++) {
        bool known = true;
        if (m->results[i].status == RUN_CRASH)
            rc = store_crash_known(s, m->seeds[i], &known, e);
        row->crashes += !known;
    }
    return rc;
}

static void settle_account(struct store_slot *a, int64_t wall_ns)
{
    a->wall_ns = wall_ns;
    a->idle_ns = wall_ns - a->start_ns - a->fuzz_ns - a->eval_ns;
}

int journal_commit(struct store *s, struct fold *f, struct store_turn *row,
                   const struct decision *d, struct measured *m, struct store_slot *account,
                   const struct sharing *how, struct err *e)
{
    struct draft draft;
    struct buf state = BUF_INIT(BUF_TEXT_MAX);
    char unknown[32];
    int rc = count_neutral_crashes(s, row, m, e);
    if (rc < 0)
        return rc;
    draft_make(&draft, m);
    draft_share(&draft, m, &f->ledger, how);
    row->at_decision = (int64_t)f->t;
    fold_turn(f, row, d, &draft.news);
    sched_save(f->sched, &state);
    struct store_slot slot = *account; /* the caller's changes only if the record does */
    slot.start_ns += row->startup_ns;
    slot.fuzz_ns += row->active_ns;
    slot.eval_ns += row->eval_ns;
    settle_account(&slot, row->end_ns);
    snprintf(unknown, sizeof unknown, "%llu", (unsigned long long)f->tally.no_predecessor);
    struct store_fact fact = {"no_predecessor", unknown};
    struct store_commit c = {.results = draft.results,
                             .n = m->n,
                             .calls = draft.calls,
                             .n_calls = draft.news.n_calls,
                             .sched = state.p,
                             .sched_size = state.len,
                             .account = &slot,
                             .facts = &fact,
                             .n_facts = 1};
    rc = store_turn_commit(s, row, &c, e);
    if (rc == 0)
        *account = slot;
    if (rc == 0 && how->x)
        exchange_add(how->x, row->instance, draft.offers, m->n);
    draft_free(&draft, m);
    buf_free(&state);
    return rc;
}

int journal_rest(struct store *s, int64_t wall_ns, struct store_slot *slots, int n_slots,
                 const char *reason, bool ended, struct err *e)
{
    struct store_fact state = {"state", ended ? "ended" : "interrupted"};
    for (int i = 0; i < n_slots; i++)
        settle_account(&slots[i], wall_ns);
    return store_rest(s, wall_ns, slots, n_slots, &state, 1, reason, e);
}
