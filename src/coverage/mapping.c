/* mapping: reads the counter expressions of clang's coverage mapping.  The format is that of
 * llvm/docs/CoverageMappingFormat: numbers are LEB128; a counter is a number whose lowest two bits say what the
 * others are: 0 never runs, 1 a counter, 2 the left less the right of a sum, 3 both together. */
#include "coverage/mapping.h"

#include "base/die.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TAG_ZERO, TAG_COUNTER, TAG_LESS, TAG_AND };
#define TAG(c) ((c) & 3)
#define ID(c) ((size_t)((c) >> 2))
enum { KIND_CODE = 0, KIND_SKIPPED = 2, KIND_BRANCH = 4, KIND_DECISION, KIND_DECISION_BRANCH };
#define EXPANDS 4 /* of a region without a counter: it is the use of a macro or an include */

struct reader {
    const unsigned char *p, *end;
    bool bad;
};

static uint64_t number(struct reader *r)
{
    uint64_t v = 0;
    for (unsigned shift = 0; r->p < r->end && shift < 64; shift += 7) {
        v |= (uint64_t)(*r->p & 0x7f) << shift;
        if (!(*r->p++ & 0x80))
            return v;
    }
    r->bad = true;
    return 0;
}

/* How many of something follow, each of at least one byte. */
static size_t count(struct reader *r)
{
    uint64_t n = number(r);
    r->bad = r->bad || n > (uint64_t)(r->end - r->p);
    return r->bad ? 0 : (size_t)n;
}

static void check_counter(struct reader *r, struct mapping_function *f, uint64_t c)
{
    if (TAG(c) == TAG_COUNTER && ID(c) >= f->n_counters)
        f->n_counters = ID(c) + 1;
    if (TAG(c) >= TAG_LESS && ID(c) >= f->n_sums)
        r->bad = true;
    else if (TAG(c) >= TAG_LESS)
        f->sums[ID(c)].less = TAG(c) == TAG_LESS; /* who refers to a sum says what it is */
}

static void read_sums(struct reader *r, struct mapping_function *f)
{
    f->n_sums = count(r);
    f->sums = xcalloc(f->n_sums, sizeof *f->sums);
    for (size_t i = 0; i < f->n_sums; i++) {
        f->sums[i].left = number(r);
        f->sums[i].right = number(r);
        check_counter(r, f, f->sums[i].left);
        check_counter(r, f, f->sums[i].right);
    }
}

static void add_region(struct mapping_function *f, size_t *cap, uint64_t c)
{
    if (TAG(c) == TAG_ZERO)
        return;
    XGROW(f->regions, f->n_regions, *cap);
    f->regions[f->n_regions++] = c;
}

/* A region without a counter of its own in the first number. */
static void read_other(struct reader *r, uint64_t head)
{
    static const unsigned more[] = {
        [KIND_BRANCH] = 2, [KIND_DECISION] = 2, [KIND_DECISION_BRANCH] = 5};
    uint64_t kind = head >> 3;
    if (head & EXPANDS)
        return;
    if (kind > KIND_DECISION_BRANCH) {
        r->bad = true;
        return;
    }
    for (unsigned i = 0; i < more[kind]; i++)
        number(r); /* of branches: no lines depend on them that do not depend on code */
}

static void read_regions(struct reader *r, struct mapping_function *f, size_t files)
{
    size_t cap = 0;
    for (size_t file = 0; file < files && !r->bad; file++)
        for (size_t n = count(r); n > 0 && !r->bad; n--) {
            uint64_t head = number(r);
            check_counter(r, f, head);
            if (TAG(head) == TAG_ZERO)
                read_other(r, head);
            else
                add_region(f, &cap, head);
            for (int place = 0; place < 4; place++)
                number(r);
        }
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void each_once(struct mapping_function *f)
{
    size_t n = 0;
    if (f->n_regions)
        qsort(f->regions, f->n_regions, sizeof *f->regions, by_value);
    for (size_t i = 0; i < f->n_regions; i++)
        if (!n || f->regions[i] != f->regions[n - 1])
            f->regions[n++] = f->regions[i];
    f->n_regions = n;
}

static bool ready(const bool *done, uint64_t c)
{
    return TAG(c) < TAG_LESS || done[ID(c)];
}

/* Which sum after which.  They refer to each other in any order, and in a damaged file in circles. */
static bool order_sums(struct mapping_function *f)
{
    bool *done = xcalloc(f->n_sums, sizeof *done), progress = true;
    uint32_t *stack = xcalloc(f->n_sums, sizeof *stack);
    bool *open = xcalloc(f->n_sums, sizeof *open);
    size_t n = 0;
    f->order = xcalloc(f->n_sums, sizeof *f->order);
    for (size_t i = 0; progress && i < f->n_sums; i++) {
        size_t depth = 0;
        if (!done[i])
            stack[depth++] = (uint32_t)i;
        while (progress && depth) {
            uint32_t top = stack[depth - 1];
            uint64_t next = !ready(done, f->sums[top].left)    ? f->sums[top].left
                            : !ready(done, f->sums[top].right) ? f->sums[top].right
                                                               : 0;
            open[top] = true;
            if (!next) {
                done[top] = true;
                f->order[n++] = top;
                depth--;
            } else if ((progress = !open[ID(next)])) {
                stack[depth++] = (uint32_t)ID(next);
            }
        }
    }
    free(done);
    free(stack);
    free(open);
    return progress;
}

static bool read_function(struct mapping_function *f, const unsigned char *p, size_t size)
{
    struct reader r = {.p = p, .end = p + size};
    size_t files = count(&r);
    for (size_t i = 0; i < files; i++)
        number(&r);
    read_sums(&r, f);
    if (!r.bad)
        read_regions(&r, f, files);
    if (r.bad)
        return false;
    each_once(f);
    return order_sums(f);
}

static void function_free(struct mapping_function *f)
{
    free(f->sums);
    free(f->order);
    free(f->regions);
}

static int by_name(const void *a, const void *b)
{
    const struct mapping_function *x = a, *y = b;
    if (x->name != y->name)
        return x->name < y->name ? -1 : 1;
    return x->hash < y->hash ? -1 : x->hash > y->hash;
}

#define RECORD 28 /* name u64, bytes u32, hash u64, files u64, unaligned; then the bytes */

static uint64_t fixed(const unsigned char *p, size_t n)
{
    uint64_t v = 0;
    memcpy(&v, p, n);
    return v;
}

int mapping_parse(struct mapping *m, const void *section, size_t size, struct err *e)
{
    const unsigned char *base = section;
    *m = (struct mapping){0};
    for (size_t at = 0; size - at >= RECORD;) {
        const unsigned char *p = base + at;
        struct mapping_function f = {.name = fixed(p, 8), .hash = fixed(p + 12, 8)};
        size_t bytes = (size_t)fixed(p + 8, 4);
        if (bytes > size - at - RECORD || !read_function(&f, p + RECORD, bytes)) {
            function_free(&f);
            mapping_free(m);
            return err_set(
                e, -EBADMSG,
                "the coverage mapping of the source build is damaged, or of a clang that "
                "this Carol does not know: build the family 'source' with clang-19");
        }
        XGROW(m->v, m->n, m->cap);
        m->v[m->n++] = f;
        m->most_sums = f.n_sums > m->most_sums ? f.n_sums : m->most_sums;
        at = (at + RECORD + bytes + 7) & ~(size_t)7;
        if (at > size)
            break;
    }
    if (m->n)
        qsort(m->v, m->n, sizeof *m->v, by_name);
    return 0;
}

/* The section by its name; NULL: none. */
static Elf_Data *find_section(Elf *elf, const char *name)
{
    size_t strings;
    if (elf_getshdrstrndx(elf, &strings) != 0)
        return NULL;
    for (Elf_Scn *s = NULL; (s = elf_nextscn(elf, s));) {
        GElf_Shdr sh;
        const char *is = gelf_getshdr(s, &sh) ? elf_strptr(elf, strings, sh.sh_name) : NULL;
        if (is && strcmp(is, name) == 0)
            return elf_rawdata(s, NULL);
    }
    return NULL;
}

int mapping_load(struct mapping *m, const char *binary, struct err *e)
{
    *m = (struct mapping){0};
    elf_version(EV_CURRENT);
    int fd = open(binary, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return err_sys(e, "cannot read the source build %s", binary);
    Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    Elf_Data *d = elf ? find_section(elf, "__llvm_covfun") : NULL;
    int rc = d && d->d_buf
                 ? mapping_parse(m, d->d_buf, d->d_size, e)
                 : err_usage(e, "%s carries no coverage mapping: was it stripped?", binary);
    if (elf)
        elf_end(elf);
    close(fd);
    return rc;
}

const struct mapping_function *mapping_find(const struct mapping *m, uint64_t name, uint64_t hash)
{
    struct mapping_function key = {.name = name, .hash = hash};
    return m->n ? bsearch(&key, m->v, m->n, sizeof *m->v, by_name) : NULL;
}

static uint64_t value(uint64_t c, const uint64_t *counters, const uint64_t *sums)
{
    return TAG(c) == TAG_ZERO ? 0 : TAG(c) == TAG_COUNTER ? counters[ID(c)] : sums[ID(c)];
}

void mapping_sums(const struct mapping_function *f, const uint64_t *counters, uint64_t *scratch)
{
    for (size_t i = 0; i < f->n_sums; i++) {
        const struct mapping_sum *s = &f->sums[f->order[i]];
        uint64_t left = value(s->left, counters, scratch),
                 right = value(s->right, counters, scratch);
        scratch[f->order[i]] = s->less ? left - right : left + right;
    }
}

uint64_t mapping_ran(const struct mapping_function *f, size_t region, const uint64_t *counters,
                     const uint64_t *scratch)
{
    return value(f->regions[region], counters, scratch);
}

void mapping_free(struct mapping *m)
{
    for (size_t i = 0; i < m->n; i++)
        function_free(&m->v[i]);
    free(m->v);
    *m = (struct mapping){0};
}
