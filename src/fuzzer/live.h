/* live: the common part of a real instance, open to the arms. */
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
    struct ctl_page *page;  /* mapped DIR/ctl */
    uint64_t offered;       /* imports delivered so far, in all */
    void *own;              /* the arm's own state, freed with free() */
    /* the rest belongs to fuzzer/instance.c */
    struct live_private *p;
};

#endif
