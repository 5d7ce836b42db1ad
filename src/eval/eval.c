/* eval: what is common to all evaluators: names and freeing. */
#include "eval/eval.h"

#include <stdlib.h>

bool run_is_through(enum run_status s)
{
    return s == RUN_OK || s == RUN_EXIT;
}

const char *run_status_name(enum run_status s)
{
    static const char *const names[] = {"none",    "ok",  "exit",       "crash",
                                        "timeout", "oom", "quarantined"};
    return (unsigned)s < sizeof names / sizeof *names ? names[s] : names[0];
}

void eval_results_free(struct eval_job *job)
{
    for (size_t i = 0; job->results && i < job->n; i++)
        edges_free(&job->results[i].edges);
    free(job->results);
    free(job->calls);
    job->results = NULL;
    job->calls = NULL;
    job->n_calls = 0;
}
