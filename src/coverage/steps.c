/* steps: remembers which regions ran.  Runs nothing itself. */
#include "coverage/steps.h"

#include "base/die.h"

#include <errno.h>
#include <stdlib.h>

int steps_open(struct steps *s, const char *binary, struct err *e)
{
    *s = (struct steps){0};
    int rc = mapping_load(&s->mapping, binary, e);
    if (rc == 0)
        s->scratch = xcalloc(s->mapping.most_sums, sizeof *s->scratch);
    return rc;
}

static void take_layout(struct steps *s, const struct rawprofile *p)
{
    s->n_counters = p->n_counters;
    s->n_functions = p->n_functions;
    s->total = xcalloc(p->n_counters, sizeof *s->total);
    s->ran = xcalloc(p->n_functions, sizeof *s->ran);
    s->functions = xcalloc(p->n_functions, sizeof *s->functions);
    for (size_t i = 0; i < p->n_functions; i++) {
        const struct mapping_function *f =
            mapping_find(&s->mapping, p->functions[i].name, p->functions[i].hash);
        if (!f || f->n_counters > p->functions[i].n)
            continue; /* not of source we map, such as a runtime's own */
        s->functions[i] = f;
        s->ran[i] = xcalloc(f->n_regions, sizeof **s->ran);
    }
}

static bool any(const uint64_t *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (v[i])
            return true;
    return false;
}

/* Not 0 is what llvm-cov takes for "ran".  A run that ended in the middle can have a difference below 0. */
static bool add_function(struct steps *s, size_t i, const uint64_t *counters)
{
    const struct mapping_function *f = s->functions[i];
    bool fresh = false;
    mapping_sums(f, counters, s->scratch);
    for (size_t r = 0; r < f->n_regions; r++)
        if (!s->ran[i][r] && mapping_ran(f, r, counters, s->scratch))
            fresh = s->ran[i][r] = true;
    return fresh;
}

int steps_add(struct steps *s, const struct rawprofile *p, struct err *e)
{
    bool fresh = false;
    if (!s->functions)
        take_layout(s, p);
    if (p->n_counters != s->n_counters || p->n_functions != s->n_functions)
        return err_set(e, -EBADMSG, "two profiles of the source build do not fit together");
    for (size_t i = 0; i < p->n_counters; i++)
        s->total[i] += p->counters[i];
    for (size_t i = 0; i < p->n_functions; i++) {
        const struct rawprofile_function *f = &p->functions[i];
        if (s->functions[i] && any(p->counters + f->first, f->n))
            fresh |= add_function(s, i, p->counters + f->first);
    }
    return fresh;
}

void steps_free(struct steps *s)
{
    for (size_t i = 0; i < s->n_functions; i++)
        free(s->ran[i]);
    free(s->ran);
    free(s->functions);
    free(s->total);
    free(s->scratch);
    mapping_free(&s->mapping);
    *s = (struct steps){0};
}
