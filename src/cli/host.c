/* host: the checks of `carol doctor` that concern the machine.  Does not know the fuzzers' files. */
#include "cli/host.h"

#include "base/die.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/str.h"
#include "proc/cage.h"
#include "proc/cpus.h"

#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/statvfs.h>

#define GIB ((uint64_t)1 << 30)
#define FILES_USUAL 4096 /* what we advise to allow */

/* Takes what; fix is copied and only kept when the check failed. */
static void add(struct host_list *l, const char *id, bool ok, char *what, const char *fix)
{
    l->v = xrealloc(l->v, (l->n + 1) * sizeof *l->v);
    l->v[l->n++] = (struct host_item){id, ok, what, ok ? NULL : xstrdup(fix)};
}

/* A handler behind a pipe takes each crash for itself: seconds per crash, and a hang to the fuzzer. */
static void check_core_pattern(struct host_list *l)
{
    char line[256] = "";
    bool known = fs_read_line("/proc/sys/kernel/core_pattern", line, sizeof line);
    bool piped = known && line[0] == '|';
    add(l, "core_pattern", !piped,
        piped ? xstrdup("crashes are piped to a program, which slows every crash down and can make "
                        "a crash look like a hang")
              : xstrdup("crashes are not sent to a handler"),
        "echo core | sudo tee /proc/sys/kernel/core_pattern");
}

static void check_governor(struct host_list *l)
{
    char line[64] = "";
    bool scales =
        fs_read_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", line, sizeof line);
    bool ok = !scales || strcmp(line, "performance") == 0;
    add(l, "cpu_governor", ok,
        !scales ? xstrdup("no frequency scaling is visible")
                : str_fmt("the CPU frequency follows '%s'%s", line,
                          ok ? "" : ", which slows short-lived processes down"),
        "echo performance | sudo tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor");
}

/* honggfuzz tells crashes apart by addresses, so its targets run without randomisation. */
static void check_aslr(struct host_list *l)
{
    char line[16] = "";
    bool off =
        fs_read_line("/proc/sys/kernel/randomize_va_space", line, sizeof line) && line[0] == '0';
    int before = personality(0xffffffff);
    bool may = before >= 0 && personality((unsigned long)before | ADDR_NO_RANDOMIZE) >= 0;
    if (may)
        personality((unsigned long)before);
    add(l, "aslr", off || may,
        off || may
            ? xstrdup("address randomisation can be switched off for a target")
            : xstrdup("address randomisation cannot be switched off for a target, so honggfuzz "
                      "counts one crash many times"),
        "echo 0 | sudo tee /proc/sys/kernel/randomize_va_space   (or allow personality(2) in the "
        "container)");
}

static void check_shm(struct host_list *l)
{
    int id = shmget(IPC_PRIVATE, 8 << 20, IPC_CREAT | 0600), error = errno;
    if (id >= 0)
        shmctl(id, IPC_RMID, NULL);
    add(l, "shm", id >= 0,
        id >= 0
            ? xstrdup("shared memory segments can be created")
            : str_fmt(
                  "no shared memory segment of 8 MiB can be created (%s), and afl-fuzz needs one "
                  "per instance",
                  strerror(error)),
        "sudo sysctl -w kernel.shmmax=1073741824 kernel.shmall=1048576 kernel.shmmni=4096");
}

static void check_limit(struct host_list *l, const char *id, int which, uint64_t least,
                        const char *what, const char *fix)
{
    struct rlimit r = {0};
    getrlimit((__rlimit_resource_t)which, &r);
    bool unlimited = r.rlim_cur == RLIM_INFINITY, ok = unlimited || r.rlim_cur >= least;
    char *now = unlimited ? xstrdup("unlimited") : str_fmt("%" PRIu64, (uint64_t)r.rlim_cur);
    add(l, id, ok, str_fmt("%s: %s%s", what, now, ok ? "" : ", too low"), fix);
    free(now);
}

static void check_limits(struct host_list *l)
{
    check_limit(l, "open_files", RLIMIT_NOFILE, 1024, "open files per process", "ulimit -n 4096");
    check_limit(l, "processes", RLIMIT_NPROC, 512, "processes of this user", "ulimit -u 4096");
    check_limit(l, "address_space", RLIMIT_AS, 16 * GIB, "address space of a process",
                "ulimit -v unlimited");
    check_limit(l, "file_size", RLIMIT_FSIZE, 4 * GIB, "size of a file", "ulimit -f unlimited");
}

/* A soft limit is ours to raise. */
static rlim_t raise_files(rlim_t want)
{
    struct rlimit r = {0};
    getrlimit(RLIMIT_NOFILE, &r);
    if (r.rlim_cur < want && r.rlim_max > r.rlim_cur) {
        struct rlimit more = {r.rlim_max < want ? r.rlim_max : want, r.rlim_max};
        if (setrlimit(RLIMIT_NOFILE, &more) == 0)
            return more.rlim_cur;
    }
    return r.rlim_cur;
}

int host_need_files(unsigned least, struct err *e)
{
    rlim_t now = raise_files(least);
    if (now >= least)
        return 0;
    return err_env(e,
                   "a process may have only %" PRIu64 " files open here, and this needs %u: type "
                   "'ulimit -n %u' first%s",
                   (uint64_t)now, least, least < FILES_USUAL ? FILES_USUAL : least,
                   least > HOST_FILES_RUN ? ", or use fewer workers (-j)" : "");
}

void host_warn_limits(void)
{
    struct host_list l = {0};
    check_limits(&l);
    for (size_t i = 0; i < l.n; i++)
        if (!l.v[i].ok && strcmp(l.v[i].id, "open_files") != 0)
            log_warn("%s, which can kill compilers and fuzzers: '%s'", l.v[i].what, l.v[i].fix);
    host_list_free(&l);
}

static void check_namespaces(struct host_list *l)
{
    bool ok = cage_namespaces_work();
    add(l, "namespaces", ok,
        ok ? xstrdup("user and PID namespaces work: nothing can outlive a campaign")
           : xstrdup(
                 "no user namespaces: Carol cleans up after its fuzzers itself, which a kill -9 "
                 "of the whole session can prevent"),
        "sudo sysctl -w kernel.unprivileged_userns_clone=1 "
        "kernel.apparmor_restrict_unprivileged_userns=0   (the one that exists)");
}

/* honggfuzz traces its children to describe a crash. */
static void check_ptrace(struct host_list *l)
{
    char line[16] = "0";
    bool known = fs_read_line("/proc/sys/kernel/yama/ptrace_scope", line, sizeof line);
    bool ok = !known || line[0] == '0' || line[0] == '1';
    add(l, "ptrace", ok,
        ok ? xstrdup("a process may trace its children")
           : xstrdup("tracing of children is forbidden, so honggfuzz cannot describe a crash"),
        "sudo sysctl -w kernel.yama.ptrace_scope=1");
}

static void check_disk(struct host_list *l)
{
    struct statvfs v;
    uint64_t room = statvfs(".", &v) == 0 ? (uint64_t)v.f_bavail * v.f_frsize : 0;
    add(l, "disk", room >= 2 * GIB,
        str_fmt("%.1f GiB are free here%s", (double)room / (double)GIB,
                room >= 2 * GIB ? "" : ", a long campaign needs more than 2"),
        "df -h .   (free some, or put the campaign directory elsewhere)");
}

static void check_cpus(struct host_list *l)
{
    int n = cpus_count();
    add(l, "cpus", true, str_fmt("%d usable: up to %d fuzzers at once (-j)", n, n), "");
}

void host_check(struct host_list *l)
{
    *l = (struct host_list){0};
    check_cpus(l);
    check_core_pattern(l);
    check_governor(l);
    check_aslr(l);
    check_shm(l);
    check_limits(l);
    check_namespaces(l);
    check_ptrace(l);
    check_disk(l);
}

void host_list_free(struct host_list *l)
{
    for (size_t i = 0; i < l->n; i++) {
        free(l->v[i].what);
        free(l->v[i].fix);
    }
    free(l->v);
    *l = (struct host_list){0};
}
