/* jpeg_read: decompresses a picture from memory twice: in full, and again scaled, to few colours, with the
 * fast methods.  Large pictures and pictures of many scans are given up. */
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <jpeglib.h>

enum { MAX_PIXELS = 1000000, MAX_SCANS = 50, MAX_MEMORY = 64 << 20 };

struct failure {
    struct jpeg_error_mgr base; /* first: libjpeg has its address */
    jmp_buf back;
};

static void fail(j_common_ptr c)
{
    longjmp(((struct failure *)c->err)->back, 1);
}

static void quiet(j_common_ptr c, int level)
{
    (void)c;
    (void)level;
}

static void drop(j_common_ptr c)
{
    (void)c;
}

/* A few bytes can make a scan over a whole picture: time is limited by their number. */
static void watch(j_common_ptr c)
{
    if (c->is_decompressor && ((j_decompress_ptr)c)->input_scan_number > MAX_SCANS)
        fail(c);
}

static void choose(j_decompress_ptr d, int second)
{
    d->mem->max_memory_to_use = MAX_MEMORY;
    if (!second)
        return;
    d->scale_num = 3;
    d->scale_denom = 8;
    d->dct_method = JDCT_IFAST;
    d->do_fancy_upsampling = FALSE;
    d->quantize_colors = d->num_components == 3 || d->num_components == 1;
    d->desired_number_of_colors = 64;
    d->dither_mode = JDITHER_ORDERED;
}

static void read_picture(j_decompress_ptr d, int second)
{
    jpeg_save_markers(d, JPEG_APP0 + 2, 0xffff);
    jpeg_save_markers(d, JPEG_COM, 0xffff);
    if (jpeg_read_header(d, TRUE) != JPEG_HEADER_OK)
        return;
    if ((uint64_t)d->image_width * d->image_height > MAX_PIXELS)
        return;
    choose(d, second);
    jpeg_start_decompress(d);
    JSAMPARRAY row = d->mem->alloc_sarray((j_common_ptr)d, JPOOL_IMAGE,
                                          d->output_width * (JDIMENSION)d->output_components, 1);
    while (d->output_scanline < d->output_height)
        jpeg_read_scanlines(d, row, 1);
    JOCTET *profile = NULL;
    unsigned length;
    if (jpeg_read_icc_profile(d, &profile, &length))
        free(profile);
    jpeg_finish_decompress(d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct jpeg_decompress_struct d;
    struct jpeg_progress_mgr progress = {.progress_monitor = watch};
    struct failure f;
    d.err = jpeg_std_error(&f.base);
    f.base.error_exit = fail;
    f.base.emit_message = quiet;
    f.base.output_message = drop;
    jpeg_create_decompress(&d);
    d.progress = &progress;
    for (volatile int second = 0; second < 2; second++) {
        if (size && setjmp(f.back) == 0) {
            jpeg_mem_src(&d, data, size);
            read_picture(&d, second);
        }
        jpeg_abort_decompress(&d);
    }
    jpeg_destroy_decompress(&d);
    return 0;
}
