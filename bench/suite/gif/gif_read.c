/* gif_read: reads a whole GIF from memory with giflib, then walks its images and extensions as a viewer
 * would. */
#include "oracle.h"

#include <gif_lib.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct source {
    const uint8_t *p;
    size_t left;
};

static int give(GifFileType *gif, GifByteType *to, int n)
{
    struct source *s = gif->UserData;
    size_t got = (size_t)n < s->left ? (size_t)n : s->left;
    memcpy(to, s->p, got);
    s->p += got;
    s->left -= got;
    return (int)got;
}

/* How often an animation is to be shown. */
static void read_loops(const ExtensionBlock *block, int n)
{
    for (int i = 0; i + 1 < n; i++)
        if (block[i].Function == APPLICATION_EXT_FUNC_CODE && block[i].ByteCount == 11 &&
            memcmp(block[i].Bytes, "NETSCAPE2.0", 11) == 0 && block[i + 1].ByteCount == 3)
            CAROL_BUG(8, CAROL_GT(block[i + 1].Bytes[2], 240), CAROL_EQ(block[i + 1].Bytes[0], 1));
}

static void look_at(GifFileType *gif, int number)
{
    const SavedImage *image = &gif->SavedImages[number];
    const ColorMapObject *map =
        image->ImageDesc.ColorMap ? image->ImageDesc.ColorMap : gif->SColorMap;
    size_t size = (size_t)image->ImageDesc.Width * (size_t)image->ImageDesc.Height;
    GraphicsControlBlock control;
    unsigned top = 0;
    for (size_t i = 0; i < size; i++)
        top = image->RasterBits[i] > top ? image->RasterBits[i] : top;
    if (map)
        CAROL_BUG(9, CAROL_GT(top, map->ColorCount - 1));
    DGifSavedExtensionToGCB(gif, number, &control);
    read_loops(image->ExtensionBlocks, image->ExtensionBlockCount);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct source s = {data, size};
    int error;
    carol_input("gif");
    GifFileType *gif = DGifOpen(&s, give, &error);
    if (!gif)
        return 0;
    if (DGifSlurp(gif) == GIF_OK)
        for (int i = 0; i < gif->ImageCount; i++)
            look_at(gif, i);
    DGifCloseFile(gif, &error);
    return 0;
}
