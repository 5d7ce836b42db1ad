/* json: objects from tallies, decisions and influences.  Prints nothing. */
#include "journal/json.h"

#include "journal/metrics.h"

#include <math.h>

static double seconds(int64_t ns)
{
    return (double)ns / 1e9;
}

static json_t *real(double v)
{
    return isfinite(v) ? json_real(v) : json_null();
}

/* --- status -------------------------------------------------------------------------------------- */
/* Every metric of that scope, by its name. */
static json_t *values(const struct status *st, enum metric_scope scope, int i)
{
    json_t *o = json_object();
    for (const struct metric *m = metrics; m->name; m++)
        if (m->scope == scope)
            json_object_set_new(o, m->name,
                                m->unit == METRIC_COUNT ? json_integer((json_int_t)m->read(st, i))
                                                        : real(m->read(st, i)));
    return o;
}

static json_t *arms_status(const struct status *st)
{
    json_t *all = json_object();
    for (int i = 0; i < st->tally.n_arms; i++) {
        bool dropped = gauge_dropped(&st->gauges, i);
        json_t *o = values(st, METRIC_FUZZER, i);
        json_object_set_new(o, "dropped", json_boolean(dropped));
        if (dropped)
            json_object_set_new(o, "why", json_string(st->gauges.why[i]));
        json_object_set_new(all, st->tally.arm[i].name, o);
    }
    return all;
}

json_t *status_json(const struct status *st)
{
    json_t *slots = json_array();
    for (int i = 0; i < st->gauges.n_slots; i++)
        json_array_append_new(slots, values(st, METRIC_SLOT, i));
    json_t *o = json_pack("{s:i,s:s}", "schema", 1, "state", st->state);
    json_object_update_new(o, values(st, METRIC_CAMPAIGN, 0));
    json_object_set_new(o, "fuzzers", arms_status(st));
    json_object_set_new(o, "slots", slots);
    json_object_set_new(o, "simulated", json_boolean(st->simulated));
    return o;
}

/* --- one decision -------------------------------------------------------------------------------- */
static json_t *signals_json(const double *v)
{
    json_t *o = json_object();
    for (int i = 0; i < SIGNAL_COUNT; i++)
        json_object_set_new(o, signal_name((enum signal_id)i), real(v[i]));
    return o;
}

static json_t *arms_decision(const struct journal *j, const struct decision *d)
{
    json_t *all = json_object();
    for (int i = 0; i < d->n_arms; i++) {
        const struct decision_arm *a = &d->arm[i];
        json_object_set_new(all, j->arms[i],
                            json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:b}", "signals",
                                      signals_json(a->signals), "standardised",
                                      signals_json(a->standardised), "mean", real(a->mean), "width",
                                      real(a->width), "noise", real(a->noise), "draw",
                                      real(a->draw), "dropped", !decision_may(d, i)));
    }
    return all;
}

static const char *state_word(enum turn_state s)
{
    switch (s) {
    case TURN_RUNNING: return "running";
    case TURN_PARKED: return "measured";
    case TURN_COMMITTED: return "completed";
    case TURN_VOID: return "void";
    case TURN_LATE: return "late";
    case TURN_NONE: break;
    }
    return "unknown";
}

static json_t *outcome_json(const struct store_turn *t)
{
    return json_pack("{s:s,s:I,s:o,s:o,s:I,s:I,s:I,s:I,s:I,s:I,s:f,s:f,s:b}", "state",
                     state_word(t->state), "round", (json_int_t)t->round, "reward", real(t->reward),
                     "raw", real(t->raw), "new_edges", (json_int_t)t->new_edges, "inputs",
                     (json_int_t)t->inputs, "crashes", (json_int_t)t->crashes, "hangs",
                     (json_int_t)t->hangs, "execs", (json_int_t)t->execs, "cycles",
                     (json_int_t)t->cycles, "startup_s", seconds(t->startup_ns), "active_s",
                     seconds(t->active_ns), "died", t->died);
}

static json_t *columns_json(const struct sched_ops *ops)
{
    static const char *const names[] = {"mean", "width", "noise", "draw"};
    json_t *o = json_object();
    for (int i = 0; i < 4; i++)
        json_object_set_new(o, names[i],
                            ops->columns[i] ? json_string(ops->columns[i]) : json_null());
    return o;
}

/* Signals that decided: {signal: who would have been chosen}; null when it was not asked. */
static json_t *without_json(const struct journal *j, const struct explained *x)
{
    json_t *o = x->asked ? json_object() : json_null();
    for (int k = 0; x->asked && k < SIGNAL_COUNT; k++)
        if (x->without[k] != x->d.choice && x->without[k] >= 0)
            json_object_set_new(o, signal_name((enum signal_id)k),
                                json_string(j->arms[x->without[k]]));
    return o;
}

json_t *explain_turn_json(const struct journal *j, const struct explained *x, const char *why)
{
    const struct decision *d = &x->d;
    int64_t turn_ns = d->turn_ns ? d->turn_ns : j->o.turn_ns;
    return json_pack("{s:i,s:I,s:s?,s:o,s:s,s:s,s:f,s:i,s:f,s:o,s:s,s:o,s:o,s:b}", "schema", 1,
                     "turn", (json_int_t)d->t, "chosen", d->choice < 0 ? NULL : j->arms[d->choice],
                     "fuzzers", arms_decision(j, d), "scheduler", j->o.scheduler, "params",
                     j->o.params ? j->o.params : "", "time_s", seconds(d->now_ns), "worker",
                     d->worker, "turn_s", seconds(turn_ns), "columns", columns_json(j->ops), "why",
                     why, "outcome", outcome_json(&x->row), "without", without_json(j, x),
                     "simulated", j->simulated);
}

/* --- a campaign's choices ------------------------------------------------------------------------ */
static json_t *by_signal(const struct influence *f)
{
    int order[SIGNAL_COUNT];
    json_t *all = json_array();
    influence_order(f, order);
    for (int k = 0; f->signals && k < SIGNAL_COUNT; k++)
        json_array_append_new(all, json_pack("{s:s,s:I,s:f}", "signal",
                                             signal_name((enum signal_id)order[k]), "changed",
                                             (json_int_t)f->changed[order[k]], "share",
                                             influence_share(f, f->changed[order[k]])));
    return all;
}

json_t *influence_json(const struct journal *j, const struct influence *f)
{
    json_t *arms = json_object();
    for (size_t i = 0; i < j->o.fuzzers.n; i++)
        json_object_set_new(arms, j->arms[i],
                            json_pack("{s:I,s:f}", "choices", (json_int_t)f->choices[i], "share",
                                      influence_chosen(f, (int)i)));
    json_t *explored = f->predicts ? json_pack("{s:I,s:f}", "choices", (json_int_t)f->explored,
                                               "share", influence_share(f, f->explored))
                                   : json_null();
    return json_pack("{s:i,s:s,s:s,s:I,s:I,s:o,s:o,s:b,s:o,s:b}", "schema", 1, "scheduler",
                     j->o.scheduler, "params", j->o.params ? j->o.params : "", "decisions",
                     (json_int_t)f->decisions, "warmup", (json_int_t)f->warmup, "fuzzers", arms,
                     "exploration", explored, "reads_signals", f->signals, "influence",
                     by_signal(f), "simulated", j->simulated);
}

json_t *json_bytes(const char *s)
{
    json_t *text = json_string(s);
    struct buf b = BUF_INIT(1 << 16);
    for (const char *p = s; !text && *p; p++)
        buf_printf(&b, (unsigned char)*p < 0x80 ? "%c" : "\\x%02x", (unsigned char)*p);
    if (!text)
        text = json_string(b.p ? b.p : "");
    buf_free(&b);
    return text;
}
