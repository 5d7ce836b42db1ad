/* selftests: every arm proves itself on the campaign's own target before the first decision; one that
 * fails three times is dropped with its reason and the campaign goes on without it. */
#include "campaign/state.h"

#include "base/die.h"
#include "base/fs.h"
#include "base/log.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SELFTEST_SEEDS 8
#define TRIES 3
#define PATIENCE_NS (20 * NS_PER_S) /* who failed so slowly was waited for long enough */

struct trial {
    struct campaign *c;
    int arm, tries;
    int64_t began;
};

static void end_trial(struct trial *t, const char *why)
{
    struct campaign *c = t->c;
    if (why)
        arm_drop(c, t->arm, why);
    free(t);
    if (--c->waiting_tests > 0 || c->failed)
        return;
    char *dir = fs_join(c->o.out, "selftest");
    rmdir(dir);
    free(dir);
    campaign_next(c);
}

static void on_tested(void *arg, const char *why);

static void try_arm(struct trial *t)
{
    struct campaign *c = t->c;
    struct instance_opts o;
    struct inputs seeds = {0};
    struct err e = {0};
    instance_opts_of(c, t->arm, 0, &o);
    char *dir = str_fmt("%s/selftest/%s", c->o.out, o.as);
    o.dir = dir;
    t->tries++;
    if (store_first_shared(c->store, SELFTEST_SEEDS, &seeds, &e) < 0) {
        campaign_fail(c, &e); /* which is not the arm's fault */
        end_trial(t, NULL);
    } else if (c->env.selftest(c->env.arg, &o, seeds.v, seeds.n, on_tested, t, &e) < 0) {
        end_trial(t, e.msg);
    }
    inputs_free(&seeds);
    free(dir);
}

/* Dying or not obeying once may be the machine's fault: it is dropped for the whole campaign. */
static void on_tested(void *arg, const char *why)
{
    struct trial *t = arg;
    struct campaign *c = t->c;
    if (!why || t->tries == TRIES || loop_now(c->loop) - t->began > PATIENCE_NS) {
        end_trial(t, why);
        return;
    }
    log_info("%s failed its test (%s); once more", c->f.tally.arm[t->arm].name, why);
    try_arm(t);
}

int selftests_step(struct campaign *c, struct err *e)
{
    (void)e;
    if (c->tested || !c->env.selftest || fold_too_late(&c->f, campaign_now(c)))
        return c->waiting_tests > 0;
    c->tested = true;
    log_info("testing that every fuzzer obeys here, which takes some seconds");
    c->waiting_tests = 1; /* held until all are begun */
    for (int a = 0; a < c->f.tally.n_arms; a++) {
        if (gauge_dropped(&c->gauges, a) || c->failed)
            continue;
        struct trial *t = xcalloc(1, sizeof *t);
        *t = (struct trial){.c = c, .arm = a, .began = loop_now(c->loop)};
        c->waiting_tests++;
        try_arm(t);
    }
    return --c->waiting_tests > 0;
}
