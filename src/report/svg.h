/* svg: a picture into a buffer: a frame with axes, lines, bars, marks.  Computes nothing but places; colours come from the
 * style sheet, by class: "f0", "f1", ... for the fuzzer of that number.
 *
 *     struct plot p;
 *     plot_begin(&p, out, "edges over time", 0, t_end, 0, top);
 *     plot_time_axis(&p);                      // or plot_x_axis(&p, "prediction")
 *     plot_y_axis(&p, "edges");
 *     plot_line_begin(&p, "f3");  plot_point(&p, x, y) ...  plot_line_end(&p);
 *     plot_end(&p);
 *
 * Coordinates have one digit behind the point: the same data give the same bytes. */
#ifndef CAROL_REPORT_SVG_H
#define CAROL_REPORT_SVG_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>

#define PLOT_WIDTH 760
#define PLOT_HEIGHT 280

/* Pieces, for drawings without axes. */
void svg_begin(struct buf *out, int width, int height, const char *title);
void svg_end(struct buf *out);
/* anchor: start, middle, end; class may be "". */
void svg_text(struct buf *out, double x, double y, const char *anchor, const char *class,
              const char *s);
void svg_line(struct buf *out, double x1, double y1, double x2, double y2, const char *class);
void svg_rect(struct buf *out, double x, double y, double width, double height, const char *class);

struct plot {
    struct buf *out;
    double x_lo, x_hi, y_lo, y_hi;   /* of the data */
    double left, top, width, height; /* of the area, in the picture */
    double last_x, last_y;           /* of the line being drawn */
    bool begun;
};

/* A round number of the size of a fifth of the span. */
double plot_tick(double span);

void plot_begin(struct plot *p, struct buf *out, const char *title, double x_lo, double x_hi,
                double y_lo, double y_hi);
/* The same with a height of its own, and a class for the picture. */
void plot_begin_as(struct plot *p, struct buf *out, const char *title, const char *class,
                   int height, double x_lo, double x_hi, double y_lo, double y_hi);
double plot_x(const struct plot *p, double x);
double plot_y(const struct plot *p, double y);
void plot_y_axis(struct plot *p, const char *label);
void plot_x_axis(struct plot *p, const char *label);
/* x is seconds: ticks are whole seconds, minutes, hours or days.  Such pictures can be zoomed and have the cursor of
 * the page; what is drawn between plot_area and plot_area_end moves with the zoom. */
void plot_time_axis(struct plot *p);
void plot_area(struct plot *p);
void plot_area_end(struct plot *p);
/* A line through points; one that would fall on its predecessor's pixel is left out. */
void plot_line_begin(struct plot *p, const char *class);
void plot_point(struct plot *p, double x, double y);
void plot_line_end(struct plot *p);
void plot_bar(struct plot *p, double x1, double x2, double y1, double y2, const char *class);
void plot_mark(struct plot *p, double x, double y, double radius, const char *class,
               const char *title);
void plot_end(struct plot *p);

#endif
