/* report: finds the fault and the stack in what a program printed.  Runs nothing. */
#include "triage/report.h"

#include "base/die.h"
#include "base/hash.h"
#include "base/str.h"
#include "triage/frame.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FRAMES_MAX 512
#define RECURSION 4 /* a function that often on the stack is recursive */

struct stack {
    struct frame f[FRAMES_MAX];
    size_t n;
};

/* --- stacks ------------------------------------------------------------------------------------- */

/* Frames from the first line that is one, until the first that is none. */
static void read_stack(struct stack *s, const char *text)
{
    s->n = 0;
    for (const char *p = text; *p && s->n < FRAMES_MAX;) {
        size_t len = strcspn(p, "\n");
        bool is = frame_parse(&s->f[s->n], p, len);
        if (is && s->n && s->f[s->n].n == 0) {
            frame_free(&s->f[s->n]); /* another stack */
            return;
        }
        s->n += is;
        if (!is && s->n)
            return;
        p += len + (p[len] == '\n');
    }
}

static void free_stack(struct stack *s)
{
    for (size_t i = 0; i < s->n; i++)
        frame_free(&s->f[i]);
    s->n = 0;
}

/* The first own frame; without one, the first that may be, by its name or at least by its address.  n: none. */
static size_t first_own(const struct stack *s)
{
    size_t i = 0;
    while (i < s->n && frame_owner(&s->f[i]) != FRAME_OWN)
        i++;
    if (i < s->n)
        return i;
    for (i = 0; i < s->n; i++)
        if (frame_owner(&s->f[i]) == FRAME_UNKNOWN && *s->f[i].function)
            return i;
    for (i = 0; i < s->n; i++)
        if (frame_owner(&s->f[i]) == FRAME_UNKNOWN && *s->f[i].module)
            return i;
    return s->n;
}

/* How often the function of frame i is on the stack. */
static size_t times(const struct stack *s, size_t i)
{
    size_t n = 0;
    for (size_t k = 0; k < s->n; k++)
        n += strcmp(s->f[k].function, s->f[i].function) == 0;
    return n;
}

/* The own function that is on the stack most often; of several, the first by name.  So it does not matter at which
 * of those that call each other the stack ended. */
static size_t most_often(const struct stack *s)
{
    size_t best = first_own(s), most = best < s->n ? times(s, best) : 0;
    for (size_t i = 0; i < s->n; i++) {
        size_t n = frame_owner(&s->f[i]) == FRAME_OWN ? times(s, i) : 0;
        /* a cycle's functions differ by one where the stack begins in it */
        bool same = n + 1 >= most && n <= most + 1;
        if (n > most + 1 || (same && n && strcmp(s->f[i].function, s->f[best].function) < 0)) {
            best = i;
            most = n > most ? n : most;
        }
    }
    return best;
}

static void take_place(struct report *r, const struct frame *f)
{
    free(r->function);
    free(r->file);
    const char *slash = strrchr(f->module, '/');
    r->function = *f->function || !*f->module ? xstrdup(f->function)
                                              : str_fmt("%s+0x%llx", slash ? slash + 1 : f->module,
                                                        (unsigned long long)f->offset);
    r->file = xstrdup(f->file);
    r->line = f->line;
}

/* The own function that the harness called.  A stack that was cut before the harness has none, unless it is that of a
 * thread. */
static void take_entry(struct report *r, const struct stack *s)
{
    size_t harness = s->n, inner = s->n;
    for (size_t i = s->n; i-- > 0 && harness == s->n;)
        if (frame_is_harness(&s->f[i]) && frame_owner(&s->f[i]) != FRAME_RUNTIME)
            harness = i;
    for (size_t i = 0; i < s->n; i++) /* the fuzzed function where there is one, else main */
        if (strcmp(s->f[i].function, "LLVMFuzzerTestOneInput") == 0)
            harness = i;
    bool thread = s->n && strstr(s->f[s->n - 1].function, "clone");
    for (size_t i = 0; i < (harness < s->n || thread ? harness : 0); i++)
        if (frame_owner(&s->f[i]) == FRAME_OWN)
            inner = i;
    inner = inner < s->n ? inner : harness;
    free(r->entry);
    r->entry = xstrdup(inner < s->n ? s->f[inner].function : "");
}

/* --- the words ---------------------------------------------------------------------------------- */

static const char *after(const char *text, const char *words)
{
    const char *at = strstr(text, words);
    return at ? at + strlen(words) : NULL;
}

/* Only within the lines of this report, before the next stack. */
static void take_access(struct report *r, const char *head)
{
    const char *stack = strstr(head, "\n    #0 ");
    const char *by = after(head, "caused by a "), *of;
    static const char *const said[] = {"\nREAD of size ", "\nWRITE of size "};
    for (int i = 0; i < 2; i++)
        if ((of = after(head, said[i])) && (!stack || of < stack)) {
            r->access = i ? "write" : "read";
            r->bytes = strtoll(of, NULL, 10);
        }
    if (by && (!stack || by < stack))
        r->access = str_starts(by, "READ") ? "read" : str_starts(by, "WRITE") ? "write" : "";
}

static bool take_address(struct report *r, const char *head)
{
    size_t len = strcspn(head, "\n");
    char *line = str_fmt("%.*s", (int)len, head);
    static const char *const before[] = {"unknown address ", "on address ", "double-free on ",
                                         "not malloc()-ed: ", " on "};
    const char *at = NULL;
    for (size_t i = 0; i < sizeof before / sizeof *before && !at; i++) {
        at = after(line, before[i]);
        if (at && !str_starts(at, "0x"))
            at = NULL;
    }
    if (at)
        snprintf(r->address, sizeof r->address, "0x%llx", strtoull(at, NULL, 16));
    free(line);
    return at != NULL;
}

/* A SEGV is of three kinds, by where it was and whether the program counter was there, too. */
static void refine_segv(struct report *r, const char *text, const char *head)
{
    bool known = take_address(r, head);
    uint64_t at = known ? strtoull(r->address, NULL, 16) : UINT64_MAX;
    const char *pc = after(head, "(pc ");
    bool jump = pc && known && strtoull(pc, NULL, 16) == at;
    bool low = at < FAULT_NULL_END;
    if (jump)
        r->kind = fault_named(low ? "null-jump" : "wild-jump");
    else if (low && strstr(text, "Sanitizer failed to allocate") &&
             strstr(text, "Sanitizer failed to allocate") < head)
        r->kind = fault_named("allocation-failed");
    else
        r->kind = fault_named(low ? "null-pointer" : "wild-pointer");
    if (jump)
        r->access = "jump";
}

/* The type of an exception belongs to its name. */
static void name_exception(struct report *r, const char *at)
{
    const char *type = after(at, "instance of '");
    const char *end = type ? strchr(type, '\'') : NULL;
    if (!type && (type = after(at, "exception of type ")))
        end = type + strcspn(type, ":\n");
    if (type && end && end - type < 200) {
        free(r->fault);
        r->fault = str_fmt("%s %.*s", r->kind->name, (int)(end - type), type);
    }
}

static void refine_abort(struct report *r, const char *text, const char *head)
{
    char *before = str_fmt("%.*s", (int)(head - text), text);
    const char *at;
    const struct fault *f = fault_of_abort(before, &at);
    if (f)
        r->kind = f;
    if (f && strcmp(f->name, "uncaught-exception") == 0)
        name_exception(r, at);
    free(before);
}

static void settle(struct report *r)
{
    bool write = strcmp(r->access, "write") == 0;
    r->cwe = write ? r->kind->cwe_write : r->kind->cwe_read;
    r->withheld = r->kind->withheld;
    if (!r->fault)
        r->fault = r->kind->access && *r->access ? str_fmt("%s %s", r->kind->name, r->access)
                                                 : xstrdup(r->kind->name);
    r->function = r->function ? r->function : xstrdup("");
    r->file = r->file ? r->file : xstrdup("");
    r->entry = r->entry ? r->entry : xstrdup("");
}

/* Did the fault happen while the sanitizer's allocator looked at a pointer that the target gave back? */
static bool in_free(const struct stack *s)
{
    static const char *const names[] = {"free", "cfree", "realloc", "reallocarray"};
    size_t own = first_own(s);
    if (own == 0 || own == s->n || !str_starts(s->f[0].function, "__asan::"))
        return false;
    const char *called = s->f[own - 1].function, *name = after(called, "__interceptor_");
    name = name ? name : called;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return str_starts(name, "operator delete");
}

static void take_stack(struct report *r, const char *head)
{
    struct stack *s = xcalloc(1, sizeof *s);
    read_stack(s, head);
    size_t at = first_own(s);
    if (strcmp(r->kind->name, "stack-overflow") == 0 && s->n) {
        size_t often = most_often(s);
        if (often < s->n && times(s, often) >= RECURSION)
            at = often;
        else
            r->kind = fault_named("big-frame");
    }
    if (str_ends(r->kind->name, "-pointer") && in_free(s)) {
        r->kind = fault_named("bad-free"); /* as when it can tell without falling over it */
        r->access = "";
        r->address[0] = '\0';
    }
    if (at < s->n)
        take_place(r, &s->f[at]);
    take_entry(r, s);
    free_stack(s);
    free(s);
}

static void parse_asan(struct report *r, const char *text, const char *head)
{
    take_access(r, head);
    if (strcmp(r->kind->name, "SEGV") == 0)
        refine_segv(r, text, head);
    else
        take_address(r, head);
    if (strcmp(r->kind->name, "abort") == 0)
        refine_abort(r, text, head);
    if (str_starts(r->kind->name, "abort") || r->kind->outcome == TRIAGE_OOM ||
        strcmp(r->kind->name, "assertion") == 0 ||
        strcmp(r->kind->name, "uncaught-exception") == 0 ||
        strcmp(r->kind->name, "division-by-zero") == 0 ||
        strcmp(r->kind->name, "illegal-instruction") == 0)
        r->address[0] = '\0'; /* a process number or the place of the code, no address of memory */
    take_stack(r, head);
}

/* "file:12:5: runtime error: ..."; the stack follows if it was asked for. */
static void parse_ubsan(struct report *r, const char *text, const char *error)
{
    const char *line = error;
    while (line > text && line[-1] != '\n')
        line--;
    char *place = str_fmt("    #0 0x0 in ? %.*s",
                          (int)(error - line) - (int)strlen(": runtime error: "), line);
    struct frame f;
    take_stack(r, error);
    if (frame_parse(
            &f, place,
            strlen(place))) { /* its own words name the line; the stack names the function */
        free(f.function);
        f.function = xstrdup(r->function ? r->function : "");
        take_place(r, &f);
        frame_free(&f);
    }
    free(place);
}

/* The header of a sanitizer's report; *kind: what it says, also in words we do not know. */
static const char *find_header(const char *text, const struct fault **kind)
{
    static const char *const said[] = {"ERROR: AddressSanitizer: ", "ERROR: LeakSanitizer: ",
                                       "WARNING: MemorySanitizer: ", "==AddressSanitizer: "};
    const char *first = NULL;
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        const char *at = after(text, said[i]);
        const struct fault *f = at ? fault_of_asan(at) : NULL;
        if (at && !f && isgraph((unsigned char)*at) && str_starts(said[i], "ERROR"))
            f = fault_named("unknown");
        if (f && (!first || at < first)) {
            first = at;
            *kind = f;
        }
    }
    return first;
}

/* A program may print anything: what is no text, and would make none of the files written about it, is replaced. */
static char *as_text(const char *bytes, size_t len)
{
    char *text = xmalloc(len + 1);
    for (size_t i = 0; i < len; i++)
        text[i] = bytes[i] ? bytes[i] : ' ';
    text[len] = '\0';
    for (size_t i = 0, n; i < len; i += n ? n : 1)
        if (!(n = str_utf8(text + i)))
            text[i] = '?';
    return text;
}

bool report_parse(struct report *r, const char *bytes, size_t len, int signal)
{
    *r = (struct report){.access = ""};
    char *text = as_text(bytes, len);
    const char *head = find_header(text, &r->kind), *error = after(text, ": runtime error: ");
    const char *at = NULL;
    if (error && (!head || error < head)) {
        r->kind = fault_of_ubsan(error);
        parse_ubsan(r, text, error);
    } else if (head) {
        parse_asan(r, text, head);
    } else if (signal) {
        r->kind = fault_of_abort(text, &at);
        if (r->kind && strcmp(r->kind->name, "uncaught-exception") == 0)
            name_exception(r, at);
        r->kind = r->kind ? r->kind : fault_of_signal(signal);
    }
    bool found = r->kind != NULL;
    if (found)
        settle(r);
    free(text);
    return found;
}

/* --- hangs -------------------------------------------------------------------------------------- */

/* How many frames, from the outermost, both have in common. */
static size_t in_common(const struct stack *a, const struct stack *b)
{
    size_t n = 0;
    while (n < a->n && n < b->n &&
           strcmp(a->f[a->n - 1 - n].function, b->f[b->n - 1 - n].function) == 0)
        n++;
    return n;
}

static void read_stack_of(struct stack *s, const char *bytes)
{
    char *text = as_text(bytes, strlen(bytes));
    read_stack(s, text);
    free(text);
}

void report_hang(struct report *r, const char *const *texts, size_t n)
{
    *r = (struct report){.access = "", .kind = fault_named("hang")};
    struct stack *first = xcalloc(1, sizeof *first), *other = xcalloc(1, sizeof *other);
    if (n)
        read_stack_of(first, texts[0]);
    for (size_t i = 1; i < n; i++) {
        read_stack_of(other, texts[i]);
        size_t same = other->n ? in_common(first, other) : first->n;
        for (; first->n > same; first->n--) { /* the innermost go */
            frame_free(&first->f[0]);
            memmove(&first->f[0], &first->f[1], (first->n - 1) * sizeof first->f[0]);
        }
        free_stack(other);
    }
    size_t at = first_own(first);
    if (at < first->n)
        take_place(r, &first->f[at]);
    take_entry(r, first);
    free_stack(first);
    free(first);
    free(other);
    settle(r);
}

/* --- buckets ------------------------------------------------------------------------------------ */

/* Whether a bad pointer was null or wild is chance; that it was one is not. */
static const char *fault_in_key(const struct report *r)
{
    static const char *const pointers[] = {"null-pointer", "wild-pointer", "allocation-failed"};
    for (size_t i = 0; i < sizeof pointers / sizeof *pointers; i++)
        if (strcmp(r->kind->name, pointers[i]) == 0)
            return strcmp(r->access, "write") == 0 ? "bad-pointer write" : "bad-pointer read";
    return r->fault;
}

/* Where a build lies is not part of it: the name of a file without its directories. */
void report_bucket(const struct report *r, char id[BUCKET_LEN])
{
    const char *slash = strrchr(r->file, '/');
    char hex[65], line[16];
    struct digest d;
    struct hasher *h = hash_begin();
    snprintf(line, sizeof line, "%d", r->kind->no_line ? 0 : r->line);
    hash_add_str(h, r->function);
    hash_add_str(h, slash ? slash + 1 : r->file);
    hash_add_str(h, line);
    hash_add_str(h, fault_in_key(r));
    hash_add_str(h, r->entry);
    hash_end(h, &d);
    digest_hex(&d, hex);
    snprintf(id, BUCKET_LEN, "%.16s", hex);
}

void report_free(struct report *r)
{
    free(r->fault);
    free(r->function);
    free(r->file);
    free(r->entry);
    *r = (struct report){.access = ""};
}
