/* page: what every page of ours begins and ends with: the reports' and the benchmark's. */
#ifndef CAROL_REPORT_PAGE_H
#define CAROL_REPORT_PAGE_H

#include "base/buf.h"
#include "report/report.h"

/* <head>, and <body> without anything in it; the caller opens <main>. */
void page_begin(struct buf *out, const char *title, enum report_form form);
/* Closes <main>, adds the script, ends the page. */
void page_end(struct buf *out, enum report_form form);

#endif
