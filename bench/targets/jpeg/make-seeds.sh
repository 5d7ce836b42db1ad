#!/usr/bin/env bash
# Makes the seeds of this target again with libjpeg-turbo's own cjpeg: one small picture, five kinds of file.
#
#   bench/targets/jpeg/make-seeds.sh CJPEG DIR
set -euo pipefail
cjpeg=$1
dir=$2
picture=$(mktemp)
trap 'rm -f "$picture"' EXIT

# 24 x 16: stripes of colour and a bright block
python3 - >"$picture" <<'END'
print("P3 24 16 255")
for y in range(16):
    for x in range(24):
        print(255, 240, 16) if 4 <= x < 9 and 5 <= y < 12 else print(x * 10, y * 15, (x * y * 7) % 256)
END

mkdir -p "$dir"
"$cjpeg" -quality 40 -optimize "$picture" >"$dir/base.jpg"
"$cjpeg" -quality 40 -optimize -grayscale -restart 1 "$picture" >"$dir/grey.jpg"
"$cjpeg" -quality 40 -sample 1x1 -progressive "$picture" >"$dir/progressive.jpg"
"$cjpeg" -quality 40 -sample 2x1 -arithmetic "$picture" >"$dir/arithmetic.jpg"
"$cjpeg" -quality 40 -rgb -dct fast "$picture" >"$dir/rgb.jpg"
