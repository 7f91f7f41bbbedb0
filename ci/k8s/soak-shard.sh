#!/usr/bin/env bash
# soak-shard.sh: one shard of a soak, in a pod of an Indexed Job. The pod's index says which; its exit code is the soak's:
# 42, a gate is red, is final for the Job; others may be tried again.
#   JOB_COMPLETION_INDEX  set by Kubernetes, from 0      SOAK_SHARDS, SOAK_MINUTES, SOAK_SEED, SOAK_OUT: see soak-job.yaml
set -u
cd "$(dirname "$0")/../.." || exit 1
index=${JOB_COMPLETION_INDEX:-} shards=${SOAK_SHARDS:-}
if ! [[ $index =~ ^[0-9]+$ && $shards =~ ^[1-9][0-9]*$ ]] || [ "$index" -ge "$shards" ]; then
  echo "soak-shard.sh: JOB_COMPLETION_INDEX is '$index' and SOAK_SHARDS '$shards', expected an index below the shards" >&2
  exit 2
fi
# exec: the pod's SIGTERM must reach the soak, which then still writes the report of what ran.
exec scripts/soak --minutes "${SOAK_MINUTES:-60}" --seed "${SOAK_SEED:-1}" --shard "$((index + 1))/$shards" \
  --out "${SOAK_OUT:-build/soak}/$index"
