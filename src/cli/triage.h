/* triage: what `carol triage` and the end of `carol fuzz` share: running it, and showing the defects. */
#ifndef CAROL_CLI_TRIAGE_H
#define CAROL_CLI_TRIAGE_H

#include "base/str.h"
#include "journal/settings.h"
#include "store/store.h"
#include "target/manifest.h"
#include "triage/defect.h"
#include "triage/output.h"

enum fail_on { FAIL_NEVER = 0, FAIL_NEW, FAIL_ANY };

struct triage_args {
    const char *out, *build; /* build: NULL: as the campaign was begun */
    int jobs;
    int64_t minimise_ns;
    int64_t hangs_ns; /* hangs are run again for so long; -1: until all are */
    bool json, quiet, public;
    struct strv baseline; /* files of earlier triages */
    enum fail_on fail_on;
    const char *bundle, *exec, *webhook;
};

/* A campaign whose crashes are triaged, as far as it got. */
struct triaged {
    struct store *store;
    struct settings o;
    struct manifest target;
    struct defects d;
    char *dir; /* of the output */
    struct output out;
    bool interrupted;
    int64_t hangs_ns; /* as asked for */
};

/* Run what has not been run, write the files.  0 also when Ctrl-C ended it: what was found out by then is written.
 * Close it in any case. */
CAROL_MUST_CHECK int triage_campaign(struct triaged *t, const struct triage_args *a, struct err *e);
void triaged_close(struct triaged *t);

/* Tell --exec and --webhook of every defect that they were not told of before, and wait until they have ended. */
CAROL_MUST_CHECK int triage_hooks(struct triaged *t, const struct triage_args *a, struct err *e);

/* The table for people. */
void triage_print(const struct triaged *t, bool baseline);

#endif
