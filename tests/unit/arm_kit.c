/* arm_kit: see the header. */
#include "arm_kit.h"
#include "base/fs.h"

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

char home[64];
struct loop *loop;
struct manifest m;
char line[4096], given[4096];
static char target[] = "/target";

void put(const char *name, const char *text)
{
    char path[512], *slash;
    snprintf(path, sizeof path, "%s/%s", home, name);
    slash = strrchr(path, '/');
    *slash = 0;
    assert_int_equal(fs_mkdirs(path, NULL), 0);
    *slash = '/';
    assert_int_equal(fs_write_quick(path, text, strlen(text), NULL), 0);
}

bool there(const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", home, name);
    return access(path, F_OK) == 0;
}

const char *content(const char *name)
{
    static char text[256];
    char path[512];
    struct buf b = BUF_INIT(sizeof text - 1);
    snprintf(path, sizeof path, "%s/%s", home, name);
    assert_int_equal(fs_read(path, &b, NULL), 0);
    snprintf(text, sizeof text, "%.*s", (int)b.len, b.p ? b.p : "");
    buf_free(&b);
    return text;
}

int arm_kit_make(void **state)
{
    (void)state;
    snprintf(home, sizeof home, "/tmp/carol-unit-arms.XXXXXX");
    if (!mkdtemp(home))
        return -1;
    for (size_t i = 0; arm_table[i]; i++) {
        char name[128];
        if (arm_table[i]->library) {
            snprintf(name, sizeof name, "runtime/%s", arm_table[i]->library);
            put(name, "");
        }
        if (arm_table[i]->engine) {
            snprintf(name, sizeof name, "engines/%s", arm_table[i]->engine->program);
            put(name, "carol_next_import"); /* by which our afl-fuzz is known */
        }
        if (arm_table[i]->part) {
            snprintf(name, sizeof name, "engines/%s", arm_table[i]->part);
            put(name, "");
        }
    }
    put("carol", "");
    put("words.dict", "\"word\"\n");
    char *self = fs_join(home, "carol"), *engines = fs_join(home, "engines");
    setenv("CAROL_SELF", self, 1);
    setenv("CAROL_ENGINES", engines, 1);
    free(self);
    free(engines);
    loop = loop_new_virtual(0);
    m = (struct manifest){.kind = TARGET_LIBFUZZER, .dir = home};
    for (int i = 0; i < FAMILY_END; i++)
        m.family[i] = (struct manifest_family){.ok = true, .binary = target};
    return 0;
}

int arm_kit_drop(void **state)
{
    (void)state;
    loop_free(loop);
    return fs_remove_tree(home, NULL);
}

struct live *open_arm(struct instance_opts o)
{
    struct instance *in;
    char *dir = fs_join(home, "i");
    o.dir = dir;
    o.target = &m;
    o.timeout_ms = o.timeout_ms ? o.timeout_ms : 1500;
    assert_int_equal(fuzzer_check(&o, NULL), 0);
    assert_int_equal(fuzzer_open(&in, loop, &o, NULL), 0);
    free(dir);
    return (struct live *)in;
}

/* Words from the one with number `from` on, a space behind each. */
static void join(const struct strv *words, size_t from, char *to, size_t size)
{
    to[0] = 0;
    for (size_t i = from; i < words->n; i++)
        snprintf(to + strlen(to), size - strlen(to), "%s ", words->v[i]);
}

void command(struct live *lv, bool again)
{
    struct strv argv = {0}, env = {0};
    struct err e = {0};
    if (lv->arm->command(lv, again, &argv, &env, &e) < 0)
        fail_msg("%s", e.msg);
    join(&argv, 1, line, sizeof line);
    join(&env, 0, given, sizeof given);
    strv_free(&argv);
    strv_free(&env);
}

void says(const char *what)
{
    if (!strstr(line, what))
        fail_msg("'%s' is not in '%s'", what, line);
}
