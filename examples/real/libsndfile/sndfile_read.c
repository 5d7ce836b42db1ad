/* sndfile_read: opens its input as a sound file in memory, whatever its format, and reads it to the end, with its texts. */
#include <sndfile.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { MAX_CHANNELS = 64, FRAMES = 256, MAX_BLOCKS = 64 };

struct memory {
    const uint8_t *data;
    sf_count_t size, at;
};

static sf_count_t get_length(void *arg)
{
    return ((struct memory *)arg)->size;
}

static sf_count_t tell(void *arg)
{
    return ((struct memory *)arg)->at;
}

static sf_count_t seek(sf_count_t offset, int whence, void *arg)
{
    struct memory *m = arg;
    sf_count_t base = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? m->at : m->size, to;
    if (__builtin_add_overflow(base, offset, &to) || to < 0 || to > m->size)
        return -1;
    return m->at = to;
}

static sf_count_t take(void *to, sf_count_t count, void *arg)
{
    struct memory *m = arg;
    sf_count_t n = count < m->size - m->at ? count : m->size - m->at;
    if (n <= 0)
        return 0;
    memcpy(to, m->data + m->at, (size_t)n);
    m->at += n;
    return n;
}

static sf_count_t refuse(const void *from, sf_count_t count, void *arg)
{
    (void)from;
    (void)count;
    (void)arg;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static float samples[FRAMES * MAX_CHANNELS];
    struct memory m = {.data = data, .size = (sf_count_t)size};
    SF_VIRTUAL_IO io = {get_length, seek, take, refuse, tell};
    SF_INFO info = {0};
    SNDFILE *f = sf_open_virtual(&io, SFM_READ, &info, &m);
    if (!f)
        return 0;
    for (int i = SF_STR_FIRST; i <= SF_STR_LAST; i++)
        sf_get_string(f, i);
    if (info.channels > 0 && info.channels <= MAX_CHANNELS)
        for (int i = 0; i < MAX_BLOCKS && sf_readf_float(f, samples, FRAMES) > 0; i++)
            ;
    sf_close(f);
    return 0;
}
