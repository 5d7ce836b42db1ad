/* power_cut: preloaded into Carol, it keeps what a power cut would leave on the disk, and cuts the power when a
 * chosen commit has returned.
 *
 * What a power cut leaves is read as POSIX permits it at the worst: a file has the bytes of its last fsync or
 * fdatasync, a directory the names of its last fsync (so a rename counts once its directory is synced); the rest
 * never was.  Nothing is really synced: the test builds the disk from what is noted here.
 *
 * CAROL_TEST_DISK      the directory that is watched, with all below it
 * CAROL_TEST_PLATTER   where it is noted: f<inode> has the bytes of a file, d<inode> the names of a directory,
 *                      one "<f or d><inode> <name>" a line
 * CAROL_TEST_CUT       N: SIGKILL as soon as the Nth commit returns, before Carol does anything else, so that
 *                      all that is in its files by then is acknowledged and nothing else is
 * CAROL_TEST_LIE       a sync of a file whose path has this text in it does nothing
 * CAROL_TEST_PRAGMA    SQL that the database is told after Carol's own PRAGMA synchronous */
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *disk, *platter, *lie, *pragma;
static long cut;
static pid_t self;

static void fail(const char *what)
{
    dprintf(2, "power_cut: %s\n", what);
    _exit(96); /* a test that would prove nothing shall not pass */
}

__attribute__((constructor)) static void attach(void)
{
    const char *n = getenv("CAROL_TEST_CUT");
    disk = getenv("CAROL_TEST_DISK");
    platter = getenv("CAROL_TEST_PLATTER");
    lie = getenv("CAROL_TEST_LIE");
    pragma = getenv("CAROL_TEST_PRAGMA");
    cut = n ? strtol(n, NULL, 10) : 0;
    self = getpid();
    if (!disk || !platter)
        fail("CAROL_TEST_DISK and CAROL_TEST_PLATTER are needed");
    unsetenv("LD_PRELOAD"); /* what Carol starts is another program */
}

static int is_inside(const char *path)
{
    size_t n = strlen(disk);
    return strncmp(path, disk, n) == 0 && (path[n] == 0 || path[n] == '/');
}

/* An inode noted once stays in use: its number is nobody else's as long as we live. */
static void hold(int fd, ino_t inode)
{
    static ino_t held[4096];
    static size_t n;
    for (size_t i = 0; i < n; i++)
        if (held[i] == inode)
            return;
    if (n == sizeof held / sizeof held[0] || fcntl(fd, F_DUPFD_CLOEXEC, 1000) < 0)
        fail("too many files");
    held[n++] = inode;
}

/* A descriptor that only writes is opened anew; not the others, for SQLite's locks would end when it closes. */
static void copy_file(int fd, int to)
{
    static char chunk[1 << 16];
    char name[64];
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    int from = (fcntl(fd, F_GETFL) & O_ACCMODE) == O_WRONLY ? open(name, O_RDONLY | O_CLOEXEC) : fd;
    ssize_t n;
    for (off_t at = 0; (n = pread(from, chunk, sizeof chunk, at)) > 0; at += n)
        if (write(to, chunk, (size_t)n) != n)
            fail("cannot write the platter");
    if (n < 0)
        fail("cannot read what was synced");
    if (from != fd)
        close(from);
}

static void copy_names(int fd, int to)
{
    struct stat st;
    DIR *d = fdopendir(openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!d)
        fail("cannot read a directory");
    for (struct dirent *e; (e = readdir(d));)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 &&
            fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0)
            dprintf(to, "%c%llu %s\n", S_ISDIR(st.st_mode) ? 'd' : 'f',
                    (unsigned long long)st.st_ino, e->d_name);
    closedir(d);
}

static int note(int fd)
{
    char link[64], path[PATH_MAX], part[PATH_MAX], whole[PATH_MAX];
    struct stat st;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    path[n > 0 ? n : 0] = 0;
    if (getpid() != self || !is_inside(path) || (lie && strstr(path, lie)))
        return 0;
    if (fstat(fd, &st) < 0)
        fail("cannot stat what is synced");
    snprintf(part, sizeof part, "%s/part", platter);
    snprintf(whole, sizeof whole, "%s/%c%llu", platter, S_ISDIR(st.st_mode) ? 'd' : 'f',
             (unsigned long long)st.st_ino);
    int to = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (to < 0)
        fail("cannot make a file in the platter");
    if (S_ISDIR(st.st_mode))
        copy_names(fd, to);
    else
        copy_file(fd, to);
    if (close(to) < 0 || rename(part, whole) < 0)
        fail("cannot write the platter");
    hold(fd, st.st_ino);
    return 0;
}

int fsync(int fd)
{
    return note(fd);
}

int fdatasync(int fd)
{
    return note(fd);
}

/* After each call that may end a transaction. */
static void count_commit(sqlite3 *db)
{
    static int changes;
    static long commits;
    int now = sqlite3_total_changes(db);
    if (getpid() != self || !sqlite3_get_autocommit(db) || now == changes)
        return;
    changes = now;
    if (++commits == cut)
        kill(self, SIGKILL);
}

static void *real(const char *name)
{
    void *fn = dlsym(RTLD_NEXT, name);
    if (!fn)
        fail(name);
    return fn;
}

int sqlite3_step(sqlite3_stmt *stmt)
{
    static int (*step)(sqlite3_stmt *);
    if (!step)
        *(void **)&step = real("sqlite3_step");
    sqlite3 *db = sqlite3_db_handle(stmt);
    int rc = step(stmt);
    count_commit(db);
    return rc;
}

int sqlite3_exec(sqlite3 *db, const char *sql, int (*fn)(void *, int, char **, char **), void *arg,
                 char **msg)
{
    static int (*exec)(sqlite3 *, const char *, int (*)(void *, int, char **, char **), void *,
                       char **);
    if (!exec)
        *(void **)&exec = real("sqlite3_exec");
    int rc = exec(db, sql, fn, arg, msg);
    if (pragma && strstr(sql, "synchronous") && exec(db, pragma, NULL, NULL, NULL) != SQLITE_OK)
        fail(pragma);
    count_commit(db);
    return rc;
}
