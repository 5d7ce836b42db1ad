/* svg: places and elements.  Decides nothing about colours (report.css). */
#include "report/svg.h"

#include "report/html.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define LEFT 62
#define RIGHT 14
#define TOP 12
#define BOTTOM 42

void svg_begin(struct buf *out, int width, int height, const char *title)
{
    html(out,
         "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s\" "
         "xmlns=\"http://www.w3.org/2000/svg\">\n",
         width, height, title);
}

void svg_end(struct buf *out)
{
    buf_str(out, "</svg>\n");
}

void svg_text(struct buf *out, double x, double y, const char *anchor, const char *class,
              const char *s)
{
    html(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\"", x, y, anchor);
    if (*class)
        html(out, " class=\"%s\"", class);
    html(out, ">%s</text>\n", s);
}

void svg_line(struct buf *out, double x1, double y1, double x2, double y2, const char *class)
{
    html(out, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" class=\"%s\"/>\n", x1, y1, x2,
         y2, class);
}

void svg_rect(struct buf *out, double x, double y, double width, double height, const char *class)
{
    html(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" class=\"%s\"/>\n", x, y,
         width, height, class);
}

/* --- plots --------------------------------------------------------------------------------------- */
double plot_tick(double span)
{
    double raw = span > 0 ? span / 5 : 1, unit = pow(10, floor(log10(raw)));
    return raw / unit < 1.5   ? unit
           : raw / unit < 3.5 ? 2 * unit
           : raw / unit < 7.5 ? 5 * unit
                              : 10 * unit;
}

void plot_begin_as(struct plot *p, struct buf *out, const char *title, const char *class,
                   int height, double x_lo, double x_hi, double y_lo, double y_hi)
{
    *p = (struct plot){.out = out,
                       .x_lo = x_lo,
                       .x_hi = x_hi > x_lo ? x_hi : x_lo + 1,
                       .y_lo = y_lo,
                       .y_hi = y_hi > y_lo ? y_hi : y_lo + 1,
                       .left = LEFT,
                       .top = TOP,
                       .width = PLOT_WIDTH - LEFT - RIGHT,
                       .height = height - TOP - BOTTOM};
    html(out,
         "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s\" class=\"plot %s\" "
         "data-x=\"%g %g\" data-area=\"%g %g %g %g\" xmlns=\"http://www.w3.org/2000/svg\">\n",
         PLOT_WIDTH, height, title, class, p->x_lo, p->x_hi, p->left, p->top, p->width, p->height);
}

void plot_begin(struct plot *p, struct buf *out, const char *title, double x_lo, double x_hi,
                double y_lo, double y_hi)
{
    plot_begin_as(p, out, title, "", PLOT_HEIGHT, x_lo, x_hi, y_lo, y_hi);
}

double plot_x(const struct plot *p, double x)
{
    return p->left + p->width * (x - p->x_lo) / (p->x_hi - p->x_lo);
}

double plot_y(const struct plot *p, double y)
{
    return p->top + p->height * (1 - (y - p->y_lo) / (p->y_hi - p->y_lo));
}

static const char *tick_text(double v, double step, char out[32])
{
    if (fabs(v) < step / 1e6)
        v = 0;
    if (step >= 1 && fabs(v) < 1e6)
        return html_count(v, out);
    snprintf(out, 32, "%.4g", v);
    return out;
}

void plot_y_axis(struct plot *p, const char *label)
{
    double step = plot_tick(p->y_hi - p->y_lo);
    char text[32];
    for (double k = ceil(p->y_lo / step - 1e-9); k * step <= p->y_hi + step * 1e-9; k++) {
        double y = plot_y(p, k * step);
        svg_line(p->out, p->left, y, p->left + p->width, y, "grid");
        svg_text(p->out, p->left - 7, y + 4, "end", "tick", tick_text(k * step, step, text));
    }
    html(p->out,
         "<text class=\"label\" transform=\"translate(13 %.1f) rotate(-90)\" "
         "text-anchor=\"middle\">%s</text>\n",
         p->top + p->height / 2, label);
}

/* Below the axis, whatever size the style sheet gives it. */
static void x_tick(struct plot *p, double x, const char *class, const char *text)
{
    html(p->out,
         "<text x=\"%.1f\" y=\"%.1f\" dy=\".95em\" text-anchor=\"middle\" "
         "class=\"%s\">%s</text>\n",
         plot_x(p, x), p->top + p->height + 4, class, text);
}

static void x_base(struct plot *p, const char *label)
{
    double y = p->top + p->height;
    svg_line(p->out, p->left, y, p->left + p->width, y, "axis");
    svg_text(p->out, p->left + p->width / 2, y + 36, "middle", "label", label);
}

void plot_x_axis(struct plot *p, const char *label)
{
    double step = plot_tick(p->x_hi - p->x_lo);
    char text[32];
    for (double k = ceil(p->x_lo / step - 1e-9); k * step <= p->x_hi + step * 1e-9; k++)
        x_tick(p, k * step, "tick", tick_text(k * step, step, text));
    x_base(p, label);
}

/* Seconds between two ticks, and what they are counted in. */
static double time_step(double span, double *unit, const char **name)
{
    static const double steps[] = {1,     2,     5,     10,    15,    30,     60,
                                   120,   300,   600,   900,   1800,  3600,   7200,
                                   10800, 14400, 21600, 43200, 86400, 172800, 604800};
    double step = steps[0];
    for (size_t i = 0; i < sizeof steps / sizeof *steps && span / step > 9; i++)
        step = steps[i];
    bool seconds = span <= 180, minutes = span <= 3 * 3600, hours = span <= 4 * 86400;
    *unit = seconds ? 1 : minutes ? 60 : hours ? 3600 : 86400;
    *name = seconds ? "seconds" : minutes ? "minutes" : hours ? "hours" : "days";
    return span / step > 9 ? plot_tick(span) : step;
}

void plot_time_axis(struct plot *p)
{
    double unit, step;
    const char *name;
    char text[32], label[64];
    step = time_step(p->x_hi - p->x_lo, &unit, &name);
    buf_str(p->out, "<g class=\"times\">\n");
    for (double k = ceil(p->x_lo / step); k * step <= p->x_hi + step * 1e-9; k++) {
        snprintf(text, sizeof text, "%.4g", k * step / unit);
        x_tick(p, k * step, (long long)k % 2 ? "tick odd" : "tick", text);
    }
    buf_str(p->out, "</g>\n");
    snprintf(label, sizeof label, "campaign time, %s", name);
    x_base(p, label);
}

void plot_area(struct plot *p)
{
    html(
        p->out,
        "<svg x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" viewBox=\"%.1f %.1f %.1f %.1f\" "
        "preserveAspectRatio=\"none\" class=\"area\">\n",
        p->left, p->top - 4, p->width, p->height + 4, p->left, p->top - 4, p->width, p->height + 4);
}

void plot_area_end(struct plot *p)
{
    buf_str(p->out, "</svg>\n");
}

void plot_line_begin(struct plot *p, const char *class)
{
    html(p->out, "<path class=\"line %s\" d=\"", class);
    p->begun = false;
}

void plot_point(struct plot *p, double x, double y)
{
    double px = plot_x(p, x), py = plot_y(p, y);
    if (p->begun && fabs(px - p->last_x) < 0.3 && fabs(py - p->last_y) < 0.3)
        return;
    html(p->out, "%c%.1f %.1f", p->begun ? 'L' : 'M', px, py);
    p->begun = true;
    p->last_x = px;
    p->last_y = py;
}

void plot_line_end(struct plot *p)
{
    buf_str(p->out, "\"/>\n");
}

void plot_bar(struct plot *p, double x1, double x2, double y1, double y2, const char *class)
{
    double top = plot_y(p, y2), bottom = plot_y(p, y1);
    svg_rect(p->out, plot_x(p, x1), top, plot_x(p, x2) - plot_x(p, x1), bottom - top, class);
}

void plot_mark(struct plot *p, double x, double y, double radius, const char *class,
               const char *title)
{
    html(p->out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" class=\"%s\">", plot_x(p, x),
         plot_y(p, y), radius, class);
    if (*title)
        html(p->out, "<title>%s</title>", title);
    buf_str(p->out, "</circle>\n");
}

void plot_end(struct plot *p)
{
    svg_end(p->out);
}
