/* page: prints what was found about lines.  Computes nothing. */
#include "coverage/page.h"

#include "base/fs.h"
#include "coverage/first.h"
#include "journal/json.h"
#include "proc/loop.h"
#include "report/html.h"

#include <stdlib.h>
#include <string.h>

#define SOURCE_MAX ((size_t)64 << 20)

static double seconds(int64_t ns)
{
    return (double)ns / (double)NS_PER_S;
}

static bool covered(const struct lcov_line *l)
{
    return l->count || l->step >= 0;
}

/* --- CSV ----------------------------------------------------------------------------------------- */

void page_csv(const struct coverage *c, struct buf *out)
{
    buf_str(out, "file,line,count,fuzzer,time_s,input,status\n");
    for (size_t i = 0; i < c->lines.n; i++) {
        const struct lcov_file *f = &c->lines.files[i];
        for (size_t k = 0; k < f->n; k++) {
            const struct lcov_line *l = &f->lines[k];
            const struct found_input *in = first_input(c, l);
            if (!covered(l))
                continue;
            buf_csv(out, f->name);
            buf_printf(out, ",%u,%llu,", l->line, (unsigned long long)l->count);
            if (in)
                buf_printf(out, "%s,%.3f,%s,%s", in->finder, seconds(in->found_ns),
                           c->steps[l->step].sha1, run_status_name(c->steps[l->step].status));
            else
                buf_str(out, ",,,");
            buf_str(out, "\n");
        }
    }
}

/* --- JSON ---------------------------------------------------------------------------------------- */

static json_t *finders_json(const struct coverage *c)
{
    json_t *o = json_object();
    for (size_t i = 0; i < c->n_finders; i++) {
        const struct coverage_finder *f = &c->finders[i];
        if (f->inputs || strcmp(f->name, FINDER_IMPORTED) != 0)
            json_object_set_new(o, f->name,
                                json_pack("{s:I, s:I, s:I}", "first_lines", (json_int_t)f->lines,
                                          "inputs", (json_int_t)f->inputs, "inputs_first",
                                          (json_int_t)f->steps));
    }
    return o;
}

json_t *page_summary(const struct coverage *c)
{
    json_t *ended = json_object();
    for (int s = RUN_OK; s <= RUN_OOM; s++)
        if (c->ended[s])
            json_object_set_new(ended, run_status_name((enum run_status)s),
                                json_integer((json_int_t)c->ended[s]));
    json_t *o = json_pack(
        "{s:i, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "schema", 1, "lines",
        (json_int_t)c->n_lines, "lines_covered", (json_int_t)c->n_covered, "functions",
        (json_int_t)c->n_functions, "functions_covered", (json_int_t)c->n_functions_covered,
        "files", (json_int_t)c->lines.n, "inputs", (json_int_t)c->found.n, "inputs_without_profile",
        (json_int_t)c->without_profile, "lines_by_nobody_alone", (json_int_t)c->unexplained);
    json_object_set_new(o, "campaign", json_bytes(c->o.out));
    json_object_set_new(o, "dir", json_bytes(c->o.dir));
    json_object_set_new(o, "inputs_by_end", ended);
    json_object_set_new(o, "fuzzers", finders_json(c));
    return o;
}

static json_t *line_json(const struct coverage *c, const struct lcov_line *l)
{
    const struct found_input *in = first_input(c, l);
    json_t *o = json_pack("{s:I, s:I}", "line", (json_int_t)l->line, "count", (json_int_t)l->count);
    if (!in)
        return o;
    const struct coverage_step *s = &c->steps[l->step];
    json_object_set_new(o, "fuzzer", json_string(in->finder));
    json_object_set_new(o, "time_s", json_real(seconds(in->found_ns)));
    json_object_set_new(o, "input", json_string(s->sha1));
    json_object_set_new(o, "status", json_string(run_status_name(s->status)));
    json_object_set_new(o, in->crash ? "crash" : "seed", json_integer((json_int_t)in->id));
    return o;
}

json_t *page_json(const struct coverage *c)
{
    json_t *o = page_summary(c), *files = json_array();
    for (size_t i = 0; i < c->lines.n; i++) {
        const struct lcov_file *f = &c->lines.files[i];
        json_t *lines = json_array();
        for (size_t k = 0; k < f->n; k++)
            json_array_append_new(lines, line_json(c, &f->lines[k]));
        json_array_append_new(files,
                              json_pack("{s:o, s:o}", "file", json_bytes(f->name), "lines", lines));
    }
    json_object_set_new(o, "source", files);
    return o;
}

/* --- HTML ---------------------------------------------------------------------------------------- */

static const char head[] =
    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width\">\n<title>carol "
    "coverage</title>\n<style>\n"
    "body{font:14px/1.4 sans-serif;margin:2em auto;max-width:80em;padding:0 1em;color:#222}\n"
    "h1{font-size:1.4em}table{border-collapse:collapse}\n"
    "th,td{padding:.1em .7em;text-align:right;white-space:nowrap}\n"
    ".t{text-align:left}th{border-bottom:2px solid #999}\n"
    ".s td{font:13px/1.35 monospace;padding:0 .6em}.s .t{white-space:pre}\n"
    ".n{background:#fbe3e3}.k{display:inline-block;width:.9em;height:.9em;margin-right:.4em}\n"
    "</style></head><body>\n";

/* One hue per finder, by its place. */
static int hue(const struct coverage *c, const char *finder)
{
    size_t at = 0;
    while (at < c->n_finders && strcmp(c->finders[at].name, finder) != 0)
        at++;
    return (int)(at * 360 / (c->n_finders ? c->n_finders : 1));
}

static void add_finders(const struct coverage *c, struct buf *out)
{
    buf_str(out, "<table><tr><th class=\"t\">found by</th><th>lines first</th><th>%</th>"
                 "<th>inputs</th><th>of them first on a line</th></tr>\n");
    for (size_t i = 0; i < c->n_finders; i++) {
        const struct coverage_finder *f = &c->finders[i];
        html(out,
             "<tr><td class=\"t\"><span class=\"k\" style=\"background:hsl(%d,70%%,80%%)\">"
             "</span>%s</td><td>%llu</td><td>%.1f</td><td>%zu</td><td>%zu</td></tr>\n",
             hue(c, f->name), f->name, (unsigned long long)f->lines,
             c->n_covered ? 100.0 * (double)f->lines / (double)c->n_covered : 0, f->inputs,
             f->steps);
    }
    buf_str(out, "</table>\n");
}

static size_t count_covered(const struct lcov_file *f)
{
    size_t n = 0;
    for (size_t k = 0; k < f->n; k++)
        n += covered(&f->lines[k]);
    return n;
}

void page_index(const struct coverage *c, struct buf *out)
{
    buf_str(out, head);
    html(out, "<h1>%llu of %llu lines, %llu of %llu functions</h1>\n<p>%zu inputs of ",
         (unsigned long long)c->n_covered, (unsigned long long)c->n_lines,
         (unsigned long long)c->n_functions_covered, (unsigned long long)c->n_functions,
         c->found.n);
    html_text(out, c->o.out);
    buf_str(out, ". <a href=\"html/index.html\">Counts, as llvm-cov shows them</a>; "
                 "<a href=\"lcov.info\">lcov.info</a>; <a href=\"first.csv\">first.csv</a>; "
                 "<a href=\"first.json\">first.json</a>. Below: who was first on each line.</p>\n");
    add_finders(c, out);
    buf_str(out,
            "<h2>Files</h2>\n<table><tr><th class=\"t\">file</th><th>lines</th><th>covered</th>"
            "<th>%</th></tr>\n");
    for (size_t i = 0; i < c->lines.n; i++) {
        const struct lcov_file *f = &c->lines.files[i];
        size_t n = count_covered(f);
        html(out, "<tr><td class=\"t\"><a href=\"first/%zu.html\">", i);
        html_text(out, f->name);
        html(out, "</a></td><td>%zu</td><td>%zu</td><td>%.1f</td></tr>\n", f->n, n,
             f->n ? 100.0 * (double)n / (double)f->n : 0);
    }
    buf_str(out, "</table>\n</body></html>\n");
}

static void add_first(const struct coverage *c, const struct lcov_line *l, struct buf *out)
{
    const struct found_input *in = l ? first_input(c, l) : NULL;
    if (!l)
        buf_str(out, "<td></td><td></td><td></td><td class=\"t\">");
    else if (!in)
        html(out, "<td>%llu</td><td></td><td></td><td class=\"t%s\">", (unsigned long long)l->count,
             l->count ? "" : " n");
    else
        html(out,
             "<td>%llu</td><td>%.1f s</td><td class=\"t\"><a href=\"../inputs/%s\">%s%s</a></td>"
             "<td class=\"t\" style=\"background:hsl(%d,70%%,90%%)\">",
             (unsigned long long)l->count, seconds(in->found_ns), c->steps[l->step].sha1,
             in->finder, c->steps[l->step].status == RUN_OK ? "" : " *", hue(c, in->finder));
}

/* One row per line of the file, or, where it cannot be read, per line that has code. */
void page_file(const struct coverage *c, const struct lcov_file *f, struct buf *out)
{
    struct buf text = BUF_INIT(SOURCE_MAX);
    bool known = fs_read(f->name, &text, NULL) == 0 && text.p && !memchr(text.p, 0, text.len);
    uint32_t last = f->n ? f->lines[f->n - 1].line : 0;
    buf_str(out, head);
    buf_str(out, "<p><a href=\"../index.html\">all files</a></p>\n<h1>");
    html_text(out, f->name);
    buf_str(out, "</h1>\n");
    if (!known)
        buf_str(out, "<p>The file is not there any more, or not readable.</p>\n");
    buf_str(out,
            "<table class=\"s\"><tr><th>line</th><th>count</th><th>at</th><th class=\"t\">first "
            "by</th><th class=\"t\">(*: it did not run through)</th></tr>\n");
    char *row = text.p;
    for (uint32_t n = 1; n <= last || (known && row && *row); n++) {
        char *end = known && row ? strchr(row, '\n') : NULL;
        const struct lcov_line *l = lcov_line(f, n);
        if (end)
            *(end > row && end[-1] == '\r' ? end - 1 : end) = 0;
        if (known || l) {
            html(out, "<tr><td>%u</td>", n);
            add_first(c, l, out);
            html_text(out, known && row ? row : "");
            buf_str(out, "</td></tr>\n");
        }
        row = end ? end + 1 : NULL;
    }
    buf_str(out, "</table>\n</body></html>\n");
    buf_free(&text);
}
