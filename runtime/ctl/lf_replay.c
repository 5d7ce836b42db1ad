/* lf_replay: the files of DIR/old, one after the other, small ones first as libFuzzer does it.  Executes nothing.
 *
 * What libFuzzer keeps of them is moved to DIR/new instead of being written again: a life makes and removes no file,
 * which takes a file system longer than the executions. */
#include "lf.h"

#include "ctl.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct entry {
    char *name;
    off_t size;
};

static struct entry *list;
static size_t count, at;
static char current[PATH_MAX + NAME_MAX]; /* the file that is executed; "": none */
static bool uncut;                        /* all of it is */
static uint8_t *bytes;
static size_t room;

void lf_replay_gather(const char *dir)
{
    char from[PATH_MAX + NAME_MAX], to[PATH_MAX + NAME_MAX];
    snprintf(from, sizeof from, "%s/new", dir);
    DIR *d = opendir(from);
    for (struct dirent *de; d && (de = readdir(d));) {
        if (de->d_name[0] == '.')
            continue;
        snprintf(from, sizeof from, "%s/new/%s", dir, de->d_name);
        snprintf(to, sizeof to, "%s/old/%s", dir, de->d_name);
        rename(from, to);
    }
    if (d)
        closedir(d);
}

static int by_size(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    return x->size != y->size ? (x->size < y->size ? -1 : 1) : strcmp(x->name, y->name);
}

static void add(const char *name)
{
    struct stat st;
    char path[PATH_MAX + NAME_MAX];
    snprintf(path, sizeof path, "%s/old/%s", ctl_dir, name);
    struct entry *more = stat(path, &st) == 0 && S_ISREG(st.st_mode)
                             ? realloc(list, (count + 1) * sizeof *list)
                             : NULL;
    if (!more)
        return;
    list = more;
    list[count++] = (struct entry){strdup(name), st.st_size};
}

void lf_replay_begin(void)
{
    char path[PATH_MAX + NAME_MAX];
    snprintf(path, sizeof path, "%s/old", ctl_dir);
    DIR *d = opendir(path);
    for (struct dirent *de; d && (de = readdir(d));)
        if (de->d_name[0] != '.')
            add(de->d_name);
    if (d)
        closedir(d);
    if (count)
        qsort(list, count, sizeof *list, by_size);
}

bool lf_replay_pending(void)
{
    return at < count;
}

/* Bytes of the current file; 0: there are none. */
static size_t read_current(size_t max)
{
    size_t n = 0;
    struct stat st;
    int fd = open(current, O_RDONLY | O_CLOEXEC);
    for (ssize_t k; fd >= 0 && n < max && (k = read(fd, bytes + n, max - n)) > 0;)
        n += (size_t)k;
    uncut = fd >= 0 && fstat(fd, &st) == 0 && st.st_size == (off_t)n;
    if (fd >= 0)
        close(fd);
    return n;
}

const uint8_t *lf_replay_next(size_t max, size_t *size)
{
    if (room < max) {
        free(bytes);
        bytes = malloc(max);
        room = bytes ? max : 0;
    }
    while (bytes && at < count) {
        snprintf(current, sizeof current, "%s/old/%s", ctl_dir, list[at].name);
        free(list[at++].name);
        if ((*size = read_current(max)))
            return bytes;
        lf_replay_done(); /* empty: a kill cut it */
    }
    return NULL;
}

void lf_replay_done(void)
{
    if (!current[0])
        return;
    unlink(current);
    current[0] = 0;
}

/* Is this libFuzzer, about to write what it was given from a file? */
static bool is_kept(const char *path, const char *mode)
{
    size_t n = strlen(ctl_dir);
    return current[0] && uncut && mode[0] == 'w' && strncmp(path, ctl_dir, n) == 0 &&
           strncmp(path + n, "/new/", 5) == 0;
}

CTL_EXPORTED FILE *fopen(const char *restrict path, const char *restrict mode)
{
    static FILE *(*real)(const char *, const char *);
    if (is_kept(path, mode) && rename(current, path) == 0) {
        current[0] = 0;
        return NULL; /* then libFuzzer goes on without a word */
    }
    if (!real)
        real = (FILE * (*)(const char *, const char *)) dlsym(RTLD_NEXT, "fopen");
    return real ? real(path, mode) : NULL;
}
