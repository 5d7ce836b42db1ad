/* memory: a fuzz target that remembers: 'U' and 'V' find code of their own only when 'S' or 'T' ran before in
 * the same process.  Every other byte has a case of its own, so that each input shows something new. */
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile int sink, s_was_here, t_was_here;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    switch (data[0]) {
    case 'S': s_was_here = 1; break;
    case 'T': t_was_here = 1; break;
    case 'U':
        if (s_was_here)
            sink = 100;
        break;
    case 'V':
        if (t_was_here)
            sink = 200;
        break;
    case 'a': sink = 1; break;
    case 'b': sink = 2; break;
    case 'c': sink = 3; break;
    default: sink = 4; break;
    }
    return 0;
}
