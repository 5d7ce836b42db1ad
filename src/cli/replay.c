/* replay: `carol replay`: the journal once more through the same folds, and whether all comes out again. */
#include "cli/cli.h"

#include "campaign/replay.h"
#include "campaign/settings.h"
#include "store/store.h"
#include "target/manifest.h"
#include "target/table.h"

#include <jansson.h>
#include <stdio.h>

static const char help[] = "  --json   for programs (schema 1)\n\n"
                           "Exit code 1 when a decision or a reward does not come out as logged.\n";

static void print_json(const struct replay *r)
{
    json_t *m = r->mismatch.turn
                    ? json_pack("{s:I,s:s,s:s,s:s}", "turn", (json_int_t)r->mismatch.turn, "what",
                                r->mismatch.what, "logged", r->mismatch.logged, "computed",
                                r->mismatch.computed)
                    : json_null();
    json_t *o =
        json_pack("{s:i,s:I,s:I,s:o,s:b,s:I}", "schema", 1, "decisions", (json_int_t)r->decisions,
                  "matched", (json_int_t)r->matched, "first_mismatch", m, "state_equal",
                  r->state_equal, "open_turns", (json_int_t)r->n_open);
    json_dumpf(o, stdout, JSON_INDENT(2));
    printf("\n");
    json_decref(o);
}

static void print_text(const struct replay *r)
{
    printf("%llu decisions, %llu come out exactly as logged; the scheduler's state %s the stored "
           "one\n",
           (unsigned long long)r->decisions, (unsigned long long)r->matched,
           r->state_equal ? "equals" : "DIFFERS from");
    if (r->mismatch.turn)
        printf("first difference: turn %lld, %s: logged %s, computed %s\n",
               (long long)r->mismatch.turn, r->mismatch.what, r->mismatch.logged,
               r->mismatch.computed);
}

static int replay(const char *out, struct replay *r, struct err *e)
{
    struct store *s = NULL;
    struct campaign_opts o = {0};
    struct manifest m = {0};
    struct table t = {0};
    struct fold_settings st;
    int rc = store_open(&s, out, STORE_READ, e);
    if (rc == 0)
        rc = store_begin(s, e); /* one moment of a campaign that may be running */
    if (rc == 0)
        rc = settings_read(&o, s, e);
    if (rc == 0)
        rc = manifest_load(o.build, o.target, &m, e);
    if (rc == 0)
        rc = m.table
                 ? table_load(m.table, &t, e)
                 : err_usage(e,
                             "%s has no neutral build any more, and edges mean nothing without it",
                             o.build);
    if (rc == 0)
        rc = settings_check_build(s, &t, o.build, e);
    if (rc == 0) {
        settings_fold(&o, &t, &st);
        rc = replay_journal(r, s, &st, e);
    }
    fold_free(&r->fold); /* it looks into the table */
    table_free(&t);
    manifest_free(&m);
    campaign_opts_free(&o);
    store_close(s);
    return rc;
}

int cli_replay(int argc, char **argv)
{
    bool json = false;
    const char *out = NULL;
    struct err e = {0};
    struct replay r = {0};
    int rc = cli_campaign_arg("replay", help, argc, argv, &json, &out, &e);
    if (rc == 1)
        return 0;
    if (rc == 0)
        rc = replay(out, &r, &e);
    if (rc == 0) {
        if (json)
            print_json(&r);
        else
            print_text(&r);
    }
    bool bad = r.mismatch.turn || !r.state_equal || r.matched != r.decisions;
    replay_free(&r);
    return rc < 0 ? cli_fail(&e) : bad;
}
