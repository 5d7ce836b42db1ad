/* Who may ask the web server for what, where it listens, and what its events look like.  Real connections are in
 * tests/system/web.py. */
#include "web/address.h"
#include "web/guard.h"
#include "web/server.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define TOKEN "00112233445566778899aabbccddeeff"
#define OTHER "00112233445566778899aabbccddeefe"

static const char *const names[] = {"box", "box.example", NULL}, *const no_names[] = {NULL};

static int ask(struct guard_request r, const char **rest)
{
    const char *why;
    int code = guard_check(&r, TOKEN, names, rest, &why);
    assert_int_equal(code == 0, why == NULL);
    return code;
}

/* As a browser asks for that path. */
static int get(const char *path, const char **rest)
{
    return ask((struct guard_request){.method = "GET", .path = path, .host = "127.0.0.1:8390"},
               rest);
}

static void the_token_opens(void **state)
{
    (void)state;
    const char *rest = "";
    assert_int_equal(get("/" TOKEN "/", &rest), 0);
    assert_string_equal(rest, "");
    assert_int_equal(get("/" TOKEN "/api/status", &rest), 0);
    assert_string_equal(rest, "api/status");
    assert_int_equal(get("/" TOKEN, &rest), 0);
    assert_null(rest);
    struct guard_request r = {.method = "GET", .path = "/metrics", .host = "localhost"};
    assert_int_equal(ask(r, &rest), 403);
    r.token = TOKEN;
    assert_int_equal(ask(r, &rest), 0);
    assert_string_equal(rest, "metrics");
    r.token = NULL;
    r.authorization = "bearer " TOKEN;
    assert_int_equal(ask(r, &rest), 0);
    r.authorization = "Bearer " OTHER;
    r.token = TOKEN; /* the header is what counts */
    assert_int_equal(ask(r, &rest), 403);
}

static void nothing_else_opens(void **state)
{
    (void)state;
    static const char *const paths[] = {"/",
                                        "",
                                        "/" OTHER "/",
                                        "/" TOKEN "0/",
                                        "//" TOKEN "/",
                                        "/metrics",
                                        "/"
                                        "0011",
                                        "/x/" TOKEN "/"};
    const char *rest;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        assert_int_equal(get(paths[i], &rest), 403);
    assert_false(guard_same(TOKEN, TOKEN, GUARD_TOKEN - 1));
    assert_false(guard_same(TOKEN "0", TOKEN, GUARD_TOKEN + 1));
    assert_false(guard_same("", TOKEN, 0));
    assert_true(guard_same(TOKEN, TOKEN, GUARD_TOKEN));
}

static void only_get(void **state)
{
    (void)state;
    static const char *const methods[] = {"POST",    "HEAD", "PUT",  "DELETE",
                                          "OPTIONS", "get",  "GETX", ""};
    const char *rest;
    struct guard_request r = {.path = "/" TOKEN "/", .host = "localhost"};
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        r.method = methods[i];
        assert_int_equal(ask(r, &rest), 405);
    }
}

/* A name that an attacker points here is none of ours, whatever it begins or ends with. */
static void no_other_name_leads_here(void **state)
{
    (void)state;
    static const char *const good[] = {"127.0.0.1",  "127.0.0.1:8390", "LocalHost:1", "[::1]",
                                       "[::1]:99",   "10.1.2.3:80",    "box:5",       "BOX",
                                       "localhost:", "Box.Example:80"};
    static const char *const bad[] = {"evil.example",
                                      "127.0.0.1.evil.example",
                                      "localhost.evil.example:8390",
                                      "",
                                      ":80",
                                      "[::1",
                                      "[]",
                                      "[evil]:1",
                                      "::1",
                                      "127.0.0.1:80:80",
                                      "127.0.0.1:x",
                                      "127.0.0.1/",
                                      "box.evil",
                                      "1",
                                      "127.1 ",
                                      "localhost:123456"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(guard_host(good[i], names));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(guard_host(bad[i], names));
    assert_false(guard_host("box", no_names));
    const char *rest;
    struct guard_request r = {.method = "GET", .path = "/" TOKEN "/"};
    assert_int_equal(ask(r, &rest), 400);
    r.host = "evil.example";
    assert_int_equal(ask(r, &rest), 421);
}

static void no_page_from_elsewhere_may_ask(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "http://evil.example",   "null", "https://localhost:8390", "http://localhost",
        "http://127.0.0.1:8390", "",     "http://localhost:8390/"};
    const char *rest;
    struct guard_request r = {
        .method = "GET", .path = "/" TOKEN "/events", .host = "localhost:8390"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        r.origin = bad[i];
        assert_int_equal(ask(r, &rest), 403);
    }
    r.origin = "http://localhost:8390";
    assert_int_equal(ask(r, &rest), 0);
}

static void addresses_are_read(void **state)
{
    (void)state;
    static const char *const good[][3] = {
        {NULL, "127.0.0.1", "8390"},
        {"", "127.0.0.1", "8390"},
        {"127.0.0.1:0", "127.0.0.1", "0"},
        {"9000", "127.0.0.1", "9000"},
        {":9000", "127.0.0.1", "9000"},
        {"localhost", "localhost", "8390"},
        {"[::1]:12", "::1", "12"},
        {"[::1]", "::1", "8390"},
        {"::1", "::1", "8390"},
        {"0.0.0.0:65535", "0.0.0.0", "65535"},
    };
    static const char *const bad[] = {"127.0.0.1:65536", "127.0.0.1:x",  "[::1",
                                      "[::1]x",          "127.0.0.1:-1", "1234567"};
    struct address a;
    struct err e = {0};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_int_equal(address_parse(good[i][0], &a, &e), 0);
        assert_string_equal(a.host, good[i][1]);
        assert_string_equal(a.port, good[i][2]);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_true(address_parse(bad[i], &a, &e) < 0);
        assert_int_equal(e.exit, ERR_EXIT_USAGE);
    }
}

static void lines_are_requests(void **state)
{
    (void)state;
    static const char *const good[] = {"GET / HTTP/1.1", "POST /a?b=c HTTP/1.0",
                                       "OPTIONS * HTTP/9.9"};
    static const char *const bad[] = {"",
                                      "GET",
                                      "GET /",
                                      "GET / HTTP/",
                                      "GET /  HTTP/1.1",
                                      "GET / HTTP/1.1 ",
                                      " GET / HTTP/1.1",
                                      "get / HTTP/1.1",
                                      "GET / HTTX/1.1",
                                      "GET /\x01 HTTP/1.1",
                                      "GET /\xff HTTP/1.1",
                                      "AVERYLONGMETHODNAME / HTTP/1.1"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(door_line_ok(good[i], strlen(good[i])));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(door_line_ok(bad[i], strlen(bad[i])));
}

/* A line of HTML is a line of data: nothing in it can begin another event. */
static void events_are_framed(void **state)
{
    (void)state;
    static const char html[] = "<p>\n\nevent: state\ndata: gone\n";
    struct event *ev = event_new("section", "x-7", html, strlen(html));
    static const char want[] =
        "event: section\nid: x-7\ndata: <p>\ndata: \ndata: event: state\ndata: data: gone\n\n";
    assert_int_equal(ev->size, strlen(want));
    assert_memory_equal(ev->text, want, ev->size);
    event_drop(ev);
}

int main(void)
{
    cmocka_set_message_output(CM_OUTPUT_TAP);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_token_opens),
        cmocka_unit_test(nothing_else_opens),
        cmocka_unit_test(only_get),
        cmocka_unit_test(no_other_name_leads_here),
        cmocka_unit_test(no_page_from_elsewhere_may_ask),
        cmocka_unit_test(addresses_are_read),
        cmocka_unit_test(lines_are_requests),
        cmocka_unit_test(events_are_framed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
