/* team: the numbers of jobs and whose turn it is to confirm.  Runs nothing itself. */
#include "eval/team.h"

#include "base/die.h"

#include <stdlib.h>
#include <string.h>

struct member {
    void (*wake)(void *arg);
    void *arg;
};

struct team {
    uint64_t *known;
    struct member *members;
    size_t n_members;
    uint64_t next, turn; /* number of the next job; the job that may confirm */
    bool *over;          /* of the jobs from `turn` on: it ended already */
    size_t n_over;
};

struct team *team_new(void)
{
    return xcalloc(1, sizeof(struct team));
}

void team_free(struct team *t)
{
    if (!t)
        return;
    free(t->known);
    free(t->members);
    free(t->over);
    free(t);
}

uint64_t *team_known(struct team *t, size_t words)
{
    if (!t->known)
        t->known = xcalloc(words ? words : 1, sizeof *t->known);
    return t->known;
}

void team_join(struct team *t, void (*wake)(void *arg), void *arg)
{
    t->members = xrealloc(t->members, (t->n_members + 1) * sizeof *t->members);
    t->members[t->n_members++] = (struct member){wake, arg};
}

void *team_first(const struct team *t)
{
    return t->n_members ? t->members[0].arg : NULL;
}

void team_leave(struct team *t, void *arg)
{
    for (size_t i = 0; i < t->n_members; i++)
        if (t->members[i].arg == arg)
            t->members[i--] = t->members[--t->n_members];
}

uint64_t team_number(struct team *t)
{
    t->over = xrealloc(t->over, (t->n_over + 1) * sizeof *t->over);
    t->over[t->n_over++] = false;
    return t->next++;
}

bool team_has_turn(const struct team *t, uint64_t number)
{
    return t->turn == number;
}

/* A job that failed can be over before its turn comes. */
void team_done(struct team *t, uint64_t number)
{
    size_t n = 0;
    t->over[number - t->turn] = true;
    while (n < t->n_over && t->over[n])
        n++;
    if (!n)
        return;
    memmove(t->over, t->over + n, (t->n_over - n) * sizeof *t->over);
    t->n_over -= n;
    t->turn += n;
    for (size_t i = 0; i < t->n_members; i++)
        t->members[i].wake(t->members[i].arg);
}
