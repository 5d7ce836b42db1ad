/* directories: what is put into a fuzzer's directory before it starts, and mended there before it is started again. */
#include "arm_kit.h"
#include "base/fs.h"
#include "base/log.h"
#include "fuzzer/ctlpage.h"
#include "fuzzer/live_private.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* Seeds become files; none at all, one of a byte. */
static void the_start_corpus(void **state)
{
    (void)state;
    static char bytes[(1 << 20) + 1];
    const struct input seeds[] = {{7, "seven", 5}, {8, "", 0}, {9, "nine", 4}},
                       large = {10, bytes, sizeof bytes};
    for (const char *const *f = (const char *const[]){"aflpp", "honggfuzz", "libfuzzer", NULL}; *f;
         f++) {
        struct live *lv = open_arm((struct instance_opts){.fuzzer = *f});
        assert_int_equal(lv->arm->prepare(lv, seeds, 3, NULL), 0);
        assert_string_equal(content("i/in/s000000000007"), "seven");
        assert_string_equal(content("i/in/s000000000009"), "nine");
        char *dir = fs_join(home, "i"), *in = fs_join(home, "i/in");
        struct strv names = {0};
        assert_int_equal(fs_list(in, &names, NULL), 0);
        assert_int_equal(names.n, 2);
        strv_free(&names);
        lv->in.ops->free(&lv->in);
        assert_int_equal(fs_remove_tree(dir, NULL), 0);
        lv = open_arm((struct instance_opts){.fuzzer = *f});
        assert_int_equal(lv->arm->prepare(lv, &large, 1, NULL), 0); /* no fuzzer takes more */
        char *cut = fs_join(home, "i/in/s000000000010");
        struct stat st;
        assert_true(stat(cut, &st) == 0 && st.st_size == 1 << 20);
        free(cut);
        lv->in.ops->free(&lv->in);
        assert_int_equal(fs_remove_tree(dir, NULL), 0);
        lv = open_arm((struct instance_opts){.fuzzer = *f});
        assert_int_equal(lv->arm->prepare(lv, seeds + 1, 1, NULL), 0);
        assert_int_equal(fs_list(in, &names, NULL), 0);
        assert_int_equal(names.n, 1);
        char *only = fs_join(in, names.v[0]);
        assert_true(stat(only, &st) == 0 && st.st_size == 1);
        free(only);
        strv_free(&names);
        lv->in.ops->free(&lv->in);
        assert_int_equal(fs_remove_tree(dir, NULL), 0);
        free(in);
        free(dir);
    }
}

/* A batch becomes one file, which the library in afl-fuzz takes; it is there once. */
static void inputs_are_handed_over(void **state)
{
    (void)state;
    const struct input two[] = {{7, "seven", 5}, {9, "nine", 4}}, other = {8, "eight", 5};
    const size_t record = sizeof(struct ctl_record);
    struct live *lv = open_arm((struct instance_opts){.fuzzer = "aflpp"});
    assert_int_equal(lv->in.ops->deliver(&lv->in, 3, two, 2, NULL), 0);
    assert_int_equal(lv->in.ops->deliver(&lv->in, 3, &other, 1, NULL), 0);
    assert_int_equal(ctl_get64(&lv->page->gen), 3);
    assert_int_equal(lv->offered, 2);
    char *path = fs_join(home, "i/inbox/3"), *known = fs_join(home, "i/known");
    struct stat st;
    assert_true(stat(known, &st) == 0 && (st.st_mode & 0711) == 0600 && st.st_size == 2 * 8);
    free(known);
    struct buf b = BUF_INIT(4096);
    struct ctl_record r;
    assert_int_equal(fs_read(path, &b, NULL), 0);
    assert_int_equal(b.len, 2 * record + 9);
    memcpy(&r, b.p, record);
    assert_true(r.id == 7 && r.size == 5 && memcmp(b.p + record, "seven", 5) == 0);
    memcpy(&r, b.p + record + 5, record);
    assert_true(r.id == 9 && r.size == 4 && memcmp(b.p + 2 * record + 5, "nine", 4) == 0);
    buf_free(&b);
    free(path);
    lv->in.ops->free(&lv->in);
}

/* Half of what a path may have: afl-fuzz needs the rest. */
static void a_path_may_be_so_long(void **state)
{
    (void)state;
    char path[PATH_MAX];
    memset(path, 'x', sizeof path);
    path[0] = '/';
    path[PATH_MAX / 2] = 0;
    assert_int_equal(fuzzer_check_path(path, NULL), 0);
    path[PATH_MAX / 2] = 'x';
    path[PATH_MAX / 2 + 1] = 0;
    assert_true(fuzzer_check_path(path, NULL) < 0);
    assert_true(fuzzer_check_path("/a\nb", NULL) < 0);
    assert_int_equal(fuzzer_check_path("/a b", NULL), 0);
}

static struct live *killed(void)
{
    struct live *lv = open_arm((struct instance_opts){.fuzzer = "aflpp"});
    ctl_set64(&lv->page->execs, 100);
    put("i/out/default/fuzzer_stats", "");
    return lv;
}

/* afl-fuzz counts its queue: no number may be missing, and no file be empty. */
static void a_queue_is_mended(void **state)
{
    (void)state;
    struct live *lv = killed();
    put("i/out/default/queue/id:000000,time:0", "a");
    put("i/out/default/queue/id:000001,time:1", "");
    put("i/out/default/queue/id:000004,time:4", "d");
    put("i/out/default/queue/id:000005,time:5", "");
    put("i/out/default/queue/id:000006,time:6", "");
    command(lv, true);
    says("-i - -o out ");
    assert_string_equal(content("i/out/default/queue/id:000001,time:1"), "0");
    assert_true(there("i/out/default/queue/id:000002,time:0,execs:0,orig:hole"));
    assert_true(there("i/out/default/queue/id:000003,time:0,execs:0,orig:hole"));
    assert_false(there("i/out/default/queue/id:000000,time:0,execs:0,orig:hole"));
    assert_false(there("i/out/default/queue/id:000001,time:0,execs:0,orig:hole"));
    assert_false(there("i/out/default/queue/id:000004,time:0,execs:0,orig:hole"));
    assert_string_equal(content("i/out/default/queue/id:000004,time:4"), "d");
    assert_false(there("i/out/default/queue/id:000005,time:5"));
    assert_false(there("i/out/default/queue/id:000006,time:6"));
    lv->in.ops->free(&lv->in);
}

/* A queue of twelve that is whole stays as it is. */
static void a_whole_queue_is_left_alone(void **state)
{
    (void)state;
    struct live *lv = killed();
    struct strv names = {0};
    char name[64], *queue = fs_join(home, "i/out/default/queue");
    for (int i = 0; i < 12; i++) {
        snprintf(name, sizeof name, "i/out/default/queue/id:%06d,time:%d", i, i);
        put(name, "x");
    }
    put("i/out/default/queue/other", "");
    command(lv, true);
    assert_int_equal(fs_list(queue, &names, NULL), 0);
    assert_int_equal(names.n, 12 + 1);
    assert_string_equal(content("i/out/default/queue/id:000011,time:11"), "x");
    strv_free(&names);
    free(queue);
    lv->in.ops->free(&lv->in);
}

/* Killed while it removed _resume: queue is complete but for what was not linked yet. */
static void what_it_was_removing_goes_back(void **state)
{
    (void)state;
    struct live *lv = killed();
    put("i/out/default/queue/id:000001,time:1", "a");
    put("i/out/default/_resume/id:000000,time:0", "first");
    put("i/out/default/_resume/id:000001,time:1", "other");
    put("i/out/default/_resume/id:000002,time:2", "b");
    command(lv, true);
    assert_false(there("i/out/default/_resume"));
    assert_string_equal(content("i/out/default/queue/id:000000,time:0"), "first");
    assert_string_equal(content("i/out/default/queue/id:000001,time:1"), "a");
    assert_string_equal(content("i/out/default/queue/id:000002,time:2"), "b");
    lv->in.ops->free(&lv->in);
}

/* Killed before that: _resume is what it will read. */
static void what_it_reads_is_mended(void **state)
{
    (void)state;
    struct live *lv = killed();
    put("i/out/default/_resume/.state/deterministic_done/x", "");
    put("i/out/default/_resume/id:000001,time:1", "b");
    put("i/out/default/crashes/id:000000,sig:06", "c");
    put("i/out/default/crashes.0/id:000000,sig:06", "older");
    command(lv, true);
    assert_true(there("i/out/default/_resume/id:000000,time:0,execs:0,orig:hole"));
    assert_false(there("i/out/default/crashes"));
    assert_string_equal(content("i/out/default/crashes.1/id:000000,sig:06"), "c");
    lv->in.ops->free(&lv->in);
}

/* It saved an import and was killed before it wrote that down. */
static void the_import_in_flight_is_written_down(void **state)
{
    (void)state;
    struct live *lv = killed();
    put("i/out/default/queue/id:000000,time:0,orig:s1", "a");
    put("i/out/default/queue/id:000001,time:1", "b");
    ctl_set64(&lv->page->inflight, 42);
    command(lv, true); /* the first */
    char *path = fs_join(home, "i/export");
    struct stat st;
    assert_string_equal(content("i/export"), "\n41 id:000001,time:1\n");
    assert_true(stat(path, &st) == 0 && (st.st_mode & 0711) == 0600);
    free(path);
    put("i/export", "12 id:0000");
    ctl_set64(&lv->page->inflight, 43);
    command(lv, true);
    assert_string_equal(content("i/export"), "12 id:0000\n42 id:000001,time:1\n");
    assert_int_equal(ctl_get64(&lv->page->inflight), 0);
    ctl_set64(&lv->page->inflight, 44);
    command(lv, true); /* that one is listed */
    assert_string_equal(content("i/export"), "12 id:0000\n42 id:000001,time:1\n");
    put("i/out/default/queue/id:000002,time:0,orig:s2", "c");
    ctl_set64(&lv->page->inflight, 45);
    command(lv, true); /* one of the start */
    assert_string_equal(content("i/export"), "12 id:0000\n42 id:000001,time:1\n");
    assert_int_equal(ctl_get64(&lv->page->inflight), 0);
    lv->in.ops->free(&lv->in);
}

static void without_a_queue_it_starts_anew(void **state)
{
    (void)state;
    struct live *lv = open_arm((struct instance_opts){.fuzzer = "aflpp"});
    command(lv, true);
    says("-i in -o out ");
    struct strv names = {0};
    char *in = fs_join(home, "i/in");
    assert_int_equal(fs_list(in, &names, NULL), 0);
    assert_int_equal(names.n, 1);
    char *only = fs_join(in, names.v[0]);
    struct stat st;
    assert_int_equal(stat(only, &st), 0);
    assert_int_equal(st.st_size, 1);
    free(only);
    strv_free(&names);
    free(in);
    lv->in.ops->free(&lv->in);
}

int main(void)
{
    log_set_level(LOG_NONE);
    const struct CMUnitTest tests[] = {
        ARM_TEST(the_start_corpus),
        ARM_TEST(inputs_are_handed_over),
        ARM_TEST(a_path_may_be_so_long),
        ARM_TEST(a_queue_is_mended),
        ARM_TEST(a_whole_queue_is_left_alone),
        ARM_TEST(what_it_was_removing_goes_back),
        ARM_TEST(what_it_reads_is_mended),
        ARM_TEST(the_import_in_flight_is_written_down),
        ARM_TEST(without_a_queue_it_starts_anew),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
