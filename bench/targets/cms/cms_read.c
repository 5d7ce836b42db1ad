/* cms_read: opens a colour profile from memory, reads all its tags, and turns a few colours into sRGB. */
#include <lcms2.h>
#include <stddef.h>
#include <stdint.h>

static void quiet(cmsContext ctx, cmsUInt32Number code, const char *text)
{
    (void)ctx;
    (void)code;
    (void)text;
}

static void transform(cmsHPROFILE from)
{
    cmsHPROFILE to = cmsCreate_sRGBProfile();
    cmsUInt32Number format = cmsFormatterForColorspaceOfProfile(from, 2, FALSE);
    cmsHTRANSFORM t = to && format
                          ? cmsCreateTransform(from, format, to, TYPE_RGB_8, INTENT_PERCEPTUAL, 0)
                          : NULL;
    if (t) {
        static const uint16_t colours[4 * cmsMAXCHANNELS] = {0, 65535, 128, 40000, 7};
        uint8_t out[4 * 3];
        cmsDoTransform(t, colours, out, 4);
        cmsDeleteTransform(t);
    }
    if (to)
        cmsCloseProfile(to);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cmsSetLogErrorHandler(quiet);
    cmsHPROFILE p = cmsOpenProfileFromMem(data, (cmsUInt32Number)size);
    if (!p)
        return 0;
    cmsInt32Number n = cmsGetTagCount(p);
    for (cmsInt32Number i = 0; i < n && i < 100; i++)
        cmsReadTag(p, cmsGetTagSignature(p, (cmsUInt32Number)i));
    transform(p);
    cmsCloseProfile(p);
    return 0;
}
