/* html: the writer.  Knows nothing of what is written. */
#include "report/html.h"

#include "base/die.h"
#include "base/str.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void html_text(struct buf *out, const char *s)
{
    for (size_t n; *s; s += n ? n : 1) {
        n = str_utf8(s);
        if (n == 0 || (n == 1 && (*s == 127 || (*s > 0 && *s < 32 && *s != '\n' && *s != '\t'))))
            buf_str(out, "\xef\xbf\xbd");
        else if (*s == '&')
            buf_str(out, "&amp;");
        else if (*s == '<')
            buf_str(out, "&lt;");
        else if (*s == '>')
            buf_str(out, "&gt;");
        else if (*s == '"')
            buf_str(out, "&quot;");
        else if (*s == '\'')
            buf_str(out, "&#39;");
        else
            buf_add(out, s, n);
    }
}

/* One conversion, spec from % to its letter. */
static void convert(struct buf *out, const char *spec, size_t n, va_list *ap)
{
    char f[32], text[512];
    char letter = spec[n - 1];
    BUG_ON(n >= sizeof f);
    snprintf(f, sizeof f, "%.*s", (int)n, spec);
    bool wide = strchr(f, 'z') || strstr(f, "ll"), word = strchr(f, 'l');
    switch (letter) {
    case '%': buf_str(out, "%"); return;
    case 's':
        if (n == 2) {
            html_text(out, va_arg(*ap, const char *));
            return;
        }
        snprintf(text, sizeof text, f, va_arg(*ap, const char *));
        html_text(out, text);
        return;
    case 'c': snprintf(text, sizeof text, f, va_arg(*ap, int)); break;
    case 'd':
    case 'u':
    case 'x':
        if (wide)
            snprintf(text, sizeof text, f, va_arg(*ap, long long));
        else if (word)
            snprintf(text, sizeof text, f, va_arg(*ap, long));
        else
            snprintf(text, sizeof text, f, va_arg(*ap, int));
        break;
    case 'f':
    case 'g': snprintf(text, sizeof text, f, va_arg(*ap, double)); break;
    default: BUG("a conversion that html does not know");
    }
    html_text(out, text);
}

void html(struct buf *out, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    while (*fmt) {
        size_t n = strcspn(fmt, "%");
        buf_add(out, fmt, n);
        fmt += n;
        if (!*fmt)
            break;
        n = 1 + strspn(fmt + 1, "0123456789.+- #lz") + 1;
        convert(out, fmt, n, &ap);
        fmt += n;
    }
    va_end(ap);
}

/* --- for people ---------------------------------------------------------------------------------- */
const char *html_count(double v, char out[32])
{
    char digits[32];
    int n = snprintf(digits, sizeof digits, "%.0f", fabs(v)), at = 0;
    if (v < 0)
        out[at++] = '-';
    for (int i = 0; i < n && at < 30; i++) {
        if (i && (n - i) % 3 == 0)
            out[at++] = ',';
        out[at++] = digits[i];
    }
    out[at] = '\0';
    return out;
}

const char *html_clock(int64_t ns, char out[32])
{
    long long s = (long long)(ns / 1000000000);
    snprintf(out, 32, "%lld:%02lld:%02lld", s / 3600, s / 60 % 60, s % 60);
    return out;
}

const char *html_span(int64_t ns, char out[32])
{
    double s = (double)ns / 1e9;
    long long min = (long long)(s / 60);
    if (s < 10)
        snprintf(out, 32, "%.1f s", s);
    else if (s < 120)
        snprintf(out, 32, "%.0f s", s);
    else if (min < 120)
        snprintf(out, 32, "%lld min", min);
    else
        snprintf(out, 32, "%lld h %02lld min", min / 60, min % 60);
    return out;
}
