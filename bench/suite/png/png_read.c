/* png_read: reads a whole picture from memory, row by row, with the common transformations.  CRC errors
 * are ignored, so that mutated chunks are read at all. */
#include "oracle.h"

#include <png.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct source {
    const uint8_t *p;
    size_t left;
};

static void give(png_structp png, png_bytep to, png_size_t n)
{
    struct source *s = png_get_io_ptr(png);
    if (n > s->left)
        png_error(png, "end of input");
    memcpy(to, s->p, n);
    s->p += n;
    s->left -= n;
}

static void quiet(png_structp png, png_const_charp text)
{
    (void)png;
    (void)text;
}

static void fail(png_structp png, png_const_charp text)
{
    (void)text;
    longjmp(png_jmpbuf(png), 1);
}

static void read_rows(png_structp png, png_infop info, png_bytep *row)
{
    png_uint_32 width, height;
    int depth, colour, interlace;
    png_read_info(png, info);
    png_get_IHDR(png, info, &width, &height, &depth, &colour, &interlace, NULL, NULL);
    if ((uint64_t)width * height > 4000000)
        return;
    png_set_expand(png);
    png_set_gray_to_rgb(png);
    png_set_scale_16(png);
    png_set_filler(png, 0xff, PNG_FILLER_AFTER);
    int passes = png_set_interlace_handling(png);
    png_read_update_info(png, info);
    *row = malloc(png_get_rowbytes(png, info) + 1);
    for (int pass = 0; *row && pass < passes; pass++)
        for (png_uint_32 y = 0; y < height; y++)
            png_read_row(png, *row, NULL);
    png_read_end(png, info);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct source s = {data, size};
    carol_input("png");
    png_bytep row = NULL; /* its address is given away, so longjmp does not lose it */
    if (size < 8 || png_sig_cmp(data, 0, 8) != 0)
        return 0;
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, fail, quiet);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    if (info && setjmp(png_jmpbuf(png)) == 0) {
        png_set_crc_action(png, PNG_CRC_QUIET_USE, PNG_CRC_QUIET_USE);
        png_set_user_limits(png, 65535, 65535);
        png_set_read_fn(png, &s, give);
        read_rows(png, info, &row);
    }
    free(row);
    png_destroy_read_struct(&png, info ? &info : NULL, NULL);
    return 0;
}
