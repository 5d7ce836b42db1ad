/* pdf_render: opens its input as a PDF document in memory, draws its first pages and takes the text out of them. */
#include <GlobalParams.h>
#include <OutputDev.h>
#include <PDFDoc.h>
#include <SplashOutputDev.h>
#include <Stream.h>
#include <TextOutputDev.h>

#include <cstddef>
#include <cstdint>
#include <memory>

enum { MAX_SIZE = 1 << 18, MAX_PAGES = 4, DPI = 36, MAX_POINTS = 2000 };

static void forget(void *stream, const char *text, int length)
{
    (void)stream;
    (void)text;
    (void)length;
}

static void show(PDFDoc *document, OutputDev *out, int page)
{
    document->displayPage(out, page, DPI, DPI, 0, true, false, false);
}

extern "C" int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    globalParams = std::make_unique<GlobalParams>();
    globalParams->setErrQuiet(true);
    return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > MAX_SIZE)
        return 0;
    PDFDoc document(new MemStream(reinterpret_cast<const char *>(data), 0,
                                  static_cast<Goffset>(size), Object(objNull)));
    if (!document.isOk())
        return 0;
    SplashColor white = {255, 255, 255};
    SplashOutputDev picture(splashModeRGB8, 4, false, white);
    TextOutputDev text(forget, nullptr, false, 0, false);
    picture.startDoc(&document);
    for (int page = 1; page <= document.getNumPages() && page <= MAX_PAGES; page++) {
        if (document.getPageMediaWidth(page) > MAX_POINTS ||
            document.getPageMediaHeight(page) > MAX_POINTS)
            continue;
        show(&document, &picture, page);
        show(&document, &text, page);
    }
    return 0;
}
