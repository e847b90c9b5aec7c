#!/usr/bin/env bash
# Records results that `retint verify` saved, and what it prints and writes of them. Usage:
# record.sh RETINT, where RETINT is a build of 9f8d331: later versions have to read its results, and
# to print the same, except where a sentence has been reworded since. SARIF files list all rules, so
# those that came later are added by hand.
set -euo pipefail
retint=$(realpath "$1")
cd "$(dirname "$0")"
weights=$(realpath ../../../VerificationTests/Goldens/pico.h5)
out=$PWD
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

"$retint" import "$weights" --architecture pico-unet --width 0.0625 -o model.h5
"$retint" export model.h5 -o half.mlpackage --precision float16 --size 32
run=("$retint" verify half.mlpackage --against model.h5)
# All of them exit with 2: the bounds are violated.
"${run[@]}" --bound half --half-factor 1e-3 --stages written,lowered,folded,trained \
    --error-sources --max-delta-e 0.01 --layer-min-snr 60 --save results.json || true
"${run[@]}" --atol 1e-9 --reduce part.mlpackage --save reduced.json || true
# Two judges, one of which is missing in the end.
python3 - <<'PY'
import json

results = json.load(open("results.json"))
own = results["judges"][0]
for key in ["stages", "error_sources"]:
    own.pop(key)
own["layers"] = own["layers"][:2]
apple = {**own, "judge": "apple", "runtime": "Core AI", "layers": [], "layers_decide": False}
results["judges"] = [own, apple]
results["missing"] = [{"judge": "apple", "reason": "a.aimodel: <reason> & way out"}]
text = json.dumps(results, indent=2, sort_keys=True, separators=(",", " : "), ensure_ascii=False)
open("judges.json", "w").write(text + "\n")
PY
for name in results reduced judges; do
    "$retint" verify $name.json --junit $name.xml --sarif $name.sarif >$name.txt || true
    "$retint" verify $name.json --json >$name.out.json || true
    cp $name.json $name.txt $name.out.json $name.xml $name.sarif "$out"
done
