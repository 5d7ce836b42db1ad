/* ctl_afl_none: the libraries without a mutator of their own have nothing to do at these points. */
#include "ctl_afl.h"

void ctl_afl_on_init(void)
{
}

void ctl_afl_on_new_entry(void)
{
}
