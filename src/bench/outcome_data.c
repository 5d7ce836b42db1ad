/* outcome_data: the figures of a benchmark for programs: JSON, and raw records as CSV. */
#include "bench/outcome.h"

#include "stats/series.h"

#include <math.h>
#include <stdlib.h>

/* NaN has no place in JSON. */
static json_t *real(double v)
{
    return isfinite(v) ? json_real(v) : json_null();
}

static json_t *cell_json(const struct outcome *t, size_t target, size_t contender)
{
    json_t *o = json_object();
    for (int m = MEASURE_BUGS; m < MEASURE_END; m++) {
        struct cell x = outcome_cell(t, target, contender, (enum measure_kind)m);
        json_t *values = json_array();
        for (size_t i = 0; i < x.n; i++)
            json_array_append_new(values, json_real(x.v[i]));
        json_object_set_new(o, measure_name((enum measure_kind)m),
                            json_pack("{s:o,s:o,s:o}", "values", values, "mean",
                                      real(x.n ? stats_mean(x.v, (int)x.n) : NAN), "sd",
                                      real(x.n > 1 ? sqrt(stats_variance(x.v, (int)x.n)) : NAN)));
        free(x.v);
    }
    return o;
}

static json_t *match_json(const struct outcome *t, const struct match *m)
{
    return json_pack("{s:s,s:s,s:I,s:I,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "target",
                     t->targets.v[m->target], "contender", t->contenders.v[m->opponent], "n",
                     (json_int_t)m->n, "n_other", (json_int_t)m->n_other, "mean", real(m->mean),
                     "other", real(m->other), "delta", real(m->delta), "a12", real(m->a12), "p",
                     real(m->p), "p_holm", real(m->p_holm), "p_exact", real(m->p_exact),
                     "resolution", real(m->resolution));
}

static json_t *duels_json(const struct outcome *t, size_t reference, enum measure_kind m)
{
    struct duel *duels;
    size_t n;
    json_t *list = json_array();
    outcome_duels(t, reference, m, &duels, &n);
    for (size_t i = 0; i < n; i++) {
        const struct duel *d = &duels[i];
        json_t *matches = json_array();
        for (size_t k = 0; k < d->n; k++)
            json_array_append_new(matches, match_json(t, &d->match[k]));
        json_array_append_new(list, json_pack("{s:s,s:b,s:o,s:o,s:i,s:i,s:i,s:o,s:o}", "against",
                                              d->name, "composite", d->composite, "sum",
                                              real(d->sum), "sum_other", real(d->sum_other), "wins",
                                              d->wins, "losses", d->losses, "ties", d->ties,
                                              "p_sign", real(d->sign_p), "targets", matches));
    }
    duels_free(duels, n);
    return list;
}

static json_t *ranking_json(const struct outcome *t, enum measure_kind m)
{
    struct ranking r;
    json_t *ranks = json_object();
    if (!outcome_ranking(t, m, &r)) {
        json_decref(ranks);
        return json_null();
    }
    for (size_t c = 0; c < t->contenders.n; c++)
        json_object_set_new(ranks, t->contenders.v[c], real(r.rank[c]));
    free(r.rank);
    return json_pack("{s:I,s:o,s:o,s:o,s:o}", "targets", (json_int_t)r.targets, "chi2",
                     real(r.chi2), "p", real(r.p), "critical_difference", real(r.cd), "mean_rank",
                     ranks);
}

json_t *outcome_json(const struct outcome *t, size_t reference, enum measure_kind m)
{
    json_t *cells = json_array(), *contenders = json_array();
    for (size_t c = 0; c < t->contenders.n; c++)
        json_array_append_new(contenders, json_pack("{s:s,s:s}", "name", t->contenders.v[c], "role",
                                                    role_name(t->roles[c])));
    for (size_t target = 0; target < t->targets.n; target++)
        for (size_t c = 0; c < t->contenders.n; c++) {
            json_t *o = cell_json(t, target, c);
            json_object_set_new(o, "target", json_string(t->targets.v[target]));
            json_object_set_new(o, "contender", json_string(t->contenders.v[c]));
            json_array_append_new(cells, o);
        }
    return json_pack("{s:i,s:I,s:f,s:s,s:s,s:o,s:o,s:o,s:o}", "schema", 1, "campaigns",
                     (json_int_t)t->n, "budget_s", t->budget_s, "measure", measure_name(m),
                     "reference", t->contenders.v[reference], "contenders", contenders, "cells",
                     cells, "against", duels_json(t, reference, m), "ranking", ranking_json(t, m));
}

static void who(const struct result *r, struct buf *out)
{
    buf_csv(out, r->target);
    buf_str(out, ",");
    buf_csv(out, r->contender);
    buf_printf(out, ",%s,%d", role_name(r->role), r->trial);
}

void outcome_csv(const struct outcome *t, struct buf *out)
{
    buf_str(out, "target,contender,role,trial,seed,cores,budget_s,cpu_s,wall_s,ratio,attempts,bugs,"
                 "reached,area,edges,seed_edges,edges_q1,edges_q2,edges_q3,execs,inputs,top_q1,top_"
                 "q2,top_q3,top_q4,began\n");
    for (size_t i = 0; i < t->n; i++) {
        const struct result *r = &t->results[i];
        who(r, out);
        buf_printf(out, ",%llu,%d,%.9g,%.9g,%.9g,%.4f,%d,%zu,%zu,%.6g,%u,%u,%u,%u,%u,%llu,%llu",
                   (unsigned long long)r->seed, r->cores, r->budget_s, r->cpu_s, r->wall_s,
                   r->ratio, r->attempts, result_triggered(r), result_reached(r), result_area(r),
                   r->edges[RESULT_MOMENTS], r->edges[0], r->edges[RESULT_MOMENTS / 4],
                   r->edges[RESULT_MOMENTS / 2], r->edges[RESULT_MOMENTS / 4 * 3],
                   (unsigned long long)r->execs, (unsigned long long)r->inputs);
        for (int q = 0; q < GROWTH_QUARTERS; q++)
            if (r->top_share[q] < 0)
                buf_str(out, ",");
            else
                buf_printf(out, ",%.4f", r->top_share[q]);
        buf_printf(out, ",%s\n", r->began);
    }
}

static void first_fields(const struct first *f, struct buf *out)
{
    if (f->seen)
        buf_printf(out, ",%.3f,%.3f,%llu", f->cpu_s, f->wall_s, (unsigned long long)f->exec);
    else
        buf_str(out, ",,,");
}

void outcome_csv_bugs(const struct outcome *t, struct buf *out)
{
    buf_str(out, "target,contender,role,trial,bug,reached_cpu_s,reached_wall_s,reached_exec,"
                 "triggered_cpu_s,triggered_wall_s,triggered_exec\n");
    for (size_t i = 0; i < t->n; i++)
        for (size_t b = 0; b < t->results[i].n_bugs; b++) {
            who(&t->results[i], out);
            buf_str(out, ",");
            buf_csv(out, t->results[i].bugs[b].id);
            first_fields(&t->results[i].bugs[b].reached, out);
            first_fields(&t->results[i].bugs[b].triggered, out);
            buf_str(out, "\n");
        }
}
