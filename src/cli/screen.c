/* screen: draws the tally and the gauges.  Computes nothing of its own but rates for the eye. */
#include "cli/screen.h"

#include "base/buf.h"
#include "base/die.h"
#include "base/fs.h"
#include "base/log.h"
#include "cli/term.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NOTES 5

#define MOMENTS 16
#define SLOTS_IN_LINE 8

struct moment {
    uint64_t execs;
    int64_t ns; /* campaign time */
};

struct screen {
    int fd;
    bool tty, quiet, drawn;
    int64_t last_line;
    struct moment moment[MOMENTS]; /* when executions became known, a ring */
    uint64_t moments;              /* the latest is this one */
    double rate;
    char note[NOTES][256];
    int n_notes;
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

/* Executions become known in lumps, when a turn completes: over several of them. */
static void update_rate(struct screen *s, const struct tally *t, int64_t now)
{
    const struct moment *last = &s->moment[s->moments % MOMENTS];
    if (t->execs == last->execs || now <= last->ns)
        return;
    s->moment[++s->moments % MOMENTS] = (struct moment){t->execs, now};
    const struct moment *first = &s->moment[s->moments < MOMENTS ? 0 : (s->moments + 1) % MOMENTS];
    s->rate = (double)(t->execs - first->execs) / ((double)(now - first->ns) / 1e9);
}

static void draw_arms(const struct tally *t, const struct gauges *g, struct buf *b)
{
    buf_str(
        b, "  fuzzer     turns  share  first edges  last reward  imports taken/offered  crashes\n");
    for (int a = 0; a < t->n_arms; a++) {
        const struct tally_arm *x = &t->arm[a];
        if (gauge_dropped(g, a)) {
            buf_printf(b, "  %-10s dropped: %.60s\n", x->name, g->why[a]);
            continue;
        }
        buf_printf(b, "  %-10s %5llu  %4.0f%%  %11llu  %11.3f  %13llu/%-8llu %7llu\n", x->name,
                   (unsigned long long)x->turns, 100 * tally_share(t, a),
                   (unsigned long long)x->first_edges, x->last_reward, (unsigned long long)x->taken,
                   (unsigned long long)x->offered, (unsigned long long)x->crashes);
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

static void draw_screen(struct screen *s, const struct campaign *c, const struct tally *t,
                        int64_t now)
{
    const struct gauges *g = campaign_gauges(c);
    struct buf b = BUF_INIT(1 << 16);
    char clock[32], budget[32] = "no end", quiet[32];
    clock_text(now, clock, sizeof clock);
    if (t->budget_ns)
        clock_text(t->budget_ns, budget, sizeof budget);
    clock_text(campaign_quiet(c), quiet, sizeof quiet);
    buf_printf(&b, "carol  %s of %s   Ctrl-C ends it cleanly\n\n", clock, budget);
    buf_printf(&b, "  coverage   %u of %u edges   ", t->edges, t->edges_total);
    sparkline(t, now, &b);
    buf_printf(&b, "\n  last new   %s ago\n", quiet);
    buf_printf(&b, "  executions %llu   %.0f/s\n", (unsigned long long)t->execs, s->rate);
    buf_printf(&b, "  store      %llu seeds   %llu crashes   %llu hangs\n",
               (unsigned long long)g->seeds, (unsigned long long)g->crashes,
               (unsigned long long)g->hangs);
    if (g->crashes && g->defects)
        buf_printf(&b, "  defects    %llu   %s%s\n", (unsigned long long)g->defects,
                   *g->last_defect ? "last: " : "", g->last_defect);
    draw_slots(c, t, &b);
    buf_str(&b, "\n");
    draw_arms(t, g, &b);
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
static void draw_line(struct screen *s, const struct campaign *c, const struct tally *t,
                      int64_t now)
{
    const struct gauges *g = campaign_gauges(c);
    struct buf b = BUF_INIT(1 << 16);
    buf_printf(&b, "%6llds  edges %u  seeds %llu  crashes %llu  defects %llu  turns %llu",
               (long long)(now / NS_PER_S), t->edges, (unsigned long long)g->seeds,
               (unsigned long long)g->crashes, (unsigned long long)g->defects,
               (unsigned long long)t->turns);
    if (t->turns)
        buf_printf(&b, "  %.0f execs/s\n", s->rate);
    else
        buf_str(&b, "  the first are running: ");
    for (int i = 0; !t->turns && i < g->n_slots && i < SLOTS_IN_LINE; i++) {
        int arm = campaign_slot_arm(c, i, &(bool){false});
        buf_printf(&b, "%s%s", i ? ", " : "", arm < 0 ? "-" : t->arm[arm].name);
    }
    if (!t->turns)
        buf_str(&b, g->n_slots > SLOTS_IN_LINE ? ", ...\n" : "\n");
    dprintf(s->fd, "%s", b.p);
    buf_free(&b);
}

void screen_draw(void *screen, const struct campaign *c)
{
    struct screen *s = screen;
    const struct tally *t = campaign_tally(c);
    int64_t now = campaign_elapsed(c);
    update_rate(s, t, now);
    if (s->quiet)
        return;
    if (s->tty) {
        draw_screen(s, c, t, now);
    } else if (now - s->last_line >= line_every(now)) {
        draw_line(s, c, t, now);
        s->last_line = now;
    }
}

void screen_free(struct screen *s)
{
    if (!s)
        return;
    log_to(NULL, NULL);
    free(s);
}
