/* junit: defects as a JUnit report: a case per defect; known ones and unconfirmed ones are skipped, the others fail. */
#include "triage/output.h"

#include <stdlib.h>

/* Text of a document or an attribute; what XML cannot hold becomes a question mark. */
static void add_text(struct buf *b, const char *text)
{
    for (const unsigned char *p = (const unsigned char *)text; *p; p++)
        if (*p == '<')
            buf_str(b, "&lt;");
        else if (*p == '>')
            buf_str(b, "&gt;");
        else if (*p == '&')
            buf_str(b, "&amp;");
        else if (*p == '"')
            buf_str(b, "&quot;");
        else if ((*p < 0x20 && *p != '\n' && *p != '\t') || *p > 0x7e)
            buf_str(b, "?");
        else
            buf_add(b, p, 1);
}

static bool fails(const struct defect *d)
{
    return d->confirmed && !d->known;
}

static void add_case(const struct output *o, const struct defect *d, struct buf *b)
{
    char *weakness = defect_weakness(d);
    bool told = !o->public || !d->withheld;
    char *command = told ? output_command(o, d) : NULL;
    buf_str(b, "  <testcase classname=\"");
    add_text(b, o->target->target);
    buf_str(b, "\" name=\"");
    add_text(b, d->fault);
    buf_str(b, " in ");
    add_text(b, *d->function ? d->function : "unknown code");
    buf_printf(b, " [%s]\" time=\"0\">\n    <%s message=\"", d->id,
               fails(d) ? "failure" : "skipped");
    add_text(b, fails(d) ? weakness : d->known ? "known before" : d->why);
    buf_printf(b, "\"%s", fails(d) ? " type=\"defect\">" : "/>\n");
    if (fails(d)) {
        add_text(b, *d->file ? d->file : "unknown file");
        buf_printf(b, ":%d, class %s\n", d->line, defect_class(d));
        if (command)
            add_text(b, command);
        buf_str(b, "</failure>\n");
    }
    buf_str(b, "  </testcase>\n");
    free(command);
    free(weakness);
}

void output_junit(const struct output *o, struct buf *b)
{
    size_t failures = 0;
    for (size_t i = 0; i < o->d->n; i++)
        failures += fails(&o->d->v[i]);
    buf_str(b, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n<testsuite name=\"carol "
               "triage\"");
    buf_printf(b, " tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"%zu\" time=\"0\">\n",
               o->d->n, failures, o->d->n - failures);
    for (size_t i = 0; i < o->d->n; i++)
        add_case(o, &o->d->v[i], b);
    buf_str(b, "</testsuite>\n</testsuites>\n");
}
