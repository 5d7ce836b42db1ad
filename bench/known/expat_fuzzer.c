/* expat_fuzzer: parses the input with Expat, with handlers for elements and their declarations that ask where they are. */
#include <expat.h>
#include <stddef.h>
#include <stdint.h>

static volatile XML_Size sum;

static void on_start(void *parser, const XML_Char *name, const XML_Char **atts)
{
    (void)name;
    (void)atts;
    sum += XML_GetCurrentLineNumber(parser) + XML_GetCurrentColumnNumber(parser);
}

static void on_declaration(void *parser, const XML_Char *name, XML_Content *model)
{
    (void)name;
    XML_FreeContentModel(parser, model);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    XML_Parser p = XML_ParserCreate(NULL);
    XML_UseParserAsHandlerArg(p);
    XML_SetStartElementHandler(p, on_start);
    XML_SetElementDeclHandler(p, on_declaration);
    XML_Parse(p, (const char *)data, (int)size, 1);
    sum += XML_GetCurrentLineNumber(p);
    XML_ParserFree(p);
    return 0;
}
