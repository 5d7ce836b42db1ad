/* late: what instances saved outside their turns: when they were stopped at the end of the campaign, or between
 * a kill and the resume.  Their next turn would take it, but may never come.
 *
 * Each instance with something new has one late turn: stored, measured and folded like a turn, in a round of
 * its own, so that the inputs count, are credited and shared; with no decision before it and nothing learned
 * from it.  So has what the user imported while the campaign rested (seeds.c).  Runs while no turn does: before the
 * first decision of a life and after the last. */
#include "campaign/state.h"

#include "base/die.h"
#include "base/log.h"

/* 1: something of it is being measured; 0: there is nothing. */
static int gather(struct campaign *c, struct member *m, struct err *e)
{
    struct slot *s = &c->slots[0];
    struct turn *t = xcalloc(1, sizeof *t);
    t->m = m;
    t->row =
        (struct store_turn){.state = TURN_LATE, .arm = m->arm, .slot = s->n, .instance = m->row};
    int rc = turn_park_late(t, e);
    if (rc <= 0) {
        turn_free(t);
        return rc;
    }
    if (t->row.inputs || t->row.crashes || t->row.hangs)
        log_info(
            "%s saved more after its last turn, which is kept too: inputs %u, crashes %u, hangs %u",
            c->f.tally.arm[m->arm].name, t->row.inputs, t->row.crashes, t->row.hangs);
    m->slot = s;
    s->turn = t;
    rc = turn_measure(t, e);
    return rc < 0 ? rc : 1;
}

int late_step(struct campaign *c, struct err *e)
{
    int rc = c->slots[0].turn ? 1 : imports_step(c, e); /* 1: one is being measured */
    for (struct member *m = c->members; rc == 0 && m; m = m->next) {
        if (m->looked != c->phase && m->started)
            rc = gather(c, m, e);
        m->looked = c->phase;
    }
    return rc;
}
