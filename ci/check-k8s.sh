#!/usr/bin/env bash
# check-k8s.sh: the jobs of ci/k8s/ against Kubernetes' schema, with npm's kubernetes-models, without a cluster.
# The schema takes keys that it does not know, so that those that we use are named here.
set -u
cd "$(dirname "$0")/.." || exit 1
tool=build/kubernetes-models
for needed in node npm; do
  command -v $needed >/dev/null || { echo "check-k8s.sh: $needed is needed: apt-get install nodejs npm" >&2; exit 2; }
done
mkdir -p "$tool"
[ -d "$tool/node_modules/kubernetes-models" ] ||
  npm install --prefix "$tool" --no-save --no-audit --no-fund kubernetes-models@4 yaml@2 || exit 1
cat >"$tool/check.mjs" <<'END'
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
const require = createRequire(import.meta.url);
const { parse } = require("yaml");
const { Job } = require("kubernetes-models/batch/v1");
const known = new Set(`apiVersion kind metadata name spec completionMode completions parallelism backoffLimitPerIndex
  maxFailedIndexes podFailurePolicy rules action onExitCodes containerName operator values onPodConditions type status
  template restartPolicy terminationGracePeriodSeconds containers image command env value resources requests cpu memory
  securityContext capabilities add volumeMounts mountPath volumes persistentVolumeClaim claimName`.split(/\s+/));
const faults = [];
const visit = (value, path) => {
  if (Array.isArray(value)) value.forEach((one, at) => visit(one, `${path}[${at}]`));
  else if (value !== null && typeof value === "object") {
    for (const [key, one] of Object.entries(value)) {
      if (!known.has(key)) faults.push(`${path}.${key}: no key that we know`);
      visit(one, `${path}.${key}`);
    }
  }
};
for (const file of process.argv.slice(2)) {
  const job = parse(readFileSync(file, "utf8"));
  visit(job, file);
  try { new Job(job).validate(); } catch (error) { faults.push(`${file}: ${error.message}`); }
  const shards = job.spec.template.spec.containers[0].env.find((one) => one.name === "SOAK_SHARDS");
  if (shards?.value !== String(job.spec.completions)) faults.push(`${file}: SOAK_SHARDS is not its completions`);
}
for (const fault of faults) console.log(fault);
console.log(`${process.argv.length - 2} jobs, ${faults.length} faults`);
process.exit(faults.length === 0 ? 0 : 1);
END
node "$tool/check.mjs" ci/k8s/*.yaml || exit 1
# A checker that cannot fail is none: a wrong type, a key that no job has, shards that are not the completions.
for wrong in 's/parallelism: 8/parallelism: many/' 's/parallelism:/paralelism:/' 's/completions: 8/completions: 9/'; do
  sed "$wrong" ci/k8s/soak-job.yaml >"$tool/wrong.yaml"
  if node "$tool/check.mjs" "$tool/wrong.yaml" >/dev/null; then
    echo "check-k8s.sh: a wrong job was found right: $wrong" >&2
    exit 1
  fi
done
