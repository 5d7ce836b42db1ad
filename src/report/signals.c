/* signals: the context of each fuzzer over time, and how much each signal moved the choices. */
#include "report/part.h"

#include <math.h>

#define WIDTH 300
#define HEIGHT 64
#define MOMENTS 80

/* For people, in the order of METHOD §7. */
static const char *const meaning[SIGNAL_COUNT] = {
    [SIGNAL_WIN_MEAN] = "mean of its last rewards",
    [SIGNAL_WIN_VAR] = "how much its last rewards vary",
    [SIGNAL_COV_VELOCITY] = "new edges per second, lately",
    [SIGNAL_SLOPE] = "whether its rewards rise or fall",
    [SIGNAL_MK_Z] = "how sure that trend is",
    [SIGNAL_HORIZON] = "its last 4 rewards against its mean",
    [SIGNAL_HORIZON2] = "its last 2 rewards against its mean",
    [SIGNAL_HORIZON8] = "its last 8 rewards against its mean",
    [SIGNAL_SINCE_IMPROVE] = "turns since it last found an edge",
    [SIGNAL_SINCE_RUN] = "time since it last ran",
    [SIGNAL_ELAPSED] = "how much of the budget is used",
    [SIGNAL_RARITY] = "how rare the edges are that it finds",
    [SIGNAL_SEC] = "whether its edges handle memory",
    [SIGNAL_BUG] = "crashes it found, lately",
    [SIGNAL_UNC] = "how little it was tried",
};

static size_t step_of(const struct report *r)
{
    return r->n_samples > MOMENTS ? (r->n_samples + MOMENTS - 1) / MOMENTS : 1;
}

static float at(const struct data_sample *s, int arm, int signal)
{
    return s->signals[arm * SIGNAL_COUNT + signal];
}

static void draw_signal(const struct report *r, int k, struct buf *out)
{
    float lo = INFINITY, hi = -INFINITY;
    size_t step = step_of(r);
    double end = part_end_s(r);
    for (size_t i = 0; i < r->n_samples; i += step)
        for (int a = 0; a < r->n_arms; a++) {
            lo = fminf(lo, at(&r->samples[i], a, k));
            hi = fmaxf(hi, at(&r->samples[i], a, k));
        }
    float span = hi > lo ? hi - lo : 1;
    svg_begin(out, WIDTH, HEIGHT, signal_name((enum signal_id)k));
    for (int a = 0; a < r->n_arms; a++) {
        html(out, "<path class=\"line thin %s\" d=\"", data_class(a));
        for (size_t i = 0; i < r->n_samples; i += step)
            html(out, "%c%.0f %.1f", i ? 'L' : 'M', WIDTH * (double)r->samples[i].at_ns / 1e9 / end,
                 HEIGHT - 3 - (HEIGHT - 6) * (double)((at(&r->samples[i], a, k) - lo) / span));
        buf_str(out, "\"/>\n");
    }
    svg_end(out);
    html(out, "<p class=\"range\"><span>%.3g</span><span>to %.3g</span></p>", (double)lo,
         (double)hi);
}

static void influence_cell(const struct report *r, int k, struct buf *out)
{
    double v = influence_share(&r->influence, r->influence.changed[k]);
    if (!r->has_influence || !r->influence.signals)
        return;
    html(out,
         "<p class=\"influence\"><meter min=\"0\" max=\"1\" value=\"%.4f\"></meter> "
         "<data value=\"%.9g\" data-metric=\"influence\">%.1f %%</data></p>",
         v, v, 100 * v);
}

static void say_influence(const struct report *r, struct buf *out)
{
    if (!r->has_influence)
        html(out, "<p class=\"note\">The influence of the signals is not shown: %s.</p>\n",
             r->no_influence);
    else if (!r->influence.signals)
        html(out,
             "<p>The scheduler %s reads no signals: none of them has any influence on its choices. "
             "This is "
             "what they were.</p>\n",
             r->j.o.scheduler);
    else
        buf_str(out, "<p>The percentage is the influence of a signal: how many choices after the "
                     "warm-up would "
                     "change if it were replaced by its mean.</p>\n");
}

void signals_write(const struct report *r, struct buf *out)
{
    int order[SIGNAL_COUNT];
    if (!part_begin(r, "signals", out))
        return;
    if (!r->n_samples) {
        buf_str(out, "<p class=\"none\">No decision has been made yet.</p>\n");
        part_end(out);
        return;
    }
    say_influence(r, out);
    part_legend(r, out);
    influence_order(&r->influence, order);
    buf_str(out, "<ul class=\"small\">\n");
    for (int i = 0; i < SIGNAL_COUNT; i++) {
        html(out, "<li><h3>%s <small>%s</small></h3>", signal_name((enum signal_id)order[i]),
             meaning[order[i]]);
        influence_cell(r, order[i], out);
        draw_signal(r, order[i], out);
        buf_str(out, "</li>\n");
    }
    buf_str(out, "</ul>\n");
    part_end(out);
}
