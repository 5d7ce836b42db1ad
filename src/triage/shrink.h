/* shrink: makes an input smaller, one question at a time.  Pure: whoever asks runs the candidates.
 *
 *     struct shrink *s = shrink_new(data, size);
 *     while (shrink_next(s, &candidate, &n))               // false: it cannot be made smaller by these rules
 *         shrink_tell(s, still_fails(candidate, n));
 *     shrink_best(s, &data, &size);                        // at any time: the smallest that still fails
 *     shrink_free(s);
 *
 * Blocks are left out, from half of the input down to single bytes, until no byte can go; then blocks become the digit
 * 0, so that what remains is what matters, unless shrink_cut_only was called before. */
#ifndef CAROL_TRIAGE_SHRINK_H
#define CAROL_TRIAGE_SHRINK_H

#include <stdbool.h>
#include <stddef.h>

struct shrink;

struct shrink *shrink_new(const void *data, size_t size);
void shrink_cut_only(struct shrink *s);
bool shrink_next(struct shrink *s, const void **data, size_t *size);
void shrink_tell(struct shrink *s, bool still);
void shrink_best(const struct shrink *s, const void **data, size_t *size);
void shrink_free(struct shrink *s);

#endif
