/* accounts: what the campaign was asked to do, where it ran, and where the time of its slots went. */
#include "report/part.h"

#include "base/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void slot_row(const struct report *r, int i, struct buf *out)
{
    static const char *const names[] = {"fuzz_s", "start_s", "eval_s", "idle_s"};
    double wall = metric_find(METRIC_SLOT, "wall_s")->read(&r->st, i), at = 0;
    html(out, "<tr><th class=\"t\" scope=\"row\">slot %d</th><td class=\"t\">", i);
    svg_begin(out, 300, 14, "where its time went");
    for (int k = 0; k < 4 && wall > 0; k++) {
        double v = 300 * metric_find(METRIC_SLOT, names[k])->read(&r->st, i) / wall;
        static const char *const classes[] = {"fuzzing", "starting", "measuring", "idle"};
        svg_rect(out, at, 0, v, 14, classes[k]);
        at += v;
    }
    svg_end(out);
    buf_str(out, "</td>");
    for (int k = 0; k < 4; k++) {
        buf_str(out, "<td>");
        part_value(r, METRIC_SLOT, names[k], i, out);
        html(out, " <small>%.1f %%</small></td>",
             wall > 0 ? 100 * metric_find(METRIC_SLOT, names[k])->read(&r->st, i) / wall : 0);
    }
    buf_str(out, "</tr>\n");
}

static void slots(const struct report *r, struct buf *out)
{
    buf_str(out, "<h3>Time of the slots</h3>\n<div class=\"scroll\"><table "
                 "class=\"accounts\">\n<thead><tr><th "
                 "class=\"t\"></th><th></th><th><i class=\"fuzzing\"></i>in fuzzers</th><th><i "
                 "class=\"starting\"></i>"
                 "starting them</th><th><i class=\"measuring\"></i>measuring</th><th><i "
                 "class=\"idle\"></i>idle</th>"
                 "</tr></thead>\n<tbody>\n");
    for (int i = 0; i < r->st.gauges.n_slots; i++)
        slot_row(r, i, out);
    buf_str(out, "</tbody></table></div>\n");
}

static void fact_part(const char *p, size_t n, struct buf *out)
{
    char *part = str_fmt("%.*s", (int)n, p);
    html(out, "%s", part);
    free(part);
}

/* As people write it. */
static void fact_value(const struct data_fact *f, struct buf *out)
{
    char text[32];
    switch (f->setting ? f->setting->kind : SET_NONE) {
    case SET_TIME:
        html(out, "%s", atoll(f->value) ? html_span(atoll(f->value), text) : "no end");
        break;
    case SET_MEMORY: html(out, "%.0f MiB", strtod(f->value, NULL) / (1 << 20)); break;
    case SET_FLAG: html(out, "%s", *f->value == '1' ? "yes" : "no"); break;
    case SET_REWARD:
        html(out, "%s", reward_kind_name((enum reward_kind)strtoul(f->value, NULL, 10)));
        break;
    case SET_PARAMS:
    case SET_ROSTER: /* may break at the commas */
        for (const char *p = f->value, *comma; *p; p = comma) {
            comma = strchrnul(p, ',');
            fact_part(p, (size_t)(comma - p), out);
            if (*comma && *++comma)
                buf_str(out, ", ");
        }
        break;
    default: html(out, "%s", f->value);
    }
}

/* Without the unit of what is shown in another. */
static void fact_name(const char *key, const struct setting *s, struct buf *out)
{
    const char *unit = s && s->kind == SET_TIME     ? "_ns"
                       : s && s->kind == SET_MEMORY ? "_bytes"
                                                    : "";
    size_t n = strlen(key) - (str_ends(key, unit) ? strlen(unit) : 0);
    buf_str(out, "<div><dt>");
    fact_part(key, n, out);
    buf_str(out, "</dt><dd>");
}

/* The heading says what "version." and "host." would say again. */
static void facts(const struct report *r, enum fact_kind kind, const char *title, struct buf *out)
{
    html(out, "<h3>%s</h3>\n<dl class=\"facts\">\n", title);
    for (size_t i = 0; i < r->n_facts; i++) {
        const struct data_fact *f = &r->facts[i];
        const char *dot = f->setting ? NULL : strchr(f->key, '.');
        if (f->kind != kind || !f->value || !*f->value)
            continue;
        fact_name(dot ? dot + 1 : f->key, f->setting, out);
        fact_value(f, out);
        buf_str(out, "</dd></div>\n");
    }
    if (kind == FACT_VERSION)
        html(out, "<div><dt>page by</dt><dd>carol %s</dd></div>\n", CAROL_VERSION);
    buf_str(out, "</dl>\n");
}

void settings_write(const struct report *r, struct buf *out)
{
    part_begin(r, "settings", out);
    if (r->st.gauges.n_slots)
        slots(r, out);
    facts(r, FACT_SETTING, "Settings", out);
    facts(r, FACT_VERSION, "Versions", out);
    if (!r->st.simulated)
        facts(r, FACT_HOST, "Host", out);
    part_end(out);
}
