/* bench_rival: how each fuzzer outside of Carol is started, on one core and on two, and what it kept. */
#include "base/buf.h"
#include "base/fs.h"
#include "bench/rival.h"
#include "temp_dir.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void test_kept(void **state)
{
    (void)state;
    static const char *const files[] = {
        "out/f0/queue/id:000001,src:000000,time:1500,execs:9,op:havoc",
        "out/f0/queue/id:000000,time:0,execs:0,orig:x",
        "out/f1/queue/id:000000,time:700,execs:0,orig:x",
        "out/f1/crashes/id:000000,time:1,execs:0,sig:11"};
    struct kept *list;
    size_t n;
    int64_t sum = 0;
    for (size_t i = 0; i < 4; i++) {
        char *dir =
            str_fmt("%s/%.*s", temp_dir, (int)(strrchr(files[i], '/') - files[i]), files[i]);
        assert_int_equal(fs_mkdirs(dir, NULL), 0);
        free(dir);
        char *path = fs_join(temp_dir, files[i]);
        assert_int_equal(fs_write_quick(path, "x", 1, NULL), 0);
        free(path);
    }
    assert_int_equal(rival_kept(rival_find("aflpp"), temp_dir, 0, &list, &n, NULL), 0);
    assert_int_equal(n, 3);
    for (size_t i = 0; i < n; i++)
        sum += list[i].at_ns;
    assert_int_equal(sum, INT64_C(2200000000));
    kept_free(list, n);
}

/* The words of a rival's command and its environment, a space behind each. */
static char *words_of(const char *rival, const struct rival_start *s, int i)
{
    struct strv argv = {0}, env = {0};
    struct buf b = BUF_INIT(1 << 16);
    rival_find(rival)->command(s, i, &argv, &env);
    const char *slash = strrchr(argv.v[0], '/');
    buf_printf(&b, "%s ", slash ? slash + 1 : argv.v[0]);
    for (size_t k = 1; k < argv.n; k++)
        buf_printf(&b, "%s ", argv.v[k]);
    for (size_t k = 0; k < env.n; k++)
        buf_printf(&b, "%s ", env.v[k]);
    strv_free(&argv);
    strv_free(&env);
    return buf_take(&b);
}

static void test_rivals(void **state)
{
    (void)state;
    struct manifest m = {.kind = TARGET_LIBFUZZER};
    char afl_build[] = "t.afl", cmplog_build[] = "t.cmp", hfuzz_build[] = "t.hf",
         libfuzzer_build[] = "t.lf";
    m.family[FAMILY_AFL] =
        (struct manifest_family){.ok = true, .binary = afl_build, .map_size = 100};
    m.family[FAMILY_CMPLOG] =
        (struct manifest_family){.ok = true, .binary = cmplog_build, .map_size = 70000};
    m.family[FAMILY_HFUZZ] = (struct manifest_family){.ok = true, .binary = hfuzz_build};
    m.family[FAMILY_LIBFUZZER] = (struct manifest_family){.ok = true, .binary = libfuzzer_build};
    const struct rival_start one = {.target = &m,
                                    .seeds = "in",
                                    .cores = 1,
                                    .timeout_ms = 1500,
                                    .memory_mb = 512,
                                    .seed = 7},
                             two = {.target = &m,
                                    .seeds = "in",
                                    .dict = "words",
                                    .cores = 2,
                                    .timeout_ms = 1500,
                                    .memory_mb = 512,
                                    .seed = 7};
    static const struct {
        const char *rival, *says;
        bool two;
        int i;
    } want[] = {
        {"aflpp", "afl-fuzz -i in -o out -m 512 -- t.afl AFL_NO_UI=1 ", false, 0},
        {"aflpp", "afl-fuzz -i in -o out -m 512 -x words -M f0 -- t.afl ", true, 0},
        {"aflpp", "afl-fuzz -i in -o out -m 512 -x words -S f1 -- t.afl ", true, 1},
        {"aflpp-cmplog", "afl-fuzz -i in -o out -m 512 -c t.cmp -- t.afl ", false, 0},
        {"aflpp-cmplog", "-x words -S f1 -c t.cmp -- t.afl ", true, 1},
        {"aflpp-cmplog", " AFL_MAP_SIZE=70000 ", false, 0},
        {"honggfuzz", "honggfuzz -v -n 1 -i in -o out -W tmp -t 2 --rlimit_as 512 -P -- t.hf ",
         false, 0},
        {"honggfuzz", " -n 2 -i in ", true, 0},
        {"honggfuzz", " -w words -P -- t.hf ", true, 0},
        {"libfuzzer", "t.lf -fork=1 ", false, 0},
        {"libfuzzer", " -timeout=2 -rss_limit_mb=512 -seed=7 -artifact_prefix=tmp/ out in ", false,
         0},
        {"libfuzzer", "t.lf -fork=2 ", true, 0},
        {"libfuzzer", " -dict=words out in ", true, 0},
    };
    for (size_t k = 0; k < sizeof want / sizeof *want; k++) {
        char *got = words_of(want[k].rival, want[k].two ? &two : &one, want[k].i);
        if (!strstr(got, want[k].says))
            fail_msg("%s: '%s' is not in '%s'", want[k].rival, want[k].says, got);
        free(got);
    }
    m.kind = TARGET_FILE;
    char *afl = words_of("aflpp", &one, 0), *hfuzz = words_of("honggfuzz", &one, 0);
    assert_non_null(strstr(afl, " -- t.afl @@ "));
    assert_non_null(strstr(hfuzz, " 512 -- t.hf ___FILE___ ")); /* not persistent */
    free(afl);
    free(hfuzz);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_kept, temp_dir_make, temp_dir_remove),
        cmocka_unit_test(test_rivals),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
