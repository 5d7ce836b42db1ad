/* launch: builds argv and environment of the server.  Starts nothing. */
#include "eval/launch.h"

#include "base/die.h"
#include "runtime/cov/protocol.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A word with every @@ replaced by the path of the input. */
static bool add_word(struct strv *argv, const char *word)
{
    char *out = xstrdup("");
    bool found = false;
    for (const char *at; (at = strstr(word, "@@")); word = at + 2, found = true) {
        char *more = str_fmt("%s%.*s%s", out, (int)(at - word), word, COV_INPUT_PATH);
        free(out);
        out = more;
    }
    strv_take(argv, str_fmt("%s%s", out, word));
    free(out);
    return found;
}

void launch_argv(const struct manifest *m, const char *const *args, struct strv *argv)
{
    strv_add(argv, m->family[FAMILY_NEUTRAL].binary);
    if (m->kind == TARGET_LIBFUZZER)
        return;
    struct strv own = {0};
    if (!args && m->args)
        strv_split(&own, m->args, '\n');
    if (!args)
        args = (const char *const *)own.v;
    bool found = false;
    for (; args && *args; args++)
        found |= add_word(argv, *args);
    if (m->kind == TARGET_FILE && !found)
        strv_add(argv, COV_INPUT_PATH);
    strv_free(&own);
}

void launch_env(const struct manifest *m, struct strv *env)
{
    static const char *const drop[] = {COV_ENV "=", COV_ENV_DUMP "=", "LD_BIND_NOW="};
    for (char **p = environ; p && *p; p++) {
        bool keep = true;
        for (size_t i = 0; i < sizeof drop / sizeof *drop; i++)
            keep = keep && !str_starts(*p, drop[i]);
        if (keep)
            strv_add(env, *p);
    }
    strv_add(env, "LD_BIND_NOW=1"); /* bound once here, not again in every worker */
    strv_addf(env, "%s=%s", COV_ENV,
              m->kind == TARGET_STDIN  ? "stdin"
              : m->kind == TARGET_FILE ? "file"
                                       : "lib");
}
