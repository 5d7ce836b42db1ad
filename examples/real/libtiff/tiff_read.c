/* tiff_read: opens its input as a TIFF file in memory and decodes the images of its first directories. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <tiffio.h>

enum { MAX_PIXELS = 1 << 18, MAX_DIRECTORIES = 4 };

struct memory {
    const uint8_t *data;
    toff_t size, at;
};

static tsize_t take(thandle_t arg, tdata_t to, tsize_t count)
{
    struct memory *m = arg;
    toff_t left = m->at < m->size ? m->size - m->at : 0;
    toff_t n = (toff_t)count < left ? (toff_t)count : left;
    memcpy(to, m->data + (n ? m->at : 0), n);
    m->at += n;
    return (tsize_t)n;
}

static tsize_t refuse(thandle_t arg, tdata_t from, tsize_t count)
{
    (void)arg;
    (void)from;
    (void)count;
    return 0;
}

static toff_t seek(thandle_t arg, toff_t to, int whence)
{
    struct memory *m = arg;
    return m->at = whence == SEEK_CUR ? m->at + to : whence == SEEK_END ? m->size + to : to;
}

static int close_it(thandle_t arg)
{
    (void)arg;
    return 0;
}

static toff_t get_size(thandle_t arg)
{
    return ((struct memory *)arg)->size;
}

static void decode(TIFF *t)
{
    uint32_t width = 0, height = 0;
    TIFFGetField(t, TIFFTAG_IMAGEWIDTH, &width);
    TIFFGetField(t, TIFFTAG_IMAGELENGTH, &height);
    if (!width || !height || (uint64_t)width * height > MAX_PIXELS)
        return;
    uint32_t *pixels = _TIFFmalloc((tmsize_t)((size_t)width * height * sizeof *pixels));
    if (pixels)
        TIFFReadRGBAImageOriented(t, width, height, pixels, ORIENTATION_TOPLEFT, 0);
    _TIFFfree(pixels);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct memory m = {.data = data, .size = size};
    TIFFSetErrorHandler(NULL);
    TIFFSetWarningHandler(NULL);
    TIFF *t = TIFFClientOpen("input", "rm", &m, take, refuse, seek, close_it, get_size, NULL, NULL);
    if (!t)
        return 0;
    int left = MAX_DIRECTORIES;
    do
        decode(t);
    while (--left && TIFFReadDirectory(t));
    TIFFClose(t);
    return 0;
}
