/* The screen of a campaign on fakes, drawn on a pseudo-terminal: its numbers are those of the metrics, which are those that
 * the record gives; and the pace of executions, which every surface shows. */
#include "fakes.h"

#include "base/buf.h"
#include "base/fs.h"
#include "base/str.h"
#include "cli/screen.h"
#include "journal/metrics.h"
#include "triage/state.h"

#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cmocka.h>

/* Whoever looks over somebody's shoulder. */
struct neighbour {
    int fd;
    char picture[8192];
    struct status st; /* at the same moment */
};

static void look(void *arg, const struct campaign *c)
{
    struct neighbour *n = arg;
    size_t have = 0;
    ssize_t got;
    while (have < sizeof n->picture - 1 &&
           (got = read(n->fd, n->picture + have, sizeof n->picture - 1 - have)) > 0)
        have += (size_t)got;
    n->picture[have] = '\0';
    campaign_status(c, &n->st);
}

static int open_terminal(int *slave)
{
    struct winsize size = {.ws_row = 60, .ws_col = 200};
    int master = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK);
    assert_true(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
    *slave = open(ptsname(master), O_RDWR | O_NOCTTY);
    assert_true(*slave >= 0);
    assert_int_equal(ioctl(*slave, TIOCSWINSZ, &size), 0);
    setenv("TERM", "xterm", 1);
    return master;
}

static double of(const struct status *st, const char *name)
{
    return metric_find(METRIC_CAMPAIGN, name)->read(st, 0);
}

static void expect(const char *picture, char *want)
{
    if (!strstr(picture, want))
        fail_msg("the screen has no '%s':\n%s", want, picture);
    free(want);
}

static void picture_has_the_metrics(const char *p, const struct status *st)
{
    expect(p, str_fmt("  coverage   %.0f of %.0f edges ", of(st, "edges"), of(st, "edges_total")));
    expect(p, str_fmt("  executions %.0f   %.0f/s now   %.0f/s since the start\033",
                      of(st, "execs"), of(st, "execs_per_s_recent"), of(st, "execs_per_s")));
    expect(p, str_fmt("  store      %.0f seeds   %.0f crashes   %.0f hangs\033", of(st, "seeds"),
                      of(st, "crashes"), of(st, "hangs")));
    for (int a = 0; a < st->tally.n_arms; a++) {
        const struct tally_arm *x = &st->tally.arm[a];
        expect(p, str_fmt("  %-10s %5llu  ", x->name, (unsigned long long)x->turns));
        expect(p, str_fmt("%11llu  %11.3f  %13llu/%-8llu %7llu\033",
                          (unsigned long long)x->first_edges, x->last_reward,
                          (unsigned long long)x->taken, (unsigned long long)x->offered,
                          (unsigned long long)x->crashes));
    }
}

/* The record of a campaign that has ended, against what it had in memory; its clock was set once more. */
static void record_has_the_metrics(const char *out, const struct status *memory)
{
    static struct status st;
    struct defects d;
    struct err e = {0};
    st = (struct status){0};
    assert_int_equal(state_update(&st, &d, out, &e), 0);
    defects_free(&d);
    st.gauges.elapsed_ns = memory->gauges.elapsed_ns;
    for (const struct metric *m = metrics; m->name; m++)
        for (int i = 0; m->scope != METRIC_SLOT && i < metric_rows(m, &st); i++)
            if (fabs(m->read(&st, i) - m->read(memory, i)) > 1e-9 * fabs(m->read(&st, i)))
                fail_msg("%s of %s: %g in the record, %g in memory", m->name,
                         metric_label(m, &st, i), m->read(&st, i), m->read(memory, i));
}

static void the_screen_shows_the_metrics(void **state)
{
    (void)state;
    static struct neighbour n;
    static struct status last;
    struct fakes f;
    struct err e = {0};
    struct campaign *c = NULL;
    int slave, master = n.fd = open_terminal(&slave);
    struct loop *l = loop_new_virtual(0);
    fakes_init(&f, 3);
    struct campaign_env env = fakes_env(&f, l);
    struct settings o = fakes_options(fakes_dir, "contextual", 3, 2, 3600);
    struct screen *s = screen_new(slave, false);
    assert_int_equal(campaign_new(&c, &o, &env, NULL, &e), 0);
    campaign_watch(c, screen_draw, s);
    campaign_watch(c, look, &n);
    assert_int_equal(campaign_run(c, &e), 0);
    assert_true(n.st.tally.turns > 20 && n.st.gauges.seeds > 10);
    picture_has_the_metrics(n.picture, &n.st);
    campaign_status(c, &last);
    screen_free(s);
    campaign_free(c);
    char *out = fs_join(fakes_dir, "out");
    record_has_the_metrics(out, &last);
    free(out);
    loop_free(l);
    fakes_free(&f);
    close(slave);
    close(master);
}

/* --- the pace --------------------------------------------------------------------------------------- */
static void turn(struct tally *t, double end_s, uint64_t execs)
{
    struct store_turn row = {.arm = -1, .state = TURN_COMMITTED, .execs = execs};
    row.end_ns = (int64_t)(end_s * 1e9);
    tally_add_turn(t, &row);
}

static void near(double v, double want)
{
    assert_true(fabs(v - want) < 1e-9 * (1 + fabs(want)));
}

static void the_pace_is_that_of_the_last_turns(void **state)
{
    (void)state;
    static struct tally t;
    t = (struct tally){0};
    near(tally_rate_recent(&t), 0);
    turn(&t, 10, 1000);
    near(tally_rate_recent(&t), 100); /* since the start */
    for (int i = 2; i <= 40; i++)
        turn(&t, 10 * i, 5000);
    near(tally_rate_recent(&t), 500); /* the first turn is long ago */
    near(tally_rate(&t, 400 * NS_PER_S), (1000 + 39 * 5000) / 400.0);
    turn(&t, 399, 5000); /* another slot, which completes later than it ended */
    near(tally_rate_recent(&t), (15 * 5000) / 140.0);
    near(tally_rate(&t, 0), 0);
}

/* Many slots complete many turns a second: the moments stay a second apart. */
static void many_turns_a_second_are_one_moment(void **state)
{
    (void)state;
    static struct tally t;
    t = (struct tally){0};
    for (int i = 1; i <= 6400; i++)
        turn(&t, i / 64.0, 10);
    assert_true(t.pace.n == PACE_MOMENTS);
    assert_true(t.pace.at[PACE_MOMENTS - 1].ns - t.pace.at[0].ns > 13 * NS_PER_S);
    near(tally_rate_recent(&t), 640);
}

int main(void)
{
    cmocka_set_message_output(CM_OUTPUT_TAP);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_screen_shows_the_metrics, fakes_fresh_dir,
                                        fakes_remove_dir),
        cmocka_unit_test(the_pace_is_that_of_the_last_turns),
        cmocka_unit_test(many_turns_a_second_are_one_moment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
