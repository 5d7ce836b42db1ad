/* inbox: what the supervisor writes is what the library takes, in order, each record once, over restarts. */
#include "fuzzer/inbox.h"
#include "../../runtime/ctl/ctl.h"
#include "base/fs.h"
#include "base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* The library's globals, as its constructor would set them. */
struct ctl_page *ctl_page;
char ctl_dir[4096];
static int faults;

void ctl_fault(const char *fmt, ...)
{
    (void)fmt;
    faults++;
}

static struct ctl_page *page; /* shared with the children that play the fuzzer */

static int setup(void **state)
{
    (void)state;
    snprintf(ctl_dir, sizeof ctl_dir, "/tmp/carol-inbox-XXXXXX");
    page = mmap(NULL, CTL_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ctl_page = page;
    return page == MAP_FAILED || !mkdtemp(ctl_dir) ? -1 : 0;
}

static int teardown(void **state)
{
    (void)state;
    munmap(page, CTL_SIZE);
    return fs_remove_tree(ctl_dir, NULL);
}

static void deliver(uint64_t batch, int64_t from, size_t n)
{
    struct input in[16];
    char data[16][8];
    for (size_t i = 0; i < n; i++) {
        snprintf(data[i], sizeof data[i], "seed%03d", (int)(from + (int64_t)i));
        in[i] = (struct input){.id = from + (int64_t)i, .data = data[i], .size = 7};
    }
    assert_int_equal(inbox_deliver(ctl_dir, page, batch, in, n, NULL), 0);
}

/* A fuzzer that takes up to n records and dies without a word; returns how many it took.  Each child
 * starts with the library's state of a fresh process. */
static int take_in_child(int n, int64_t first)
{
    pid_t pid = fork();
    if (pid == 0) {
        int k = 0;
        for (const struct ctl_record *r; k < n && (r = ctl_import_next()); k++) {
            char want[16];
            snprintf(want, sizeof want, "seed%03d", (int)(first + k));
            if ((int64_t)r->id != first + k || r->size != 7 || memcmp(r + 1, want, 7) != 0)
                _exit(200);
        }
        _exit(k);
    }
    int status;
    waitpid(pid, &status, 0);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static size_t files(void)
{
    struct strv names = {0};
    char *box = fs_join(ctl_dir, "inbox");
    assert_int_equal(fs_list(box, &names, NULL), 0);
    size_t n = names.n;
    strv_free(&names);
    free(box);
    return n;
}

static void records_are_taken_once_over_restarts(void **state)
{
    (void)state;
    deliver(3, 0, 5);
    deliver(9, 5, 4); /* numbers rise with gaps */
    assert_int_equal(files(), 2);
    assert_int_equal(take_in_child(2, 0), 2); /* killed in the middle of the first file */
    assert_int_equal(page->taken, 2);
    assert_int_equal(files(), 2);             /* what is left of it is still to be read */
    assert_int_equal(take_in_child(4, 2), 4); /* over the border of the files */
    assert_int_equal(take_in_child(100, 6), 3);
    assert_int_equal(take_in_child(100, 9), 0);
    assert_int_equal(page->taken, 9);
    assert_int_equal(files(), 0); /* finished files are gone */
}

static void a_batch_is_delivered_once(void **state)
{
    (void)state;
    deliver(1, 0, 3);
    assert_int_equal(take_in_child(100, 0), 3);
    deliver(1, 0, 3); /* offered again after a crash of the supervisor */
    assert_int_equal(take_in_child(100, 3), 0);
    deliver(2, 3, 1);
    assert_int_equal(take_in_child(100, 3), 1);
}

static void files_that_are_not_announced_are_not_read(void **state)
{
    (void)state;
    deliver(5, 0, 2);
    page->gen = 4; /* the supervisor died between the rename and the announcement */
    assert_int_equal(take_in_child(100, 0), 0);
    deliver(5, 0, 2);
    assert_int_equal(take_in_child(100, 0), 2);
}

/* As a target does that runs in its fuzzer's process and forgets to close files. */
static int take_without_descriptors(int64_t first)
{
    pid_t pid = fork();
    if (pid == 0) {
        int fd, highest = -1;
        setrlimit(RLIMIT_NOFILE, &(struct rlimit){64, 64});
        while ((fd = dup(0)) >= 0)
            highest = fd;
        if (ctl_import_pending() || ctl_import_next())
            _exit(201);
        close(highest);
        const struct ctl_record *r = ctl_import_next();
        _exit(r && (int64_t)r->id == first ? 1 : 0);
    }
    int status;
    waitpid(pid, &status, 0);
    return WEXITSTATUS(status);
}

static void records_wait_for_a_free_descriptor(void **state)
{
    (void)state;
    deliver(1, 0, 3);
    assert_int_equal(take_without_descriptors(0), 1);
    assert_int_equal(take_in_child(100, 1), 2);
}

static void an_empty_file_is_a_fault_and_the_next_one_is_read(void **state)
{
    (void)state;
    deliver(1, 0, 3);
    deliver(2, 3, 1);
    char *path = str_fmt("%s/inbox/1", ctl_dir);
    assert_int_equal(truncate(path, 0), 0);
    assert_int_equal(take_in_child(100, 3), 1);
    free(path);
}

static void a_cut_file_is_a_fault_and_not_a_crash(void **state)
{
    (void)state;
    deliver(1, 0, 3);
    char *path = str_fmt("%s/inbox/1", ctl_dir);
    assert_int_equal(truncate(path, 2 * (16 + 7) + 16 + 3), 0);
    faults = 0;
    int n = 0;
    while (ctl_import_next())
        n++;
    assert_int_equal(n, 2);
    assert_int_equal(faults, 1);
    ctl_import_done();
    assert_int_equal(page->inflight, 0);
    free(path);
}

static void what_was_given_is_known(void **state)
{
    (void)state;
    struct inbox_known k;
    deliver(1, 7, 3);
    assert_int_equal(inbox_known_load(ctl_dir, &k, NULL), 0);
    assert_true(inbox_known(&k, "seed008", 7));
    assert_false(inbox_known(&k, "seed006", 7));
    assert_false(inbox_known(&k, "seed008", 6));
    inbox_known_free(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(records_are_taken_once_over_restarts, setup, teardown),
        cmocka_unit_test_setup_teardown(a_batch_is_delivered_once, setup, teardown),
        cmocka_unit_test_setup_teardown(files_that_are_not_announced_are_not_read, setup, teardown),
        cmocka_unit_test_setup_teardown(what_was_given_is_known, setup, teardown),
        cmocka_unit_test_setup_teardown(records_wait_for_a_free_descriptor, setup, teardown),
        cmocka_unit_test_setup_teardown(an_empty_file_is_a_fault_and_the_next_one_is_read, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_cut_file_is_a_fault_and_not_a_crash, setup, teardown),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
