/* selftests: every arm proves itself on the campaign's own target before the first decision; one that
 * fails is dropped with its reason and the campaign goes on without it. */
#include "campaign/state.h"

#include "base/die.h"
#include "base/fs.h"
#include "base/log.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SELFTEST_SEEDS 8

struct trial {
    struct campaign *c;
    int arm;
};

struct few {
    struct input v[SELFTEST_SEEDS];
    size_t n;
};

static void end_one(struct campaign *c)
{
    if (--c->waiting_tests > 0 || c->failed)
        return;
    char *dir = fs_join(c->o.out, "selftest");
    rmdir(dir);
    free(dir);
    campaign_begin_turns(c);
}

static void on_tested(void *arg, const char *why)
{
    struct trial *t = arg;
    struct campaign *c = t->c;
    if (why)
        arm_drop(c, t->arm, why);
    free(t);
    end_one(c);
}

static int keep_few(void *arg, const struct store_seed *seed, struct err *e)
{
    (void)e;
    struct few *f = arg;
    f->v[f->n++] =
        (struct input){.id = seed->id, .data = xmemdup(seed->data, seed->size), .size = seed->size};
    return f->n == SELFTEST_SEEDS;
}

static void test_arm(struct campaign *c, int arm, const struct few *seeds)
{
    struct trial *t = xcalloc(1, sizeof *t);
    struct instance_opts o;
    struct err e = {0};
    *t = (struct trial){.c = c, .arm = arm};
    instance_opts_of(c, arm, 0, &o);
    char *dir = str_fmt("%s/selftest/%s", c->o.out, o.fuzzer);
    o.dir = dir;
    c->waiting_tests++;
    if (c->env.selftest(c->env.arg, &o, seeds->v, seeds->n, on_tested, t, &e) < 0) {
        c->waiting_tests--;
        arm_drop(c, arm, e.msg);
        free(t);
    }
    free(dir);
}

void selftests_begin(struct campaign *c)
{
    struct few seeds = {0};
    int64_t last;
    struct err e = {0};
    if (!c->env.selftest || campaign_spent(c)) {
        campaign_begin_turns(c);
        return;
    }
    if (store_shared_after(c->store, 0, 0, SELFTEST_SEEDS, keep_few, &seeds, &last, &e) < 0) {
        campaign_fail(c, &e);
        return;
    }
    log_info("testing that every fuzzer obeys here");
    c->waiting_tests = 1; /* held until all are begun */
    for (int a = 0; a < c->f.tally.n_arms; a++)
        if (!c->f.tally.arm[a].dropped)
            test_arm(c, a, &seeds);
    for (size_t i = 0; i < seeds.n; i++)
        free((void *)(uintptr_t)seeds.v[i].data);
    end_one(c);
}
