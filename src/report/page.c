/* page: the sections in their order as one HTML page.  Draws nothing itself. */
#include "report/page.h"

#include "base/die.h"
#include "base/str.h"
#include "report/part.h"

#include <stdlib.h>
#include <string.h>

const struct report_section report_sections[] = {
    {"glance", "At a glance", glance_write, "Glance", true},
    {"coverage", "Coverage over time", coverage_write, "Coverage", false},
    {"shares", "Shares and rewards", shares_write, "Shares", false},
    {"finders", "Who found what", finders_write, "Who found what", false},
    {"imports", "Who built on whom", imports_write, "Who built on whom", false},
    {"defects", "Defects", defects_write, "Defects", true},
    {"lineage", "Lineage", lineage_write, "Lineage", false},
    {"exploration", "Exploration and exploitation", exploration_write, "Exploration", false},
    {"predictions", "Predictions and outcomes", predictions_write, "Predictions", false},
    {"signals", "Context signals", signals_write, "Signals", false},
    {"turns", "Every decision", turns_write, "Decisions", false},
    {"settings", "Settings and accounts", settings_write, "Settings", true},
    {NULL, NULL, NULL, NULL, false},
};

extern const char report_css_data[], report_js_data[];
extern const size_t report_css_size, report_js_size;

struct report_asset report_css(void)
{
    return (struct report_asset){report_css_data, report_css_size};
}

struct report_asset report_js(void)
{
    return (struct report_asset){report_js_data, report_js_size};
}

void page_begin(struct buf *out, const char *title, enum report_form form)
{
    struct report_asset css = report_css();
    buf_str(out,
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
            "<meta name=\"color-scheme\" content=\"light dark\">\n"
            "<link rel=\"icon\" href=\"data:,\">\n"); /* else a browser asks the server for one */
    html(out, "<title>%s</title>\n", title);
    if (form == REPORT_SERVED) {
        buf_str(out, "<link rel=\"stylesheet\" href=\"report.css\">\n"
                     "<script src=\"report.js\" defer></script>\n</head>\n<body data-live>\n");
    } else {
        buf_str(out, "<style>\n");
        buf_add(out, css.data, css.size);
        buf_str(out, "</style>\n</head>\n<body>\n");
    }
}

void page_end(struct buf *out, enum report_form form)
{
    struct report_asset js = report_js();
    buf_str(out, "</main>\n");
    if (form == REPORT_FILE) {
        buf_str(out, "<script>\n");
        buf_add(out, js.data, js.size);
        buf_str(out, "</script>\n");
    }
    buf_str(out, "</body>\n</html>\n");
}

static void navigation(const char *prefix, struct buf *out)
{
    buf_str(out, "<nav aria-label=\"sections\"><ul>");
    for (const struct report_section *s = report_sections; s->id; s++)
        html(out, "<li><a href=\"#%s%s\">%s</a></li>", prefix, s->id, s->brief);
    buf_str(out, "</ul></nav>\n");
}

/* The bar that moves through time; without the script it stays hidden. */
static void time_bar(struct buf *out)
{
    buf_str(out, "<form class=\"moment\" hidden><label for=\"moment\">moment</label> <input "
                 "id=\"moment\" type=\"range\" min=\"0\" "
                 "max=\"240\" value=\"240\"> <button type=\"button\" class=\"whole\" hidden>whole "
                 "time</button> "
                 "<output for=\"moment\"></output></form>\n");
}

static const char *name_of(const struct report *r)
{
    return r->j.o.target && *r->j.o.target ? r->j.o.target : r->dir;
}

static void one_campaign(const struct report *r, enum report_form form, struct buf *out)
{
    char *title = str_fmt("%s – carol", name_of(r));
    page_begin(out, title, form);
    html(out, "<header><h1>%s</h1><p id=\"live\" role=\"status\"></p></header>\n", name_of(r));
    navigation("", out);
    time_bar(out);
    buf_str(out, "<main>\n");
    for (const struct report_section *s = report_sections; s->id; s++)
        s->write(r, out);
    page_end(out, form);
    free(title);
}

/* Of each of several only what can be compared at a glance. */
static void briefly(const struct report *r, size_t number, struct buf *out)
{
    static const char *const ids[] = {"glance",      "coverage", "shares",   "finders",
                                      "exploration", "defects",  "settings", NULL};
    html(out, "<details class=\"campaign\"><summary>%zu: %s</summary>\n", number, r->dir);
    for (const struct report_section *s = report_sections; s->id; s++)
        for (const char *const *id = ids; *id; id++)
            if (strcmp(*id, s->id) == 0)
                s->write(r, out);
    buf_str(out, "</details>\n");
}

void report_page(struct report *const *v, size_t n, enum report_form form, struct buf *out)
{
    for (size_t i = 0; i < n; i++) {
        free(v[i]->prefix);
        v[i]->prefix = n == 1 ? xstrdup("") : str_fmt("c%zu-", i + 1);
    }
    if (n == 1) {
        one_campaign(v[0], form, out);
        return;
    }
    page_begin(out, "campaigns side by side – carol", form);
    html(out, "<header><h1>%zu campaigns side by side</h1></header>\n<main>\n", n);
    compare_write(v, n, out);
    for (size_t i = 0; i < n; i++)
        briefly(v[i], i + 1, out);
    page_end(out, form);
}
