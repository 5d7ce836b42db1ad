/* windows: who has enough turns in which part of a campaign.  Compares nothing. */
#include "analyze/windows.h"

static int64_t length(const struct story *l)
{
    int64_t last = l->n_turns ? l->turns[l->n_turns - 1].end_ns : 0;
    return l->camp->elapsed_ns > last ? l->camp->elapsed_ns : last;
}

int window_of(const struct story *l, int64_t at_ns, int n)
{
    int64_t all = length(l);
    int w = all > 0 ? (int)((double)at_ns / (double)all * n) : 0;
    return w < 0 ? 0 : w < n ? w : n - 1;
}

int windows_admit(const struct story *l, int n, int a, int b, int arm[SCHED_MAX_ARMS])
{
    int turns[2][SCHED_MAX_ARMS] = {{0}}, found = 0;
    int least = l->arms < WINDOWS_FUZZERS ? l->arms : WINDOWS_FUZZERS;
    for (size_t i = 0; i < l->n_turns; i++) {
        int w = window_of(l, l->turns[i].end_ns, n);
        if (w == a || w == b)
            turns[w == b][l->turns[i].arm]++;
    }
    for (int k = 0; k < l->arms; k++)
        if (turns[0][k] >= WINDOWS_TURNS && turns[1][k] >= WINDOWS_TURNS)
            arm[found++] = k;
    return found >= least ? found : 0;
}

size_t windows_turns(const struct story *l, int n, int w, int arm, size_t *out)
{
    size_t found = 0;
    for (size_t i = 0; i < l->n_turns; i++)
        if (l->turns[i].arm == arm && window_of(l, l->turns[i].end_ns, n) == w)
            out[found++] = i;
    return found;
}

double windows_rate(const struct story *l, const size_t *turns, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += l->turns[turns[i]].raw;
    return n ? sum / (double)n : 0;
}
