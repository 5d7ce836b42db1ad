/* triage_print: defects as a table for people. */
#include "cli/triage.h"

#include "proc/loop.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void print_one(const struct triaged *t, const struct defect *d, bool baseline)
{
    char *place = d->line > 0 ? str_fmt("%s:%d", base_name(d->file), d->line)
                              : str_fmt("%s", base_name(d->file));
    char *command = t->out.public && d->withheld ? NULL : output_command(&t->out, d);
    char cwe[16] = "-";
    if (d->cwe)
        snprintf(cwe, sizeof cwe, "CWE-%d", d->cwe);
    printf("  %s  %-8s  %-8s %s in %s%s%s%s\n", d->id, defect_class(d), cwe, d->fault,
           *d->function ? d->function : "unknown code", *place ? " at " : "", place,
           baseline ? d->known ? "  (known)" : "  (new)" : "");
    printf("      by %s after %.0f s, %llu %s", d->found_by, (double)d->first_seen_ns / 1e9,
           (unsigned long long)d->inputs, d->inputs == 1 ? "input" : "inputs");
    if (*d->entry)
        printf(", through %s", d->entry);
    if (d->minimised)
        printf(", %zu bytes minimised to %zu", d->best_size, d->minimised_size);
    printf("\n");
    if (!d->confirmed)
        printf("      %s\n", *d->why ? d->why : "not tried on the plain build yet");
    if (command)
        printf("      %s\n", command);
    free(place);
    free(command);
}

static void print_waiting(const struct triaged *t)
{
    char *out = str_shell(t->o.out);
    printf("%llu crashes and hangs are not looked at yet", (unsigned long long)t->d.waiting);
    if (t->interrupted)
        printf(" (interrupted)");
    else if (t->hangs_ns >= 0)
        printf(" (a hang takes ten time limits, and here they have %lld s)",
               (long long)(t->hangs_ns / NS_PER_S));
    printf("; go on: carol triage %s\n", out);
    free(out);
}

static void print_rest(const struct triaged *t)
{
    const struct defects *d = &t->d;
    if (d->slow)
        printf("%llu reported as hangs are only slow\n", (unsigned long long)d->slow);
    if (d->clean)
        printf("%llu inputs do not fail again\n", (unsigned long long)d->clean);
    if (d->broken)
        printf("%llu inputs could not be run\n", (unsigned long long)d->broken);
    if (d->waiting)
        print_waiting(t);
}

void triage_print(const struct triaged *t, bool baseline)
{
    const struct defects *d = &t->d;
    size_t unsure = d->n - d->confirmed;
    if (!d->rows && !d->waiting) {
        printf("no crash and no hang in this campaign\n");
        return;
    }
    printf("%zu %s confirmed, from %llu crashes and hangs\n", d->confirmed,
           d->confirmed == 1 ? "defect" : "defects", (unsigned long long)(d->rows + d->waiting));
    for (size_t i = 0; i < d->n; i++) {
        if (i == d->confirmed)
            printf("\n%zu not confirmed\n", unsure);
        print_one(t, &d->v[i], baseline);
    }
    printf("\n");
    print_rest(t);
    printf("reports: %s/ID/report.md; for programs: %s/defects.json, defects.sarif, junit.xml\n",
           t->dir, t->dir);
}
