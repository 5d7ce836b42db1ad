/* markup_read: parses the input with Expat, with namespaces and with everything reported.
 * A form feed, which no document may contain, ends the document; what follows is the text of every external entity. */
#include "oracle.h"

#include <expat_config.h>

#include <expat.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { LONGEST = 8192, EXPANDED = 16384, FEED = 12, DEEPEST = 3 };

struct text {
    const char *at; /* of external entities */
    int size;
    int depth; /* how many of them are open */
};

static void started(void *u, const XML_Char *name, const XML_Char **attributes)
{
    (void)u, (void)name, (void)attributes;
}

static void named(void *u, const XML_Char *name)
{
    (void)u, (void)name;
}

static void reached(void *u)
{
    (void)u;
}

static void spelled(void *u, const XML_Char *s, int n)
{
    (void)u, (void)s, (void)n;
}

static void paired(void *u, const XML_Char *a, const XML_Char *b)
{
    (void)u, (void)a, (void)b;
}

static void opened(void *u, const XML_Char *name, const XML_Char *system, const XML_Char *public_,
                   int internal)
{
    (void)u, (void)name, (void)system, (void)public_, (void)internal;
}

static void noted(void *u, const XML_Char *name, const XML_Char *base, const XML_Char *system,
                  const XML_Char *public_)
{
    (void)u, (void)name, (void)base, (void)system, (void)public_;
}

static void listed(void *u, const XML_Char *element, const XML_Char *name, const XML_Char *type,
                   const XML_Char *value, int required)
{
    (void)u, (void)element, (void)name, (void)type, (void)value, (void)required;
}

static void declared(void *u, const XML_Char *name, int parameter, const XML_Char *value, int n,
                     const XML_Char *base, const XML_Char *system, const XML_Char *public_,
                     const XML_Char *notation)
{
    (void)u, (void)name, (void)parameter, (void)value, (void)n;
    (void)base, (void)system, (void)public_, (void)notation;
}

static void versioned(void *u, const XML_Char *version, const XML_Char *encoding, int standalone)
{
    (void)u, (void)version, (void)encoding, (void)standalone;
}

static void skipped(void *u, const XML_Char *name, int parameter)
{
    (void)u, (void)name, (void)parameter;
}

static void modelled(void *parser, const XML_Char *name, XML_Content *model)
{
    (void)name;
    XML_FreeContentModel(parser, model);
}

static int agreed(void *u)
{
    (void)u;
    return 1;
}

/* Every external entity has the same text. */
static int referred(XML_Parser parser, const XML_Char *context, const XML_Char *base,
                    const XML_Char *system, const XML_Char *public_)
{
    struct text *text = XML_GetUserData(parser);
    (void)base, (void)system, (void)public_;
    if (text->depth == DEEPEST)
        return 1;
    XML_Parser inner = XML_ExternalEntityParserCreate(parser, context, NULL);
    if (!inner)
        return 0;
    XML_UseParserAsHandlerArg(inner);
    text->depth++;
    int ok = XML_Parse(inner, text->at, text->size, 1) == XML_STATUS_OK;
    text->depth--;
    XML_ParserFree(inner);
    return ok;
}

static void listen_to(XML_Parser p)
{
    XML_SetElementHandler(p, started, named);
    XML_SetCharacterDataHandler(p, spelled);
    XML_SetProcessingInstructionHandler(p, paired);
    XML_SetCommentHandler(p, named);
    XML_SetCdataSectionHandler(p, reached, reached);
    XML_SetDefaultHandlerExpand(p, spelled);
    XML_SetDoctypeDeclHandler(p, opened, reached);
    XML_SetNotationDeclHandler(p, noted);
    XML_SetNamespaceDeclHandler(p, paired, named);
    XML_SetNotStandaloneHandler(p, agreed);
    XML_SetExternalEntityRefHandler(p, referred);
    XML_SetSkippedEntityHandler(p, skipped);
    XML_SetElementDeclHandler(p, modelled);
    XML_SetAttlistDeclHandler(p, listed);
    XML_SetEntityDeclHandler(p, declared);
    XML_SetXmlDeclHandler(p, versioned);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    carol_input("markup");
    if (size > LONGEST)
        return 0;
    const char *feed = size ? memchr(data, FEED, size) : NULL;
    size_t own = feed ? (size_t)(feed - (const char *)data) : size;
    struct text text = {feed ? feed + 1 : "", feed ? (int)(size - own - 1) : 0, 0};
    XML_Parser p = XML_ParserCreateNS(NULL, '|');
    if (!p)
        return 0;
    listen_to(p);
    XML_SetUserData(p, &text);
    XML_UseParserAsHandlerArg(p);
    XML_SetReturnNSTriplet(p, 1);
    XML_SetHashSalt(p, 1);
    XML_SetParamEntityParsing(p, XML_PARAM_ENTITY_PARSING_ALWAYS);
    XML_SetBillionLaughsAttackProtectionActivationThreshold(p, EXPANDED);
    XML_SetBillionLaughsAttackProtectionMaximumAmplification(p, 4);
    XML_Parse(p, (const char *)data, (int)own, 1);
    XML_ParserFree(p);
    return 0;
}
