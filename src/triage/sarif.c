/* sarif: defects as SARIF 2.1.0, for code hosts and their dashboards. */
#include "triage/output.h"

#include "base/str.h"
#include "journal/json.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* A path as the address of a file: what may not be in one is escaped. */
static char *uri_of(const char *path)
{
    struct buf b = BUF_INIT(BUF_TEXT_MAX);
    buf_str(&b, *path == '/' ? "file://" : "");
    for (const unsigned char *p = (const unsigned char *)path; *p; p++)
        if (isalnum(*p) || strchr("/._-~", *p))
            buf_add(&b, p, 1);
        else
            buf_printf(&b, "%%%02X", *p);
    return buf_take(&b);
}

static const char *rule_of(const struct defect *d, char out[64])
{
    size_t n = strcspn(d->fault, " "); /* without read or write, or the type of an exception */
    n = n < 63 ? n : 63;
    memcpy(out, d->fault, n);
    out[n] = '\0';
    return out;
}

static bool has_rule(json_t *rules, const char *id)
{
    size_t i;
    json_t *r;
    json_array_foreach(rules, i, r) if (strcmp(json_string_value(json_object_get(r, "id")), id) ==
                                        0) return true;
    return false;
}

static json_t *rules_of(const struct defects *d)
{
    json_t *rules = json_array();
    for (size_t i = 0; i < d->n; i++) {
        char id[64];
        rule_of(&d->v[i], id);
        if (has_rule(rules, id))
            continue;
        char *weakness = defect_weakness(&d->v[i]);
        json_array_append_new(rules,
                              json_pack("{s:s,s:{s:s},s:{s:[s]}}", "id", id, "shortDescription",
                                        "text", weakness, "properties", "tags", "fuzzing"));
        free(weakness);
    }
    return rules;
}

static json_t *location_of(const struct defect *d)
{
    json_t *at = json_object();
    if (*d->file) {
        char *uri = uri_of(d->file);
        json_t *place = json_pack("{s:{s:s}}", "artifactLocation", "uri", uri);
        if (d->line > 0)
            json_object_set_new(place, "region", json_pack("{s:i}", "startLine", d->line));
        json_object_set_new(at, "physicalLocation", place);
        free(uri);
    }
    if (*d->function)
        json_object_set_new(at, "logicalLocations",
                            json_pack("[{s:o,s:s}]", "fullyQualifiedName", json_bytes(d->function),
                                      "kind", "function"));
    return at;
}

static json_t *result_of(const struct output *o, const struct defect *d)
{
    char id[64], *weakness = defect_weakness(d);
    char *text = str_fmt("%s in %s (%s), entered through %s; found by %s after %.0f s; %s",
                         d->fault, *d->function ? d->function : "unknown code", weakness,
                         *d->entry ? d->entry : "an unknown function", d->found_by,
                         (double)d->first_seen_ns / 1e9, d->confirmed ? defect_sure(d) : d->why);
    json_t *r = json_pack(
        "{s:s,s:s,s:{s:o},s:[o],s:{s:s},s:{s:s,s:b,s:I}}", "ruleId", rule_of(d, id), "level",
        d->confirmed ? "error" : "warning", "message", "text", json_bytes(text), "locations",
        location_of(d), "partialFingerprints", "carolBucket/v1", d->id, "properties", "class",
        defect_class(d), "confirmed", d->confirmed, "inputs", (json_int_t)d->inputs);
    if (d->cwe) {
        json_object_set_new(r, "taxa",
                            json_pack("[{s:o,s:{s:s}}]", "id", json_sprintf("%d", d->cwe),
                                      "toolComponent", "name", "CWE"));
    }
    if (o->baseline)
        json_object_set_new(r, "baselineState", json_string(d->known ? "unchanged" : "new"));
    free(text);
    free(weakness);
    return r;
}

static json_t *taxonomy_of(const struct defects *d)
{
    json_t *taxa = json_array();
    bool seen[2000] = {false};
    for (size_t i = 0; i < d->n; i++) {
        int cwe = d->v[i].cwe;
        if (cwe <= 0 || cwe >= 2000 || seen[cwe]) /* from the record: any number */
            continue;
        seen[cwe] = true;
        json_array_append_new(taxa, json_pack("{s:o,s:{s:s}}", "id", json_sprintf("%d", cwe),
                                              "shortDescription", "text", cwe_name(cwe)));
    }
    return json_pack("[{s:s,s:s,s:{s:s},s:o}]", "name", "CWE", "organization", "MITRE",
                     "shortDescription", "text", "Common Weakness Enumeration", "taxa", taxa);
}

json_t *output_sarif(const struct output *o)
{
    json_t *results = json_array();
    for (size_t i = 0; i < o->d->n; i++)
        json_array_append_new(results, result_of(o, &o->d->v[i]));
    json_t *run = json_pack("{s:{s:{s:s,s:s,s:o}},s:o,s:o}", "tool", "driver", "name", "carol",
                            "version", CAROL_VERSION, "rules", rules_of(o->d), "taxonomies",
                            taxonomy_of(o->d), "results", results);
    return json_pack("{s:s,s:s,s:[o]}", "$schema", "https://json.schemastore.org/sarif-2.1.0.json",
                     "version", "2.1.0", "runs", run);
}
