/* hook: one process after another that is told of a defect.  Decides nothing about defects. */
#include "triage/hook.h"

#include "base/die.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/str.h"
#include "proc/cage.h"
#include "target/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#define PATIENCE_NS (60 * NS_PER_S) /* then it is killed */

/* A process to be run. */
struct message {
    bool web;
    char *id, *folder, *text;
    struct message *next;
};

struct hook {
    struct loop *loop;
    struct store *store;
    struct hook_opts o;
    char *curl;
    struct message *first, **last; /* the first runs */
    struct cage cage;
    bool runs, late;
    struct timer patience;
};

int hook_check(const struct hook_opts *o, struct err *e)
{
    if (!o->url)
        return 0;
    if (!str_starts(o->url, "http://") && !str_starts(o->url, "https://"))
        return err_usage(e, "--webhook: '%s' is no address; it begins with http:// or https://",
                         o->url);
    char *curl = run_find("curl");
    free(curl);
    return curl ? 0
                : err_env(e, "--webhook needs curl, which is not installed: sudo apt-get install "
                             "curl");
}

void hook_new(struct hook **out, struct loop *l, struct store *s, const struct hook_opts *o)
{
    struct hook *h = *out = xcalloc(1, sizeof *h);
    *h = (struct hook){.loop = l, .store = s, .o = *o, .curl = o->url ? run_find("curl") : NULL};
    h->last = &h->first;
}

bool hook_idle(const struct hook *h)
{
    return !h || !h->first;
}

/* --- one process ---------------------------------------------------------------------------------- */

static char *key_of(const struct message *m)
{
    return str_fmt("triage.%s.%s", m->web ? "posted" : "told", m->id);
}

static void message_free(struct message *m)
{
    free(m->id);
    free(m->folder);
    free(m->text);
    free(m);
}

static void begin(struct hook *h);

/* The first has ended, or could not be begun. */
static void leave(struct hook *h, const char *why)
{
    struct message *m = h->first;
    struct err e = {0};
    char *key = key_of(m);
    if (why)
        log_warn("%s for defect %s: %s; it is told again the next time",
                 m->web ? "--webhook" : "--exec", m->id, why);
    else if (store_put(h->store, &(struct store_fact){key, "1"}, 1, &e) < 0)
        log_warn("%s", e.msg);
    free(key);
    h->first = m->next;
    if (!h->first)
        h->last = &h->first;
    message_free(m);
    if (h->first)
        begin(h);
    else if (h->o.idle)
        h->o.idle(h->o.arg);
}

static void on_end(void *arg, uint32_t events)
{
    struct hook *h = arg;
    struct cage_end end = {0};
    char why[128] = "";
    (void)events;
    loop_unwatch(h->loop, h->cage.status_fd);
    loop_timer_clear(h->loop, &h->patience);
    cage_reap(&h->cage, &end);
    h->runs = false;
    if (h->late)
        snprintf(why, sizeof why, "it did not end within %d s", (int)(PATIENCE_NS / NS_PER_S));
    else if (end.exec_errno)
        snprintf(why, sizeof why, "%s", strerror(end.exec_errno));
    else if (!end.exited)
        snprintf(why, sizeof why, "%s", strsignal(end.signal));
    else if (end.code)
        snprintf(why, sizeof why, "%s ended with %d", h->first->web ? "curl" : "the command",
                 end.code);
    leave(h, *why ? why : NULL);
}

static void on_patience(void *arg)
{
    struct hook *h = arg;
    h->late = true;
    cage_kill(&h->cage);
}

static void add_env(const struct message *m, struct strv *env)
{
    for (char **p = environ; p && *p; p++)
        if (!str_starts(*p, "CAROL_DEFECT_"))
            strv_add(env, *p);
    strv_addf(env, "CAROL_DEFECT_ID=%s", m->id);
    strv_addf(env, "CAROL_DEFECT_DIR=%s", m->folder);
}

/* A command of the user's is no target: it runs as he would run it, without namespaces.  What it prints does not mix
 * with what we print for programs. */
static int start(struct hook *h, const struct message *m, struct err *e)
{
    const char *shell[] = {"/bin/sh", "-c", h->o.command, NULL};
    const char *post[] = {h->curl,
                          "-sSfg",
                          "--location", /* a redirection is no delivery */
                          "--post301",
                          "--post302",
                          "--post303",
                          "-o",
                          "/dev/null",
                          "--max-time",
                          "20",
                          "--retry",
                          "2",
                          "-H",
                          "Content-Type: application/json",
                          "--data-binary",
                          "@-",
                          h->o.url,
                          NULL};
    struct strv env = {0};
    int in = -1;
    add_env(m, &env);
    int rc = fs_memory(m->text, strlen(m->text), &in, e);
    if (rc == 0) {
        struct cage_opts o = {.argv = m->web ? post : shell,
                              .envp = (const char *const *)env.v,
                              .in = in,
                              .out = STDERR_FILENO,
                              .err = STDERR_FILENO,
                              .cpu = -1,
                              .no_namespace = true};
        rc = cage_start(&h->cage, &o, e);
    }
    if (in >= 0)
        close(in);
    strv_free(&env);
    return rc;
}

static void kill_now(struct hook *h)
{
    struct cage_end end;
    cage_kill(&h->cage);
    cage_reap(&h->cage, &end);
    h->runs = false;
}

static void begin(struct hook *h)
{
    struct err e = {0};
    if (start(h, h->first, &e) < 0) {
        leave(h, e.msg);
        return;
    }
    h->runs = true;
    h->late = false;
    h->patience = (struct timer){.fn = on_patience, .arg = h};
    if (loop_watch(h->loop, h->cage.status_fd, EPOLLIN, on_end, h, &e) == 0) {
        loop_timer(h->loop, &h->patience, loop_now(h->loop) + PATIENCE_NS);
        return;
    }
    kill_now(h);
    leave(h, e.msg);
}

/* --- what is told --------------------------------------------------------------------------------- */

static const char *text_of(json_t *o, const char *key, const char *otherwise)
{
    const char *s = json_string_value(json_object_get(o, key));
    return s ? s : otherwise;
}

/* A sentence for a chat room, and all of it for programs. */
static char *post_of(const struct hook *h, json_t *defect)
{
    char *text =
        str_fmt("new defect %s: %s in %s (%s, %s), found by %s in %s", text_of(defect, "id", ""),
                text_of(defect, "fault", ""), text_of(defect, "function", "unknown code"),
                text_of(defect, "class", ""), text_of(defect, "cwe", "no CWE"),
                text_of(defect, "found_by", ""), h->o.campaign);
    json_t *o = json_pack("{s:i,s:s,s:s,s:s,s:O}", "schema", 1, "event", "defect", "text", text,
                          "campaign", h->o.campaign, "defect", defect);
    char *post = o ? json_dumps(o, JSON_COMPACT | JSON_REAL_PRECISION(9)) : NULL;
    json_decref(o);
    free(text);
    return post;
}

static int add(struct hook *h, bool web, const char *id, const char *folder, json_t *defect,
               struct err *e)
{
    struct message *m = xcalloc(1, sizeof *m);
    char *told = NULL;
    *m = (struct message){.web = web, .id = xstrdup(id), .folder = xstrdup(folder)};
    m->text =
        web ? post_of(h, defect) : json_dumps(defect, JSON_INDENT(1) | JSON_REAL_PRECISION(9));
    char *key = key_of(m);
    int rc = store_get(h->store, key, &told, e);
    if (rc < 0 || told || !m->text) {
        message_free(m);
    } else {
        *h->last = m;
        h->last = &m->next;
        if (!h->runs)
            begin(h);
    }
    free(key);
    free(told);
    return rc;
}

int hook_tell(struct hook *h, const char *id, const char *folder, json_t *defect, struct err *e)
{
    int rc = h && h->o.command ? add(h, false, id, folder, defect, e) : 0;
    return rc == 0 && h && h->o.url ? add(h, true, id, folder, defect, e) : rc;
}

void hook_free(struct hook *h)
{
    if (!h)
        return;
    loop_timer_clear(h->loop, &h->patience);
    if (h->runs) {
        loop_unwatch(h->loop, h->cage.status_fd);
        kill_now(h);
    }
    for (struct message *m = h->first, *next; m; m = next) {
        next = m->next;
        message_free(m);
    }
    free(h->curl);
    free(h);
}
