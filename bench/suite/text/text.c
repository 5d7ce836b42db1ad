/* text: runs a small language of lines: definitions, lists, expressions, strings.  Written to be
 * fuzzed: the bugs of bugs.csv are marked with CAROL_BUG and harm nothing. */
#include "oracle.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { NAMES = 32, NAME_MAX_LEN = 64, DEPTH = 200 };

struct var {
    char name[16];
    int64_t value;
    unsigned items;   /* of a list */
    size_t length;    /* of the name as it was written */
    unsigned revived; /* how often it was defined after unset */
    int dead;         /* after unset */
};

struct text {
    const char *p, *end;
    struct var vars[NAMES];
    unsigned n_vars, lines, depth, lists, crlf;
    int bom, fail;
    uint64_t work; /* of nested repeats */
};

static int peek(const struct text *t)
{
    return t->p < t->end ? (unsigned char)*t->p : -1;
}

static void blanks(struct text *t)
{
    while (peek(t) == ' ' || peek(t) == '\t')
        t->p++;
}

static int take(struct text *t, int c)
{
    blanks(t);
    if (peek(t) != c)
        return 0;
    t->p++;
    return 1;
}

static int is_letter(int c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static int is_digit(int c)
{
    return c >= '0' && c <= '9';
}

static int hex_value(int c)
{
    if (is_digit(c))
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* A word of letters and digits; its length, 0 when there is none. */
static size_t word(struct text *t, const char **at)
{
    blanks(t);
    *at = t->p;
    if (is_letter(peek(t)))
        while (is_letter(peek(t)) || is_digit(peek(t)))
            t->p++;
    return (size_t)(t->p - *at);
}

/* Letter by letter: no comparison of strings for a fuzzer to look into. */
static int is_word(const char *at, size_t n, const char *what)
{
    for (size_t i = 0; i < n; i++)
        if (at[i] != what[i])
            return 0;
    return n > 0 && !what[n];
}

static struct var *find(struct text *t, const char *at, size_t n)
{
    if (n > sizeof t->vars[0].name - 1)
        n = sizeof t->vars[0].name - 1;
    for (unsigned i = 0; i < t->n_vars; i++)
        if (strlen(t->vars[i].name) == n && memcmp(t->vars[i].name, at, n) == 0)
            return &t->vars[i];
    return NULL;
}

static struct var *define(struct text *t, const char *at, size_t n)
{
    struct var *v = find(t, at, n);
    if (!v) {
        if (t->n_vars == NAMES) {
            CAROL_BUG(10, CAROL_GT(t->lines, 40));
            return NULL;
        }
        v = &t->vars[t->n_vars++];
        memcpy(v->name, at, n < sizeof v->name - 1 ? n : sizeof v->name - 1);
    }
    CAROL_BUG(5, CAROL_GT(n, NAME_MAX_LEN), CAROL_GT(v->length, NAME_MAX_LEN),
              CAROL_NE(v->length, n));
    v->length = n;
    v->revived += v->dead != 0;
    v->dead = 0;
    CAROL_BUG(6, CAROL_GT(v->revived, 3));
    return v;
}

static int64_t expression(struct text *t);

static int64_t number(struct text *t)
{
    uint64_t v = 0;
    unsigned digits = 0;
    if (peek(t) == '0' && t->p + 1 < t->end && (t->p[1] | 0x20) == 'x') {
        t->p += 2;
        for (int h; (h = hex_value(peek(t))) >= 0; t->p++, digits++)
            v = v << 4 | (unsigned)h;
        CAROL_BUG(14, CAROL_EQ(digits, 0));
        return (int64_t)v;
    }
    for (; is_digit(peek(t)); t->p++, digits++)
        v = v * 10 + (unsigned)(peek(t) - '0');
    CAROL_BUG(1, CAROL_GT(digits, 9), CAROL_GT(v, INT32_MAX));
    return (int64_t)v;
}

/* The code after a backslash. */
static void escape(struct text *t)
{
    uint32_t v = 0;
    int c = peek(t);
    CAROL_BUG(2, CAROL_EQ(c + 1, 0));
    if (c < 0)
        return;
    t->p++;
    if (c != 'u' || !take(t, '{'))
        return;
    for (int h; (h = hex_value(peek(t))) >= 0; t->p++)
        v = v << 4 | (unsigned)h;
    if (take(t, '}'))
        CAROL_BUG(11, CAROL_GT(v, 0x10ffff));
}

static size_t string(struct text *t)
{
    size_t n = 0;
    while (peek(t) >= 0 && peek(t) != '"' && peek(t) != '\n') {
        int c = *t->p++;
        if (c == '\\')
            escape(t);
        n++;
    }
    take(t, '"');
    return n;
}

static int64_t variable(struct text *t)
{
    const char *at;
    size_t n = word(t, &at);
    struct var *v = find(t, at, n);
    if (!v) {
        t->fail = 1;
        return 0;
    }
    CAROL_BUG(4, CAROL_GT(t->lists, 40), CAROL_GT(v->items, 5));
    if (take(t, '[')) {
        int64_t i = expression(t);
        take(t, ']');
        CAROL_BUG(15, CAROL_NE(v->dead, 0), CAROL_GT(v->items, 3));
        if (v->items && i < (int64_t)v->items)
            CAROL_BUG(16, CAROL_EQ(i + v->items, 0), CAROL_GT(v->items, 3));
    }
    return v->value;
}

static int64_t factor(struct text *t)
{
    blanks(t);
    if (take(t, '(')) {
        t->depth++;
        CAROL_BUG(3, CAROL_GT(t->depth, 16));
        int64_t v = t->depth < DEPTH ? expression(t) : 0;
        t->depth--;
        take(t, ')');
        return v;
    }
    if (take(t, '-'))
        return (int64_t)-(uint64_t)number(t);
    if (take(t, '"'))
        return (int64_t)string(t);
    if (is_digit(peek(t)))
        return number(t);
    if (is_letter(peek(t)))
        return variable(t);
    t->fail = 1;
    return 0;
}

static int64_t product(struct text *t)
{
    int64_t v = factor(t);
    for (;;) {
        if (take(t, '*')) {
            int64_t w = factor(t), r;
            int over = __builtin_mul_overflow(v, w, &r);
            CAROL_BUG(13, CAROL_NE(over, 0), CAROL_EQ(r, 0));
            v = r;
        } else if (take(t, '/')) {
            int64_t w = factor(t);
            CAROL_BUG(7, CAROL_EQ(w, 0), CAROL_EQ(t->fail, 0));
            v = w && w != -1 ? v / w : 0;
        } else {
            return v;
        }
    }
}

static int64_t expression(struct text *t)
{
    int64_t v = product(t);
    for (;;) {
        if (take(t, '+')) {
            v = (int64_t)((uint64_t)v + (uint64_t)product(t));
        } else if (take(t, '-')) {
            v = (int64_t)((uint64_t)v - (uint64_t)product(t));
        } else if (t->end - t->p > 1 && t->p[0] == '<' && t->p[1] == '<') {
            t->p += 2;
            int64_t by = product(t);
            CAROL_BUG(12, CAROL_SGT(by, 63), CAROL_SLT(by, 1000));
            v = (int64_t)((uint64_t)v << (by & 63));
        } else {
            return v;
        }
    }
}

/* [1, [2, 3], "x"] */
static unsigned list(struct text *t)
{
    unsigned n = 0;
    t->depth++;
    t->lists++;
    while (peek(t) >= 0 && !take(t, ']')) {
        const char *before = t->p;
        if (t->depth < DEPTH && take(t, '['))
            list(t);
        else
            expression(t);
        n++;
        if (!take(t, ',') && t->p == before)
            break;
    }
    t->depth--;
    t->lists--;
    return n;
}

static void print(struct text *t)
{
    unsigned wants = 0, has = 0;
    if (!take(t, '"'))
        return;
    for (int c; (c = peek(t)) >= 0 && c != '"' && c != '\n'; t->p++)
        if (c == '%' && t->p + 1 < t->end) {
            wants++;
            t->p++;
            if (peek(t) == 's' || peek(t) == 'd')
                continue;
            CAROL_BUG(8, CAROL_EQ(peek(t), 'n'));
        }
    take(t, '"');
    while (take(t, ',')) {
        expression(t);
        has++;
    }
    if (wants && has)
        CAROL_BUG(17, CAROL_GT(has, 3), CAROL_EQ(wants, 2 * has));
}

static void include(struct text *t)
{
    unsigned up = 0, parts = 1;
    if (!take(t, '"'))
        return;
    for (int c; (c = peek(t)) >= 0 && c != '"' && c != '\n'; t->p++) {
        parts += c == '/';
        if (c == '/' && t->end - t->p > 3 && memcmp(t->p, "/../", 4) == 0)
            up++;
    }
    CAROL_BUG(9, CAROL_GT(up, 4), CAROL_EQ(parts, 2 * up + 1));
}

static void statement(struct text *t);

static void repeat(struct text *t)
{
    uint64_t before = t->work;
    blanks(t);
    int64_t n = number(t);
    if (n > 0 && n < 100000)
        t->work *= (uint64_t)n;
    CAROL_BUG(18, CAROL_GT(t->work, 5000000), CAROL_GT(t->depth, 6), CAROL_LT(n, 12));
    if (++t->depth < 20)
        statement(t);
    t->depth--;
    t->work = before;
}

static void assign(struct text *t, const char *at, size_t n)
{
    int64_t value = 0;
    unsigned items = 0;
    if (!take(t, '='))
        return;
    if (take(t, '['))
        items = list(t);
    else
        value = expression(t);
    struct var *v = define(t, at, n);
    if (v) {
        v->value = value;
        v->items = items;
    }
}

static void statement(struct text *t)
{
    const char *at;
    size_t n = word(t, &at);
    struct var *v;
    t->fail = 0;
    if (is_word(at, n, "let")) {
        n = word(t, &at);
        if (n)
            assign(t, at, n);
    } else if (is_word(at, n, "print")) {
        print(t);
    } else if (is_word(at, n, "repeat")) {
        repeat(t);
    } else if (is_word(at, n, "include")) {
        include(t);
    } else if (is_word(at, n, "unset")) {
        n = word(t, &at);
        if ((v = find(t, at, n)))
            v->dead = 1;
    } else if (n) {
        assign(t, at, n);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct text t = {.p = (const char *)data, .end = (const char *)data + size, .work = 1};
    carol_input("text");
    if (size > 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0) {
        t.bom = 1;
        t.p += 3;
    }
    while (t.p < t.end) {
        if (peek(&t) != '#')
            statement(&t);
        while (peek(&t) >= 0 && peek(&t) != '\n')
            t.crlf += *t.p++ == '\r';
        t.p++;
        t.lines++;
        t.depth = t.lists = 0;
    }
    if (t.bom)
        CAROL_BUG(19, CAROL_EQ(t.crlf, t.lines), CAROL_GT(t.lines, 6), CAROL_GT(t.n_vars, 3));
    return 0;
}
