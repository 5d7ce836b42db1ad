/* cjson_patch: reads its input as two JSON values, prints the first and applies the second to it as a patch, both kinds. */
#include <cJSON.h>
#include <cJSON_Utils.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_TEXT = 1 << 16 };

static void print(const cJSON *value)
{
    free(cJSON_Print(value));
    free(cJSON_PrintUnformatted(value));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = size <= MAX_TEXT ? malloc(size + 1) : NULL;
    const char *rest = NULL;
    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = 0;
    cJSON *value = cJSON_ParseWithOpts(text, &rest, 0);
    cJSON *patch = value ? cJSON_Parse(rest) : NULL;
    if (value)
        print(value);
    if (patch) {
        cJSON *copy = cJSON_Duplicate(value, 1);
        cJSONUtils_ApplyPatches(value, patch);
        copy = cJSONUtils_MergePatch(copy, patch);
        cJSON_Delete(cJSONUtils_GeneratePatches(value, copy));
        cJSON_Delete(copy);
    }
    cJSON_Delete(patch);
    cJSON_Delete(value);
    free(text);
    return 0;
}
