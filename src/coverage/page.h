/* page: who was first on each line as CSV, JSON and HTML pages. */
#ifndef CAROL_COVERAGE_PAGE_H
#define CAROL_COVERAGE_PAGE_H

#include "base/buf.h"
#include "coverage/coverage.h"

#include <jansson.h>

void page_csv(const struct coverage *c, struct buf *out);
/* The counts alone; what `carol coverage --json` prints. */
json_t *page_summary(const struct coverage *c);
/* The same and every line. */
json_t *page_json(const struct coverage *c);
/* The index, and the page of one file of source with its text where that can be read. */
void page_index(const struct coverage *c, struct buf *out);
void page_file(const struct coverage *c, const struct lcov_file *f, struct buf *out);

#endif
