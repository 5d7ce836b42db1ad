/* replay: `carol replay`: the journal once more through the same folds, and whether all comes out again;
 * or through another scheduler, and what that one would have chosen. */
#include "cli/cli.h"

#include "base/die.h"
#include "base/str.h"
#include "journal/journal.h"
#include "journal/replay.h"

#include <getopt.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "  -s, --scheduler NAME   what this one would have chosen at each decision, given what really\n"
    "                         happened before it\n"
    "      --sched-opt KEY=VALUE    an option of it; alone: the campaign's own scheduler with "
    "that\n"
    "                         option changed; may be repeated\n"
    "      --turns            also every decision: what ran, what it would have chosen\n"
    "      --json             for programs (schema 1)\n\n"
    "Exit code 1 when a decision or a reward does not come out as logged; under another scheduler\n"
    "a different choice is an answer, not a failure.\n";

enum { OPT_SCHED = 256, OPT_JSON, OPT_TURNS };

static const struct option options[] = {{"scheduler", 1, 0, 's'}, {"sched-opt", 1, 0, OPT_SCHED},
                                        {"json", 0, 0, OPT_JSON}, {"turns", 0, 0, OPT_TURNS},
                                        {"help", 0, 0, 'h'},      {0, 0, 0, 0}};

struct args {
    const char *out, *scheduler;
    char *params; /* "key=value,..." given here */
    bool json, turns, help;
};

struct answer {
    struct replay r;
    struct strv arms;
    char *scheduler, *params; /* of this replay */
    const char *given;        /* params that were asked for here */
    json_t *turns;            /* every decision, when asked for */
    bool other, simulated;
};

static void add_param(struct args *a, const char *v)
{
    char *was = a->params;
    a->params = was ? str_fmt("%s,%s", was, v) : xstrdup(v);
    free(was);
}

static int parse(int argc, char **argv, struct args *a, struct err *e)
{
    optind = 1;
    for (int c; (c = getopt_long(argc, argv, "s:h", options, NULL)) != -1;) {
        switch (c) {
        case 's': a->scheduler = optarg; break;
        case OPT_SCHED: add_param(a, optarg); break;
        case OPT_JSON: a->json = true; break;
        case OPT_TURNS: a->turns = true; break;
        case 'h': a->help = true; return 0;
        default: return err_usage(e, "'carol replay --help' tells what it takes");
        }
    }
    if (optind + 1 != argc)
        return err_usage(e, "which campaign? carol replay OUT");
    a->out = argv[optind];
    return 0;
}

/* --- the replay -------------------------------------------------------------------------------- */
static void note_turn(void *arg, const struct replay_step *step)
{
    struct answer *a = arg;
    const char *would = step->computed->choice < 0 ? NULL : a->arms.v[step->computed->choice];
    json_array_append_new(a->turns,
                          json_pack("{s:I,s:s,s:s?}", "turn", (json_int_t)step->row->id, "logged",
                                    a->arms.v[step->logged->choice], "choice", would));
}

/* The scheduler of this replay: another one with its own defaults, or the logged one with a change. */
static void choose_scheduler(struct answer *an, const struct args *a, struct journal *j)
{
    const char *was = j->o.params ? j->o.params : "";
    an->other = a->scheduler || a->params;
    an->given = a->params ? a->params : "";
    an->scheduler = xstrdup(a->scheduler ? a->scheduler : j->o.scheduler);
    if (a->scheduler || !*was)
        an->params = xstrdup(a->params ? a->params : a->scheduler ? "" : was);
    else
        an->params = a->params ? str_fmt("%s,%s", was, a->params) : xstrdup(was);
    j->fold.scheduler = an->scheduler;
    j->fold.params = *an->params ? an->params : NULL;
}

static int replay(const struct args *a, struct answer *an, struct err *e)
{
    struct journal j;
    struct replay_how how = {.arg = an};
    int rc = journal_open(&j, a->out, JOURNAL_EDGES, e);
    if (rc == 0) {
        choose_scheduler(an, a, &j);
        an->simulated = j.simulated;
        for (size_t i = 0; i < j.o.fuzzers.n; i++)
            strv_add(&an->arms, j.o.fuzzers.v[i]);
        how.other = an->other;
        if (a->turns || (an->other && a->json))
            how.decided = note_turn;
        an->turns = json_array();
        rc = replay_journal(&an->r, j.store, &j.fold, &how, e);
    }
    fold_free(&an->r.fold); /* it looks into the table */
    journal_close(&j);
    return rc;
}

/* --- the answer -------------------------------------------------------------------------------- */
static json_t *counts_json(const struct answer *a, const uint64_t *counts)
{
    json_t *o = json_object();
    for (size_t i = 0; i < a->arms.n; i++)
        json_object_set_new(o, a->arms.v[i], json_integer((json_int_t)counts[i]));
    return o;
}

static json_t *mismatch_json(const struct replay *r)
{
    return r->mismatch.turn ? json_pack("{s:I,s:s,s:s,s:s}", "turn", (json_int_t)r->mismatch.turn,
                                        "what", r->mismatch.what, "logged", r->mismatch.logged,
                                        "computed", r->mismatch.computed)
                            : json_null();
}

static void print_json(const struct answer *a)
{
    const struct replay *r = &a->r;
    json_t *o = json_pack("{s:i,s:I,s:I,s:o,s:s,s:s,s:I,s:o,s:o,s:I,s:I}", "schema", 1, "decisions",
                          (json_int_t)r->decisions, "matched", (json_int_t)r->matched,
                          "first_mismatch", mismatch_json(r), "scheduler", a->scheduler, "params",
                          a->params, "differs", (json_int_t)r->differs, "choices",
                          counts_json(a, r->choices), "logged", counts_json(a, r->logged), "none",
                          (json_int_t)r->none, "open_turns", (json_int_t)r->n_open);
    json_object_set_new(o, "simulated", json_boolean(a->simulated));
    if (!a->other)
        json_object_set_new(o, "state_equal", json_boolean(r->state_equal));
    if (json_array_size(a->turns))
        json_object_set(o, "turns", a->turns);
    json_dumpf(o, stdout, JSON_INDENT(2));
    printf("\n");
    json_decref(o);
}

static void print_turns(const struct answer *a)
{
    size_t i;
    json_t *t;
    json_array_foreach(a->turns, i, t)
    {
        const char *was = json_string_value(json_object_get(t, "logged"));
        const char *now = json_string_value(json_object_get(t, "choice"));
        bool same = now && strcmp(was, now) == 0;
        printf("%6lld  %-10s %s%s\n", (long long)json_integer_value(json_object_get(t, "turn")),
               was, same ? "" : "-> ",
               same  ? ""
               : now ? now
                     : "nobody");
    }
    if (i)
        printf("\n");
}

static double percent(uint64_t part, uint64_t whole)
{
    return whole ? 100 * (double)part / (double)whole : 0;
}

static void print_other(const struct answer *a)
{
    const struct replay *r = &a->r;
    printf("%s%s%s on what happened: another choice at %llu of %llu decisions (%.1f %%)\n",
           a->scheduler, *a->given ? " with " : "", a->given, (unsigned long long)r->differs,
           (unsigned long long)r->decisions, percent(r->differs, r->decisions));
    if (r->mismatch.turn)
        printf("the first: turn %lld, %s ran, it would have chosen %s\n",
               (long long)r->mismatch.turn, r->mismatch.logged, r->mismatch.computed);
    printf("\n%-12s %12s %12s\n", "fuzzer", "ran", "would choose");
    for (size_t i = 0; i < a->arms.n; i++)
        printf("%-12s %5llu %5.1f%% %5llu %5.1f%%\n", a->arms.v[i],
               (unsigned long long)r->logged[i], percent(r->logged[i], r->decisions),
               (unsigned long long)r->choices[i], percent(r->choices[i], r->decisions));
    if (r->none)
        printf("%-12s %12s %5llu %5.1f%%\n", "nobody", "", (unsigned long long)r->none,
               percent(r->none, r->decisions));
}

static void print_answer(const struct answer *a, bool json)
{
    if (json) {
        print_json(a);
        return;
    }
    print_turns(a);
    if (a->simulated)
        printf("simulated: ");
    if (a->other) {
        print_other(a);
        return;
    }
    const struct replay *r = &a->r;
    printf("%llu decisions, %llu come out exactly as logged; the scheduler's state %s the stored "
           "one\n",
           (unsigned long long)r->decisions, (unsigned long long)r->matched,
           r->state_equal ? "equals" : "DIFFERS from");
    if (r->mismatch.turn)
        printf("first difference: turn %lld, %s: logged %s, computed %s\n",
               (long long)r->mismatch.turn, r->mismatch.what, r->mismatch.logged,
               r->mismatch.computed);
}

int cli_replay(int argc, char **argv)
{
    struct args a = {0};
    struct answer an = {0};
    struct err e = {0};
    int rc = parse(argc, argv, &a, &e);
    if (rc == 0 && a.help)
        return cli_help(cli_find("replay"), help);
    if (rc == 0)
        rc = replay(&a, &an, &e);
    if (rc == 0)
        print_answer(&an, a.json);
    const struct replay *r = &an.r;
    bool bad = !an.other && (r->mismatch.turn || !r->state_equal || r->matched != r->decisions);
    replay_free(&an.r);
    strv_free(&an.arms);
    free(an.scheduler);
    free(an.params);
    json_decref(an.turns);
    free(a.params);
    return rc < 0 ? cli_fail(&e) : bad;
}
