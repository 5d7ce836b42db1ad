/* The web server and the process that draws, both in this program, over real connections: requests that are right, wrong,
 * cut off or mutilated by lot.  All of src/web and src/report runs here, so `make test SAN=1` watches their memory.  What a
 * whole campaign and a browser make of it is in tests/system/web.py. */
#include "server_kit.h"

#include "base/rng.h"

#define LOTS 400
#define SLOW "/a/record/that/takes/long"
#define PORTIONS 500 /* until it is read */

/* --- tests ------------------------------------------------------------------------------------------ */
static void everything_is_served(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        int code;
        const char *has;
    } cases[] = {{"", 200, "</html>"},
                 {"report.css", 200, "--accent"},
                 {"report.js", 200, "EventSource"},
                 {"api/status", 200, "\"untriaged\": "},
                 {"metrics", 200, "\ncarol_untriaged "},
                 {"turn/3", 200, "Why: "},
                 {"turn/999999", 404, "no such turn"},
                 {"edge/999999", 404, "no such turn or edge"},
                 {"edge/x", 404, "a number"},
                 {"turn/-1", 404, "a number"},
                 {"turn/99999999999999999999999", 404, "a number"},
                 {"nothing", 404, "nothing of that name"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = get(cases[i].path);
        assert_int_equal(code_of(text), cases[i].code);
        assert_non_null(strstr(text, cases[i].has));
        free(text);
    }
    everybody_leaves();
}

static void events_come(void **state)
{
    (void)state;
    char *request = str_fmt("GET /%s/events HTTP/1.1\r\n" HOST "Last-Event-ID: of-another\r\n\r\n",
                            w->token); /* so it gets everything, page or not */
    int fd = connect_to_it(), other = connect_to_it();
    assert_int_equal(send(fd, request, strlen(request), 0), strlen(request));
    assert_int_equal(send(other, request, strlen(request), 0), strlen(request));
    char *text = hear(fd, "id=\"settings\"", PATIENCE_NS);
    assert_int_equal(code_of(text), 200);
    assert_non_null(strstr(text, "event: section\nid: "));
    assert_non_null(strstr(text, "event: state\nid: "));
    assert_int_equal(w->n_viewers, 2);
    close(other); /* without having read anything */
    close(fd);
    everybody_leaves();
    assert_int_equal(w->n_viewers, 0);
    free(text);
    free(request);
}

static void every_malformed_request_is_answered(void **state)
{
    (void)state;
    static char lots_of_a[40000];
    memset(lots_of_a, 'a', sizeof lots_of_a - 1);
    const struct {
        const char *first, *long_one, *last;
        int code;
    } cases[] = {
        {"\x01\x02garbage\r\n\r\n", "", "", 400},
        {"GET\r\n\r\n", "", "", 400},
        {"GET / HTTP/9.9\r\n" HOST CLOSE "\r\n", "", "", 505},
        {"GET /", lots_of_a, " HTTP/1.1\r\n" HOST "\r\n", 414},
        {"GET / HTTP/1.1\r\n" HOST "X: ", lots_of_a, "\r\n\r\n", 431},
        {"GET / HTTP/1.1\r\n" HOST "Content-Length: -5\r\n\r\n", "", "", 400},
        {"GET / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\nzz\r\n", "", "", 403},
        {"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", "", "", 421},
        {"GET / HTTP/1.1\r\n\r\n", "", "", 400},
        {"HEAD / HTTP/1.1\r\n" HOST CLOSE "\r\n", "", "", 405},
        {"GET /%00%ff%2e%2e?token=%zz HTTP/1.1\r\n" HOST CLOSE "\r\n", "", "", 403}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *sent = str_fmt("%s%s%s", cases[i].first, cases[i].long_one, cases[i].last);
        char *text = send_bytes(sent, strlen(sent), 2 * NS_PER_S);
        assert_int_equal(code_of(text), cases[i].code);
        free(text);
        free(sent);
    }
    everybody_leaves();
}

/* Bytes changed, inserted, repeated, removed, cut off: by lot, the same ones every time. */
static void mutilate(struct rng *r, struct buf *b)
{
    static const char *const words[] = {"\r\n",   "\n", "%",        "?",
                                        "/",      ":",  "\r\n\r\n", "\xff",
                                        "Host: ", "..", "turn/",    "Last-Event-ID: 9-9\r\n",
                                        " ",      "\t", "events",   "HTTP/1.1"};
    for (uint64_t n = 1 + rng_below(r, 6); n && b->len; n--) {
        size_t at = (size_t)rng_below(r, b->len), some = (size_t)rng_below(r, b->len - at) + 1;
        const char *word = words[rng_below(r, sizeof words / sizeof *words)];
        struct buf next = BUF_INIT(1 << 20);
        buf_add(&next, b->p, at);
        switch (rng_below(r, 5)) {
        case 0: /* a byte */
            buf_printf(&next, "%c", (int)(1 + rng_below(r, 255)));
            buf_add(&next, b->p + at + 1, b->len - at - 1);
            break;
        case 1: /* a word */
            buf_str(&next, word);
            buf_add(&next, b->p + at, b->len - at);
            break;
        case 2: /* without some */
            some = some > 8 ? 8 : some;
            buf_add(&next, b->p + at + some, b->len - at - some);
            break;
        case 3: /* some of it twice */
            buf_add(&next, b->p + at, some);
            buf_add(&next, b->p + at, b->len - at);
            break;
        default: /* a long one */
            for (uint64_t k = rng_below(r, 3000); k; k--)
                buf_str(&next, word);
            buf_add(&next, b->p + at, b->len - at);
        }
        buf_free(b);
        *b = next;
    }
}

static void nothing_that_is_sent_breaks_it(void **state)
{
    (void)state;
    static const char *const paths[] = {"",       "metrics",    "api/status", "turn/2",
                                        "events", "report.css", "turn/"};
    const char *seed = getenv("CAROL_TEST_SEED");
    struct rng r;
    int answered = 0;
    rng_stream(&r, seed ? strtoull(seed, NULL, 10) : 1, "requests");
    for (int i = 0; i < LOTS; i++) {
        struct buf b = BUF_INIT(1 << 20);
        buf_printf(&b, "GET /%s/%s HTTP/1.1\r\n" HOST CLOSE "Origin: http://127.0.0.1\r\n\r\n",
                   w->token, paths[rng_below(&r, sizeof paths / sizeof *paths)]);
        mutilate(&r, &b);
        char *text = b.len ? send_bytes(b.p, b.len, 20 * NS_PER_MS) : xstrdup("");
        answered += code_of(text) != 0;
        assert_true(code_of(text) != 0 || !*text); /* half a request gets nothing so soon */
        free(text);
        buf_free(&b);
    }
    assert_true(answered > LOTS / 2);
    everybody_leaves();
    char *text = get("metrics");
    assert_int_equal(code_of(text), 200);
    free(text);
}

/* Half a request each, and gone, or still there when it closes. */
static void who_hangs_up_leaves_nothing(void **state)
{
    (void)state;
    static const char *const halves[] = {"", "G", "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: "};
    int fd[60];
    for (int i = 0; i < 60; i++) {
        fd[i] = connect_to_it();
        send(fd[i], halves[i % 3], strlen(halves[i % 3]), MSG_NOSIGNAL);
        loop_step(loop, 0);
    }
    for (int i = 0; i < 50; i++)
        close(fd[i]);
    while (w->n_clients + w->n_guests > 10)
        loop_step(loop, 10 * NS_PER_MS);
    char *text = get("metrics");
    assert_int_equal(code_of(text), 200);
    free(text);
    for (int i = 50; i < 60; i++)
        close(fd[i]);
    everybody_leaves();
}

/* A directory without a campaign: said, not died of. */
static void what_cannot_be_drawn_is_said(void **state)
{
    (void)state;
    struct web *good = w;
    assert_int_equal(open_server("/nowhere/at/all", false), 0);
    char *text = get("");
    web_close(w, NULL);
    w = good;
    if (code_of(text) != 503 || !strstr(text, "/nowhere/at/all"))
        fail_msg("answered: %s", text);
    free(text);
}

/* Until then a new process may still be on its way. */
static char *get_page(void)
{
    char *text = get("");
    for (int64_t end = loop_now(loop) + PATIENCE_NS;
         code_of(text) == 503 && loop_now(loop) < end;) {
        free(text);
        text = get("");
    }
    return text;
}

/* What there is of the page at once, the rest as an event; again when another process has to read it, and draws the same. */
static void a_record_that_takes_long_follows_by_itself(void **state)
{
    (void)state;
    struct web *good = w;
    assert_int_equal(open_server(SLOW, false), 0);
    char *request = str_fmt("GET /%s/events HTTP/1.1\r\n" HOST "\r\n", w->token);
    for (int i = 0; i < 2; i++) {
        char *text = get_page();
        assert_int_equal(code_of(text), 200);
        assert_non_null(strstr(text, "being read"));
        int fd = connect_to_it();
        assert_int_equal(send(fd, request, strlen(request), 0), strlen(request));
        char *news = hear(fd, "id=\"figures\"", PATIENCE_NS);
        assert_non_null(strstr(news, "id=\"figures\""));
        close(fd);
        everybody_leaves();
        while (artist_busy(w->artist))
            loop_step(loop, 10 * NS_PER_MS);
        artist_rest(w->artist);
        w->served[0] = w->served[1] = 0; /* as a minute later */
        free(news);
        free(text);
    }
    free(request);
    web_close(w, NULL);
    w = good;
}

/* A turn that is asked for before the record is read is waited for. */
static void a_turn_of_a_record_that_takes_long(void **state)
{
    (void)state;
    struct web *good = w;
    assert_int_equal(open_server(SLOW, false), 0);
    char *text = get("turn/3");
    assert_int_equal(code_of(text), 200);
    assert_non_null(strstr(text, "the third turn"));
    assert_false(w->told);
    free(text);
    web_close(w, NULL);
    w = good;
}

static void whoever_looks_soon_finds_it_drawn(void **state)
{
    (void)state;
    struct web *good = w;
    assert_int_equal(open_server(out, true), 0);
    for (int64_t end = loop_now(loop) + PATIENCE_NS; !w->n_items && loop_now(loop) < end;)
        loop_step(loop, 10 * NS_PER_MS);
    assert_true(w->n_items > 0 && !w->n_clients);
    web_close(w, NULL);
    w = good;
}

/* Those who wait and those who look are told when it closes. */
static void closing_tells_everybody(void **state)
{
    (void)state;
    char *events = str_fmt("GET /%s/events HTTP/1.1\r\n" HOST "\r\n", w->token);
    char *page = str_fmt("GET /%s/ HTTP/1.1\r\n" HOST CLOSE "\r\n", w->token);
    int a = connect_to_it(), b = connect_to_it();
    assert_int_equal(send(a, events, strlen(events), 0), strlen(events));
    while (!w->n_viewers)
        loop_step(loop, 10 * NS_PER_MS);
    assert_int_equal(send(b, page, strlen(page), 0), strlen(page));
    while (!w->n_guests)
        loop_step(loop, 10 * NS_PER_MS);
    web_close(w, "interrupted");
    w = NULL;
    char *last = hear(a, NULL, PATIENCE_NS), *said = hear(b, NULL, PATIENCE_NS);
    assert_non_null(strstr(last, "data: interrupted\n"));
    assert_int_equal(code_of(said), 503);
    close(a);
    close(b);
    free(last);
    free(said);
    free(events);
    free(page);
}

/* Draws like drawing.c, from a record that takes many portions. */
static int slow_artist(void)
{
    static const char page[] = "<p>It is being read.", figures[] = "<section id=\"figures\">",
                      turn[] = "the third turn";
    char line[64];
    for (int portions = 0; fgets(line, sizeof line, stdin);) {
        portions += strcmp(line, "draw\n") == 0 || strcmp(line, "renew\n") == 0;
        bool more = portions < PORTIONS;
        if (more)
            printf("more - 0\n");
        if (strcmp(line, "page\n") == 0)
            printf("page - %zu\n%s", strlen(page), page);
        else if (strcmp(line, "turn 3\n") == 0 && !more)
            printf("part - %zu\n%s", strlen(turn), turn);
        else if (!more)
            printf("section figures %zu\n%s", strlen(figures), figures);
        printf("done - 0\n");
        fflush(stdout);
    }
    return 0;
}

int main(int argc, char **argv)
{
    struct err e = {0};
    if (argc == 4 && strcmp(argv[3], SLOW) == 0)
        return slow_artist();
    if (argc == 4 && strcmp(argv[1], "view") == 0) /* the process that draws */
        return artist_main(argv[3], &e) < 0;
    cmocka_set_message_output(CM_OUTPUT_TAP);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_is_served),
        cmocka_unit_test(events_come),
        cmocka_unit_test(every_malformed_request_is_answered),
        cmocka_unit_test(nothing_that_is_sent_breaks_it),
        cmocka_unit_test(who_hangs_up_leaves_nothing),
        cmocka_unit_test(what_cannot_be_drawn_is_said),
        cmocka_unit_test(a_record_that_takes_long_follows_by_itself),
        cmocka_unit_test(a_turn_of_a_record_that_takes_long),
        cmocka_unit_test(whoever_looks_soon_finds_it_drawn),
        cmocka_unit_test(closing_tells_everybody),
    };
    return cmocka_run_group_tests(tests, make, drop);
}
