/* settings: the table, and what it drives: defaults, words of the user, the record. */
#include "journal/settings.h"

#include "base/die.h"
#include "base/fs.h"
#include "proc/cpus.h"
#include "proc/loop.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define DAY_NS (86400 * NS_PER_S)

/* The first of each is the paper's. */
static const char *const share_names[] = {[SHARE_ALL] = "all", [SHARE_WORTH] = "worth", NULL};
static const char *const instances_names[] = {
    [INSTANCES_OWN] = "own", [INSTANCES_FUSED] = "fused", [INSTANCES_VARIED] = "varied", NULL};
static const char *const words_names[] = {[WORDS_NONE] = "none", [WORDS_TARGET] = "target", NULL};

#define AT(field) offsetof(struct settings, field)
/* Help wraps by hand: a line has 74 columns. */
const struct setting settings_table[] = {
    {"build", SET_PATH, AT(build), "build", 'b', "DIR", .help = "what 'carol build' made"},
    {"target", SET_TEXT, AT(target), "target", 0, "NAME",
     .help = "which target of it, if there are several"},
    {"seeds", SET_PATHS, AT(seeds), "seeds", 'i', "PATH",
     .help = "file, directory, zip or AFL output directory; may be repeated\n"
             "(default: what the build left as NAME_seed_corpus.zip)"},
    {NULL, SET_PATH, AT(out), "out", 'o', "DIR", .help = "the campaign's directory, new"},
    {NULL, SET_RESUME, AT(out), "resume", 0, "DIR", .again = true,
     .help = "go on with a campaign (after Ctrl-C, kill -9, power loss); only\n"
             "options marked * may be given with it"},
    {"jobs", SET_INT, AT(jobs), "jobs", 'j', "N", .lo = 1, .hi = 256,
     .help = "cores to use (default: all)"},
    {"budget_ns", SET_TIME, AT(budget_ns), "duration", 'd', "TIME", .hi = INT64_MAX, .again = true,
     .help = "budget: 90, 90s, 15m, 2h, 1d (default, or 0: until Ctrl-C)"},
    {"turn_ns", SET_TIME, AT(turn_ns), "turn", 0, "TIME", .lo = 100 * NS_PER_MS, .hi = DAY_NS,
     .help = "length of a turn (default: by the budget, from 2s to 120s)"},
    {"scheduler", SET_TEXT, AT(scheduler), "scheduler", 's', "NAME", .preset = "rate",
     .paper = "contextual",
     .help = "rate (default), contextual, phase, bandfuzz, autofz, legion,\n"
             "equal, random, single:FUZZER"},
    {"params", SET_PARAMS, AT(params), "sched-opt", 0, "KEY=VALUE",
     .help = "an option of the scheduler; may be repeated; 'help' lists them"},
    {"fuzzers", SET_ROSTER, AT(fuzzers), "fuzzers", 'f', "LIST",
     .help = "fuzzers and rosters, separated by commas (default: the roster\n"
             "default); both are listed below"},
    {"seed", SET_U64, AT(seed), "seed", 0, "N", .hi = UINT64_MAX,
     .help = "of all random numbers (default: from the clock, recorded)"},
    {"reward", SET_REWARD, AT(reward), "reward", 0, "NAME", .preset = "coverage_interval",
     .help = "coverage_interval (default), frontier_branch, rarity_density"},
    {"share", SET_CHOICE, AT(share), "share", 0, "WHAT", .names = share_names, .preset = "worth",
     .paper = "all", .later = true,
     .help = "worth (default): each fuzzer gets what has new edges for it,\n"
             "small and fast inputs first; all: every fuzzer gets every input"},
    {"instances", SET_CHOICE, AT(instances), "instances", 0, "HOW", .names = instances_names,
     .preset = "varied", .paper = "own", .later = true,
     .help = "varied (default): every fuzzer runs for itself; if it runs twice\n"
             "at once, with two power schedules; own: with one; fused: those\n"
             "on one afl-fuzz become modes of it, with one queue"},
    {"neutral_filter", SET_FLAG, AT(share_new_only), "share-new-only",
     .help = "share only inputs with a new edge on the neutral build"},
    {"dict", SET_PATH, AT(dict), "dict", 'x', "FILE",
     .help = "dictionary (default: what the build left as NAME.dict,\n"
             "or else --words)"},
    {"words", SET_CHOICE, AT(words), "words", 0, "WHOSE", .names = words_names, .preset = "target",
     .paper = "none", .later = true,
     .help = "target (default): without a dictionary it is what the build noted,\n"
             "words that the target compares its input with; none"},
    {"mem_bytes", SET_MEMORY, AT(mem_bytes), "memory", 'm', "SIZE", .preset = "2G",
     .lo = (uint64_t)16 << 20, .hi = UINT64_MAX,
     .help = "address space of a target: 512M, 2G (default: 2G)"},
    {"timeout_ms", SET_U32, AT(timeout_ms), "timeout", 'T', "MS", .preset = "1000", .lo = 1,
     .hi = 600000, .help = "what takes longer is a hang (default: 1000)"},
    {"exec_ms", SET_U32, AT(exec_ms), "exec-limit", 0, "MS", .preset = "0", .paper = "600000",
     .hi = 600000, .later = true,
     .help = "fuzzers give a run up after this long; at most --timeout\n"
             "(default, or 0: five times the slowest seed, at least 5)"},
    {"args", SET_WORDS, AT(args)},
    {NULL, SET_TIME, AT(plateau_ns), "stop-on-plateau", 0, "TIME", .hi = INT64_MAX, .again = true,
     .help = "end after that long without a new edge"},
    {NULL, SET_FLAG, AT(stop_on_crash), "stop-on-crash", .again = true,
     .help = "end at the first crash, with exit code 1"},
    {NULL, SET_INT, AT(stop_on_defect), "stop-on-defect", 0, "N", .lo = 1, .hi = 1000000,
     .again = true, .help = "end when N distinct defects are known, with exit code 1"},
    {NULL, SET_FLAG, AT(no_triage), "no-triage", .again = true,
     .help = "do not look into crashes, neither during the campaign nor at\nits end; 'carol "
             "triage' does it later"},
    {NULL, SET_TEXT, AT(exec), "exec", 0, "CMD", .again = true,
     .help = "run for each new defect, by sh; its JSON is on standard input"},
    {NULL, SET_TEXT, AT(webhook), "webhook", 0, "URL", .again = true,
     .help = "send each new defect there, as JSON by POST (needs curl)"},
    {NULL, SET_TEXT, AT(engines), "engines", 0, "DIR", .again = true,
     .help = "fuzzers of your own"},
    {NULL, SET_FLAG, AT(paper), "paper",
     .help = "what is not given is as in the paper: contextual, its six\n"
             "fuzzers, each with processes of its own, all inputs to all,\n"
             "one time limit, no words of the target"},
    {NULL, SET_PLACE, AT(web), "web", 0, "[ADDR:PORT]", .again = true,
     .help = "serve the live page; its address is printed (default:\n"
             "127.0.0.1:8390; port 0: any free one)"},
    {NULL, SET_PATH, AT(web_token), "web-token", 0, "FILE", .again = true,
     .help = "keep the page's token there (default: a new one each time)"},
    {NULL, SET_FLAG, AT(quiet), "quiet", 'q', .again = true, .help = "no progress"},
};
const size_t settings_count = sizeof settings_table / sizeof *settings_table;

/* --- words of the user --------------------------------------------------------------------------- */

static char *absolute(const char *path)
{
    char cwd[PATH_MAX];
    return path[0] == '/' || !getcwd(cwd, sizeof cwd) ? xstrdup(path) : fs_join(cwd, path);
}

static void replace(char **field, char *value)
{
    free(*field);
    *field = value;
}

/* As the user knows it: "-j", "--turn". */
static const char *name_of(const struct setting *st, char out[32])
{
    if (st->letter)
        snprintf(out, 32, "-%c", st->letter);
    else
        snprintf(out, 32, "--%s", st->flag);
    return out;
}

static int set_time(int64_t *ns, const struct setting *st, const char *text, struct err *e)
{
    char name[32];
    int rc = str_to_time(text, name_of(st, name), ns, e);
    if (rc == 0 && st->lo && (*ns < (int64_t)st->lo || *ns > (int64_t)st->hi))
        rc = err_usage(e, "%s: '%s' is not from %.1f s to %.0f s", name, text, (double)st->lo / 1e9,
                       (double)st->hi / 1e9);
    return rc;
}

static int set_memory(uint64_t *bytes, const struct setting *st, const char *text, struct err *e)
{
    char name[32];
    int rc = str_to_mem(text, name_of(st, name), bytes, e);
    if (rc == 0 && *bytes < st->lo)
        rc = err_usage(e, "%s: no target lives in less than %lluM; the default is %s", name,
                       (unsigned long long)(st->lo >> 20), st->preset);
    return rc;
}

static int set_reward(enum reward_kind *kind, const char *text, struct err *e)
{
    *kind = reward_kind_of(text);
    return *kind ? 0
                 : err_usage(e,
                             "--reward: '%s' is none of coverage_interval, frontier_branch, "
                             "rarity_density",
                             text);
}

/* The place of a word among these; that of the NULL behind them if it is none. */
static int word_of(const char *const *names, const char *text)
{
    int i = 0;
    while (names[i] && strcmp(text, names[i]) != 0)
        i++;
    return i;
}

static int set_choice(int *value, const struct setting *st, const char *text, struct err *e)
{
    *value = word_of(st->names, text);
    if (st->names[*value])
        return 0;
    struct buf all = BUF_INIT(256);
    for (int i = 0; st->names[i]; i++)
        buf_printf(&all, "%s%s", i ? ", " : "", st->names[i]);
    err_usage(e, "--%s: '%s' is none of %s", st->flag, text, all.p);
    buf_free(&all);
    return e->code;
}

int settings_set(struct settings *s, const struct setting *st, const char *text, struct err *e)
{
    void *p = (char *)s + st->at;
    char name[32];
    uint64_t n = 0;
    int rc = 0;
    switch (st->kind) {
    case SET_TEXT: replace(p, xstrdup(text)); break;
    case SET_PLACE: replace(p, xstrdup(text ? text : "")); break;
    case SET_PATH: replace(p, absolute(text)); break;
    case SET_PATHS: strv_take(p, absolute(text)); break;
    case SET_RESUME:
        replace(p, absolute(text));
        s->resume = true;
        break;
    case SET_ROSTER:
        rc = fuzzer_roster(text, p, e);
        if (rc < 0)
            err_wrap(e, "%s", name_of(st, name));
        break;
    case SET_WORDS: strv_add(p, text); break;
    case SET_PARAMS: {
        char *was = *(char **)p;
        *(char **)p = was ? str_fmt("%s,%s", was, text) : xstrdup(text);
        free(was);
        break;
    }
    case SET_TIME: rc = set_time(p, st, text, e); break;
    case SET_MEMORY: rc = set_memory(p, st, text, e); break;
    case SET_INT:
    case SET_U32:
    case SET_U64:
        rc = str_to_u64(text, name_of(st, name), st->lo, st->hi, &n, e);
        if (st->kind == SET_U64)
            *(uint64_t *)p = n;
        else
            *(uint32_t *)p = (uint32_t)n; /* an int is in range too: hi says so */
        break;
    case SET_FLAG: *(bool *)p = true; break;
    case SET_REWARD: rc = set_reward(p, text, e); break;
    case SET_CHOICE: rc = set_choice(p, st, text, e); break;
    case SET_NONE: BUG("a setting without a kind");
    }
    return rc;
}

int settings_paper(struct settings *s, struct err *e)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < settings_count; i++)
        if (settings_table[i].paper)
            rc = settings_set(s, &settings_table[i], settings_table[i].paper, e);
    return rc;
}

int settings_defaults(struct settings *s, struct err *e)
{
    struct timespec ts;
    int rc = 0;
    clock_gettime(CLOCK_REALTIME, &ts);
    *s = (struct settings){.seed = (uint64_t)ts.tv_sec * 1000 + (uint64_t)(ts.tv_nsec / 1000000)};
    s->jobs = cpus_count();
    for (size_t i = 0; rc == 0 && i < settings_count; i++)
        if (settings_table[i].preset)
            rc = settings_set(s, &settings_table[i], settings_table[i].preset, e);
    return rc;
}

uint32_t settings_exec_ms(const struct settings *s, uint32_t slowest_us)
{
    uint64_t steps = ((uint64_t)slowest_us * 5 + 4999) / 5000;
    uint64_t ms = s->exec_ms ? s->exec_ms : 5 * (steps ? steps : 1);
    return ms < s->timeout_ms ? (uint32_t)ms : s->timeout_ms;
}

int64_t settings_turn(int64_t budget_ns, int jobs)
{
    int64_t budget = budget_ns ? budget_ns : DAY_NS;
    double ns = (double)budget * jobs / 4320;
    return ns < 2e9 ? 2 * NS_PER_S : ns > 120e9 ? 120 * NS_PER_S : (int64_t)ns;
}

int settings_resolve(struct settings *s, const struct table *t, struct err *e)
{
    struct fold_settings st;
    struct sched *sched = NULL;
    struct buf b = BUF_INIT(BUF_TEXT_MAX);
    if (!s->turn_ns)
        s->turn_ns = settings_turn(s->budget_ns, s->jobs);
    settings_fold(s, t, &st);
    int rc = fold_sched(&st, &sched, e);
    if (rc < 0)
        return rc;
    sched_describe(sched, &b);
    sched_free(sched);
    replace(&s->params, buf_take(&b));
    return 0;
}

void settings_fold(const struct settings *s, const struct table *t, struct fold_settings *out)
{
    *out = (struct fold_settings){.table = t,
                                  .fuzzers = &s->fuzzers,
                                  .scheduler = s->scheduler,
                                  .params = s->params,
                                  .workers = s->jobs,
                                  .seed = s->seed,
                                  .turn_ns = s->turn_ns,
                                  .budget_ns = s->budget_ns,
                                  .reward = s->reward};
}

/* --- the record ---------------------------------------------------------------------------------- */

void facts_add(struct facts *f, const char *key, char *value)
{
    XGROW(f->v, f->n, f->cap);
    f->v[f->n++] = (struct store_fact){xstrdup(key), value};
}

void facts_free(struct facts *f)
{
    for (size_t i = 0; i < f->n; i++) {
        free((void *)(uintptr_t)f->v[i].key);
        free((void *)(uintptr_t)f->v[i].value);
    }
    free(f->v);
    *f = (struct facts){0};
}

static char *join(const struct strv *l, char sep)
{
    struct buf b = BUF_INIT(BUF_TEXT_MAX);
    for (size_t i = 0; i < l->n; i++) {
        if (i)
            buf_add(&b, &sep, 1);
        buf_str(&b, l->v[i]);
    }
    return buf_take(&b);
}

/* A line per word.  An empty word is written \-, a line break in one \n, a backslash twice. */
static char *to_lines(const struct strv *l)
{
    struct buf b = BUF_INIT(BUF_TEXT_MAX);
    for (size_t i = 0; i < l->n; i++) {
        if (i)
            buf_str(&b, "\n");
        if (!*l->v[i])
            buf_str(&b, "\\-");
        for (const char *c = l->v[i]; *c; c++)
            if (*c == '\n')
                buf_str(&b, "\\n");
            else
                buf_printf(&b, *c == '\\' ? "\\%c" : "%c", *c);
    }
    return buf_take(&b);
}

static void from_lines(struct strv *l, const char *text)
{
    strv_split(l, text, '\n');
    for (size_t i = 0; i < l->n; i++) {
        char *to = l->v[i];
        for (const char *c = l->v[i]; *c; c++) {
            bool escape = *c == '\\' && c[1] && strchr("-n\\", c[1]);
            c += escape;
            if (!escape || *c != '-')
                *to++ = escape && *c == 'n' ? '\n' : *c;
        }
        *to = '\0';
    }
}

static char *to_text(const struct setting *st, const struct settings *s)
{
    const void *p = (const char *)s + st->at;
    switch (st->kind) {
    case SET_TEXT:
    case SET_PLACE:
    case SET_PATH:
    case SET_PARAMS:
    case SET_RESUME: return xstrdup(*(char *const *)p ? *(char *const *)p : "");
    case SET_ROSTER: return join(p, ',');
    case SET_PATHS:
    case SET_WORDS: return to_lines(p);
    case SET_INT: return str_fmt("%d", *(const int *)p);
    case SET_TIME: return str_fmt("%lld", (long long)*(const int64_t *)p);
    case SET_MEMORY:
    case SET_U64: return str_fmt("%llu", (unsigned long long)*(const uint64_t *)p);
    case SET_U32:
    case SET_REWARD: return str_fmt("%u", *(const uint32_t *)p);
    case SET_FLAG: return xstrdup(*(const bool *)p ? "1" : "0");
    case SET_CHOICE: return xstrdup(st->names[*(const int *)p]);
    case SET_NONE: break;
    }
    BUG("unknown kind of setting");
}

/* A word that this version does not know counts as the first, the paper's. */
static int recorded_choice(const struct setting *st, const char *text)
{
    int i = word_of(st->names, text);
    return st->names[i] ? i : 0;
}

static void from_text(const struct setting *st, struct settings *s, const char *text)
{
    void *p = (char *)s + st->at;
    switch (st->kind) {
    case SET_TEXT:
    case SET_PLACE:
    case SET_PATH:
    case SET_PARAMS:
    case SET_RESUME: replace(p, *text ? xstrdup(text) : NULL); break;
    case SET_ROSTER:
        strv_free(p);
        strv_split(p, text, ',');
        break;
    case SET_PATHS:
    case SET_WORDS:
        strv_free(p);
        from_lines(p, text);
        break;
    case SET_INT: *(int *)p = (int)strtol(text, NULL, 10); break;
    case SET_TIME: *(int64_t *)p = strtoll(text, NULL, 10); break;
    case SET_MEMORY:
    case SET_U64: *(uint64_t *)p = strtoull(text, NULL, 10); break;
    case SET_U32:
    case SET_REWARD: *(uint32_t *)p = (uint32_t)strtoul(text, NULL, 10); break;
    case SET_FLAG: *(bool *)p = *text == '1'; break;
    case SET_CHOICE: *(int *)p = recorded_choice(st, text); break;
    case SET_NONE: BUG("unknown kind of setting");
    }
}

void settings_facts(const struct settings *s, struct facts *out)
{
    for (size_t i = 0; i < settings_count; i++)
        if (settings_table[i].key)
            facts_add(out, settings_table[i].key, to_text(&settings_table[i], s));
}

int settings_read(struct settings *s, struct store *store, struct err *e)
{
    for (size_t i = 0; i < settings_count; i++) {
        const struct setting *st = &settings_table[i];
        char *text = NULL;
        int rc = st->key ? store_get(store, st->key, &text, e) : 0;
        if (rc < 0)
            return rc;
        if (st->key && !text && st->later)
            text = xstrdup(st->paper);
        if (st->key && !text)
            return err_usage(e,
                             "the campaign's record lacks the setting '%s': it was not begun by "
                             "this version of carol, or its start was cut off before anything "
                             "was stored; start a new one",
                             st->key);
        if (text)
            from_text(st, s, text);
        free(text);
    }
    return 0;
}

void settings_free(struct settings *s)
{
    for (size_t i = 0; i < settings_count; i++) {
        void *p = (char *)s + settings_table[i].at;
        switch (settings_table[i].kind) {
        case SET_TEXT:
        case SET_PLACE:
        case SET_PATH:
        case SET_PARAMS:
        case SET_RESUME: replace(p, NULL); break;
        case SET_ROSTER:
        case SET_PATHS:
        case SET_WORDS: strv_free(p); break;
        default: break;
        }
    }
    *s = (struct settings){0};
}
