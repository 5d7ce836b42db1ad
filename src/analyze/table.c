/* table: the one list of analyses. */
#include "analyze/analyze.h"

#include <string.h>

const struct analysis analyses[] = {
    {"predict", "does the full context predict reward better than reward history, or none?",
     analyze_predict, NULL},
    {"features", "what does each of the 15 signals add to the prediction?", analyze_features, NULL},
    {"rank", "do a few directions of the signals predict as well as all?", analyze_rank, NULL},
    {"forget", "does prediction gain from forgetting old turns?", analyze_forget, NULL},
    {"form", "random Fourier or linear, with few turns?", analyze_form, NULL},
    {"influence", "which signals moved the choices, and does that repeat?", analyze_influence,
     NULL},
    {"transfer", "do weights learned on other targets serve on this one?", analyze_transfer, NULL},
    {"decay", "do rewards fall from the first half of a campaign to the second?", analyze_decay,
     NULL},
    {"ranking", "does the order of the fuzzers in one window say anything about the next?",
     analyze_ranking, NULL},
    {"drift", "does what the first half of a campaign teaches hold in the second?", analyze_drift,
     NULL},
    {"plateau", "what do the signals do before a bug is triggered first?", analyze_plateau, NULL},
    {"arrival", "when is each bug triggered first, by which contender?", NULL, analyze_arrival,
     true},
    {"allocation", "how much goes to the fuzzer that is chosen most, quarter by quarter?",
     analyze_allocation, NULL, true},
    {"regret", "what would another policy have earned, by campaigns under random?", analyze_regret,
     NULL, true},
    {0}};

const struct analysis *analysis_find(const char *name)
{
    for (const struct analysis *a = analyses; a->name; a++)
        if (strcmp(a->name, name) == 0)
            return a;
    return NULL;
}
