/* live: the common part of a real instance, open to the arms.
 *
 * The fuzzer runs with DIR (o.dir, absolute) as its working directory, so arms give it relative names
 * ("out", "./ctl.so"): no character of the campaign's path can then be taken for a separator.
 * DIR/ctl is the page, DIR/tmp its TMPDIR (emptied at every start and stop), DIR/log its output,
 * DIR/fault what the library complained about. */
#ifndef CAROL_FUZZER_LIVE_H
#define CAROL_FUZZER_LIVE_H

#include "fuzzer/arm.h"
#include "fuzzer/fuzzer.h"
#include "proc/cage.h"
#include "proc/loop.h"

struct ctl_page;

struct live {
    struct instance in; /* first: a live is an instance */
    const struct arm *arm;
    struct instance_opts o; /* strings copied */
    struct loop *loop;
    struct cage cage;
    struct ctl_page *page; /* mapped DIR/ctl */
    uint64_t offered;      /* imports delivered so far, in all */
    uint64_t batch;        /* the batch under delivery (arm->deliver) */
    void *own;             /* the arm's own state, freed with free() after arm->close */
    /* the rest belongs to fuzzer/instance.c */
    struct live_private *p;
};

/* In the environment of every fuzzer, unless the user or the arm has another.  glibc gives large blocks back to the
 * kernel at once, and a target that allocates them for every input spends its time in page faults: a queue of libpng
 * took eight times as long.  This keeps up to 64 MB. */
#define LIVE_TUNABLES "GLIBC_TUNABLES=glibc.malloc.mmap_max=0:glibc.malloc.trim_threshold=67108864"

/* 0 when the file can be read; otherwise the message says what is missing and what to do.
 * Frees the path. */
CAROL_MUST_CHECK int live_need_file(char *path, const char *what, struct err *e);
/* DIR/ctl.so becomes a link to the control library, a path below the runtimes, and DIR/dict to the dictionary, if there is one: plain
 * names for paths with spaces, colons or "@" in them, at which LD_PRELOAD and afl-fuzz split. */
CAROL_MUST_CHECK int live_link_files(struct live *lv, const char *library, struct err *e);
/* For arm->harvest: DIR has not even what was harvested from it, as after a power cut.  What the fuzzer saves from
 * now on has the numbers of what is gone, so the cursor starts anew. */
void live_begin_again(struct live *lv);

#endif
