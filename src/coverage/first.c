/* first: attributes lines.  Pure. */
#include "coverage/first.h"

#include "base/die.h"

#include <string.h>

uint64_t first_claim(struct lcov *all, const struct lcov *step, int32_t number)
{
    uint64_t claimed = 0;
    for (size_t i = 0; i < step->n; i++) {
        struct lcov_file *f = lcov_find(all, step->files[i].name);
        for (size_t k = 0; f && k < step->files[i].n; k++) {
            const struct lcov_line *its = &step->files[i].lines[k];
            struct lcov_line *l = its->count ? lcov_line(f, its->line) : NULL;
            if (!l || l->step >= 0)
                continue;
            l->step = number;
            claimed++;
        }
    }
    return claimed;
}

const struct found_input *first_input(const struct coverage *c, const struct lcov_line *l)
{
    return l->step >= 0 ? &c->found.v[c->steps[l->step].input] : NULL;
}

static struct coverage_finder *finder_of(struct coverage *c, const char *name)
{
    for (size_t i = 0; i < c->n_finders; i++)
        if (strcmp(c->finders[i].name, name) == 0)
            return &c->finders[i];
    BUG("a finder that is none");
}

static void list_finders(struct coverage *c)
{
    const struct strv *fuzzers = &c->j.o.fuzzers;
    c->n_finders = fuzzers->n + 2;
    c->finders = xcalloc(c->n_finders, sizeof *c->finders);
    c->finders[0].name = FINDER_SEEDS;
    for (size_t i = 0; i < fuzzers->n; i++)
        c->finders[i + 1].name = fuzzers->v[i];
    c->finders[fuzzers->n + 1].name = FINDER_IMPORTED;
}

void first_count(struct coverage *c)
{
    list_finders(c);
    for (size_t i = 0; i < c->found.n; i++)
        finder_of(c, c->found.v[i].finder)->inputs++;
    for (size_t i = 0; i < c->n_steps; i++) {
        struct coverage_finder *f = finder_of(c, c->found.v[c->steps[i].input].finder);
        f->lines += c->steps[i].lines;
        f->steps++;
    }
    for (size_t i = 0; i < c->lines.n; i++) {
        const struct lcov_file *f = &c->lines.files[i];
        c->n_functions += f->functions;
        c->n_functions_covered += f->functions_hit;
        c->n_lines += f->n;
        for (size_t k = 0; k < f->n; k++) {
            c->n_covered += f->lines[k].count || f->lines[k].step >= 0;
            c->unexplained += f->lines[k].count && f->lines[k].step < 0;
        }
    }
}
