/* rate_why: in words, why the winner of a decision by rate won.  Reads the record alone. */
#include "sched/rate.h"

#include "base/det.h"
#include "sched/schedulers.h"

static void explain_arm(const struct decision_arm *row, const char *name, struct buf *out)
{
    const double *phi = row->phi;
    if (phi[RATE_PHI_TURNS] > 0)
        buf_printf(out, "%s, %.3g new edges a second", name, det_exp(row->mean));
    else
        buf_printf(out, "%s, untried and assumed at %.3g new edges a second", name,
                   det_exp(row->mean));
    if (phi[RATE_PHI_SIGNALS] != 0)
        buf_printf(out, " (%.2f times its mean, by its signals)", det_exp(phi[RATE_PHI_SIGNALS]));
    buf_printf(out, ", give or take a factor of %.2f", det_exp(row->width));
    if (phi[RATE_PHI_IDLE] > 0)
        buf_printf(out, " after %g turn%s of others", phi[RATE_PHI_IDLE],
                   phi[RATE_PHI_IDLE] == 1 ? "" : "s");
    buf_printf(out, ", drew %.3g", det_exp(row->draw));
}

void rate_why(const struct decision *d, const char *const *arms, struct buf *out)
{
    int second = choose_second(d);
    if (d->choice < 0) {
        buf_str(out, "no fuzzer can run");
        return;
    }
    explain_arm(&d->arm[d->choice], arms[d->choice], out);
    if (second < 0) {
        buf_str(out, ".  Nobody else could run");
        return;
    }
    if (d->arm[second].draw == d->arm[d->choice].draw) {
        buf_printf(out, ".  %s is as good; the roster's order decided", arms[second]);
        return;
    }
    buf_str(out, ".  Next came: ");
    explain_arm(&d->arm[second], arms[second], out);
}
