/* ctl_inbox: takes import records out of DIR/inbox, in order, each exactly once (page.h).  Does not
 * execute them. */
#include "ctl.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const uint8_t *map; /* the file gen_at, or NULL */
static size_t map_size, map_at;
static uint64_t map_gen;
static int64_t current = -1;

static void file_name(char *out, size_t size, uint64_t gen)
{
    snprintf(out, size, "%s/inbox/%llu", ctl_dir, (unsigned long long)gen);
}

/* A target that runs in the fuzzer's own process can use up what opening a file takes, and give it back later. */
static bool may_pass(int error)
{
    return error == EMFILE || error == ENFILE || error == ENOMEM || error == EINTR;
}

/* The lowest file number >= from, 0 if there is none; false: it cannot be told now. */
static bool next_file(uint64_t from, uint64_t *best)
{
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/inbox", ctl_dir);
    DIR *d = opendir(path);
    *best = 0;
    if (!d)
        return !may_pass(errno);
    for (struct dirent *de; (de = readdir(d));) {
        char *end;
        unsigned long long v = strtoull(de->d_name, &end, 10);
        if (*end == 0 && end != de->d_name && v >= from && (!*best || v < *best))
            *best = v;
    }
    closedir(d);
    return true;
}

/* The record at map_at, or NULL when the file is used up (or cut short: a fault). */
static const struct ctl_record *record_here(void)
{
    struct ctl_record r;
    if (map_at == map_size)
        return NULL;
    if (map_size - map_at >= sizeof r) {
        memcpy(&r, map + map_at, sizeof r);
        if (r.size <= map_size - map_at - sizeof r)
            return (const void *)(map + map_at);
    }
    ctl_fault("inbox file %llu is cut short at byte %zu", (unsigned long long)map_gen, map_at);
    map_at = map_size;
    return NULL;
}

static void step(void)
{
    struct ctl_record r;
    memcpy(&r, map + map_at, sizeof r);
    map_at += sizeof r + r.size;
}

static void close_file(void)
{
    char path[PATH_MAX + 64];
    if (!map)
        return;
    munmap((void *)map, map_size);
    map = NULL;
    file_name(path, sizeof path, map_gen);
    unlink(path);
}

enum opened { OPENED, NOT_NOW, DAMAGED };

static enum opened map_file(const char *path)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return may_pass(errno) ? NOT_NOW : DAMAGED;
    if (fstat(fd, &st) < 0 || st.st_size == 0) {
        close(fd);
        return DAMAGED;
    }
    /* Writable and private: a fuzzer may change in place what a mutator returned. */
    void *m = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    int error = errno;
    close(fd);
    if (m == MAP_FAILED)
        return may_pass(error) ? NOT_NOW : DAMAGED;
    map = m;
    map_size = (size_t)st.st_size;
    map_at = 0;
    return OPENED;
}

static enum opened open_file(uint64_t gen)
{
    char path[PATH_MAX + 64];
    file_name(path, sizeof path, gen);
    enum opened how = map_file(path);
    if (how == DAMAGED)
        ctl_fault("cannot read %s: it is empty or not there any more", path);
    if (how != OPENED)
        return how;
    map_gen = gen;
    if (ctl_page->gen_at != gen) { /* gen_taken first: a kill in between must not skip records */
        __atomic_store_n(&ctl_page->gen_taken, 0, __ATOMIC_RELEASE);
        __atomic_store_n(&ctl_page->gen_at, gen, __ATOMIC_RELEASE);
    }
    for (uint64_t i = 0; i < ctl_page->gen_taken && record_here(); i++)
        step();
    return OPENED;
}

/* Move to the next record, over finished files; false: nothing is left. */
static bool find_record(void)
{
    static uint64_t exhausted; /* all files up to this one are used up */
    for (;;) {
        if (map && record_here())
            return true;
        if (map) {
            exhausted = map_gen;
            close_file();
        }
        uint64_t newest = __atomic_load_n(&ctl_page->gen, __ATOMIC_ACQUIRE);
        if (newest <= exhausted)
            return false;
        uint64_t at = ctl_page->gen_at, from = exhausted + 1 > at ? exhausted + 1 : at;
        uint64_t gen;
        if (!next_file(from, &gen))
            return false;
        if (!gen || gen > newest) {
            exhausted = newest;
            return false;
        }
        enum opened how = open_file(gen);
        if (how == NOT_NOW)
            return false;
        if (how == DAMAGED)
            exhausted = gen;
    }
}

bool ctl_import_pending(void)
{
    return ctl_page && find_record();
}

const struct ctl_record *ctl_import_next(void)
{
    if (!ctl_import_pending())
        return NULL;
    const struct ctl_record *here = record_here();
    struct ctl_record r;
    memcpy(&r, here, sizeof r);
    step();
    current = (int64_t)r.id;
    __atomic_store_n(&ctl_page->inflight, r.id + 1, __ATOMIC_RELEASE);
    __atomic_store_n(&ctl_page->gen_taken, ctl_page->gen_taken + 1, __ATOMIC_RELEASE);
    __atomic_store_n(&ctl_page->taken, ctl_page->taken + 1, __ATOMIC_RELEASE);
    return here;
}

void ctl_import_done(void)
{
    if (current < 0)
        return;
    current = -1;
    __atomic_store_n(&ctl_page->inflight, 0, __ATOMIC_RELEASE);
}

int64_t ctl_import_id(void)
{
    return current;
}
