/* data: reads a campaign's record in order, once, and goes on where it stopped.  Writes no page. */
#include "report/data.h"

#include "base/die.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- questions ----------------------------------------------------------------------------------- */
const struct data_turn *data_turn(const struct report *r, int64_t id)
{
    return id > 0 && (uint64_t)id <= r->n_turns && r->turns[id - 1].id == id ? &r->turns[id - 1]
                                                                             : NULL;
}

const char *data_arm(const struct report *r, int arm)
{
    return arm >= 0 && arm < r->n_arms ? r->arm_names[arm] : "initial seeds";
}

const char *data_finder(const struct report *r, int arm, int64_t turn)
{
    return arm < 0 && turn < 0 ? "imported" : data_arm(r, arm);
}

const char *data_class(int arm)
{
    static char names[SCHED_MAX_ARMS][12];
    if (arm < 0 || arm >= SCHED_MAX_ARMS)
        return "fx";
    if (!names[arm][0])
        snprintf(names[arm], sizeof names[arm], "f%d a%d", arm % 12, arm);
    return names[arm];
}

const char *data_fact(const struct report *r, const char *key)
{
    for (size_t i = 0; i < r->n_facts; i++)
        if (strcmp(r->facts[i].key, key) == 0)
            return r->facts[i].value;
    return NULL;
}

/* --- decisions ----------------------------------------------------------------------------------- */
static struct data_turn *turn_at(struct report *r, int64_t id)
{
    return (struct data_turn *)data_turn(r, id);
}

/* Room for turn id; numbers that the record lacks stay empty. */
static struct data_turn *turn_new(struct report *r, int64_t id)
{
    while (r->n_turns < (uint64_t)id) {
        XGROW(r->turns, r->n_turns, r->cap_turns);
        r->turns[r->n_turns++] = (struct data_turn){.arm = NO_ARM};
    }
    r->turns[id - 1].id = id;
    return &r->turns[id - 1];
}

static void take_outcome(struct data_turn *t, const struct store_turn *row)
{
    t->state = (uint8_t)row->state;
    t->round = row->round;
    t->start_ns = row->start_ns;
    t->end_ns = row->end_ns;
    t->active_ns = row->active_ns;
    t->execs = row->execs;
    t->reward = row->reward;
    t->new_edges = row->new_edges;
    t->inputs = row->inputs;
    t->crashes = row->crashes;
    t->hangs = row->hangs;
    t->died = row->died;
}

static void thin_samples(struct report *r)
{
    size_t kept = 0;
    for (size_t i = 0; i < r->n_samples; i++)
        if (i % 2 == 0)
            r->samples[kept++] = r->samples[i];
        else
            free(r->samples[i].signals);
    r->n_samples = kept;
    r->sample_every *= 2;
}

static void keep_signals(struct report *r, const struct decision *d)
{
    if (!r->samples) {
        r->samples = xcalloc(DATA_SAMPLES, sizeof *r->samples);
        r->sample_every = 1;
    }
    if ((d->t - 1) % r->sample_every)
        return;
    if (r->n_samples == DATA_SAMPLES)
        thin_samples(r);
    if ((d->t - 1) % r->sample_every)
        return;
    struct data_sample *x = &r->samples[r->n_samples++];
    *x = (struct data_sample){d->now_ns, d->choice,
                              xcalloc((size_t)r->n_arms * SIGNAL_COUNT, sizeof *x->signals)};
    for (int a = 0; a < r->n_arms; a++)
        for (int k = 0; k < SIGNAL_COUNT; k++)
            x->signals[a * SIGNAL_COUNT + k] = (float)d->arm[a].signals[k];
}

static void keep_why(struct report *r, struct data_turn *t, const struct decision *d)
{
    struct buf why = BUF_INIT(4096);
    explain_why(r->j.ops, d, r->arm_names, &why);
    t->why = buf_take(&why);
    struct data_turn *old = turn_at(r, t->id - DATA_WHYS);
    if (old) {
        free(old->why);
        old->why = NULL;
    }
    struct decision **full = &r->full[t->id % DATA_FULL];
    if (!*full)
        *full = xmalloc(sizeof **full);
    **full = *d;
}

static void take_decision(struct report *r, struct data_turn *t, const struct decision *d)
{
    t->turn_ns = d->turn_ns ? d->turn_ns : r->j.o.turn_ns;
    if (d->choice < 0 || d->n_arms != r->n_arms)
        return;
    t->mean = d->arm[d->choice].mean;
    keep_signals(r, d);
    if (!r->j.ops)
        return;
    t->warmup = sched_is_warmup(r->j.ops, d);
    t->explored = r->j.ops->predicts && !t->warmup && explain_explored(d);
    keep_why(r, t, d);
}

static int begin_turn(struct report *r, const struct store_turn *row, const struct store_blob *blob,
                      struct err *e)
{
    struct decision d;
    if (row->arm < 0 || row->arm >= r->n_arms)
        return err_usage(e,
                         "turn %lld of %s names a fuzzer that the roster does not have: 'carol "
                         "replay %s' says more",
                         (long long)row->id, r->dir, r->dir);
    struct data_turn *t = turn_new(r, row->id);
    t->arm = (int16_t)row->arm;
    t->slot = (int16_t)row->slot;
    t->start_ns = row->start_ns;
    t->state = TURN_RUNNING;
    if (blob->data && decision_decode(blob->data, blob->size, &d, NULL) == 0)
        take_decision(r, t, &d);
    return 0;
}

static int read_decisions(struct report *r, struct store *s, int max, struct err *e)
{
    struct store_turns *w;
    struct store_turn row;
    struct store_blob blob;
    int rc = store_turns_open(&w, s, TURNS_BY_ID, (int64_t)r->n_turns, e), n = 0;
    while (rc == 0 && n < max && (rc = store_turns_next(w, &row, &blob, e)) > 0) {
        rc = begin_turn(r, &row, &blob, e);
        n++;
    }
    store_turns_close(w);
    return rc < 0 ? rc : n == max;
}

/* --- inputs -------------------------------------------------------------------------------------- */
struct harvested {
    struct report *r;
    int arm;
    int64_t at_ns; /* when its turn was completed */
};

static struct data_seed *seed_at(struct report *r, int64_t id)
{
    if ((uint64_t)id >= r->n_seeds) {
        size_t n = (size_t)id + 1 + r->n_seeds / 2;
        r->seeds = xrealloc(r->seeds, n * sizeof *r->seeds);
        memset(r->seeds + r->n_seeds, 0, (n - r->n_seeds) * sizeof *r->seeds);
        r->n_seeds = n;
    }
    return &r->seeds[id];
}

static void cover(const struct harvested *h, struct data_seed *seed, int64_t id,
                  const struct edges *set)
{
    struct report *r = h->r;
    for (uint32_t i = 0; i < set->n; i++) {
        struct data_edge *x = &r->edges[set->ids[i]];
        if (!x->covered) {
            *x = (struct data_edge){
                .seed = id, .at_ns = h->at_ns, .arm = (int16_t)h->arm, .covered = true};
            seed->added++;
        }
        if (h->arm >= 0)
            x->found_by |= UINT64_C(1) << h->arm;
    }
}

/* Column of a parent: its fuzzer, then the initial seeds and imports, then unknown. */
static int origin_of(const struct report *r, int64_t parent)
{
    if (parent <= 0 || (uint64_t)parent >= r->n_seeds || !r->seeds[parent].known)
        return r->n_arms + 1;
    return r->seeds[parent].arm < 0 ? r->n_arms : r->seeds[parent].arm;
}

static int take_seed(void *arg, const struct store_seed *row, struct err *e)
{
    const struct harvested *h = arg;
    struct report *r = h->r;
    struct edges set = {0};
    struct data_seed *seed = seed_at(r, row->id);
    *seed = (struct data_seed){.parent = row->parent, .arm = (int16_t)h->arm, .known = true};
    if (h->arm >= 0)
        r->built_on[h->arm][origin_of(r, row->parent)]++;
    int rc = 0;
    if (row->state == SEED_DONE)
        rc = edges_decode(row->edges, row->edges_size, r->n_edges, &set, e);
    if (rc == 0)
        cover(h, seed, row->id, &set);
    if (seed->added) {
        XGROW(r->fresh, r->n_fresh, r->cap_fresh);
        r->fresh[r->n_fresh++] = row->id;
    }
    edges_free(&set);
    return rc;
}

static int read_initial(struct report *r, struct store *s, struct err *e)
{
    struct harvested h = {r, NO_ARM, 0};
    char *done;
    int rc = store_get(s, "seeds_done", &done, e);
    bool measured = rc == 0 && done;
    free(done);
    if (r->seeds_in || !measured)
        return rc;
    r->n_edges = r->st.tally.edges_total;
    r->edges = xcalloc(r->n_edges, sizeof *r->edges);
    r->seeds_in = true;
    return store_turn_results(s, 0, take_seed, &h, e);
}

/* A turn whose decision is not read yet waits for the next portion. */
static bool is_ahead(const struct report *r, const struct store_turn *row)
{
    return row->id > 0 && !data_turn(r, row->id);
}

static int read_completed(struct report *r, struct store *s, struct err *e)
{
    struct store_turns *w;
    struct store_turn row;
    int rc = store_turns_open(&w, s, TURNS_BY_ROUND, r->round, e);
    while (rc == 0 && (rc = store_turns_next(w, &row, NULL, e)) > 0) {
        if (is_ahead(r, &row) || row.arm < -1 || row.arm >= r->n_arms) {
            rc = 0;
            break;
        }
        struct harvested h = {r, row.arm, row.end_ns};
        if (row.id > 0)
            take_outcome(turn_at(r, row.id), &row);
        rc = store_turn_results(s, row.id, take_seed, &h, e);
        if (rc == 0 && row.new_edges) {
            XGROW(r->gains, r->n_gains, r->cap_gains);
            r->gains[r->n_gains++] =
                (struct data_gain){row.end_ns, row.new_edges, (int16_t)row.arm};
        }
        if (rc == 0)
            r->round = row.round;
    }
    store_turns_close(w);
    return rc;
}

/* --- the rest ------------------------------------------------------------------------------------ */
#define OPEN_MAX (2 * GAUGE_SLOTS) /* turns among which those are that are not completed */

/* Turns that are not completed: is what they found being measured by now? */
static int read_open(struct report *r, struct store *s, struct err *e)
{
    struct store_turns *w;
    struct store_turn row;
    size_t i = r->n_turns > OPEN_MAX ? r->n_turns - OPEN_MAX : 0;
    while (i < r->n_turns && !(r->turns[i].id && !r->turns[i].round))
        i++;
    if (i == r->n_turns)
        return 0;
    int rc = store_turns_open(&w, s, TURNS_BY_ID, (int64_t)i, e);
    while (rc == 0 && (rc = store_turns_next(w, &row, NULL, e)) > 0) {
        struct data_turn *t = turn_at(r, row.id);
        if (t && !t->round)
            t->state = (uint8_t)row.state;
        rc = 0;
    }
    store_turns_close(w);
    return rc;
}

static void look_at_slots(struct report *r)
{
    memset(r->now, 0, sizeof r->now);
    for (size_t i = r->n_turns; i > 0 && r->n_turns - i < OPEN_MAX; i--) {
        const struct data_turn *t = &r->turns[i - 1];
        if (t->id && t->round == 0 && t->slot >= 0 && t->slot < GAUGE_SLOTS &&
            !r->now[t->slot].turn) {
            r->now[t->slot].turn = t->id;
            r->now[t->slot].arm = t->arm;
            r->now[t->slot].measuring = t->state == TURN_PARKED;
        }
    }
}

int data_read(struct report *r, struct store *s, int max_turns, struct err *e)
{
    struct store_totals totals = {0};
    int more = 0, rc = status_update(&r->st, s, r->dir, e);
    if (rc == 0)
        rc = store_totals(s, &totals, e);
    r->decisions = (uint64_t)totals.decisions;
    if (rc == 0)
        rc = read_initial(r, s, e);
    if (rc == 0)
        rc = more = read_decisions(r, s, max_turns, e);
    if (rc >= 0 && r->seeds_in)
        rc = read_completed(r, s, e);
    if (rc >= 0)
        rc = read_open(r, s, e);
    if (rc >= 0)
        rc = crashes_read(r, s, e);
    if (rc >= 0)
        rc = lineage_update(r, s, e);
    look_at_slots(r);
    r->whole = r->whole || (rc >= 0 && !more);
    return rc < 0 ? rc : more;
}
