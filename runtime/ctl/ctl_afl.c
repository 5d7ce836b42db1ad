/* ctl_afl: control of afl-fuzz from its custom mutator hooks: parking, imports, exports.  Mutates
 * nothing itself. */
#include "ctl_afl.h"

#include <execinfo.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Calibration of a new entry takes at most 12 executions, and its last call must be over. */
#define CALIBRATION_CALLS 13
#define MOPT_CYCLE 1000                  /* executions; MOpt tells of no entries */
#define CALIBRATION_NS INT64_C(10000000) /* what a request may wait for a calibration */
#define STEPS_MOST 5000 /* entries passed over in a row on the way to one that is quick */
#define HAVOC_WAIT_NS INT64_C(500000000) /* what imports may wait for a havoc stage, at first */
#define ASK_PERCENT 6 /* afl-fuzz's default: how often havoc asks us for a mutation */

static struct {
    enum ctl_way way;
    uint32_t mode;                   /* of the entry at hand */
    bool fuzzing;                    /* start-up is over */
    bool armed;                      /* the next execution may run an import */
    bool given;                      /* the next execution runs one that carol_import handed out */
    bool hurry;                      /* imports waited too long: only entries that are quick */
    unsigned steps;                  /* entries passed over since then */
    bool ran;                        /* at least one execution since the last queue_get */
    unsigned calibrating;            /* calls left in which nothing may be touched */
    int64_t calibration_ns;          /* when it began; 0: cannot be told */
    int64_t waiting_ns, patience_ns; /* imports wait for a havoc stage since, and may so long */
    unsigned batch;                  /* executions since the last cycle (CTL_WAY_ADDRESS) */
    void *address;                   /* where the first call of all came from */
    void *caller;        /* and where that place was called from: afl-fuzz's calibration */
    unsigned char *copy; /* of an input under calibration */
    size_t copy_room;
    int64_t last_ns, timeout_ns;
} st;

CTL_EXPORTED void *afl_custom_init(void *afl, unsigned seed);
CTL_EXPORTED void afl_custom_deinit(void *data);
CTL_EXPORTED size_t afl_custom_post_process(void *data, unsigned char *buf, size_t n,
                                            unsigned char **out);
CTL_EXPORTED void afl_custom_post_run(void *data);
CTL_EXPORTED unsigned char afl_custom_queue_get(void *data, const unsigned char *name);
CTL_EXPORTED unsigned char afl_custom_queue_new_entry(void *data, const unsigned char *name,
                                                      const unsigned char *parent);

void *afl_custom_init(void *afl, unsigned seed)
{
    (void)afl;
    (void)seed;
    const char *way = getenv(CTL_AFL_ENV_IMPORT), *ms = getenv(CTL_AFL_ENV_TIMEOUT);
    if (way && strcmp(way, "address") == 0)
        st.way = CTL_WAY_ADDRESS;
    else if (way && strcmp(way, "fuzz") == 0)
        st.way = CTL_WAY_FUZZ;
    st.patience_ns = HAVOC_WAIT_NS;
    st.timeout_ns = (ms ? strtoll(ms, NULL, 10) : 1000) * 1000000;
    ctl_afl_on_init();
    unsetenv(CTL_AFL_ENV_IMPORT);
    unsetenv(CTL_AFL_ENV_TIMEOUT);
    unsetenv(CTL_AFL_ENV_SEED);
    return &st;
}

void afl_custom_deinit(void *data)
{
    (void)data;
}

/* CTL_WAY_ADDRESS: is this call the execution of a fresh mutation?  The one after a slow execution may
 * be afl-fuzz's second look at a hang, whose result it does not evaluate. */
static bool may_replace_here(void *from)
{
    if (from != st.address || !ctl_import_pending())
        return false;
    int64_t now = ctl_real_ns(), last = st.last_ns;
    st.last_ns = now;
    return last && now - last < st.timeout_ns - st.timeout_ns / 10;
}

static void count_cycle(void)
{
    if (st.way == CTL_WAY_ADDRESS && st.fuzzing && ++st.batch >= MOPT_CYCLE) {
        st.batch = 0;
        ctl_add_cycle();
    }
}

size_t ctl_afl_import(unsigned char **out)
{
    st.calibrating = 0; /* only asked for where a new execution begins */
    ctl_import_done();
    const struct ctl_record *r = ctl_import_next();
    while (r && r->size == 0) /* afl-fuzz executes nothing empty */
        r = ctl_import_next();
    if (!r)
        return 0;
    *out = (unsigned char *)(uintptr_t)(r + 1);
    return r->size;
}

/* Where the function that called our hook at `from` was itself called from; NULL: cannot be told.  Only
 * asked at start and after finds. */
static void *caller_of(void *from)
{
    void *frames[8];
    int n = backtrace(frames, 8);
    for (int i = 0; i + 1 < n; i++)
        if (frames[i] == from)
            return frames[i + 1];
    return NULL;
}

/* In calibration afl-fuzz keeps the original input and exchanges two buffers for that: once when the hook
 * returned another buffer, and once more afterwards, even if it did not.  After an odd number of
 * calibration runs the buffer it goes on working with in the deterministic stage is the one it takes for
 * free.  So there, and nowhere else, the hook returns a copy. */
static unsigned char *copy_of(unsigned char *buf, size_t n)
{
    if (n > st.copy_room) {
        unsigned char *p = realloc(st.copy, n);
        if (!p)
            return buf;
        st.copy = p;
        st.copy_room = n;
    }
    memcpy(st.copy, buf, n);
    return st.copy;
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

/* Entries, by their number, whose last visit reached the havoc stage: their deterministic stage is done or
 * not due, so they get there again within a few executions.  Until they become favourites: then a
 * deterministic stage is due after all. */
static struct {
    unsigned char *seen;
    size_t room;
    long current;
    bool any;
} quick = {.current = -1};

static void note_quick(void)
{
    if (quick.current < 0 || quick.current > 1 << 24)
        return;
    size_t i = (size_t)quick.current;
    if (i >= quick.room) {
        size_t room = 2 * i + 1024;
        unsigned char *p = realloc(quick.seen, room);
        if (!p)
            return;
        memset(p + quick.room, 0, room - quick.room);
        quick.seen = p;
        quick.room = room;
    }
    quick.seen[i] = 1;
    quick.any = true;
}

static void note_slow(void)
{
    if (quick.current >= 0 && (size_t)quick.current < quick.room)
        quick.seen[quick.current] = 0;
}

/* Is this entry to be fuzzed now? */
static bool is_wanted(const char *name)
{
    const char *id = strstr(name, "/id:");
    quick.current = id ? strtol(id + 4, NULL, 10) : -1;
    size_t i = (size_t)quick.current;
    if (!st.hurry || !quick.any || quick.current < 0 || (i < quick.room && quick.seen[i]))
        return true;
    return ++st.steps > STEPS_MOST;
}

/* Imports need a havoc stage, and the deterministic stage of one entry may take a quarter of an hour on a
 * slow target.  SIGUSR1 makes afl-fuzz put the entry off; each time the next may take twice as long. */
static void hurry_to_havoc(void *from)
{
    if (st.way != CTL_WAY_HAVOC || from != st.address)
        return;
    if (st.armed || !ctl_import_pending()) {
        st.waiting_ns = 0;
        st.patience_ns = HAVOC_WAIT_NS;
        st.hurry = false;
        return;
    }
    int64_t now = ctl_real_ns();
    if (!st.waiting_ns) {
        st.waiting_ns = now;
    } else if (now - st.waiting_ns > st.patience_ns) {
        st.waiting_ns = now;
        st.patience_ns *= 2;
        st.hurry = true;
        st.steps = 0;
        note_slow();
        raise(SIGUSR1);
    }
}

bool ctl_afl_leaving(void)
{
    return ctl_page && st.fuzzing && st.mode != __atomic_load_n(&ctl_page->mode, __ATOMIC_ACQUIRE);
}

/* What the mode of the turn before had begun is put off, after an import under way.  Said at every execution: some
 * stages of afl-fuzz end at the signal, but not the entry. */
static bool leave(void)
{
    if (!ctl_afl_leaving() || ctl_import_id() >= 0)
        return false;
    st.armed = false;
    raise(SIGUSR1);
    return true;
}

static void park_here(void)
{
    ctl_safe_point();
    st.last_ns = st.waiting_ns = 0;
    st.patience_ns = HAVOC_WAIT_NS;
}

size_t afl_custom_post_process(void *data, unsigned char *buf, size_t n, unsigned char **out)
{
    void *from = __builtin_return_address(0);
    (void)data;
    *out = buf;
    if (!ctl_page)
        return n;
    if (!st.address) {
        st.address = from;
        st.caller = caller_of(from);
    }
    if (st.given) {
        st.given = false;
        return n;
    }
    if (st.way != CTL_WAY_FUZZ)
        ctl_import_done();
    if (st.calibrating) {
        st.calibrating--;
        st.armed = false;
        st.last_ns = 0;
        park_in_calibration();
        leave();
        if (st.way == CTL_WAY_HAVOC && st.caller && caller_of(from) == st.caller)
            *out = copy_of(buf, n);
        return n;
    }
    if (!st.fuzzing) {
        st.fuzzing = __atomic_load_n(&ctl_page->started, __ATOMIC_ACQUIRE) != 0;
        if (!st.fuzzing)
            return n;
    }
    if (ctl_parking_wanted() || !ctl_page->ready)
        park_here();
    if (leave())
        return n;
    hurry_to_havoc(from);
    bool now =
        st.way == CTL_WAY_HAVOC ? st.armed : st.way == CTL_WAY_ADDRESS && may_replace_here(from);
    st.armed = false;
    if (now) {
        size_t size = ctl_afl_import(out);
        st.last_ns = 0;
        if (size)
            return size;
    }
    *out = buf;
    return n;
}

/* The CmpLog stage of our afl-fuzz asks between its executions (engines/changes.txt): the length of an import that it
 * is to run now, or 0.  It may work for long without an execution, so this is a place to park, too. */
CTL_EXPORTED uint32_t carol_import(unsigned char **out);
uint32_t carol_import(unsigned char **out)
{
    if (!ctl_page || !st.fuzzing || st.way != CTL_WAY_HAVOC)
        return 0;
    ctl_import_done();
    if (ctl_parking_wanted())
        park_here();
    size_t size = ctl_import_pending() ? ctl_afl_import(out) : 0;
    st.given = size != 0;
    return (uint32_t)size;
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
    if (st.ran && st.fuzzing && st.way != CTL_WAY_ADDRESS)
        ctl_add_cycle();
    st.ran = false;
    st.fuzzing = true;
    st.calibrating = 0; /* whatever was calibrated is done before the next entry begins */
    ctl_safe_point();
}

unsigned char afl_custom_queue_get(void *data, const unsigned char *name)
{
    (void)data;
    if (!st.mode) /* else it has begun */
        begin_entry();
    return is_wanted((const char *)name);
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
    st.armed = st.hurry = false;
    st.waiting_ns = st.last_ns = 0;
    st.patience_ns = HAVOC_WAIT_NS;
    st.batch = 0;
    ctl_drop_cycle();
    return st.mode;
}

void ctl_afl_take_by(enum ctl_way way)
{
    st.way = way;
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

/* Only the havoc stage asks for this; its buffer may be replaced before the execution. */
CTL_EXPORTED size_t afl_custom_havoc_mutation(void *data, unsigned char *buf, size_t n,
                                              unsigned char **out, size_t max);
size_t afl_custom_havoc_mutation(void *data, unsigned char *buf, size_t n, unsigned char **out,
                                 size_t max)
{
    (void)data;
    (void)max;
    *out = buf;
    st.calibrating = 0;
    note_quick();
    st.armed = st.way == CTL_WAY_HAVOC && ctl_import_pending();
    return n;
}

/* Asked once, at the beginning of a havoc stage.  A call of ours costs no mutation, afl-fuzz does its own at
 * every step; so while imports wait it asks at every step, and they are the first executions of the stage:
 * on a slow target it may have no more than a dozen. */
CTL_EXPORTED unsigned char afl_custom_havoc_mutation_probability(void *data);
unsigned char afl_custom_havoc_mutation_probability(void *data)
{
    (void)data;
    return st.way == CTL_WAY_HAVOC && ctl_import_pending() ? 100 : ASK_PERCENT;
}

/* afl-fuzz sleeps after warnings, for somebody to read them. */
CTL_EXPORTED unsigned sleep(unsigned seconds)
{
    (void)seconds;
    return 0;
}
