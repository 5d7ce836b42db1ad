/* json_read: parses the input with cJSON and prints it; where it has the members "doc" and "patch",
 * applies the one to the other; and strips the text of blanks and comments. */
#include "oracle.h"

#include <cJSON.h>
#include <cJSON_Utils.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void minify(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 2); /* cJSON may look one past the end */
    if (!text)
        return;
    memcpy(text, data, size);
    text[size] = text[size + 1] = 0;
    cJSON_Minify(text);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    carol_input("json");
    cJSON *all = cJSON_ParseWithLength((const char *)data, size);
    cJSON *doc = cJSON_GetObjectItem(all, "doc"), *patch = cJSON_GetObjectItem(all, "patch");
    if (doc && patch && doc != patch)
        cJSONUtils_ApplyPatches(doc, patch);
    char *text = all ? cJSON_Print(all) : NULL;
    cJSON_free(text);
    cJSON_Delete(all);
    minify(data, size);
    return 0;
}
