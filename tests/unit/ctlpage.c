/* ctlpage: the control page between supervisor and fuzzer, without anybody who reads it: its words through turns, where
 * there is no room for it, older ones. */
#include "fuzzer/ctlpage.h"

#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "temp_dir.h"

static void a_page_through_its_turns(void **state)
{
    (void)state;
    struct ctl_page *p, *again;
    char *path = fs_join(temp_dir, "page");
    struct stat st;
    assert_int_equal(ctlpage_map(path, &p, NULL), 0);
    assert_true(stat(path, &st) == 0 && (st.st_mode & 0711) == 0600);
    assert_true(p->magic == CTL_MAGIC && p->version == CTL_VERSION);
    assert_true(ctlpage_parked(p));
    p->cycles = 40;
    ctlpage_go(p, 5);
    assert_int_equal(p->quota, 45);
    assert_false(ctlpage_parked(p));
    ctlpage_was_stopped(p, 7);
    assert_int_equal(p->stopped_ns, 7);
    assert_int_not_equal(p->stop, p->turn);
    ctlpage_stop(p);
    assert_int_equal(p->stop, p->turn);
    p->done = p->turn;
    assert_true(ctlpage_parked(p));
    ctlpage_was_stopped(p, 7); /* the library counts that pause itself */
    assert_int_equal(p->stopped_ns, 7);
    ctlpage_go(p, 0); /* no quota */
    assert_int_equal(p->quota, 0);
    assert_int_not_equal(p->stop, p->turn);
    ctlpage_quit(p);
    assert_int_equal(p->quit, 1);
    p->attached = p->ready = p->started = 1, p->pid = 99;
    assert_int_equal(ctlpage_map(path, &again, NULL), 0); /* a new supervisor */
    assert_true(again->cycles == 40 && again->attached);
    ctlpage_reset(again);
    assert_false(p->attached || p->ready || p->started || p->quit || p->pid);
    assert_true(ctlpage_parked(p) && p->cycles == 40);
    ctlpage_unmap(again);
    p->magic = 1; /* of somebody else */
    assert_true(ctlpage_map(path, &again, NULL) < 0);
    ctlpage_unmap(p);
    free(path);
}

/* Where a hole of a file is written to through a mapping, a full disk would be the end of us. */
static void on_a_full_disk_there_is_no_page(void **state)
{
    (void)state;
    char path[64], filler[64], block[4096] = "";
    struct ctl_page *p = NULL;
    struct err e = {0};
    if (mount("none", temp_dir, "tmpfs", 0, "size=64k") < 0)
        skip(); /* needs root */
    snprintf(path, sizeof path, "%s/page", temp_dir);
    snprintf(filler, sizeof filler, "%s/filler", temp_dir);
    int fd = open(filler, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    while (write(fd, block, sizeof block) > 0)
        ;
    close(fd);
    int full = ctlpage_map(path, &p, &e);
    unlink(filler);
    int again = ctlpage_map(path, &p, &e);
    ctlpage_unmap(p);
    umount2(temp_dir, MNT_DETACH);
    assert_int_equal(full, -ENOSPC);
    assert_int_equal(again, 0);
}

static void pages_of_the_version_before_are_taken_over(void **state)
{
    (void)state;
    struct ctl_page old = {.magic = CTL_MAGIC, .version = 1, .cycles = 7}, *p;
    char *path = fs_join(temp_dir, "page");
    for (uint32_t version = 1; version <= CTL_VERSION + 1; version++) {
        char bytes[CTL_SIZE] = {0};
        old.version = version;
        memcpy(bytes, &old, sizeof old);
        assert_int_equal(fs_write_quick(path, bytes, sizeof bytes, NULL), 0);
        int rc = ctlpage_map(path, &p, NULL);
        if (version > CTL_VERSION) {
            assert_true(rc < 0);
            continue;
        }
        assert_int_equal(rc, 0);
        assert_int_equal(p->version, CTL_VERSION);
        assert_true(p->cycles == 7 && p->cycles_ns == 0);
        ctlpage_unmap(p);
    }
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_page_through_its_turns, temp_dir_make, temp_dir_remove),
        cmocka_unit_test_setup_teardown(on_a_full_disk_there_is_no_page, temp_dir_make,
                                        temp_dir_remove),
        cmocka_unit_test_setup_teardown(pages_of_the_version_before_are_taken_over, temp_dir_make,
                                        temp_dir_remove),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
