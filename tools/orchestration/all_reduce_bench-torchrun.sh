#!/usr/bin/env bash
# Runs all_reduce_bench.py on N nodes without a scheduler. Start it on every node, with NODE_RANK counting from 0:
#
#   NNODES=2 NODE_RANK=0 MASTER_ADDR=FIRST_HOST bash all_reduce_bench-torchrun.sh --json fabric.json
#
# What follows the name goes to the tool. NPROC: ranks per node (all GPUs). MASTER_PORT: the same on every node; the
# tool's supervisors use one of the 8 ports after it. TOOL: the script (beside the directory you are in).
set -euo pipefail

: "${NNODES:?number of nodes}" "${NODE_RANK:?this node, 0 to NNODES-1}" "${MASTER_ADDR:?a name or address of node 0}"
tool=${TOOL:-all_reduce_bench.py}

if [[ ! $NNODES =~ ^[1-9][0-9]*$ || ! $NODE_RANK =~ ^[0-9]+$ || $NODE_RANK -ge $NNODES ]]; then
  echo "NODE_RANK=$NODE_RANK must lie between 0 and NNODES-1, with NNODES=$NNODES" >&2
  exit 2
fi
if [[ ! -f $tool ]]; then
  echo "no $tool here; say TOOL=/path/to/all_reduce_bench.py" >&2
  exit 2
fi

exec torchrun --nnodes "$NNODES" --node-rank "$NODE_RANK" --nproc-per-node "${NPROC:-gpu}" --max-restarts 0 \
  --master-addr "$MASTER_ADDR" --master-port "${MASTER_PORT:-29500}" "$tool" "$@"
