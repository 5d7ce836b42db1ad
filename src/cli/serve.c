/* serve: opens a web server and says where it is. */
#include "cli/serve.h"

#include "base/log.h"

#include <stdio.h>

int serve_open(struct web **out, const struct web_opts *o, struct err *e)
{
    int rc = web_open(out, o, e);
    if (rc < 0)
        return rc;
    if (web_is_open(*out))
        log_warn("other machines can reach the page: whoever learns its address reads everything "
                 "about this "
                 "campaign, crashing inputs included, and nothing is encrypted on the way; from "
                 "elsewhere "
                 "'ssh -L' to 127.0.0.1 is safer");
    printf("%s\n", web_url(*out));
    fflush(stdout);
    return 0;
}
