/* The declaration of metrics: names that Prometheus takes, each once; every number of the status is declared; JSON
 * and /metrics say the same.  The text is also read by an independent parser, in tests/system/web.py. */
#include "journal/metrics.h"
#include "base/str.h"
#include "journal/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct status st;

static int fill(void **state)
{
    (void)state;
    st = (struct status){.state = "running"};
    st.tally.n_arms = 2;
    snprintf(st.tally.arm[0].name, sizeof st.tally.arm[0].name, "aflpp");
    snprintf(st.tally.arm[1].name, sizeof st.tally.arm[1].name, "a\"b\\c\nd");
    st.tally.arm[0].turns = 3;
    st.tally.arm[0].active_ns = 1500000000;
    st.tally.arm[1].active_ns = 500000000;
    st.tally.turns = 4;
    st.tally.execs = UINT64_C(9007199254740992);
    st.tally.edges = 77;
    st.gauges.elapsed_ns = 12345678901;
    st.gauges.n_slots = 2;
    st.gauges.slot[1].fuzz_ns = 250000000;
    st.gauges.dropped = 2;
    return 0;
}

static bool is_name(const char *s)
{
    return s[0] != '\0' && strspn(s, "abcdefghijklmnopqrstuvwxyz_") == strlen(s);
}

static void names_are_good_and_unique(void **state)
{
    (void)state;
    for (const struct metric *m = metrics; m->name; m++) {
        assert_true(is_name(m->prometheus) && is_name(m->name));
        assert_true(str_starts(m->prometheus, "carol_"));
        assert_int_equal(m->unit == METRIC_SECONDS, strstr(m->prometheus, "_seconds") != NULL);
        assert_true(m->counter || !str_ends(m->prometheus, "_total"));
        assert_null(strchr(m->help, '\n'));
        assert_ptr_equal(metric_find(m->scope, m->name), m);
        for (const struct metric *k = metrics; k < m; k++)
            assert_string_not_equal(k->prometheus, m->prometheus);
    }
}

static size_t numbers_in(const json_t *o)
{
    const char *key;
    json_t *v;
    size_t n = 0;
    json_object_foreach((json_t *)(uintptr_t)o, key, v) n += json_is_number(v) != 0;
    return n;
}

static size_t declared(enum metric_scope scope)
{
    size_t n = 0;
    for (const struct metric *m = metrics; m->name; m++)
        n += m->scope == scope;
    return n;
}

static void the_status_has_no_other_number(void **state)
{
    (void)state;
    json_t *o = status_json(&st);
    assert_int_equal(numbers_in(o) - 1, declared(METRIC_CAMPAIGN)); /* but for the schema */
    assert_int_equal(numbers_in(json_object_get(json_object_get(o, "fuzzers"), "aflpp")),
                     declared(METRIC_FUZZER));
    assert_int_equal(numbers_in(json_array_get(json_object_get(o, "slots"), 1)),
                     declared(METRIC_SLOT));
    json_decref(o);
}

static void the_text_has_every_value(void **state)
{
    (void)state;
    struct buf b = BUF_INIT(BUF_TEXT_MAX);
    metrics_prometheus(&st, &b);
    static const char *const lines[] = {
        "# TYPE carol_turns_total counter\ncarol_turns_total 4\n",
        "# TYPE carol_edges gauge\ncarol_edges 77\n",
        "\ncarol_executions_total 9007199254740992\n",
        "\ncarol_elapsed_seconds 12.3456789\n",
        "\ncarol_fuzzer_share{fuzzer=\"aflpp\"} 0.75\n",
        "carol_fuzzer_share{fuzzer=\"a\\\"b\\\\c\\nd\"} 0.25\n",
        "carol_slot_fuzz_seconds_total{slot=\"1\"} 0.25\n",
        "carol_state{state=\"running\"} 1\n",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        assert_non_null(strstr(b.p, lines[i]));
    assert_int_equal(b.p[b.len - 1], '\n');
    buf_free(&b);
}

int main(void)
{
    cmocka_set_message_output(CM_OUTPUT_TAP);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_good_and_unique),
        cmocka_unit_test(the_status_has_no_other_number),
        cmocka_unit_test(the_text_has_every_value),
    };
    return cmocka_run_group_tests(tests, fill, NULL);
}
