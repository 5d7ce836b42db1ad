/* xml_read: parses a document from memory, the options taken from its first byte, and writes it out
 * again; then once more through the pull reader. */
#include <libxml/parser.h>
#include <libxml/tree.h>
#include <libxml/xmlreader.h>
#include <stddef.h>
#include <stdint.h>

static void quiet(void *ctx, const char *text, ...)
{
    (void)ctx;
    (void)text;
}

static int options_of(uint8_t b)
{
    int o = XML_PARSE_NONET;
    o |= b & 1 ? XML_PARSE_RECOVER : 0;
    o |= b & 2 ? XML_PARSE_NOENT : 0;
    o |= b & 4 ? XML_PARSE_DTDATTR : 0;
    o |= b & 8 ? XML_PARSE_DTDVALID : 0;
    o |= b & 16 ? XML_PARSE_XINCLUDE : 0;
    return o | (b & 32 ? XML_PARSE_SAX1 : 0);
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    xmlInitParser();
    xmlSetGenericErrorFunc(NULL, quiet);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2 || size > 1000000)
        return 0;
    const char *text = (const char *)data + 1;
    int n = (int)size - 1, options = options_of(data[0]);
    xmlDocPtr doc = xmlReadMemory(text, n, "input.xml", NULL, options);
    if (doc) {
        xmlChar *out = NULL;
        int length = 0;
        xmlDocDumpMemory(doc, &out, &length);
        xmlFree(out);
        xmlFreeDoc(doc);
    }
    xmlTextReaderPtr reader = xmlReaderForMemory(text, n, "input.xml", NULL, options);
    while (reader && xmlTextReaderRead(reader) == 1)
        xmlTextReaderConstName(reader);
    xmlFreeTextReader(reader);
    xmlResetLastError();
    return 0;
}
