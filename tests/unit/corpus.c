/* corpus: seeds from an archive, whole and damaged, and from a directory. */
#include "campaign/corpus.h"
#include "base/buf.h"
#include "base/fs.h"
#include "temp_dir.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* One member of a tar archive (POSIX ustar); type '0': a file, '5': a directory. */
static void put_member(struct buf *b, const char *name, char type, const char *text)
{
    char block[512] = {0};
    size_t n = strlen(text);
    unsigned sum = 0;
    snprintf(block, 100, "%s", name);
    snprintf(block + 100, 8, "0000644");
    snprintf(block + 124, 12, "%011o", (unsigned)n);
    snprintf(block + 136, 12, "%011o", 0U);
    memset(block + 148, ' ', 8);
    block[156] = type;
    memcpy(block + 257, "ustar\00000", 8);
    for (size_t i = 0; i < sizeof block; i++)
        sum += (unsigned char)block[i];
    snprintf(block + 148, 8, "%06o", sum);
    buf_add(b, block, sizeof block);
    buf_add(b, text, n);
    memset(block, 0, sizeof block);
    buf_add(b, block, (512 - n % 512) % 512);
}

static int note(void *arg, const char *name, const void *data, size_t size, struct err *e)
{
    (void)e;
    buf_printf(arg, "%s=%.*s;", name, (int)size, (const char *)data);
    return 0;
}

static int read_seeds(const char *path, struct buf *out, struct err *e)
{
    struct corpus_sink sink = {.input = note, .arg = out};
    return corpus_read(path, &sink, e);
}

static void seeds_come_out_of_an_archive(void **state)
{
    (void)state;
    struct buf tar = BUF_INIT(1 << 20), out = BUF_INIT(1 << 20);
    struct err e = {0};
    char end[1024] = {0}, *path = fs_join(temp_dir, "seeds.tar");
    put_member(&tar, "one", '0', "first");
    put_member(&tar, "d", '5', "");
    put_member(&tar, "d/two", '0', "second");
    put_member(&tar, "empty", '0', "");
    buf_add(&tar, end, sizeof end);
    assert_int_equal(fs_write_quick(path, tar.p, tar.len, &e), 0);
    assert_int_equal(read_seeds(path, &out, &e), 0);
    assert_string_equal(out.p, "one=first;d/two=second;empty=;");
    free(path);
    buf_free(&tar);
    buf_free(&out);
}

/* One member, not compressed. */
static void seeds_come_out_of_a_zip(void **state)
{
    (void)state;
    static const char zip[] =
        "PK\3\4\24\0\0\0\0\0\0\0\x21P\xe0\xeb\x9f\xcf\10\0\0\0\10\0\0\0\7\0\0\0"
        "sub/one"
        "in a zip"
        "PK\1\2\24\3\24\0\0\0\0\0\0\0\x21P\xe0\xeb\x9f\xcf\10\0\0\0\10\0\0\0\7\0\0\0"
        "\0\0\0\0\0\0\0\0\x80\1\0\0\0\0"
        "sub/one"
        "PK\5\6\0\0\0\0\1\0\1\0\x35\0\0\0\x2d\0\0\0\0";
    struct buf out = BUF_INIT(1 << 20);
    struct err e = {0};
    char *path = fs_join(temp_dir, "seeds.zip");
    assert_int_equal(sizeof zip, 120); /* the last zero is the string's */
    assert_int_equal(fs_write_quick(path, zip, sizeof zip, &e), 0);
    if (read_seeds(path, &out, &e) < 0)
        fail_msg("%s", e.msg);
    assert_string_equal(out.p, "sub/one=in a zip;");
    free(path);
    buf_free(&out);
}

static void a_damaged_archive_is_told(void **state)
{
    (void)state;
    struct buf out = BUF_INIT(1 << 20);
    struct err e = {0};
    char *path = fs_join(temp_dir, "bad.zip");
    assert_int_equal(fs_write_quick(path, "no archive at all", 17, &e), 0);
    assert_true(read_seeds(path, &out, &e) < 0);
    assert_int_equal(e.exit, ERR_EXIT_USAGE);
    assert_non_null(strstr(e.msg, "bad.zip"));
    free(path);
    buf_free(&out);
}

/* Cut off inside a member: which archive it was, and what can be done. */
static void an_archive_cut_off_is_named(void **state)
{
    (void)state;
    struct buf tar = BUF_INIT(1 << 20), out = BUF_INIT(1 << 20);
    struct err e = {0};
    char *path = fs_join(temp_dir, "half.tar");
    put_member(&tar, "one", '0', "first");
    put_member(&tar, "two", '0', "second");
    assert_int_equal(fs_write_quick(path, tar.p, tar.len - 512, &e), 0);
    assert_true(read_seeds(path, &out, &e) < 0);
    assert_int_equal(e.exit, ERR_EXIT_USAGE);
    assert_non_null(strstr(e.msg, "half.tar"));
    assert_non_null(strstr(e.msg, "-i"));
    assert_string_equal(out.p, "one=first;"); /* half a seed is none */
    free(path);
    buf_free(&tar);
    buf_free(&out);
}

/* No member begins where one should. */
static void an_archive_may_be_damaged_between_two_members(void **state)
{
    (void)state;
    struct buf tar = BUF_INIT(1 << 20), out = BUF_INIT(1 << 20);
    struct err e = {0};
    char odd[512], end[1024] = {0}, *path = fs_join(temp_dir, "odd.tar");
    memset(odd, 'x', sizeof odd);
    put_member(&tar, "one", '0', "first");
    buf_add(&tar, odd, sizeof odd);
    buf_add(&tar, end, sizeof end);
    assert_int_equal(fs_write_quick(path, tar.p, tar.len, &e), 0);
    assert_true(read_seeds(path, &out, &e) < 0);
    assert_non_null(strstr(e.msg, "odd.tar is damaged"));
    free(path);
    buf_free(&tar);
    buf_free(&out);
}

static void a_directory_is_walked(void **state)
{
    (void)state;
    struct buf out = BUF_INIT(1 << 20);
    struct err e = {0};
    char *sub = fs_join(temp_dir, "in/deep"), *a = fs_join(temp_dir, "in/b"),
         *b = fs_join(sub, "a");
    char *top = fs_join(temp_dir, "in"), *link = fs_join(temp_dir, "in/link"),
         *gone = fs_join(temp_dir, "in/gone");
    struct strv files = {0};
    assert_int_equal(fs_mkdirs(sub, &e), 0);
    assert_int_equal(fs_write_quick(a, "B", 1, &e), 0);
    assert_int_equal(fs_write_quick(b, "A", 1, &e), 0);
    assert_int_equal(symlink("deep/a", link), 0);
    assert_int_equal(symlink("nothing", gone), 0);
    assert_int_equal(read_seeds(top, &out, &e), 0);
    assert_string_equal(out.p, "b=B;a=A;link=A;");
    assert_int_equal(fs_walk(top, &files, &e), 0);
    assert_int_equal(files.n, 3);
    assert_string_equal(files.v[0], a);
    assert_string_equal(files.v[1], b);
    assert_string_equal(files.v[2], link);
    strv_free(&files);
    free(sub), free(a), free(b), free(top), free(link), free(gone);
    buf_free(&out);
}

static void put(const char *name, const char *text)
{
    struct err e = {0};
    char *path = fs_join(temp_dir, name);
    *strrchr(path, '/') = 0;
    assert_int_equal(fs_mkdirs(path, &e), 0);
    path[strlen(path)] = '/';
    assert_int_equal(fs_write_quick(path, text, strlen(text), &e), 0);
    free(path);
}

/* What AFL leaves: only its queues are inputs, of one fuzzer or of several. */
static void queues_are_found(void **state)
{
    (void)state;
    struct buf out = BUF_INIT(1 << 20);
    struct err e = {0};
    char *all = fs_join(temp_dir, "afl"), *one = fs_join(temp_dir, "afl/a");
    put("afl/a/fuzzer_setup", "x");
    put("afl/a/queue/id:0", "A");
    put("afl/a/queue/.state/done", "no input");
    put("afl/a/crashes/id:0", "no input");
    put("afl/b/fuzzer_setup", "x");
    put("afl/b/queue/id:7", "B");
    put("afl/c/queue/notes", "of no fuzzer");
    assert_int_equal(read_seeds(all, &out, &e), 0);
    assert_string_equal(out.p, "id:0=A;id:7=B;");
    out.len = 0;
    assert_int_equal(read_seeds(one, &out, &e), 0);
    assert_string_equal(out.p, "id:0=A;");
    free(all), free(one);
    buf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(seeds_come_out_of_an_archive),
        cmocka_unit_test(seeds_come_out_of_a_zip),
        cmocka_unit_test(a_damaged_archive_is_told),
        cmocka_unit_test(an_archive_cut_off_is_named),
        cmocka_unit_test(an_archive_may_be_damaged_between_two_members),
        cmocka_unit_test(a_directory_is_walked),
        cmocka_unit_test(queues_are_found)};
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, temp_dir_make, temp_dir_remove);
}
