#!/bin/sh
# Uses a release on a machine without Swift: `Scripts/check release` runs it in a bare Debian.
#
#   try.sh RETINT SHARE VERSION
#
# The working folder has photos in photos/, and takes the results. SHARE is the release's
# share/retint. Prints what it does; the exit status is 1 as soon as something fails.
set -eu
retint=$1 share=$2 version=$3
model=$share/checkpoints/lite-class-unet-small.h5

say() { printf '  %s\n' "$*"; }
fail() { say "FAILED: $*" && exit 1; }

say version
[ "$("$retint" --version)" = "$version" ] || fail "--version is not $version"

say inspect
"$retint" inspect "$model" >inspected.txt 2>messages.txt
grep -q lite-class-unet inspected.txt || fail "inspect names no architecture"
[ ! -s messages.txt ] || fail "$(cat messages.txt)"

say "a damaged file"
head -c 9000 "$model" >damaged.h5
status=0
"$retint" inspect damaged.h5 2>messages.txt || status=$?
[ "$status" -eq 65 ] || fail "exit code $status: $(cat messages.txt)"

say "colorize JPEG, PNG and WebP"
"$retint" colorize "$model" photos -o colored >/dev/null 2>&1
[ "$(ls colored | wc -l)" -eq "$(ls photos | wc -l)" ] || fail "photos are missing"

say "export, verify, quantize"
"$retint" export "$model" -o small.mlpackage --precision float16 >/dev/null
"$retint" verify small.mlpackage --against "$model" >/dev/null
"$retint" quantize small.mlpackage -o int8.mlpackage --weights int8 >/dev/null

# How the distributions become colors is set twice, because weights.h5 does not hold it.
say import
colors="--temperature 0.8 --certainty 2 --neutrality 0.5 --saturation 1.5"
"$retint" import "$model" $colors -o colored.h5 >/dev/null
"$retint" export colored.h5 -o weights.h5 >/dev/null
"$retint" import weights.h5 --architecture lite-class-unet --depth 0.6 --decoder-width 0.5 \
    $colors -o imported.h5 >/dev/null
"$retint" verify imported.h5 --against colored.h5 --atol 0 >/dev/null

say train
"$retint" train --config "$share/recipes/mobile-unet.yaml" --output run --set \
    "data.train=$PWD/photos" data.validation=null data.validation_fraction=0 data.crop=64 batch=2 \
    steps=3 width=0.25 >/dev/null 2>messages.txt || fail "$(cat messages.txt)"
[ -s run/last.h5 ] || fail "there is no last.h5"

# A library with the kernels of all processors; OpenBLAS chooses, and the environment may.
say "kernels of another processor"
case $(uname -m) in
x86_64) core=Sandybridge ;;
*) core=ARMV8 ;;
esac
OPENBLAS_CORETYPE=$core "$retint" benchmark mobile-unet --size 32 --runs 1 >measured.txt
grep -q "OpenBLAS core $core" measured.txt || fail "$(cat measured.txt)"
