/* text: finds and rewrites the code that sets a flag.  Writes only to the bytes it is given.
 *
 *     80 3d rel32 00   cmpb $0, flag(%rip)          c6 05 rel32 01   movb $1, flag(%rip)
 *     74 / 0f 84       je   where it is set   ->    66 90 / ...      nop
 *     75 / 0f 85       jne  where all is well ->    eb / 90 e9       jmp where all is well
 *
 * The two instructions have the same length and operand.  Whatever the compiler made of the blocks around
 * them, what runs afterwards is what would have run had the flag been set, and now it is set. */
#include "text.h"

#include <emmintrin.h>
#include <string.h>

#define CMP_BYTES 7

/* Which flag the comparison at p tests; n_flags: none of them. */
static size_t flag_at(const unsigned char *p, const unsigned char *flags, size_t n_flags)
{
    int32_t rel;
    memcpy(&rel, p + 2, sizeof rel);
    uintptr_t at = (uintptr_t)p + CMP_BYTES + (uintptr_t)(intptr_t)rel - (uintptr_t)flags;
    return p[0] == 0x80 && p[1] == 0x3d && p[6] == 0 && at < n_flags ? at : n_flags;
}

unsigned char *carol_cov_text_find(unsigned char *p, unsigned char *end, const unsigned char *flags,
                                   size_t n_flags, uint32_t *flag)
{
    const __m128i first = _mm_set1_epi8((char)0x80), second = _mm_set1_epi8(0x3d);
    for (; end - p >= 16 + CMP_BYTES; p += 16) {
        __m128i a = _mm_loadu_si128((const __m128i *)(const void *)p);
        __m128i b = _mm_loadu_si128((const __m128i *)(const void *)(p + 1));
        unsigned hits = (unsigned)_mm_movemask_epi8(
            _mm_and_si128(_mm_cmpeq_epi8(a, first), _mm_cmpeq_epi8(b, second)));
        for (; hits; hits &= hits - 1) {
            unsigned char *at = p + __builtin_ctz(hits);
            *flag = (uint32_t)flag_at(at, flags, n_flags);
            if (*flag < n_flags)
                return at;
        }
    }
    for (; end - p >= CMP_BYTES; p++) {
        *flag = (uint32_t)flag_at(p, flags, n_flags);
        if (*flag < n_flags)
            return p;
    }
    return NULL;
}

size_t carol_cov_text_set(unsigned char *p, const unsigned char *end)
{
    static const unsigned char nop6[] = {0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00};
    unsigned char *j = p + CMP_BYTES;
    size_t n;
    if (end - j >= 2 && j[0] == 0x74) {
        memcpy(j, "\x66\x90", n = 2);
    } else if (end - j >= 2 && j[0] == 0x75) {
        j[0] = 0xeb;
        n = 2;
    } else if (end - j >= 6 && j[0] == 0x0f && j[1] == 0x84) {
        memcpy(j, nop6, n = sizeof nop6);
    } else if (end - j >= 6 && j[0] == 0x0f && j[1] == 0x85) {
        memcpy(j, "\x90\xe9", 2); /* the distance stays: it counts from the end */
        n = 6;
    } else {
        return 0;
    }
    p[0] = 0xc6;
    p[1] = 0x05;
    p[6] = 1;
    return CMP_BYTES + n;
}
