/* defect: folds the rows of triage into defects.  Runs nothing, writes nothing. */
#include "triage/defect.h"

#include "base/die.h"
#include "base/str.h"
#include "journal/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool is_confirmed(enum triage_outcome outcome, int plain_runs, int plain_hits)
{
    return plain_runs >= (outcome == TRIAGE_HANG ? 1 : CONFIRM_RUNS) && plain_hits == plain_runs;
}

struct folding {
    struct defects *d;
    size_t cap;
    struct strv arms;
    char *build; /* rows of others are worthless */
};

static void replace(char **field, const char *text)
{
    free(*field);
    *field = xstrdup(text);
}

static struct defect *bucket(struct folding *f, const char *id)
{
    struct defects *d = f->d;
    for (size_t i = 0; i < d->n; i++)
        if (strcmp(d->v[i].id, id) == 0)
            return &d->v[i];
    XGROW(d->v, d->n, f->cap);
    struct defect *x = &d->v[d->n++];
    *x = (struct defect){0};
    snprintf(x->id, sizeof x->id, "%s", id);
    return x;
}

/* The worse of two outcomes of one defect: what may not be published, then a write, a jump, a read. */
static int badness(const struct store_triage *t)
{
    return 4 * t->withheld + (strcmp(t->access, "write") == 0  ? 3
                              : strcmp(t->access, "jump") == 0 ? 2
                                                               : *t->access != 0);
}

static int badness_of(const struct defect *d)
{
    struct store_triage t = {.withheld = d->withheld, .access = d->access};
    return badness(&t);
}

static void take_worst(struct defect *x, const struct store_triage *t)
{
    if (x->worst && badness(t) <= badness_of(x))
        return;
    x->worst = t->crash;
    x->outcome = t->outcome;
    x->line = t->line;
    x->bytes = t->bytes;
    x->cwe = t->cwe;
    x->withheld = t->withheld;
    replace(&x->function, t->function);
    replace(&x->file, t->file);
    replace(&x->fault, t->fault);
    replace(&x->entry, t->entry);
    replace(&x->access, t->access);
    replace(&x->address, t->address);
}

/* The one to show: it fails more often, or as often and is smaller. */
static void take_best(struct defect *x, const struct store_triage *t, const struct store_crash *c)
{
    bool sure = is_confirmed(t->outcome, t->plain_runs, t->plain_hits);
    if (x->best && (x->plain_hits > t->plain_hits ||
                    (x->plain_hits == t->plain_hits && x->plain_runs >= t->plain_runs &&
                     x->best_size <= c->size)))
        return;
    x->best = t->crash;
    x->best_size = c->size;
    x->confirmed = sure;
    x->asan_runs = t->asan_runs;
    x->asan_hits = t->asan_hits;
    x->plain_runs = t->plain_runs;
    x->plain_hits = t->plain_hits;
    x->plain_signal = t->plain_signal;
    replace(&x->why, sure ? "" : t->why);
}

static void take_finder(struct folding *f, struct defect *x, const struct store_crash *c)
{
    bool known = c->arm >= 0 && (size_t)c->arm < f->arms.n && c->arm < CONTEXT_MAX_ARMS;
    if (known)
        x->by[c->arm]++;
    if (x->inputs++ && x->first_seen_ns <= c->found_ns)
        return;
    x->first = c->id;
    x->first_seen_ns = c->found_ns;
    snprintf(x->found_by, sizeof x->found_by, "%s", known ? f->arms.v[c->arm] : "seed");
}

static int take_row(void *arg, const struct store_triage *t, const struct store_crash *c,
                    struct err *e)
{
    (void)e;
    struct folding *f = arg;
    if (strcmp(t->build, f->build) != 0)
        return 0;
    f->d->rows++;
    f->d->slow += t->outcome == TRIAGE_SLOW;
    f->d->clean += t->outcome == TRIAGE_CLEAN;
    f->d->broken += t->outcome == TRIAGE_BROKEN;
    if (!*t->defect)
        return 0;
    struct defect *x = bucket(f, t->defect);
    take_worst(x, t);
    take_best(x, t, c);
    take_finder(f, x, c);
    return 0;
}

static int take_minimised(void *arg, const struct store_minimised *m, struct err *e)
{
    (void)e;
    struct folding *f = arg;
    for (size_t i = 0; strcmp(m->build, f->build) == 0 && i < f->d->n; i++)
        if (strcmp(f->d->v[i].id, m->defect) == 0) {
            f->d->v[i].minimised = true;
            f->d->v[i].minimised_size = m->size;
        }
    return 0;
}

static int in_order(const void *a, const void *b)
{
    const struct defect *x = a, *y = b;
    if (x->confirmed != y->confirmed)
        return x->confirmed ? -1 : 1;
    if (x->first_seen_ns != y->first_seen_ns)
        return x->first_seen_ns < y->first_seen_ns ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

int defects_load(struct defects *d, struct store *s, struct err *e)
{
    *d = (struct defects){0};
    struct folding f = {.d = d};
    struct store_totals all = {0};
    char *roster = NULL;
    int rc = store_get(s, "triage.build", &f.build, e);
    if (rc == 0)
        rc = store_get(s, "fuzzers", &roster, e);
    if (roster)
        strv_split(&f.arms, roster, ',');
    if (rc == 0 && f.build)
        rc = store_triage_rows(s, take_row, &f, e);
    if (rc ==
        0) /* after the rows: a campaign that runs adds crashes, never fewer than have a row */
        rc = store_totals(s, &all, e);
    if (rc == 0 && f.build)
        rc = store_minimised(s, take_minimised, &f, e);
    for (size_t i = 0; i < d->n; i++)
        d->confirmed += d->v[i].confirmed;
    d->waiting = all.crashes + all.hangs - d->rows;
    if (d->n)
        qsort(d->v, d->n, sizeof *d->v, in_order);
    free(f.build);
    free(roster);
    strv_free(&f.arms);
    if (rc < 0)
        defects_free(d);
    return rc;
}

void defects_free(struct defects *d)
{
    for (size_t i = 0; i < d->n; i++) {
        struct defect *x = &d->v[i];
        char *texts[] = {x->function, x->file, x->fault, x->entry, x->access, x->address, x->why};
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
            free(texts[k]);
    }
    free(d->v);
    *d = (struct defects){0};
}

const struct defect *defects_find(const struct defects *d, const char *id)
{
    for (size_t i = 0; i < d->n; i++)
        if (strcmp(d->v[i].id, id) == 0)
            return &d->v[i];
    return NULL;
}

const char *defect_class(const struct defect *d)
{
    return d->withheld ? "withheld" : "crash";
}

const char *defect_sure(const struct defect *d)
{
    return d->outcome == TRIAGE_HANG ? "does not end in ten times the limit, without a sanitizer"
                                     : "fails in 5 of 5 runs without a sanitizer";
}

/* The names of those that triage gives, in the words of the paper's table where it has them. */
static const struct {
    int cwe;
    const char *name;
} names[] = {
    {119, "access outside a buffer"},
    {125, "out-of-bounds read"},
    {129, "improper validation of an array index"},
    {131, "incorrect calculation of a buffer size"},
    {190, "integer overflow"},
    {195, "signed to unsigned conversion"},
    {248, "uncaught exception"},
    {369, "divide by zero"},
    {400, "uncontrolled resource consumption"},
    {401, "memory leak"},
    {415, "double free"},
    {416, "use after free"},
    {457, "use of an uninitialised variable"},
    {475, "undefined behaviour for an argument"},
    {476, "null pointer dereference"},
    {562, "use of a returned stack address"},
    {590, "free of memory not on the heap"},
    {617, "reachable assertion"},
    {674, "uncontrolled recursion"},
    {681, "incorrect conversion between numeric types"},
    {758, "reliance on undefined behaviour"},
    {762, "mismatched memory management"},
    {787, "out-of-bounds write"},
    {789, "memory allocation with an excessive size"},
    {822, "untrusted pointer dereference"},
    {823, "out-of-range pointer offset"},
    {825, "expired pointer dereference"},
    {834, "excessive iteration"},
    {843, "type confusion"},
    {1335, "incorrect bitwise shift"},
};

const char *cwe_name(int cwe)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].cwe == cwe)
            return names[i].name;
    return "";
}

char *defect_weakness(const struct defect *d)
{
    return d->cwe ? str_fmt("CWE-%d %s", d->cwe, cwe_name(d->cwe)) : xstrdup("no class");
}

/* --- for programs ------------------------------------------------------------------------------- */

static json_t *text_or_null(const char *s)
{
    return s && *s ? json_bytes(s) : json_null();
}

static json_t *defect_json(const struct defect *d, const char *out)
{
    char cwe[16] = "",
         *path = d->minimised && out ? str_fmt("%s/triage/%s/minimised", out, d->id) : NULL;
    if (d->cwe)
        snprintf(cwe, sizeof cwe, "CWE-%d", d->cwe);
    json_t *o =
        json_pack("{s:s,s:o,s:o,s:i,s:o,s:o,s:o,s:s,s:b,s:s,s:f,s:I,s:o}", "id", d->id, "function",
                  text_or_null(d->function), "file", text_or_null(d->file), "line", d->line,
                  "fault", json_bytes(d->fault), "entry", text_or_null(d->entry), "cwe",
                  text_or_null(cwe), "class", defect_class(d), "confirmed", d->confirmed,
                  "found_by", d->found_by, "first_seen_s", (double)d->first_seen_ns / 1e9, "inputs",
                  (json_int_t)d->inputs, "minimised", text_or_null(path));
    static const char *const kinds[] = {
        [TRIAGE_CRASH] = "crash", [TRIAGE_HANG] = "hang", [TRIAGE_OOM] = "oom"};
    json_object_set_new(o, "kind", json_string(kinds[d->outcome]));
    json_object_set_new(o, "access", text_or_null(d->access));
    json_object_set_new(o, "access_bytes", d->bytes ? json_integer(d->bytes) : json_null());
    json_object_set_new(o, "address", text_or_null(d->address));
    json_object_set_new(o, "plain_runs", json_integer(d->plain_runs));
    json_object_set_new(o, "plain_crashes", json_integer(d->plain_hits));
    json_object_set_new(o, "asan_runs", json_integer(d->asan_runs));
    json_object_set_new(o, "asan_crashes", json_integer(d->asan_hits));
    json_object_set_new(o, "why", text_or_null(d->why));
    json_object_set_new(o, "bytes", json_integer((json_int_t)d->best_size));
    json_object_set_new(o, "minimised_bytes",
                        d->minimised ? json_integer((json_int_t)d->minimised_size) : json_null());
    json_object_set_new(o, "known", json_boolean(d->known));
    free(path);
    return o;
}

json_t *defects_json(const struct defects *d, const char *out)
{
    json_t *sure = json_array(), *unsure = json_array();
    for (size_t i = 0; i < d->n; i++)
        json_array_append_new(d->v[i].confirmed ? sure : unsure, defect_json(&d->v[i], out));
    return json_pack("{s:i,s:o,s:o,s:I,s:I,s:I,s:I,s:I}", "schema", 1, "defects", sure,
                     "unconfirmed", unsure, "triaged", (json_int_t)d->rows, "waiting",
                     (json_int_t)d->waiting, "slow", (json_int_t)d->slow, "clean",
                     (json_int_t)d->clean, "broken", (json_int_t)d->broken);
}
