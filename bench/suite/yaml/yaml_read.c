/* yaml_read: loads every document of the input with libyaml. */
#include "oracle.h"

#include <stddef.h>
#include <stdint.h>
#include <yaml.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    yaml_parser_t parser;
    yaml_document_t document;
    carol_input("yaml");
    if (!yaml_parser_initialize(&parser))
        return 0;
    yaml_parser_set_input_string(&parser, data, size);
    for (int more = 1; more;) {
        if (!yaml_parser_load(&parser, &document))
            break;
        more = yaml_document_get_root_node(&document) != NULL;
        yaml_document_delete(&document);
    }
    yaml_parser_delete(&parser);
    return 0;
}
