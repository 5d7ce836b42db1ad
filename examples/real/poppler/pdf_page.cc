/* pdf_page: opens its input as a PDF file, reads the text of the first pages and paints them in small. */
#include <poppler-document.h>
#include <poppler-global.h>
#include <poppler-image.h>
#include <poppler-page-renderer.h>
#include <poppler-page.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

enum { MAX_SIZE = 1 << 18, MAX_PAGES = 2, PIXELS = 128 };

static void say_nothing(const std::string &, void *)
{
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1 || size > MAX_SIZE)
        return 0;
    poppler::set_debug_error_function(say_nothing, nullptr);
    std::unique_ptr<poppler::document> doc(poppler::document::load_from_raw_data(
        reinterpret_cast<const char *>(data), static_cast<int>(size)));
    if (!doc || doc->is_locked())
        return 0;
    poppler::page_renderer painter;
    painter.set_render_hint(poppler::page_renderer::text_antialiasing, true);
    for (int i = 0; i < std::min<int>(doc->pages(), MAX_PAGES); i++) {
        std::unique_ptr<poppler::page> page(doc->create_page(i));
        if (!page)
            continue;
        page->text();
        painter.render_page(page.get(), 18, 18, 0, 0, PIXELS, PIXELS);
    }
    return 0;
}
