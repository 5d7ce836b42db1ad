/* loop: the campaign as the paper tells it.  Start reading here.
 *
 *     slot free     -> context -> decide -> import -> resume the fuzzer
 *     turn done     -> what it found is stored, durably -> measured on the neutral build
 *     turn measured -> heavy finds trimmed -> reward -> commit -> learn -> the slot is free again
 *
 * Everything slow happens elsewhere and comes back as an event; nothing here waits.  What comes before the
 * first decision and after the last is in phase.c. */
#include "campaign/state.h"

void on_slot_free(struct slot *s)
{
    struct campaign *c = s->c;
    struct decision d;
    struct turn *t = NULL;
    struct err e = {0};
    if (!campaign_goes_on(c)) {
        campaign_next(c);
        return;
    }
    int rc = store_order_take(c->store, &e);
    if (rc == 0) {
        fold_decide(&c->f, campaign_now(c), s->n, c->gauges.dropped, &d);
        rc = turn_begin(c, s, &d, &t, &e);
        store_order_leave(c->store);
    }
    if (rc == 0)
        rc = turn_run(t, &e);
    if (rc < 0)
        campaign_fail(c, &e);
    else if (rc > 0)
        on_turn_done(t);
}

void on_turn_done(struct turn *t)
{
    struct campaign *c = t->m->c;
    struct err e = {0};
    if (turn_park(t, &e) < 0 || turn_measure(t, &e) < 0)
        campaign_fail(c, &e);
}

void on_turn_measured(void *arg, struct eval_job *job)
{
    struct turn *t = arg;
    struct campaign *c = t->m->c;
    struct slot *s = t->m->slot;
    struct err e = job->error;
    if (c->failed) /* another slot's commit: nothing is folded after it */
        return;
    int rc = job->failed ? job->failed : turn_trim(t, &e);
    if (rc > 0) /* it comes back here when it is done */
        return;
    if (rc < 0 || turn_commit(t, &e) < 0) {
        campaign_fail(c, &e);
        return;
    }
    turn_end(t);
    turn_free(t);
    if (c->phase == PHASE_RUN)
        loop_timer(c->loop, &s->next, loop_now(c->loop));
    else
        campaign_next(c);
}
