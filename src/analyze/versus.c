/* versus: contrasts of models by target, as two tables.  Fits nothing. */
#include "analyze/versus.h"

#include "base/die.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void versus_init(struct versus *v)
{
    v->error = xcalloc(v->models * v->s->n, sizeof *v->error);
    for (size_t i = 0; i < v->models * v->s->n; i++)
        v->error[i] = NAN;
}

void versus_free(struct versus *v)
{
    free(v->error);
    v->error = NULL;
}

double *versus_at(const struct versus *v, size_t model, size_t camp)
{
    return &v->error[model * v->s->n + camp];
}

/* Only the campaigns of one target: the first model's errors elsewhere count as NaN. */
static void contrast_target(const struct versus *v, size_t model, size_t target, struct contrast *c)
{
    double *base = xcalloc(v->s->n, sizeof *base);
    for (size_t i = 0; i < v->s->n; i++)
        base[i] = v->s->camps[i].target == target ? *versus_at(v, 0, i) : NAN;
    contrast_of(base, versus_at(v, model, 0), v->s->n, c);
    free(base);
}

void versus_contrasts(const struct versus *v, struct contrast *c)
{
    size_t targets = v->s->targets.n;
    for (size_t m = 1; m < v->models; m++)
        for (size_t t = 0; t < targets; t++)
            contrast_target(v, m, t, &c[m * targets + t]);
    for (size_t t = 0; v->within && t < targets; t++)
        contrast_holm(&c[targets + t], v->models - 1, targets);
    for (size_t m = 1; !v->within && m < v->models; m++)
        contrast_holm(&c[m * targets], targets, 1);
}

static void put_targets(const struct versus *v, const struct contrast *c, struct grids *out)
{
    static const struct grid_column columns[] = {
        {"target", GRID_TEXT}, {"model", GRID_TEXT}, CONTRAST_COLUMNS};
    size_t targets = v->s->targets.n;
    struct grid *g = grid_add(out, v->name, GRID_COLUMNS(columns), "%s", v->title);
    g->drawn = "more_error_pct";
    for (size_t t = 0; t < targets; t++)
        for (size_t m = 1; m < v->models; m++) {
            if (!c[m * targets + t].n)
                continue;
            grid_text(g, "%s", v->s->targets.v[t]);
            grid_text(g, "%s", v->names[m]);
            contrast_cells(g, &c[m * targets + t]);
        }
    contrast_note(g, v->base, v->within ? "the models of a target" : "the targets, for each model");
}

static void put_summary(const struct versus *v, const struct contrast *c, struct grids *out)
{
    static const struct grid_column columns[] = {{"model", GRID_TEXT},      {"targets", GRID_COUNT},
                                                 {"worse", GRID_COUNT},     {"better", GRID_COUNT},
                                                 {"campaigns", GRID_COUNT}, {"more_error_pct", 2},
                                                 {"worse_pct", 1}};
    size_t targets = v->s->targets.n;
    char *name = str_fmt("%s_summary", v->name);
    struct grid *g = grid_add(out, name, GRID_COLUMNS(columns), "over all targets");
    free(name);
    for (size_t m = 1; m < v->models; m++) {
        struct contrast all;
        size_t answered = 0, worse = 0, better = 0;
        contrast_of(v->error, versus_at(v, m, 0), v->s->n, &all);
        for (size_t t = 0; t < targets; t++) {
            const struct contrast *one = &c[m * targets + t];
            answered += one->n > 0;
            worse += strcmp(contrast_says(one), "worse") == 0;
            better += strcmp(contrast_says(one), "better") == 0;
        }
        grid_text(g, "%s", v->names[m]);
        grid_count(g, answered);
        grid_count(g, worse);
        grid_count(g, better);
        grid_count(g, all.n);
        grid_real(g, all.more);
        grid_real(g, all.n ? 100.0 * (double)all.worse / (double)all.n : NAN);
    }
    grid_note(g, "worse, better: targets on which the model's error is significantly larger, "
                 "smaller than that "
                 "of the base; the columns after them are over the campaigns of all targets");
}

void versus_put(const struct versus *v, struct grids *out)
{
    struct contrast *c = xcalloc(v->models * v->s->targets.n, sizeof *c);
    versus_contrasts(v, c);
    put_targets(v, c, out);
    put_summary(v, c, out);
    free(c);
}
