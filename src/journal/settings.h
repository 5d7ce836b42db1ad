/* settings: what a campaign was asked to do.  One table declares every setting: its name on the command line
 * and in the record, its default, whether a resume may change it, and its help.  `carol fuzz` takes its
 * options from it, the record is written and read by it.
 *
 *     settings_defaults(&s, &e);
 *     settings_set(&s, &settings_table[i], "5s", &e);    // as typed by the user
 *     settings_resolve(&s, &table, &e);                  // what was left open is decided
 *     settings_facts(&s, &facts) ... settings_read(&s, store, &e);
 *     settings_free(&s);
 */
#ifndef CAROL_JOURNAL_SETTINGS_H
#define CAROL_JOURNAL_SETTINGS_H

#include "base/err.h"
#include "base/str.h"
#include "journal/fold.h"
#include "reward/reward.h"
#include "store/store.h"
#include "target/table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a fuzzer is given of what the others find (METHOD §4). */
enum share_kind { SHARE_ALL = 0, SHARE_WORTH };

/* Has every fuzzer instances of its own, all alike or varied (METHOD R19g), or are those that can modes of shared ones
 * (METHOD R19e)? */
enum instances_kind { INSTANCES_OWN = 0, INSTANCES_FUSED, INSTANCES_VARIED };

/* What stands in for a dictionary: nothing, or what the build noted (target/words.h)? */
enum words_kind { WORDS_NONE = 0, WORDS_TARGET };

struct settings {
    char *out;            /* campaign directory */
    char *build, *target; /* build directory and target name (NULL: the only one) */
    struct strv seeds;    /* files, directories, zips */
    char *dict;
    struct strv fuzzers; /* roster */
    char *scheduler, *params;
    int jobs;          /* slots */
    int64_t budget_ns; /* 0: until stopped */
    int64_t turn_ns;   /* T_I; 0 until settings_resolve: by the budget */
    uint64_t seed;
    uint64_t mem_bytes;
    uint32_t timeout_ms; /* a hang takes longer */
    uint32_t exec_ms;    /* a fuzzer gives a run up after this long; 0: by the seeds */
    struct strv args;    /* of a main() program, with @@ */
    enum reward_kind reward;
    enum share_kind share;
    enum instances_kind instances;
    enum words_kind words;
    bool share_new_only; /* share only inputs with a new edge on the neutral build */
    /* of this life, not of the campaign: */
    bool resume;
    bool budget_given;  /* on resume: -d was given again */
    int64_t plateau_ns; /* stop after this long without a new edge; 0: never */
    bool stop_on_crash;
    int stop_on_defect; /* end when so many are known; 0: never */
    bool no_triage;
    char *exec, *webhook; /* told of each new defect */
    char *engines;
    bool quiet;
    char *
        web; /* where the live page is served: ADDR:PORT, or empty: the default place; NULL: nowhere */
    char *web_token; /* file */
    bool paper;      /* what was not given is as in the paper (settings_paper) */
};

enum setting_kind {
    SET_NONE = 0,
    SET_TEXT,
    SET_PATH,   /* made absolute: a campaign may be resumed from another directory */
    SET_PATHS,  /* may be repeated */
    SET_RESUME, /* the directory of a campaign to go on with */
    SET_ROSTER, /* fuzzers and rosters: a,b,c */
    SET_WORDS,  /* after --, never an option */
    SET_PARAMS, /* KEY=VALUE, may be repeated */
    SET_TIME,
    SET_MEMORY,
    SET_INT,
    SET_U32,
    SET_U64,
    SET_FLAG,
    SET_REWARD,
    SET_CHOICE, /* one of `names`, recorded by name */
    SET_PLACE,  /* its value may be left out: the empty one */
};

struct setting {
    const char *key; /* in the record; NULL: not recorded */
    enum setting_kind kind;
    size_t at; /* its field */
    const char *flag;
    int letter;               /* -x; 0: none */
    const char *arg;          /* what the help calls its value; NULL: it has none */
    const char *preset;       /* the default as typed; NULL: none, or decided in the code */
    const char *paper;        /* what --paper makes of it; NULL: the same */
    const char *const *names; /* of a choice, the paper's first, NULL behind the last */
    uint64_t lo, hi;          /* of numbers and times (ns) */
    bool again;               /* may be given with --resume */
    bool later;               /* older records lack it: they were made as in the paper */
    const char *help;
};
extern const struct setting settings_table[];
extern const size_t settings_count;

CAROL_MUST_CHECK int settings_defaults(struct settings *s, struct err *e);
/* The paper's configuration where it differs from the defaults.  The roster is the caller's business. */
CAROL_MUST_CHECK int settings_paper(struct settings *s, struct err *e);
/* A value as typed; lists grow. */
CAROL_MUST_CHECK int settings_set(struct settings *s, const struct setting *st, const char *text,
                                  struct err *e);
/* T_I where the user leaves it open: the budget of all workers in 4,320 turns, between 2 s and 120 s (the
 * paper's day on six cores gives 120 s); no end counts as a day. */
int64_t settings_turn(int64_t budget_ns, int jobs);
/* After how many ms a fuzzer gives a run up (METHOD R22a): exec_ms, or five times what the slowest seed took, in steps
 * of 5 ms; never more than timeout_ms. */
uint32_t settings_exec_ms(const struct settings *s, uint32_t slowest_us);
/* Check the scheduler and its options, and put the values in force into params, so that the record names every
 * constant the campaign was decided with; decide the length of a turn. */
CAROL_MUST_CHECK int settings_resolve(struct settings *s, const struct table *t, struct err *e);

/* The recorded ones as facts, texts owned by the list. */
struct facts {
    struct store_fact *v;
    size_t n, cap;
};
void facts_add(struct facts *f, const char *key, char *value); /* copies key, takes value */
void facts_free(struct facts *f);
void settings_facts(const struct settings *s, struct facts *out);
/* Overwrites every recorded field. */
CAROL_MUST_CHECK int settings_read(struct settings *s, struct store *st, struct err *e);
void settings_free(struct settings *s);

void settings_fold(const struct settings *s, const struct table *t, struct fold_settings *out);

#endif
