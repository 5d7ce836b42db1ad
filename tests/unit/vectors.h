/* vectors: reads the files of tests/vectors, word by word.  Every test program includes it whole. */
#ifndef CAROL_TESTS_VECTORS_H
#define CAROL_TESTS_VECTORS_H

#include "base/buf.h"
#include "base/fs.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct vectors {
    struct buf text;
    char *at;
};

static inline void vectors_open(struct vectors *v, const char *name)
{
    char *path = str_fmt("%s/tests/vectors/%s", CAROL_SOURCE, name);
    *v = (struct vectors){.text = BUF_INIT(BUF_TEXT_MAX)};
    assert_int_equal(fs_read(path, &v->text, NULL), 0);
    v->at = v->text.p;
    free(path);
}

static inline void vectors_close(struct vectors *v)
{
    buf_free(&v->text);
}

/* The next word, or NULL at the end. */
static inline char *vectors_word(struct vectors *v)
{
    v->at += strspn(v->at, " \n");
    if (!*v->at)
        return NULL;
    char *word = v->at;
    v->at += strcspn(v->at, " \n");
    if (*v->at)
        *v->at++ = 0;
    return word;
}

static inline int64_t vectors_int(struct vectors *v)
{
    char *end, *word = vectors_word(v);
    assert_non_null(word);
    int64_t x = word[0] == '-' ? strtoll(word, &end, 10) : (int64_t)strtoull(word, &end, 10);
    assert_int_equal(*end, 0);
    return x;
}

static inline double vectors_real(struct vectors *v)
{
    char *end, *word = vectors_word(v);
    assert_non_null(word);
    double x = strtod(word, &end);
    assert_int_equal(*end, 0);
    return x;
}

/* The oracle sums exactly, we in doubles. */
static inline void expect_close(double got, double want, const char *what, int64_t where)
{
    if (!(fabs(got - want) <= 1e-12 + 1e-10 * fabs(want)))
        fail_msg("%s at %lld: %.17g, expected %.17g", what, (long long)where, got, want);
}

#endif
