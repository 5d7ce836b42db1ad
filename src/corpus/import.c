/* import: stores inputs in a campaign's record.  Runs none of them. */
#include "corpus/import.h"

#include "base/die.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/str.h"
#include "campaign/corpus.h"
#include "journal/write.h"

#include <stdlib.h>

struct importing {
    struct store *store;
    struct import_result *r;
    struct inputs bytes; /* of those that are new */
    struct strv names;
};

static int take_input(void *arg, const char *name, const void *data, size_t size, struct err *e)
{
    struct importing *i = arg;
    struct digest hash;
    int64_t id;
    hash_bytes(data, size, &hash);
    int rc = store_seed_find(i->store, &hash, &id, e);
    i->r->seen++;
    if (rc < 0 || id)
        return rc;
    inputs_add(&i->bytes, 0, data, size);
    strv_add(&i->names, name);
    return 0;
}

static int check(struct store *s, const char *out, struct err *e)
{
    enum seeds_state state = SEEDS_OPEN;
    bool simulated = false;
    int rc = journal_is_simulated(s, &simulated, e);
    if (rc == 0 && simulated)
        return err_usage(e, "%s is a simulated campaign ('carol sim'): it runs no inputs", out);
    if (rc == 0)
        rc = journal_seeds_state(s, &state, e);
    if (rc == 0 && state == SEEDS_OPEN)
        rc = err_usage(e,
                       "%s has not measured its own seeds yet: let it begin with 'carol fuzz "
                       "--resume %s', end it with Ctrl-C, and import then",
                       out, out);
    if (rc == 0 && state == SEEDS_NONE_RUNS)
        rc = err_usage(e,
                       "%s cannot go on, because every seed it began with crashes or hangs the "
                       "target: start a new campaign with 'carol fuzz -i' instead",
                       out);
    return rc;
}

/* The inputs are in the record already: an event that cannot be written does not undo that. */
static void note(struct importing *i, int64_t at_ns)
{
    struct err e = {0};
    char *text = str_fmt("%zu inputs", i->r->added);
    if (store_event(i->store, at_ns, "import", text, &e) < 0)
        log_warn("%s (the inputs are imported)", e.msg);
    free(text);
}

/* One step of the record: the late turn and all its seeds. */
static int store_all(struct importing *i, struct err *e)
{
    struct store_totals t;
    int rc = store_totals(i->store, &t, e);
    if (rc < 0 || !i->bytes.n)
        return rc;
    struct store_find *finds = xcalloc(i->bytes.n, sizeof *finds);
    for (size_t k = 0; k < i->bytes.n; k++)
        finds[k] = (struct store_find){.kind = STORE_FIND_SEED,
                                       .data = i->bytes.v[k].data,
                                       .size = i->bytes.v[k].size,
                                       .entry = -1,
                                       .parent_entry = -1,
                                       .found_ns = t.elapsed_ns,
                                       .name = i->names.v[k]};
    struct store_turn row = {
        .state = TURN_LATE, .arm = -1, .start_ns = t.elapsed_ns, .parked_ns = t.elapsed_ns};
    rc = store_turn_park(i->store, &row, finds, i->bytes.n, NULL, e);
    i->r->added = rc == 0 ? row.inputs : 0; /* the same content twice in the files is one */
    free(finds);
    if (rc == 0)
        note(i, t.elapsed_ns);
    return rc;
}

int import_inputs(const char *out, const char *const *paths, size_t n, struct import_result *r,
                  struct err *e)
{
    struct importing i = {.r = r};
    struct corpus_sink sink = {.input = take_input, .arg = &i};
    *r = (struct import_result){0};
    int rc = store_open(&i.store, out, STORE_RESUME, e);
    if (rc == 0)
        rc = check(i.store, out, e);
    for (size_t k = 0; rc == 0 && k < n; k++)
        rc = fs_exists(paths[k])
                 ? corpus_read(paths[k], &sink, e)
                 : err_usage(e, "there is nothing at %s to import; nothing was imported", paths[k]);
    if (rc == 0)
        rc = store_all(&i, e);
    r->too_large = sink.too_large;
    inputs_free(&i.bytes);
    strv_free(&i.names);
    store_close(i.store);
    return rc;
}
