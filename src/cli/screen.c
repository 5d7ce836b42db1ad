/* screen: draws the tally and the gauges.  The numbers are those of journal/metrics.h. */
#include "cli/screen.h"

#include "base/buf.h"
#include "base/die.h"
#include "base/fs.h"
#include "base/log.h"
#include "cli/term.h"
#include "journal/metrics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NOTES 5

#define SLOTS_IN_LINE 8

struct screen {
    int fd;
    bool tty, quiet, drawn;
    int64_t last_line;
    char note[NOTES][256];
    int n_notes;
    const char *url; /* of the live page; NULL: none */
};

static void take_note(void *arg, enum log_level level, const char *line)
{
    struct screen *s = arg;
    if (s->n_notes == NOTES) {
        memmove(s->note[0], s->note[1], sizeof s->note - sizeof s->note[0]);
        s->n_notes--;
    }
    snprintf(s->note[s->n_notes++], sizeof s->note[0], "%s%.250s", level <= LOG_WARN ? "! " : "  ",
             line);
    if (!s->drawn) /* before the first picture there is nothing to tear */
        fprintf(stderr, "carol: %s%s\n", level <= LOG_WARN ? "warning: " : "", line);
}

struct screen *screen_new(int fd, bool quiet)
{
    struct screen *s = xcalloc(1, sizeof *s);
    s->fd = fd;
    s->quiet = quiet;
    s->tty = term_draws(fd);
    if (s->tty && !quiet)
        log_to(take_note, s);
    return s;
}

void screen_address(struct screen *s, const char *url)
{
    s->url = url;
}

static void clock_text(int64_t ns, char *out, size_t n)
{
    long long sec = (long long)(ns / NS_PER_S);
    snprintf(out, n, "%lld:%02lld:%02lld", sec / 3600, sec / 60 % 60, sec % 60);
}

/* Eight heights between the seeds' coverage and now. */
static void sparkline(const struct tally *t, int64_t now, struct buf *b)
{
    static const char *const blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const char *const ascii[] = {"_", ".", "-", "~", "=", "+", "*", "#"};
    const char *const *bars = term_utf8() ? blocks : ascii;
    uint32_t lo = t->seed_edges, span = t->edges > lo ? t->edges - lo : 1;
    struct curve c = t->curve;
    curve_add(&c, now, t->edges, lo);
    for (int i = 0; i < c.n; i++) {
        uint32_t up = c.point[i] > lo ? c.point[i] - lo : 0;
        buf_str(b, bars[(uint64_t)up * 7 / span]);
    }
}

static double rate(const struct status *st, const char *name)
{
    return metric_value(st, METRIC_CAMPAIGN, name, 0);
}

static void draw_arms(const struct status *st, struct buf *b)
{
    buf_str(
        b, "  fuzzer     turns  share  first edges  last reward  imports taken/offered  crashes\n");
    for (int a = 0; a < st->tally.n_arms; a++) {
        const char *name = st->tally.arm[a].name;
        if (gauge_dropped(&st->gauges, a)) {
            buf_printf(b, "  %-10s dropped: %.60s\n", name, st->gauges.why[a]);
            continue;
        }
        buf_printf(b, "  %-10s %5llu  %4.0f%%  %11llu  %11.3f  %13llu/%-8llu %7llu\n", name,
                   metric_count(st, METRIC_FUZZER, "turns", a),
                   100 * metric_value(st, METRIC_FUZZER, "share", a),
                   metric_count(st, METRIC_FUZZER, "first_edges", a),
                   metric_value(st, METRIC_FUZZER, "last_reward", a),
                   metric_count(st, METRIC_FUZZER, "taken", a),
                   metric_count(st, METRIC_FUZZER, "offered", a),
                   metric_count(st, METRIC_FUZZER, "crashes", a));
    }
}

static void draw_slots(const struct campaign *c, const struct tally *t, struct buf *b)
{
    const struct gauges *g = campaign_gauges(c);
    buf_str(b, "  now        ");
    for (int i = 0; i < g->n_slots; i++) {
        bool measuring;
        int arm = campaign_slot_arm(c, i, &measuring);
        buf_printf(b, "[%d] %s%s  ", i, arm < 0 ? "-" : t->arm[arm].name,
                   arm >= 0 && measuring ? " (measuring)" : "");
    }
    buf_str(b, "\n");
}

/* What fits the terminal, in one write: a line that wraps, or one too many, would shift the picture. */
static void put_lines(struct screen *s, const struct buf *lines)
{
    struct term_size size = term_size(s->fd);
    struct buf out = BUF_INIT(1 << 16);
    int row = 0;
    buf_str(&out, s->drawn ? "\033[H" : "\033[H\033[2J");
    for (const char *p = lines->p, *nl; p && (nl = strchr(p, '\n')) && row < size.rows - 1;
         p = nl + 1, row++) {
        buf_add(&out, p, term_clip(p, (size_t)(nl - p), size.columns));
        buf_str(&out, "\033[K\n");
    }
    buf_str(&out, "\033[J");
    if (write(s->fd, out.p, out.len) == (ssize_t)out.len)
        s->drawn = true;
    buf_free(&out);
}

static void draw_numbers(const struct status *st, struct buf *b)
{
    const struct gauges *g = &st->gauges;
    buf_printf(b, "  executions %llu   %.0f/s now   %.0f/s since the start\n",
               metric_total(st, "execs"), rate(st, "execs_per_s_recent"), rate(st, "execs_per_s"));
    buf_printf(b, "  store      %llu seeds   %llu crashes   %llu hangs\n",
               metric_total(st, "seeds"), metric_total(st, "crashes"), metric_total(st, "hangs"));
    if (g->crashes && g->defects)
        buf_printf(b, "  defects    %llu   %s%s\n", metric_total(st, "distinct_defects"),
                   *g->last_defect ? "last: " : "", g->last_defect);
}

static void draw_screen(struct screen *s, const struct campaign *c, const struct status *st)
{
    const struct tally *t = &st->tally;
    struct buf b = BUF_INIT(1 << 16);
    char clock[32], budget[32] = "no end", quiet[32];
    clock_text(st->gauges.elapsed_ns, clock, sizeof clock);
    if (t->budget_ns)
        clock_text(t->budget_ns, budget, sizeof budget);
    clock_text(campaign_quiet(c), quiet, sizeof quiet);
    buf_printf(&b, "carol  %s of %s   Ctrl-C ends it cleanly\n\n", clock, budget);
    buf_printf(&b, "  coverage   %llu of %llu edges   ", metric_total(st, "edges"),
               metric_total(st, "edges_total"));
    sparkline(t, st->gauges.elapsed_ns, &b);
    buf_printf(&b, "\n  last new   %s ago\n", quiet);
    draw_numbers(st, &b);
    draw_slots(c, t, &b);
    if (s->url)
        buf_printf(&b, "  live page  %s\n", s->url);
    buf_str(&b, "\n");
    draw_arms(st, &b);
    buf_str(&b, "\n");
    for (int i = 0; i < s->n_notes; i++)
        buf_printf(&b, "%s\n", s->note[i]);
    put_lines(s, &b);
    buf_free(&b);
}

/* Lines get rarer: a log of a week should be readable too. */
static int64_t line_every(int64_t now)
{
    return now < 60 * NS_PER_S     ? 5 * NS_PER_S
           : now < 3600 * NS_PER_S ? 60 * NS_PER_S
                                   : 600 * NS_PER_S;
}

/* Until a turn completes there is nothing to count, and with turns of minutes that takes minutes. */
static void draw_line(const struct screen *s, const struct campaign *c, const struct status *st)
{
    const struct tally *t = &st->tally;
    int n_slots = st->gauges.n_slots;
    struct buf b = BUF_INIT(1 << 16);
    buf_printf(&b, "%6llds  edges %llu  seeds %llu  crashes %llu  defects %llu  turns %llu",
               (long long)(st->gauges.elapsed_ns / NS_PER_S), metric_total(st, "edges"),
               metric_total(st, "seeds"), metric_total(st, "crashes"),
               metric_total(st, "distinct_defects"), metric_total(st, "turns"));
    if (t->turns)
        buf_printf(&b, "  %.0f execs/s\n", rate(st, "execs_per_s_recent"));
    else
        buf_str(&b, "  the first are running: ");
    for (int i = 0; !t->turns && i < n_slots && i < SLOTS_IN_LINE; i++) {
        int arm = campaign_slot_arm(c, i, &(bool){false});
        buf_printf(&b, "%s%s", i ? ", " : "", arm < 0 ? "-" : t->arm[arm].name);
    }
    if (!t->turns)
        buf_str(&b, n_slots > SLOTS_IN_LINE ? ", ...\n" : "\n");
    dprintf(s->fd, "%s", b.p);
    buf_free(&b);
}

void screen_draw(void *screen, const struct campaign *c)
{
    struct screen *s = screen;
    int64_t now = campaign_gauges(c)->elapsed_ns;
    bool due = s->tty || now - s->last_line >= line_every(now);
    if (s->quiet || !due)
        return;
    struct status *st = xmalloc(sizeof *st);
    campaign_status(c, st);
    if (s->tty)
        draw_screen(s, c, st);
    else
        draw_line(s, c, st);
    s->last_line = now;
    free(st);
}

void screen_free(struct screen *s)
{
    if (!s)
        return;
    log_to(NULL, NULL);
    free(s);
}
