/* full_disk: preloaded into honggfuzz, no file of its corpus can be written, as on a disk that is full. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

ssize_t write(int fd, const void *data, size_t n)
{
    static const char corpus[] = ".honggfuzz.cov";
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t len = readlink(link, path, sizeof path), k = sizeof corpus - 1;
    if (len > k && memcmp(path + len - k, corpus, (size_t)k) == 0) {
        errno = ENOSPC;
        return -1;
    }
    return syscall(SYS_write, fd, data, n);
}
