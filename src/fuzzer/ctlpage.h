/* ctlpage: the supervisor's side of the control page (runtime/ctl/page.h): map it, start and stop turns. */
#ifndef CAROL_FUZZER_CTLPAGE_H
#define CAROL_FUZZER_CTLPAGE_H

#include "../../runtime/ctl/page.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

/* Map the page file, made new when missing, or brought up to date from version 1; another is an error. */
CAROL_MUST_CHECK int ctlpage_map(const char *path, struct ctl_page **out, struct err *e);
void ctlpage_unmap(struct ctl_page *p);

/* Before a process starts: nobody is attached, no turn is open; what was counted stays. */
void ctlpage_reset(struct ctl_page *p);
/* Open the next turn; it ends after `cycles` more cycles (0: no such limit). */
void ctlpage_go(struct ctl_page *p, uint64_t cycles);
/* In the turn: it ends when the counter of cycles comes to this, or now if it is past it. */
void ctlpage_end_at(struct ctl_page *p, uint64_t cycles);
/* It was stopped by SIGSTOP for so long and is about to go on: no active time. */
void ctlpage_was_stopped(struct ctl_page *p, int64_t ns);
/* Ask for the end of the open turn, or for the end of the process. */
void ctlpage_stop(struct ctl_page *p);
void ctlpage_quit(struct ctl_page *p);
bool ctlpage_parked(const struct ctl_page *p);

static inline uint32_t ctl_get32(const uint32_t *w)
{
    return __atomic_load_n(w, __ATOMIC_ACQUIRE);
}
static inline uint64_t ctl_get64(const uint64_t *w)
{
    return __atomic_load_n(w, __ATOMIC_ACQUIRE);
}
static inline int64_t ctl_get_ns(const int64_t *w)
{
    return __atomic_load_n(w, __ATOMIC_ACQUIRE);
}
static inline void ctl_set32(uint32_t *w, uint32_t v)
{
    __atomic_store_n(w, v, __ATOMIC_RELEASE);
}
static inline void ctl_set64(uint64_t *w, uint64_t v)
{
    __atomic_store_n(w, v, __ATOMIC_RELEASE);
}

#endif
