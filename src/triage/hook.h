/* hook: tells a command, a web address, or both, of new defects, one after another, without waiting.
 *
 *     hook_check(&opts, &e);                           // is it an address, is curl there?
 *     hook_new(&h, loop, store, &opts);
 *     hook_tell(h, id, folder, defect, &e);            // unless it was told before
 *     hook_idle(h);                                    // nothing runs, nothing waits
 *     hook_free(h);                                    // what runs is killed, and told again next time
 *
 * The command is run by sh, with the defect as JSON on standard input, its number in $CAROL_DEFECT_ID and its folder in
 * $CAROL_DEFECT_DIR.  The address gets a POST by curl: {schema, event: "defect", text, campaign, defect}.  What ends with
 * success is not told again, in no later run either (a fact of the store); what fails is when the campaign ends, or by
 * `carol triage`. */
#ifndef CAROL_TRIAGE_HOOK_H
#define CAROL_TRIAGE_HOOK_H

#include "base/err.h"
#include "proc/loop.h"
#include "store/store.h"

#include <jansson.h>

struct hook;

struct hook_opts {
    const char *command, *url; /* NULL: none */
    const char *campaign;      /* its directory */
    void *arg;
    void (*idle)(void *arg); /* NULL, or called whenever the last one has ended */
};

/* Before anything is begun; 0 when there is nothing to tell. */
CAROL_MUST_CHECK int hook_check(const struct hook_opts *o, struct err *e);
/* The texts must live. */
void hook_new(struct hook **out, struct loop *l, struct store *s, const struct hook_opts *o);
/* h may be NULL, here and below.  `defect` as in defects.json. */
CAROL_MUST_CHECK int hook_tell(struct hook *h, const char *id, const char *folder, json_t *defect,
                               struct err *e);
bool hook_idle(const struct hook *h);
void hook_free(struct hook *h);

#endif
