#!/usr/bin/env bash
# A day on one page: 4,320 decisions and 100,000 inputs, simulated.  How large the page is, how long it takes to write, and how
# long Chromium takes to open it: from a file, and served by `carol view` for the first time, right after it began, and again.
# Judged by the first time and by the median of five openings; each is printed.
#
#   bench/page.sh     CAROL=path of carol
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
exec python3 "$root/bench/page.py" "${CAROL:-$root/carol}"
