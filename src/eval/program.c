/* program: makes sure that the table is that of the very binary that will run.  Starts nothing. */
#include "eval/program.h"

#include "base/hash.h"
#include "target/table.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Nothing has happened to the binary since the manifest, which holds its digest, was written.  The time
 * of the last change of an inode cannot be set, so a copy or another file in its place is younger. */
static bool is_untouched(const struct manifest *m)
{
    struct stat made, binary;
    char *path = m->dir ? manifest_path(m->dir) : NULL;
    bool both =
        path && stat(path, &made) == 0 && stat(m->family[FAMILY_NEUTRAL].binary, &binary) == 0;
    free(path);
    return both && (uint64_t)binary.st_size == m->family[FAMILY_NEUTRAL].bytes &&
           (binary.st_ctim.tv_sec < made.st_mtim.tv_sec ||
            (binary.st_ctim.tv_sec == made.st_mtim.tv_sec &&
             binary.st_ctim.tv_nsec < made.st_mtim.tv_nsec));
}

/* The table must be that of this very binary: edge numbers mean nothing otherwise. */
static int check_build(const struct manifest *m, const struct table *t, struct err *e)
{
    struct digest d;
    char hex[65];
    const char *binary = m->family[FAMILY_NEUTRAL].binary, *id = m->family[FAMILY_NEUTRAL].build_id;
    if (id && strcmp(id, t->build_id) == 0 && is_untouched(m))
        return 0;
    int rc = hash_file(binary, &d, e);
    if (rc < 0) {
        if (e)
            e->exit = ERR_EXIT_USAGE;
        return err_wrap(e, "the neutral binary is missing; make it with 'carol build'");
    }
    digest_hex(&d, hex);
    if (strcmp(hex, t->build_id) == 0)
        return 0;
    return err_usage(e,
                     "the table %s is of another build than %s (%.12s, the binary is %.12s): "
                     "edges would be counted wrongly; run 'carol build -o %s ...' again",
                     m->table, binary, t->build_id, hex, m->dir ? m->dir : "DIR");
}

int program_check(const struct manifest *m, struct program *p, struct err *e)
{
    struct table t;
    if (!m->family[FAMILY_NEUTRAL].ok || !m->family[FAMILY_NEUTRAL].binary || !m->table)
        return err_usage(e, "this build has no neutral family, so nothing can be measured: run "
                            "'carol build' with --families that include neutral");
    int rc = table_load_head(m->table, &t, e);
    rc = rc < 0 ? rc : check_build(m, &t, e);
    *p = (struct program){t.n_edges, t.n_modules, t.layout};
    return rc;
}
