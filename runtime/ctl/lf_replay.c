/* lf_replay: the files of DIR/old, one after the other, small ones first as libFuzzer does it.  Executes nothing.
 *
 * What libFuzzer keeps of them is moved to DIR/new instead of being written again: a life makes and removes no file,
 * which takes a file system longer than the executions.
 *
 * libFuzzer without a corpus executes a newline before it mutates anything, and a target may fail on that.  So it has
 * a seed, DIR/nothing, that it cannot open: nothing is executed, and a newline that was not is what it mutates first. */
#include "lf.h"

#include "ctl.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
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
    if (at < count)
        qsort(list + at, count - at, sizeof *list, by_size);
}

bool lf_replay_pending(void)
{
    return at < count;
}

/* The target may have used up all descriptors but ours. */
static int open_current(void)
{
    int fd = open(current, O_RDONLY | O_CLOEXEC);
    if (fd < 0 && errno == EMFILE) {
        lf_life_room(true);
        fd = open(current, O_RDONLY | O_CLOEXEC);
        lf_life_room(false);
    }
    return fd;
}

/* *n: bytes of the current file; false: it cannot be read. */
static bool read_current(size_t max, size_t *n)
{
    ssize_t k = 0;
    struct stat st;
    int fd = open_current();
    if (fd < 0)
        return false;
    *n = 0;
    while (*n < max && (k = read(fd, bytes + *n, max - *n)) > 0)
        *n += (size_t)k;
    uncut = fstat(fd, &st) == 0 && st.st_size == (off_t)*n;
    close(fd);
    return k >= 0;
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
        if (!read_current(max, size))
            current[0] = 0; /* it stays for the next life */
        else if (*size)
            return bytes;
        else
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

/* Does this name a file of ours?  Its name in DIR, or NULL. */
static const char *name_in_dir(const char *path)
{
    size_t n = strlen(ctl_dir);
    return n && strncmp(path, ctl_dir, n) == 0 && path[n] == '/' ? path + n + 1 : NULL;
}

/* What libFuzzer opens: what it was given from a file, and keeps, is there already. */
static FILE *open_for(const char *path, const char *mode)
{
    static FILE *(*real)(const char *, const char *);
    const char *name = name_in_dir(path);
    bool corpus = name && strncmp(name, "new/", 4) == 0;
    if (corpus && current[0] && uncut && mode[0] == 'w' && rename(current, path) == 0) {
        current[0] = 0;
        return NULL; /* then libFuzzer goes on without a word */
    }
    if (name && strcmp(name, LF_NOTHING) == 0) {
        lf_life_silence(); /* it wonders, and goes on */
        return NULL;
    }
    if (!real)
        real = (FILE * (*)(const char *, const char *)) dlsym(RTLD_NEXT, "fopen");
    FILE *f = real ? real(path, mode) : NULL;
    if (!f && real && corpus && errno == EMFILE) {
        lf_life_room(true);
        f = real(path, mode);
        lf_life_room(false);
    }
    return f;
}

/* Both names: which of them a program calls depends on how it was compiled. */
CTL_EXPORTED FILE *open_plain(const char *path, const char *mode) __asm__("fopen");
CTL_EXPORTED FILE *open_large(const char *path, const char *mode) __asm__("fopen64");

FILE *open_plain(const char *path, const char *mode)
{
    return open_for(path, mode);
}

FILE *open_large(const char *path, const char *mode)
{
    return open_for(path, mode);
}
