/* The web server and those who take their time: who has how long, and what happens to whoever has it no more; and the names it
 * answers to.  Its clock is put forward: nobody waits for minutes. */
#include "server_kit.h"

#define SECONDS(n) ((n) * NS_PER_S)

static int64_t ahead_ns; /* of the real time */
int64_t __real_loop_now(struct loop *l);
int64_t __wrap_loop_now(struct loop *l);

int64_t __wrap_loop_now(struct loop *l)
{
    return __real_loop_now(l) + ahead_ns;
}

/* What a tick does, so much later. */
static void later(int64_t ns)
{
    loop_timer_clear(loop, &w->tick); /* no other one comes before somebody else does */
    ahead_ns = ns;
    door_sweep(w);
    clients_sweep(w);
    ahead_ns = 0;
    for (int i = 0; i < 20; i++)
        loop_step(loop, 5 * NS_PER_MS);
}

static int begin(const char *text)
{
    int fd = connect_to_it();
    assert_int_equal(send(fd, text, strlen(text), 0), strlen(text));
    return fd;
}

static int begin_get(const char *path)
{
    char *text = str_fmt("GET /%s/%s HTTP/1.1\r\n" HOST "\r\n", w->token, path);
    int fd = begin(text);
    free(text);
    return fd;
}

static void step_until(const int *count)
{
    for (int64_t end = loop_now(loop) + PATIENCE_NS; !*count && loop_now(loop) < end;)
        loop_step(loop, 10 * NS_PER_MS);
    assert_int_equal(*count, 1);
}

/* Sooner than the library gives up whoever is silent. */
static void left_at_once(void)
{
    for (int64_t end = loop_now(loop) + SECONDS(20); w->n_clients && loop_now(loop) < end;)
        loop_step(loop, 10 * NS_PER_MS);
    assert_int_equal(w->n_clients, 0);
}

/* One client, who is still there after three seconds and not after fourteen. */
static void stays_ten_seconds(void)
{
    step_until(&w->n_clients);
    later(SECONDS(3));
    assert_int_equal(w->n_clients, 1);
    later(SECONDS(11));
    left_at_once();
}

/* A first line, and a request, have ten seconds. */
static void half_a_request_is_not_waited_for(void **state)
{
    (void)state;
    int fd = begin("GE");
    step_until(&w->n_guests);
    later(SECONDS(3));
    assert_int_equal(w->n_guests, 1);
    later(SECONDS(11));
    assert_int_equal(w->n_guests, 0);
    char *said = hear(fd, NULL, PATIENCE_NS);
    assert_int_equal(code_of(said), 408);
    close(fd);
    free(said);
    fd = begin("GET / HTTP/1.1\r\n" HOST "X-Slow: ");
    stays_ten_seconds();
    close(fd);
}

/* Nor is one who keeps the connection and asks for nothing more. */
static void nobody_stays_without_a_question(void **state)
{
    (void)state;
    int fd = begin_get("metrics");
    char *said = hear(fd, "carol_untriaged", PATIENCE_NS);
    assert_int_equal(code_of(said), 200);
    stays_ten_seconds();
    close(fd);
    free(said);
}

/* Waiting for the page and taking it: five minutes. */
static void a_page_that_is_not_taken_is_dropped(void **state)
{
    (void)state;
    int fd = begin_get("");
    step_until(&w->n_clients);
    while (!w->waiting)
        loop_step(loop, NS_PER_MS);
    assert_in_range(w->clients->deadline_ns - loop_now(loop), SECONDS(270), SECONDS(300));
    later(SECONDS(301));
    char *said = hear(fd, NULL, PATIENCE_NS);
    assert_string_equal(said, "");
    everybody_leaves();
    close(fd);
    free(said);
}

/* More than the buffers between the two can hold. */
static void put_large_event(void)
{
    size_t size = 32 << 20;
    char *data = xmalloc(size);
    memset(data, 'x', size);
    event_drop(w->item[0].event);
    w->item[0].event = event_new("section", "x-1", data, size);
    w->item[0].version = ++w->version;
    free(data);
}

/* One event has ten minutes, silence between two has no end. */
static void a_viewer_that_does_not_read_is_dropped(void **state)
{
    (void)state;
    char *text = str_fmt("GET /%s/events HTTP/1.1\r\n" HOST "Last-Event-ID: of-another\r\n\r\n",
                         w->token); /* so it gets everything */
    int fd = begin(text);
    char *first = hear(fd, "id=\"settings\"", PATIENCE_NS);
    step_until(&w->n_viewers);
    while (!w->viewers->suspended)
        loop_step(loop, 10 * NS_PER_MS);
    later(SECONDS(100000));
    assert_int_equal(w->n_viewers, 1);
    put_large_event();
    viewers_wake(w);
    for (int i = 0; i < 20; i++)
        loop_step(loop, 5 * NS_PER_MS);
    assert_in_range(w->clients->deadline_ns - loop_now(loop), SECONDS(570), SECONDS(600));
    later(SECONDS(500));
    assert_int_equal(w->n_viewers, 1);
    later(SECONDS(601));
    left_at_once();
    assert_int_equal(w->n_viewers, 0);
    close(fd);
    free(first);
    free(text);
}

static int code_for_host(const char *host)
{
    char *request =
        str_fmt("GET /%s/metrics HTTP/1.1\r\nHost: %s\r\n" CLOSE "\r\n", w->token, host);
    char *text = send_bytes(request, strlen(request), PATIENCE_NS);
    int code = code_of(text);
    free(request);
    free(text);
    return code;
}

/* 127.1 leads here and is no address in a Host: so it stands for a name. */
static void a_name_it_is_given_does_not_replace_its_own(void **state)
{
    (void)state;
    struct web *good = w;
    char own[256] = "";
    assert_int_equal(gethostname(own, sizeof own - 1), 0);
    assert_int_equal(code_for_host(own), 200);
    assert_int_equal(code_for_host("127.1"), 421);
    assert_int_equal(open_server_at("127.1:0", out, false), 0);
    assert_int_equal(code_for_host("127.1"), 200);
    assert_int_equal(code_for_host(own), 200);
    assert_int_equal(code_for_host("localhost"), 200);
    assert_int_equal(code_for_host("127.2"), 421);
    web_close(w, NULL);
    w = good;
}

int main(int argc, char **argv)
{
    struct err e = {0};
    if (argc == 4 && strcmp(argv[1], "view") == 0) /* the process that draws */
        return artist_main(argv[3], &e) < 0;
    cmocka_set_message_output(CM_OUTPUT_TAP);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(half_a_request_is_not_waited_for),
        cmocka_unit_test(nobody_stays_without_a_question),
        cmocka_unit_test(a_page_that_is_not_taken_is_dropped),
        cmocka_unit_test(a_viewer_that_does_not_read_is_dropped),
        cmocka_unit_test(a_name_it_is_given_does_not_replace_its_own),
    };
    return cmocka_run_group_tests(tests, make, drop);
}
