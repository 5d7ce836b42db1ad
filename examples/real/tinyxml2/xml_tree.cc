/* xml_tree: reads its input as XML, copies the tree, asks every element for its values and prints both trees. */
#include <tinyxml2.h>

#include <cstddef>
#include <cstdint>

enum { MAX_TEXT = 1 << 16 };

static void ask(const tinyxml2::XMLElement *e)
{
    for (; e; e = e->NextSiblingElement()) {
        int number = 0;
        double real = 0;
        e->QueryIntText(&number);
        e->QueryDoubleText(&real);
        for (const tinyxml2::XMLAttribute *a = e->FirstAttribute(); a; a = a->Next())
            a->QueryIntValue(&number);
        ask(e->FirstChildElement()); /* the reader limits the depth */
    }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > MAX_TEXT)
        return 0;
    tinyxml2::XMLDocument document, copy;
    if (document.Parse(reinterpret_cast<const char *>(data), size) != tinyxml2::XML_SUCCESS)
        return 0;
    ask(document.RootElement());
    document.DeepCopy(&copy);
    tinyxml2::XMLPrinter wide, compact(nullptr, true);
    document.Print(&wide);
    copy.Print(&compact);
    return 0;
}
