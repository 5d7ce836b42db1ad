/* launch: the command line and environment that make a neutral binary the executor's server. */
#ifndef CAROL_EVAL_LAUNCH_H
#define CAROL_EVAL_LAUNCH_H

#include "base/str.h"
#include "target/manifest.h"

/* args: words with @@ of a main() program, NULL: those of the manifest. */
void launch_argv(const struct manifest *m, const char *const *args, struct strv *argv);
void launch_env(const struct manifest *m, struct strv *env);

#endif
