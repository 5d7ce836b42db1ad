/* loop: the campaign as the paper tells it.  Start reading here.
 *
 *     slot free      -> context -> decide -> import -> resume the fuzzer
 *     turn done      -> what it found is stored, durably -> measured on the neutral build
 *     turn evaluated -> reward -> commit -> learn -> the slot is free again
 *
 * Everything slow happens elsewhere and comes back as an event; nothing here waits. */
#include "campaign/state.h"

void slot_free(struct slot *s)
{
    struct campaign *c = s->c;
    struct decision d;
    struct turn *t = NULL;
    struct err e = {0};
    if (campaign_over(c))
        return;
    fold_decide(&c->f, campaign_now(c), s->n, arms_dropped(c), &d);
    if (turn_begin(c, s, &d, &t, &e) < 0)
        campaign_fail(c, &e);
    else if (turn_run(t, &e) < 0)
        turn_done(t);
}

void turn_done(struct turn *t)
{
    struct campaign *c = t->m->c;
    struct err e = {0};
    if (turn_store_finds(t, &e) < 0 || turn_measure(t, &e) < 0)
        campaign_fail(c, &e);
}

void turn_evaluated(void *arg, struct eval_job *job)
{
    struct turn *t = arg;
    struct campaign *c = t->m->c;
    struct slot *s = t->m->slot;
    struct err e = {0};
    if (job->failed)
        e = job->error;
    if (job->failed || turn_commit(t, &e) < 0) {
        campaign_fail(c, &e);
        return;
    }
    turn_free(t);
    if (c->started)
        loop_timer(c->loop, &s->next, loop_now(c->loop));
    else
        recover_next(c);
}
