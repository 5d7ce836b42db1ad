/* html: markup into a buffer.  The one place where text from outside is escaped: whatever goes in through %s comes out as
 * text, in an element and in a quoted attribute alike.
 *
 *     html(out, "<td title=\"%s\">%llu</td>", name, n);     // the format is ours, the name may be anybody's
 *
 * It takes %s, %c, %d, %u, %g, %f, %% with flags, width, precision and the lengths l, ll, z. */
#ifndef CAROL_REPORT_HTML_H
#define CAROL_REPORT_HTML_H

#include "base/buf.h"
#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

void html(struct buf *out, const char *fmt, ...) CAROL_PRINTF(2, 3);
/* s as text: markup as entities, control characters and bytes that are no UTF-8 as U+FFFD. */
void html_text(struct buf *out, const char *s);

/* Numbers as people read them, in a buffer of the caller's: "1,234,567". */
const char *html_count(double v, char out[32]);
/* Campaign time: "0:00:41", "26:03:00". */
const char *html_clock(int64_t ns, char out[32]);
/* How long something took: "0.4 s", "41 s", "3 min", "2 h 05 min". */
const char *html_span(int64_t ns, char out[32]);

#endif
