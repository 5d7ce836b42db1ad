/* target: the compiler wrapper's rules, the manifest, the source tree's digest. */
#include "base/fs.h"
#include "base/hash.h"
#include "target/family.h"
#include "target/manifest.h"
#include "target/source.h"
#include "target/wrapper.h"
#include "temp_dir.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static void put(const char *name, const char *text)
{
    char *path = fs_join(temp_dir, name);
    assert_int_equal(fs_write_quick(path, text, strlen(text), NULL), 0);
    free(path);
}

/* A kit made by hand: no compiler or engine is needed to test the rules. */
static void make_kit(struct family_kit *k, enum family f)
{
    *k = (struct family_kit){
        .family = f, .cc = str_fmt("cc"), .cxx = str_fmt("c++"), .engine = str_fmt("/e/engine.a")};
    strv_add(&k->compile, "-COMPILE");
    strv_add(&k->link, "-LINK");
    strv_add(&k->link, "-Wl,LINK");
    strv_add(&k->with_engine, "-ENGINE");
    strv_add(&k->without_engine, "-ALONE");
}

/* The line that comes out for one that goes in, words separated by blanks. */
static char *rewrite(enum family f, const char *line)
{
    struct family_kit k;
    struct strv in = {0}, out = {0};
    struct buf b = BUF_INIT(1 << 16);
    make_kit(&k, f);
    strv_split(&in, line, ' ');
    strv_add(&in, ""); /* makes in.v an array even when empty */
    free(in.v[--in.n]);
    in.v[in.n] = NULL;
    struct wrapper_job job = {0};
    assert_int_equal(wrapper_rewrite(&k, (const char *const *)in.v, false, &job, &out, NULL), 0);
    for (size_t i = 0; i < out.n; i++)
        buf_printf(&b, "%s%s", i ? " " : "", out.v[i]);
    strv_free(&in);
    strv_free(&out);
    family_kit_free(&k);
    return buf_take(&b);
}

#define WITH_ENGINE "-LINK -Wl,LINK -xnone -Wl,-u,LLVMFuzzerTestOneInput -ENGINE"

static void wrapper_lines(void **state)
{
    (void)state;
    static const struct {
        enum family f;
        const char *in, *out;
    } cases[] = {
        {FAMILY_PLAIN, "-O2 -c x.c -o x.o", "cc -O2 -c x.c -o x.o -COMPILE"},
        {FAMILY_PLAIN, "x.o -o x", "cc x.o -o x -COMPILE -LINK -Wl,LINK -xnone -ALONE"},
        {FAMILY_PLAIN, "x.o /e/engine.a l.a -o x", "cc x.o l.a -o x -COMPILE " WITH_ENGINE},
        {FAMILY_AFL, "x.o -lFuzzingEngine", "cc x.o -COMPILE " WITH_ENGINE},
        {FAMILY_NEUTRAL, "-fsanitize=fuzzer x.c", "cc x.c -COMPILE " WITH_ENGINE},
        {FAMILY_NEUTRAL, "-fsanitize=address,fuzzer x.c", "cc x.c -COMPILE " WITH_ENGINE},
        {FAMILY_NEUTRAL, "-fsanitize=address -fsanitize-recover=all -c x.c", "cc -c x.c -COMPILE"},
        {FAMILY_ASAN, "-fsanitize=undefined,fuzzer x.c",
         "cc -fsanitize=undefined x.c -COMPILE " WITH_ENGINE},
        {FAMILY_ASAN, "-fsanitize=memory -static x.c",
         "cc x.c -COMPILE -LINK -Wl,LINK -xnone -ALONE"},
        {FAMILY_ASAN, "-O3 -O2 -c x.c", "cc -O1 -O1 -c x.c -COMPILE"},
        {FAMILY_ASAN, "-O0 -Os -c -O2", "cc -O0 -Os -c -O1 -COMPILE"},
        {FAMILY_ASAN, "-c x.c -D -O2", "cc -c x.c -D -O2 -COMPILE"},
        {FAMILY_LAF, "-O2 -c x.c", "cc -O2 -c x.c -COMPILE"},
        {FAMILY_AFL, "-static-pie -c x.c", "cc -static -c x.c -COMPILE"},
        {FAMILY_LAF, "-static-pie x.o", "cc -static x.o -COMPILE -LINK -Wl,LINK -xnone -ALONE"},
        {FAMILY_NEUTRAL, "-static-pie x.o",
         "cc -static-pie x.o -COMPILE -LINK -Wl,LINK -xnone -ALONE"},
        {FAMILY_LAF, "-fsanitize=fuzzer-no-link -fsanitize-coverage=trace-pc-guard -c x.c",
         "cc -c x.c -COMPILE"},
        {FAMILY_HFUZZ, "-shared x.o -Wl,-z,defs",
         "cc -shared x.o -Wl,-z,defs -COMPILE -Wl,-z,undefs"},
        {FAMILY_PLAIN, "-shared x.o", "cc -shared x.o -COMPILE"},
        {FAMILY_HFUZZ, "-r x.o -o y.o", "cc -r x.o -o y.o -COMPILE"},
        {FAMILY_HFUZZ, "-E -dM x.c", "cc -E -dM x.c -COMPILE"},
        {FAMILY_NEUTRAL, "--version", "cc --version -COMPILE -LINK"},
        {FAMILY_NEUTRAL, "-Wl,--version", "cc -Wl,--version -COMPILE -LINK -Wl,LINK"},
        {FAMILY_NEUTRAL, "-o out -I inc", "cc -o out -I inc -COMPILE -LINK"},
        {FAMILY_NEUTRAL, "-x c -", "cc -x c - -COMPILE -LINK -Wl,LINK -xnone -ALONE"},
        {FAMILY_AFL, "-x c++-header a -o a.pch", "cc -x c++-header a -o a.pch -c -COMPILE"},
        {FAMILY_NEUTRAL, "-xc-header a -o a.pch", "cc -xc-header a -o a.pch -c -COMPILE"},
        {FAMILY_HFUZZ, "a.hpp -o a.hpp.gch", "cc a.hpp -o a.hpp.gch -c -COMPILE"},
        {FAMILY_AFL, "-E a.h", "cc -E a.h -COMPILE"},
        {FAMILY_AFL, "--include a.h x.o -o x",
         "cc --include a.h x.o -o x -COMPILE -LINK -Wl,LINK -xnone -ALONE"},
        {FAMILY_PLAIN, "-fsanitize=fuzzer -c x.c", "cc -c x.c -COMPILE"},
        {FAMILY_PLAIN, "", "cc -COMPILE -LINK"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *out = rewrite(cases[i].f, cases[i].in);
        assert_string_equal(out, cases[i].out);
        free(out);
    }
}

static void response_files_are_read(void **state)
{
    (void)state;
    put("rsp", "-c \"a b.c\" -DX=\\\"y\\\"\n-fsanitize-coverage=edge 'q'");
    char *line = str_fmt("@%s/rsp -O2", temp_dir), *out = rewrite(FAMILY_AFL, line);
    assert_string_equal(out, "cc -c a b.c -DX=\"y\" q -O2 -COMPILE");
    free(out);
    free(line);
    out = rewrite(FAMILY_AFL, "-c @absent.c");
    assert_string_equal(out, "cc -c @absent.c -COMPILE");
    free(out);
}

static void defaults_yield_to_the_user(void **state)
{
    (void)state;
    struct family_kit k;
    struct strv out = {0};
    const char *argv[] = {"-O0", "-c", "x.c", NULL};
    struct wrapper_job job = {0};
    make_kit(&k, FAMILY_AFL);
    strv_add(&k.first, "-O3");
    assert_int_equal(wrapper_rewrite(&k, argv, false, &job, &out, NULL), 0);
    assert_string_equal(out.v[1], "-O3");
    assert_string_equal(out.v[2], "-O0"); /* the last one counts */
    strv_free(&out);
    family_kit_free(&k);
}

static void wrapper_maps_the_copy(void **state)
{
    (void)state;
    struct family_kit k;
    struct strv out = {0};
    const char *argv[] = {"-c", "x.cc", NULL};
    struct wrapper_job job = {.from = "/copy", .to = "/orig"};
    make_kit(&k, FAMILY_PLAIN);
    assert_int_equal(wrapper_rewrite(&k, argv, true, &job, &out, NULL), 0);
    assert_string_equal(out.v[0], "c++");
    assert_true(strv_has(&out, "-ffile-prefix-map=/copy=/orig"));
    strv_free(&out);
    family_kit_free(&k);
}

static void ccache_only_compiles(void **state)
{
    (void)state;
    static const char *const lines[][4] = {{"-c", "x.c", NULL}, {"x.o", NULL}};
    struct family_kit k;
    struct wrapper_job job = {.ccache = "/bin/ccache"};
    make_kit(&k, FAMILY_LAF);
    for (size_t i = 0; i < 2; i++) {
        struct strv out = {0};
        assert_int_equal(wrapper_rewrite(&k, lines[i], false, &job, &out, NULL), 0);
        assert_string_equal(out.v[0], i == 0 ? "/bin/ccache" : "cc");
        assert_string_equal(out.v[1], i == 0 ? "cc" : "x.o");
        strv_free(&out);
    }
    family_kit_free(&k);
}

static void family_lists(void **state)
{
    (void)state;
    bool on[FAMILY_END];
    struct err e = {0};
    assert_int_equal(family_parse_list("afl,plain", on, &e), 0);
    assert_true(on[FAMILY_AFL] && on[FAMILY_PLAIN] && !on[FAMILY_LAF] && !on[FAMILY_NONE]);
    assert_int_equal(family_parse_list("all", on, &e), 0);
    assert_true(on[FAMILY_LAF] && !on[FAMILY_NONE]);
    assert_true(family_parse_list("afl,qemu", on, &e) < 0);
    assert_int_equal(e.exit, ERR_EXIT_USAGE);
    assert_true(family_parse_list("", on, &e) < 0);
    for (int f = FAMILY_NONE + 1; f < FAMILY_END; f++)
        assert_int_equal(family_of(family_name((enum family)f)), f);
    assert_int_equal(family_of("none"), FAMILY_NONE);
}

/* Each once; what is not in the list would never be built. */
static void every_family_has_its_turn(void **state)
{
    (void)state;
    bool seen[FAMILY_END] = {0};
    for (int i = 0; i < FAMILY_END - 1; i++) {
        assert_in_range(family_by_cost[i], FAMILY_NONE + 1, FAMILY_END - 1);
        assert_false(seen[family_by_cost[i]]);
        seen[family_by_cost[i]] = true;
    }
}

static struct manifest sample(const char *target, enum target_kind kind)
{
    struct manifest m = {.dir = str_fmt("%s", temp_dir),
                         .target = str_fmt("%s", target),
                         .kind = kind,
                         .edges = 12,
                         .functions = 3,
                         .table = str_fmt("%s/neutral/t.edges", temp_dir),
                         .args = kind == TARGET_FILE ? str_fmt("-a b\n@@") : NULL};
    m.family[FAMILY_AFL] =
        (struct manifest_family){.ok = true,
                                 .binary = str_fmt("%s/afl/%s", temp_dir, target),
                                 .build_id = str_fmt("ab"),
                                 .compiler = str_fmt("c"),
                                 .flags = str_fmt("-f"),
                                 .seconds = 1.5,
                                 .bytes = 7,
                                 .map_size = 99};
    return m;
}

static void manifest_round_trip(void **state)
{
    (void)state;
    struct err e = {0};
    struct manifest a = sample("one", TARGET_FILE), m;
    assert_int_equal(manifest_save_all(&a, 1, NULL, &e), 0);
    assert_int_equal(manifest_load(temp_dir, NULL, &m, &e), 0);
    assert_string_equal(m.target, "one");
    assert_int_equal(m.kind, TARGET_FILE);
    assert_string_equal(m.args, "-a b\n@@");
    assert_string_equal(m.table, a.table);
    assert_string_equal(m.family[FAMILY_AFL].binary, a.family[FAMILY_AFL].binary);
    assert_int_equal(m.family[FAMILY_AFL].map_size, 99);
    assert_int_equal(m.edges, 12);
    assert_null(m.dict);
    assert_false(m.family[FAMILY_LAF].ok);
    manifest_free(&m);
    manifest_free(&a);
}

static void arguments_fit_the_target(void **state)
{
    (void)state;
    struct err e = {0};
    static const char *const with[] = {"-x", "--in=@@", NULL}, *const without[] = {"-x", NULL},
                             *const none[] = {NULL};
    struct manifest file = sample("one", TARGET_FILE), input = sample("two", TARGET_STDIN),
                    function = sample("three", TARGET_LIBFUZZER);
    assert_int_equal(manifest_check_args(&file, with, &e), 0);
    assert_int_equal(manifest_check_args(&input, with, &e), 0);
    assert_int_equal(manifest_check_args(&input, without, &e), 0);
    assert_int_equal(manifest_check_args(&function, none, &e), 0);
    assert_int_equal(manifest_check_args(&file, NULL, &e), 0);
    assert_true(manifest_check_args(&file, without, &e) < 0);
    assert_non_null(strstr(e.msg, "one reads a file: write @@"));
    assert_true(manifest_check_args(&function, with, &e) < 0);
    assert_int_equal(e.exit, ERR_EXIT_USAGE);
    assert_non_null(strstr(e.msg, "three is a function"));
    manifest_free(&file);
    manifest_free(&input);
    manifest_free(&function);
}

static void manifest_of_several(void **state)
{
    (void)state;
    struct err e = {0};
    struct manifest two[2] = {sample("one", TARGET_LIBFUZZER), sample("two", TARGET_STDIN)}, m;
    assert_int_equal(manifest_save_all(two, 2, NULL, &e), 0);
    assert_true(manifest_load(temp_dir, NULL, &m, &e) < 0);
    assert_int_equal(e.exit, ERR_EXIT_USAGE);
    assert_non_null(strstr(e.msg, "one, two"));
    assert_int_equal(manifest_load(temp_dir, "two", &m, &e), 0);
    assert_int_equal(m.kind, TARGET_STDIN);
    manifest_free(&m);
    assert_true(manifest_load(temp_dir, "three", &m, &e) < 0);
    assert_int_equal(manifest_save_all(two, 2, "two", &e), 0);
    assert_int_equal(manifest_load(temp_dir, NULL, &m, &e), 0);
    assert_string_equal(m.target, "two");
    manifest_free(&m);
    assert_int_equal(manifest_load(temp_dir, "one", &m, &e), 0); /* the choice hides nothing */
    assert_int_equal(m.kind, TARGET_LIBFUZZER);
    manifest_free(&m);
    two[0].edges = 77; /* a new build takes the place of what was there */
    assert_int_equal(manifest_save_all(two, 1, NULL, &e), 0);
    assert_int_equal(manifest_load(temp_dir, NULL, &m, &e), 0);
    assert_int_equal(m.edges, 77);
    manifest_free(&m);
    assert_true(manifest_load(temp_dir, "two", &m, &e) < 0);
    manifest_free(&two[0]);
    manifest_free(&two[1]);
}

static void bad_manifests_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"",
                                      "{",
                                      "[]",
                                      "{\"schema\": 1}",
                                      "{\"schema\": 2, \"targets\": []}",
                                      "{\"schema\": 1, \"targets\": []}",
                                      "{\"schema\": 1, \"targets\": [{}], \"chosen\": true}",
                                      ("{\"schema\": 1, \"target\": \"x\", \"chosen\": true, "
                                       "\"targets\": [{\"target\": \"x\", \"kind\": \"tty\"}]}")};
    struct manifest m;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct err e = {0};
        put("carol-build.json", bad[i]);
        assert_true(manifest_load(temp_dir, NULL, &m, &e) < 0);
        assert_int_equal(e.exit, ERR_EXIT_USAGE);
    }
    struct err e = {0};
    assert_true(manifest_load("/nonexistent", NULL, &m, &e) < 0);
    assert_non_null(strstr(e.msg, "carol build -o"));
}

static void digest_tree(const char *sub, const char *skip, char hex[65])
{
    struct hasher *h = hash_begin();
    struct digest d;
    char *path = fs_join(temp_dir, sub);
    assert_int_equal(source_digest(path, skip, h, NULL), 0);
    hash_end(h, &d);
    digest_hex(&d, hex);
    free(path);
}

static void source_digest_sees_what_counts(void **state)
{
    (void)state;
    char a[65], b[65], *src = fs_join(temp_dir, "src"), *out = fs_join(temp_dir, "src/out"),
                       *git = NULL;
    char *file = fs_join(temp_dir, "src/f");
    assert_int_equal(fs_mkdirs(out, NULL), 0);
    put("src/f", "one");
    digest_tree("src", out, a);
    put("src/out/x", "made here");
    git = fs_join(temp_dir, "src/.git");
    assert_int_equal(fs_mkdirs(git, NULL), 0);
    put("src/.git/index", "1");
    digest_tree("src", out, b);
    assert_string_equal(a, b); /* neither the build directory nor .git */
    assert_int_equal(chmod(file, 0755), 0);
    digest_tree("src", out, b);
    assert_string_not_equal(a, b);
    assert_int_equal(chmod(file, 0644), 0);
    put("src/f", "two");
    digest_tree("src", out, b);
    assert_string_not_equal(a, b);
    put("src/f", "one");
    put("src/g", "");
    digest_tree("src", out, b);
    assert_string_not_equal(a, b);
    char *copy = fs_join(temp_dir, "copy"), *inner = fs_join(temp_dir, "copy/out");
    assert_int_equal(source_copy(src, copy, out, NULL), 0);
    assert_false(fs_exists(inner));
    digest_tree("copy", NULL, a);
    assert_string_equal(a, b);
    free(inner);
    free(copy);
    free(git);
    free(file);
    free(out);
    free(src);
}

static nlink_t links_of(const char *sub)
{
    struct stat st = {0};
    char *path = fs_join(temp_dir, sub);
    assert_int_equal(lstat(path, &st), 0);
    free(path);
    return st.st_nlink;
}

/* What git never changes is not written again for every family; everything else is, or a build could change
 * the user's files. */
static void a_copy_shares_only_gits_objects(void **state)
{
    (void)state;
    static const char *const dirs[] = {"tree/.git/objects/ab", "tree/.git/modules/m/objects/cd",
                                       "tree/.git/logs/refs/heads/objects", "tree/objects",
                                       "tree/out"};
    for (size_t i = 0; i < sizeof dirs / sizeof *dirs; i++) {
        char *path = fs_join(temp_dir, dirs[i]);
        assert_int_equal(fs_mkdirs(path, NULL), 0);
        free(path);
    }
    put("tree/.git/objects/ab/1", "blob");
    put("tree/.git/modules/m/objects/cd/2", "blob");
    put("tree/.git/config", "mine");
    put("tree/.git/logs/refs/heads/objects/x", "grows");
    put("tree/objects/file.c", "int x;");
    put("tree/out/made", "by a build");
    char *tree = fs_join(temp_dir, "tree"), *again = fs_join(temp_dir, "again"),
         *out = fs_join(temp_dir, "tree/out"), *made = fs_join(temp_dir, "again/out/made");
    struct source_size size = {0};
    assert_int_equal(source_measure(tree, out, &size, NULL), 0);
    assert_int_equal(size.files, 5);
    assert_int_equal(size.bytes, 4 + 4 + 4 + 5 + 6);
    assert_int_equal(source_copy(tree, again, out, NULL), 0);
    assert_int_equal(links_of("again/.git/objects/ab/1"), 2);
    assert_int_equal(links_of("again/.git/modules/m/objects/cd/2"), 2);
    assert_int_equal(links_of("again/.git/config"), 1);
    assert_int_equal(links_of("again/.git/logs/refs/heads/objects/x"), 1);
    assert_int_equal(links_of("again/objects/file.c"), 1);
    assert_false(fs_exists(made));
    free(tree);
    free(again);
    free(out);
    free(made);
}

static void deps_are_read(void **state)
{
    (void)state;
    struct strv files = {0};
    char *path = fs_join(temp_dir, "x.d");
    put("x.d", "/w/x.o: a.c \\\n  dir\\ one/b.h \\\n  a$$b.h a.c\n");
    assert_int_equal(source_read_deps(path, &files, NULL), 0);
    assert_int_equal(files.n, 3);
    assert_string_equal(files.v[0], "a.c");
    assert_string_equal(files.v[1], "dir one/b.h");
    assert_string_equal(files.v[2], "a$b.h");
    strv_free(&files);
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrapper_lines),
        cmocka_unit_test(response_files_are_read),
        cmocka_unit_test(defaults_yield_to_the_user),
        cmocka_unit_test(wrapper_maps_the_copy),
        cmocka_unit_test(ccache_only_compiles),
        cmocka_unit_test(family_lists),
        cmocka_unit_test(every_family_has_its_turn),
        cmocka_unit_test(manifest_round_trip),
        cmocka_unit_test(arguments_fit_the_target),
        cmocka_unit_test(manifest_of_several),
        cmocka_unit_test(bad_manifests_are_refused),
        cmocka_unit_test(source_digest_sees_what_counts),
        cmocka_unit_test(a_copy_shares_only_gits_objects),
        cmocka_unit_test(deps_are_read),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, temp_dir_make, temp_dir_remove);
}
