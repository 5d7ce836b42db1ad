/* page: the writer of HTML and SVG to the byte, the metrics against status --json, and the page of a campaign on fakes: read at
 * once or in portions, it is the same. */
#include "fakes.h"

#include "base/fs.h"
#include "journal/json.h"
#include "journal/metrics.h"
#include "report/html.h"
#include "report/report.h"
#include "report/svg.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct fakes f;
static char *out;

static int make(void **state)
{
    struct tally t;
    int rc = fakes_fresh_dir(state);
    fakes_init(&f, 3);
    fakes_run(&f, fakes_options(fakes_dir, "contextual", 3, 2, 3600), &t);
    out = fs_join(fakes_dir, "out");
    return rc;
}

static int drop(void **state)
{
    fakes_free(&f);
    free(out);
    return fakes_remove_dir(state);
}

#define expect(want, ...)                                                                          \
    do {                                                                                           \
        struct buf b_ = BUF_INIT(1 << 16);                                                         \
        html(&b_, __VA_ARGS__);                                                                    \
        assert_string_equal(b_.p, want);                                                           \
        buf_free(&b_);                                                                             \
    } while (0)

static void text_from_outside_is_escaped(void **state)
{
    (void)state;
    expect("<i title=\"&lt;a b=&quot;c&quot;&gt; &amp; &#39;\">", "<i title=\"%s\">",
           "<a b=\"c\"> & '");
    expect("&lt;&amp;", "%c%c", '<', '&');
    expect("[&lt;ab]", "[%.3s]", "<abc");
    expect("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", "%s", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80");
}

static void what_is_no_text_is_a_replacement_character(void **state)
{
    (void)state;
#define R "\xef\xbf\xbd"
    expect(R "a" R, "%s",
           "\x01"
           "a\x7f");
    expect(R R, "%s", "\xc0\xaf");             /* an overlong slash */
    expect(R R R, "%s", "\xed\xa0\x80");       /* half of a pair */
    expect(R, "%s", "\xc3");                   /* cut off */
    expect(R R R R, "%s", "\xf4\x90\x80\x80"); /* beyond Unicode */
    expect(R "<", "%s<", "\xe2");
    expect("a\n\tb", "%s", "a\n\tb");
}

static void conversions(void **state)
{
    (void)state;
    expect("-3 4 5 -6 7 8 9%", "%d %u %zu %lld %llu %ld %d%%", -3, 4u, (size_t)5, -6LL, 7ULL, 8L,
           9);
    expect("0.50 1e-09 -2.5 ff", "%.2f %g %.4g %x", 0.5, 1e-9, -2.5, 255u);
}

static void numbers_for_people(void **state)
{
    (void)state;
    char t[32];
    static const struct {
        double v;
        const char *want;
    } counts[] = {
        {0, "0"}, {999, "999"}, {1000, "1,000"}, {-1234567, "-1,234,567"}, {1e6, "1,000,000"}};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        assert_string_equal(html_count(counts[i].v, t), counts[i].want);
    assert_string_equal(html_clock(INT64_C(93783999999999), t), "26:03:03");
    assert_string_equal(html_span(INT64_C(400000000), t), "0.4 s");
    assert_string_equal(html_span(INT64_C(119000000000), t), "119 s");
    assert_string_equal(html_span(INT64_C(2400000000000), t), "40 min");
    assert_string_equal(html_span(INT64_C(7500000000000), t), "2 h 05 min");
}

static void a_plot_to_the_byte(void **state)
{
    (void)state;
    static const char want[] =
        "<svg viewBox=\"0 0 760 100\" role=\"img\" aria-label=\"a &lt; b\" class=\"plot x\" "
        "data-x=\"0 10\" "
        "data-area=\"62 12 684 46\" xmlns=\"http://www.w3.org/2000/svg\">\n"
        "<path class=\"line f1\" d=\"M62.0 58.0L404.0 35.0L746.0 12.0\"/>\n"
        "<rect x=\"62.0\" y=\"35.0\" width=\"68.4\" height=\"23.0\" class=\"f2\"/>\n"
        "<circle cx=\"404.0\" cy=\"12.0\" r=\"2.0\" "
        "class=\"f3\"><title>&quot;t&quot;</title></circle>\n"
        "</svg>\n";
    struct buf b = BUF_INIT(1 << 16);
    struct plot p;
    plot_begin_as(&p, &b, "a < b", "x", 100, 0, 10, 0, 2);
    plot_line_begin(&p, "f1");
    plot_point(&p, 0, 0);
    plot_point(&p, 0.001, 0); /* the same pixel */
    plot_point(&p, 5, 1);
    plot_point(&p, 10, 2);
    plot_line_end(&p);
    plot_bar(&p, 0, 1, 0, 1, "f2");
    plot_mark(&p, 5, 2, 2, "f3", "\"t\"");
    plot_end(&p);
    assert_string_equal(b.p, want);
    buf_free(&b);
}

static int count(const char *text, const char *word)
{
    int n = 0;
    for (; (text = strstr(text, word)); text += strlen(word))
        n++;
    return n;
}

static void a_time_axis_counts_in_what_fits(void **state)
{
    (void)state;
    static const struct {
        double span;
        const char *unit, *last;
    } cases[] = {{40, "seconds", ">40<"},
                 {600, "minutes", ">10<"},
                 {86400, "hours", ">24<"},
                 {7 * 86400, "days", ">7<"},
                 {400 * 86400.0, "days", ">"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buf b = BUF_INIT(1 << 16);
        struct plot p;
        plot_begin(&p, &b, "", 0, cases[i].span, 0, 1);
        plot_time_axis(&p);
        plot_end(&p);
        assert_non_null(strstr(b.p, cases[i].unit));
        assert_non_null(strstr(b.p, cases[i].last));
        assert_true(count(b.p, "dy=") >= 4 && count(b.p, "dy=") <= 11);
        buf_free(&b);
    }
}

/* --- metrics -------------------------------------------------------------------------------------- */
static const json_t *json_of(const json_t *status, const struct metric *m, const struct status *st,
                             int i)
{
    if (m->scope == METRIC_FUZZER)
        status = json_object_get(json_object_get(status, "fuzzers"), metric_label(m, st, i));
    else if (m->scope == METRIC_SLOT)
        status = json_array_get(json_object_get(status, "slots"), (size_t)i);
    return json_object_get(status, m->name);
}

/* The line "NAME{...} VALUE" of a metric's text form. */
static double prometheus_value(const char *text, const struct metric *m, const struct status *st,
                               int i)
{
    char key[200];
    if (m->scope == METRIC_CAMPAIGN)
        snprintf(key, sizeof key, "\n%s ", m->prometheus);
    else
        snprintf(key, sizeof key, "\n%s{%s=\"%s\"} ", m->prometheus,
                 m->scope == METRIC_FUZZER ? "fuzzer" : "slot", metric_label(m, st, i));
    const char *at = strstr(text, key);
    assert_non_null(at);
    return strtod(at + strlen(key), NULL);
}

static void metrics_and_json_are_equal(void **state)
{
    (void)state;
    struct status st;
    struct err e = {0};
    struct buf text = BUF_INIT(1 << 20);
    assert_int_equal(status_load(&st, out, &e), 0);
    json_t *o = status_json(&st);
    metrics_prometheus(&st, &text);
    int seen = 0;
    for (const struct metric *m = metrics; m->name; m++)
        for (int i = 0; i < metric_rows(m, &st); i++, seen++) {
            const json_t *v = json_of(o, m, &st, i);
            double want = json_number_value(v), got = prometheus_value(text.p, m, &st, i);
            assert_int_equal(json_is_integer(v), m->unit == METRIC_COUNT);
            assert_true(got <= want + 1e-8 * (1 + want) && got >= want - 1e-8 * (1 + want));
        }
    assert_int_equal(seen, 17 + 3 * 14 + 2 * 5);
    assert_int_equal(json_integer_value(json_object_get(o, "turns")), (json_int_t)st.tally.turns);
    assert_true(st.tally.turns > 10);
    assert_int_equal(count(text.p, "# HELP "), count(text.p, "# TYPE "));
    assert_non_null(strstr(text.p, "carol_state{state=\"ended\"} 1\n"));
    json_decref(o);
    buf_free(&text);
}

/* --- pages ---------------------------------------------------------------------------------------- */
static void sections(const struct report *r, struct buf *b)
{
    for (const struct report_section *s = report_sections; s->id; s++)
        s->write(r, b);
}

static void portions_make_the_same_page(void **state)
{
    (void)state;
    struct report *whole, *slow;
    struct err e = {0};
    struct buf a = BUF_INIT(BUF_TEXT_MAX), b = BUF_INIT(BUF_TEXT_MAX);
    assert_int_equal(report_open(&whole, out, &e), 0);
    assert_int_equal(report_begin(&slow, out, &e), 0);
    int rc, steps = 0;
    while ((rc = report_refresh(slow, 7, &e)) > 0)
        steps++;
    assert_int_equal(rc, 0);
    assert_true(steps > 5);
    assert_int_equal(report_refresh(slow, 7, &e), 0); /* nothing new changes nothing */
    assert_true(report_ask(slow, 0));  /* the influence of the signals, which takes a replay; */
    assert_false(report_ask(slow, 0)); /* nothing more would come of another */
    sections(whole, &a);
    sections(slow, &b);
    assert_true(a.len > 10000);
    assert_string_equal(a.p, b.p);
    report_close(whole);
    report_close(slow);
    buf_free(&a);
    buf_free(&b);
}

/* Numbers, defects and settings at once; no figure of a part of the campaign, which would look like the whole. */
static void a_part_of_the_record_is_not_shown_as_the_whole(void **state)
{
    (void)state;
    struct report *r;
    struct err e = {0};
    struct buf b = BUF_INIT(BUF_TEXT_MAX);
    int all = 0, early = 0;
    for (const struct report_section *s = report_sections; s->id; s++, all++)
        early += s->early;
    assert_int_equal(report_begin(&r, out, &e), 0);
    assert_int_equal(report_refresh(r, 7, &e), 1);
    assert_false(report_is_whole(r));
    report_page(&r, 1, REPORT_SERVED, &b);
    assert_int_equal(count(b.p, "this follows by itself"), all - early);
    assert_int_equal(count(b.p, "<section id="), all);
    assert_int_equal(count(b.p, "</section>"), all);
    assert_int_equal(count(b.p, "class=\"plot"), 0);
    assert_non_null(strstr(b.p, "The record is being read: 7 of "));
    assert_non_null(strstr(b.p, "data-metric=\"edges\""));
    while (report_refresh(r, 7, &e) > 0)
        ;
    assert_true(report_is_whole(r));
    buf_clear(&b);
    report_page(&r, 1, REPORT_SERVED, &b);
    assert_int_equal(count(b.p, "this follows by itself"), 0);
    assert_null(strstr(b.p, "The record is being read"));
    report_close(r);
    buf_free(&b);
}

/* Attributes such as onclick=. */
static int handlers(const char *text)
{
    int n = 0;
    for (; (text = strstr(text, " on")); text += 3)
        n += text[3 + strspn(text + 3, "abcdefghijklmnopqrstuvwxyz")] == '=';
    return n;
}

static void a_served_page_has_nothing_inline(void **state)
{
    (void)state;
    struct report *r;
    struct err e = {0};
    struct buf file = BUF_INIT(BUF_TEXT_MAX), served = BUF_INIT(BUF_TEXT_MAX);
    assert_int_equal(report_open(&r, out, &e), 0);
    report_page(&r, 1, REPORT_FILE, &file);
    report_page(&r, 1, REPORT_SERVED, &served);
    assert_int_equal(count(served.p, "<style"), 0);
    assert_int_equal(count(served.p, " style="), 0);
    assert_int_equal(count(served.p, "<script"), 3); /* one from beside it, two of data */
    assert_int_equal(count(served.p, "<script src=\"report.js\" defer></script>"), 1);
    assert_int_equal(count(served.p, "<script type=\"application/json\""), 2);
    assert_int_equal(handlers(served.p), 0);
    assert_int_equal(count(served.p, "data-live"), 1);
    assert_int_equal(count(file.p, "src="), 0);
    assert_non_null(strstr(file.p, "EventSource"));
    struct report_asset css = report_css(), js = report_js();
    assert_non_null(memmem(file.p, file.len, css.data, css.size));
    assert_non_null(memmem(file.p, file.len, js.data, js.size));
    assert_null(memmem(js.data, js.size, "</", 2)); /* it would end the element it is in */
    report_close(r);
    buf_free(&file);
    buf_free(&served);
}

static void one_turn(void **state)
{
    (void)state;
    struct report *r;
    struct err e = {0};
    struct buf b = BUF_INIT(1 << 20);
    assert_int_equal(report_open(&r, out, &e), 0);
    assert_int_equal(report_turn(r, 5, &b, &e), 0);
    assert_non_null(strstr(b.p, "<p>Why: "));
    assert_int_equal(count(b.p, "<tr"), 1 + 4 + SIGNAL_COUNT);
    assert_int_equal(report_turn(r, 1000000, &b, &e), -ENOENT);
    assert_int_equal(report_turn(r, 0, &b, &e), -ENOENT);
    report_close(r);
    buf_free(&b);
}

/* The number behind the first such word. */
static long long number_after(const char *text, const char *word)
{
    const char *at = strstr(text, word);
    assert_non_null(at);
    return strtoll(at + strlen(word), NULL, 10);
}

/* Is it in "3-7 9"? */
static bool is_among(const char *ranges, long long edge)
{
    while (*ranges != '"') {
        char *end;
        long long from = strtoll(ranges, &end, 10),
                  to = *end == '-' ? strtoll(end + 1, &end, 10) : from;
        if (edge >= from && edge <= to)
            return true;
        ranges = *end == ' ' ? end + 1 : end;
    }
    return false;
}

/* Each row is what the next one was made from, and the last one covered the edge first. */
static void the_lineage_of_one_edge(void **state)
{
    (void)state;
    struct report *r;
    struct err e = {0};
    struct buf b = BUF_INIT(BUF_TEXT_MAX);
    int covered = 0;
    assert_int_equal(report_open(&r, out, &e), 0);
    for (int64_t edge = 0; edge < 5000; edge++) {
        buf_clear(&b);
        if (report_edge(r, edge, &b, &e) < 0)
            continue;
        covered++;
        const char *row = b.p;
        assert_int_equal(number_after(row, "data-parent=\""), 0);
        for (const char *next; (next = strstr(row + 1, "<li id=\"s")); row = next)
            assert_int_equal(number_after(row, "<li id=\"s"), number_after(next, "data-parent=\""));
        assert_true(is_among(strstr(row, "data-edges=\"") + strlen("data-edges=\""), edge));
    }
    assert_true(covered > 5);
    assert_int_equal(report_edge(r, -1, &b, &e), -ENOENT);
    assert_int_equal(report_edge(r, INT64_MAX, &b, &e), -ENOENT);
    report_close(r);
    buf_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_from_outside_is_escaped),
        cmocka_unit_test(what_is_no_text_is_a_replacement_character),
        cmocka_unit_test(conversions),
        cmocka_unit_test(numbers_for_people),
        cmocka_unit_test(a_plot_to_the_byte),
        cmocka_unit_test(a_time_axis_counts_in_what_fits),
        cmocka_unit_test(metrics_and_json_are_equal),
        cmocka_unit_test(portions_make_the_same_page),
        cmocka_unit_test(a_part_of_the_record_is_not_shown_as_the_whole),
        cmocka_unit_test(a_served_page_has_nothing_inline),
        cmocka_unit_test(one_turn),
        cmocka_unit_test(the_lineage_of_one_edge),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, make, drop);
}
