/* ctl_afl: control of afl-fuzz from its custom mutator hooks: parking, imports, exports.  Mutates
 * nothing itself. */
#include "ctl_afl.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* Calibration of a new entry takes at most 12 executions, and its last call must be over. */
#define CALIBRATION_CALLS 13
#define BATCH 1000 /* executions: a cycle of a fuzzer that tells of no entries */
#define CALIBRATION_NS INT64_C(10000000) /* what a request may wait for a calibration */

static struct {
    bool by_batches;        /* a cycle is a batch, not an entry */
    uint32_t mode;          /* of the entry at hand */
    bool fuzzing;           /* start-up is over */
    bool given;             /* the next execution runs an import */
    bool ran;               /* at least one execution since the last queue_get */
    unsigned calibrating;   /* calls left in which nothing may be touched */
    int64_t calibration_ns; /* when it began; 0: cannot be told */
    unsigned batch;         /* executions since the last cycle */
} st;

CTL_EXPORTED void *afl_custom_init(void *afl, unsigned seed);
CTL_EXPORTED void afl_custom_deinit(void *data);
CTL_EXPORTED size_t afl_custom_post_process(void *data, unsigned char *buf, size_t n,
                                            unsigned char **out);
CTL_EXPORTED void afl_custom_post_run(void *data);
CTL_EXPORTED unsigned char afl_custom_queue_get(void *data, const unsigned char *name);
CTL_EXPORTED unsigned char afl_custom_queue_new_entry(void *data, const unsigned char *name,
                                                      const unsigned char *parent);
CTL_EXPORTED uint32_t carol_next_import(unsigned char **out);

void *afl_custom_init(void *afl, unsigned seed)
{
    (void)afl;
    (void)seed;
    st.by_batches = getenv(CTL_AFL_ENV_BATCHES) != NULL;
    ctl_afl_on_init();
    unsetenv(CTL_AFL_ENV_BATCHES);
    unsetenv(CTL_AFL_ENV_SEED);
    return &st;
}

void afl_custom_deinit(void *data)
{
    (void)data;
}

static void count_cycle(void)
{
    if (st.by_batches && st.fuzzing && ++st.batch >= BATCH) {
        st.batch = 0;
        ctl_add_cycle();
    }
}

/* A calibration is let finish; only where executions are so slow that the supervisor would have to wait
 * we park in it.  What it measures does not suffer: its clock stands still meanwhile. */
static void park_in_calibration(void)
{
    unsigned ran = CALIBRATION_CALLS - 1 - st.calibrating;
    if (!st.fuzzing || !ran || !ctl_parking_wanted())
        return;
    int64_t each = (ctl_real_ns() - st.calibration_ns) / ran;
    if (st.calibration_ns && each * st.calibrating < CALIBRATION_NS)
        return;
    ctl_safe_point();
    st.calibration_ns = 0;
}

bool ctl_afl_leaving(void)
{
    return ctl_page && st.fuzzing && st.mode != __atomic_load_n(&ctl_page->mode, __ATOMIC_ACQUIRE);
}

/* What the mode of the turn before had begun is put off.  Said at every execution: some stages of afl-fuzz end at the
 * signal, but not the entry. */
static void leave(void)
{
    if (ctl_afl_leaving())
        raise(SIGUSR1);
}

size_t afl_custom_post_process(void *data, unsigned char *buf, size_t n, unsigned char **out)
{
    (void)data;
    *out = buf;
    if (!ctl_page)
        return n;
    if (st.given) {
        st.given = false;
        return n;
    }
    ctl_import_done();
    if (st.calibrating) {
        st.calibrating--;
        park_in_calibration();
        leave();
        return n;
    }
    if (!st.fuzzing) {
        st.fuzzing = __atomic_load_n(&ctl_page->started, __ATOMIC_ACQUIRE) != 0;
        if (!st.fuzzing)
            return n;
    }
    if (ctl_parking_wanted() || !ctl_page->ready)
        ctl_safe_point();
    leave();
    return n;
}

/* Our afl-fuzz asks before every execution of its stages (engines/changes.txt): the length of an import that it is to
 * run first, or 0.  Its CmpLog stage also asks where it works for long without an execution, so this is a place to park, too.
 * Imports of a turn in another mode wait for the entry that begins in it. */
uint32_t carol_next_import(unsigned char **out)
{
    if (!ctl_page || !st.fuzzing)
        return 0;
    st.calibrating = 0;
    ctl_import_done();
    if (ctl_parking_wanted())
        ctl_safe_point();
    if (ctl_afl_leaving() || !ctl_import_pending())
        return 0;
    const struct ctl_record *r = ctl_import_next();
    while (r && r->size == 0) /* afl-fuzz executes nothing empty */
        r = ctl_import_next();
    st.given = r != NULL;
    if (!r)
        return 0;
    *out = (unsigned char *)(uintptr_t)(r + 1);
    return r->size;
}

void afl_custom_post_run(void *data)
{
    (void)data;
    st.ran = true;
    ctl_add_exec();
    count_cycle();
}

static void begin_entry(void)
{
    if (st.ran && st.fuzzing && !st.by_batches)
        ctl_add_cycle();
    st.ran = false;
    st.fuzzing = true;
    st.calibrating = 0; /* whatever was calibrated is done before the next entry begins */
    ctl_safe_point();
}

unsigned char afl_custom_queue_get(void *data, const unsigned char *name)
{
    (void)data;
    (void)name;
    if (!st.mode) /* else it has begun */
        begin_entry();
    return 1;
}

uint32_t ctl_afl_next_entry(void)
{
    if (!ctl_page)
        return CTL_MODE_NONE;
    if (ctl_afl_leaving()) /* a cut entry is no cycle of the mode that follows */
        st.ran = false;
    ctl_import_done();
    begin_entry();
    if (!ctl_afl_leaving())
        return st.mode;
    st.mode = __atomic_load_n(&ctl_page->mode, __ATOMIC_ACQUIRE);
    st.batch = 0;
    ctl_drop_cycle();
    return st.mode;
}

void ctl_afl_count_batches(bool yes)
{
    st.by_batches = yes;
}

unsigned char afl_custom_queue_new_entry(void *data, const unsigned char *name,
                                         const unsigned char *parent)
{
    (void)data;
    if (!parent) /* the start corpus */
        return 0;
    const char *path = (const char *)name, *slash = strrchr(path, '/');
    int64_t import = ctl_import_id();
    ctl_export(slash ? slash + 1 : path, import);
    st.calibrating = CALIBRATION_CALLS;
    st.calibration_ns = ctl_real_ns();
    if (import < 0)
        ctl_afl_on_new_entry();
    return 0;
}

/* afl-fuzz sleeps after warnings, for somebody to read them. */
CTL_EXPORTED unsigned sleep(unsigned seconds);
unsigned sleep(unsigned seconds)
{
    (void)seconds;
    return 0;
}
