#!/usr/bin/env bash
# Trains on this machine's GPU for the reports in this folder.
# usage: measure.sh SLUICE_TRAIN TEXT OUT_FOLDER
set -euo pipefail
program=$1 text=$2 out=$3
mkdir -p "$out"

# train NAME FLAG...: random weights, real text, one token a byte. A limit of 1000 is never reached: no step is redone.
train() {
    local name=$1
    shift
    [[ " $* " == *" --clipping "* ]] || set -- --clipping speculative "$@"
    "$program" --plan given --data "$text" --learning-rate 1e-4 --warmup-steps 5 "$@" \
        --report "$out/$name.json" --trace "$out/$name-trace.json" --timeline "$out/$name.svg" >"$out/$name.txt"
    grep -E '^(step .* 0:00 left|speed)' "$out/$name.txt" | sed "s/^/$name: /"
}

train 7b-batch-32 --model qwen2.5-7b --untied --batch 32 --steps 30 --max-norm 1000
train 7b-batch-8 --model qwen2.5-7b --untied --batch 8 --steps 16 --max-norm 1000
train 8-layers-batch-32 --model qwen2.5-7b --untied --layers 8 --batch 32 --steps 16 --max-norm 1000
train 7b-batch-32-resident-8 --model qwen2.5-7b --untied --batch 32 --steps 12 --max-norm 1000 --resident-layers 8 --recompute none
train 7b-batch-8-resident-0 --model qwen2.5-7b --untied --batch 8 --steps 9 --max-norm 1000
train 7b-batch-8-resident-28 --model qwen2.5-7b --untied --batch 8 --steps 16 --max-norm 1000 --resident-layers 28 --recompute none
train 8-layers-batch-32-resident-8 --model qwen2.5-7b --untied --layers 8 --batch 32 --steps 14 --max-norm 1000 --resident-layers 8 --recompute none
train 8-layers-batch-8-resident-8 --model qwen2.5-7b --untied --layers 8 --batch 8 --steps 20 --max-norm 1000 --resident-layers 8 --recompute none
train 3b-batch-32-resident-36 --model qwen2.5-3b --untied --batch 32 --steps 12 --max-norm 1000 --resident-layers 36 --recompute none
train 7b-batch-8-exact-resident-28 --model qwen2.5-7b --untied --batch 8 --steps 10 --max-norm 1 --clipping exact --resident-layers 28 --recompute keep_attention
train 7b-batch-8-exact-resident-0 --model qwen2.5-7b --untied --batch 8 --steps 8 --max-norm 1 --clipping exact
train 7b-batch-32-exact --model qwen2.5-7b --untied --batch 32 --steps 9 --max-norm 1 --clipping exact
train 7b-batch-32-chosen --model qwen2.5-7b --batch 32 --steps 9 --max-norm 1000 --resident-layers 15 --keep-last-layers 28
train 7b-batch-8-seq-4096-chosen --model qwen2.5-7b --batch 8 --seq 4096 --steps 9 --max-norm 1000 --resident-layers 15 --keep-last-layers 28
train 7b-batch-32-24-gb-chosen --model qwen2.5-7b --batch 32 --device-budget-bytes 24e9 --steps 8 --max-norm 1000 --resident-layers 2 --keep-last-layers 1
train 14b-batch-32-8-byte-chosen --model qwen2.5-14b --batch 32 --state-bytes 8 --steps 7 --max-norm 1000 --resident-layers 1 --keep-last-layers 41
train 7b-batch-32-resident-8-tables --model qwen2.5-7b --untied --batch 32 --steps 10 --max-norm 1000 --resident-layers 8 --resident-tables both --recompute none
train 7b-batch-8-resident-28-tables --model qwen2.5-7b --untied --batch 8 --steps 12 --max-norm 1000 --resident-layers 28 --resident-tables both --recompute none
train 8-layers-batch-8-tables --model qwen2.5-7b --untied --layers 8 --batch 8 --steps 20 --max-norm 1000 --resident-layers 8 --resident-tables both --recompute none
train 8-layers-batch-32-tables --model qwen2.5-7b --untied --layers 8 --batch 32 --steps 14 --max-norm 1000 --resident-layers 8 --resident-tables both --recompute none
train 3b-batch-32-resident-36-tables --model qwen2.5-3b --untied --batch 32 --steps 12 --max-norm 1000 --resident-layers 36 --resident-tables both --recompute none
train 14b-batch-32-resident-9-tables --model qwen2.5-14b --batch 32 --steps 8 --max-norm 1000 --resident-layers 9 --resident-tables both --keep-last-layers 25
train 32b-batch-32-6-byte-resident-21-tables --model qwen2.5-32b --batch 32 --state-bytes 6 --steps 7 --max-norm 1000 --resident-layers 21 --resident-tables both --keep-last-layers 9
train 7b-batch-32-resident-11-tables --model qwen2.5-7b --untied --batch 32 --steps 8 --max-norm 1000 --resident-layers 11 --resident-tables both --keep-last-layers 28
train 7b-batch-8-bf16 --model qwen2.5-7b --untied --batch 8 --steps 14 --max-norm 1000 --resident-layers 28 --resident-tables both --recompute none
train 7b-batch-32-bf16 --model qwen2.5-7b --untied --batch 32 --steps 12 --max-norm 1000 --resident-layers 8 --resident-tables both --recompute none
for precision in fp8 bf16; do
    train 8-layers-batch-32-$precision --model qwen2.5-7b --untied --layers 8 --batch 32 --steps 16 --max-norm 1000 --resident-layers 8 --resident-tables both --recompute none --compute $precision
done
train 7b-batch-8-exact --model qwen2.5-7b --untied --batch 8 --steps 14 --max-norm 1 --clipping exact --keep-last-layers 28 --resident-layers 28 --resident-tables both
train 7b-batch-32-exact-chosen --model qwen2.5-7b --untied --batch 32 --steps 12 --max-norm 1 --clipping exact --keep-last-layers 27 --resident-layers 12 --resident-tables both
train 3b-batch-32-exact --model qwen2.5-3b --untied --batch 32 --steps 12 --max-norm 1 --clipping exact --keep-last-layers 36 --resident-layers 36 --resident-tables both
train 14b-batch-32-exact --model qwen2.5-14b --batch 32 --steps 10 --max-norm 1 --clipping exact --learning-rate 2e-5 --keep-last-layers 12 --resident-layers 21 --resident-tables both
train 14b-batch-32-8-byte-exact --model qwen2.5-14b --batch 32 --state-bytes 8 --steps 10 --max-norm 1 --clipping exact --learning-rate 2e-5 --keep-last-layers 27 --resident-layers 14 --resident-tables both
train 7b-batch-32-fp8-kept-8 --model qwen2.5-7b --untied --batch 32 --steps 12 --max-norm 1000 --resident-layers 22 --resident-tables both --recompute none --compute fp8 --kept-bits 8
train 7b-batch-32-fp8-kept-16 --model qwen2.5-7b --untied --batch 32 --steps 14 --max-norm 1000 --resident-layers 10 --host-gradient-slabs 8 --resident-tables both --recompute none --compute fp8
train 7b-batch-128-fp8-kept-8 --model qwen2.5-7b --untied --batch 128 --micro-batch 64 --steps 5 --max-norm 1000 --keep-last-layers 10 --resident-layers 2 --resident-tables both --compute fp8 --kept-bits 8
train 14b-batch-32-kept-8 --model qwen2.5-14b --batch 32 --steps 8 --max-norm 1000 --learning-rate 2e-5 --keep-last-layers 35 --resident-layers 14 --resident-tables both --checkpoints host --kept-bits 8
large=(--model qwen2.5-7b --untied --max-norm 1000 --recompute none --resident-tables both)
head=(--compute fp8 --kept-bits 8 --head-gradients fp8)
train 7b-batch-128-passes-16 "${large[@]}" --batch 128 --steps 6 --passes 16 --resident-layers 26
train 7b-batch-32-fp8-head "${large[@]}" --batch 32 --steps 12 "${head[@]}" --resident-layers 22
for deferred in 0 11; do
    name=7b-batch-8-24-gb$([ $deferred = 0 ] || echo -deferred-$deferred)
    train "$name" --model qwen2.5-7b --untied --batch 8 --steps 12 --max-norm 1000 --learning-rate 2e-5 --device-budget-bytes 24e9 --keep-last-layers 2 --resident-layers 5 --deferred-layers $deferred
done
for deferred in 0 14; do
    name=14b-batch-16-8-byte$([ $deferred = 0 ] || echo -deferred-$deferred)
    train "$name" --model qwen2.5-14b --batch 16 --state-bytes 8 --steps 10 --max-norm 1000 --learning-rate 2e-5 --recompute none --resident-layers 5 --resident-tables both --deferred-layers $deferred
done
small=(--model qwen2.5-7b --untied --batch 32 --steps 9 --max-norm 1000 --learning-rate 2e-5 --device-budget-bytes 24e9)
train 7b-batch-32-24-gb-deferred-12 "${small[@]}" --checkpoints host --resident-layers 1 --resident-tables both --deferred-layers 12
train 7b-batch-32-24-gb-host-kept-10 "${small[@]}" --micro-batch 16 --resident-layers 2 --host-kept-layers 10
# One step of minutes is too few for a report: the log has its time.
"$program" --plan given --data "$text" --learning-rate 1e-4 --model qwen2.5-7b --untied --batch 1 --seq 524288 --max-norm 1000 --clipping speculative --feed-forward-chunk-tokens 16384 \
    --saved-inputs half --checkpoints host --keep-attention-layers 27 --resident-tables both --steps 1 --log "$out/7b-1-by-524288.jsonl"
train 7b-batch-32-tiles --model qwen2.5-7b --untied --batch 32 --steps 8 --max-norm 1000 --resident-layers 11 --resident-tables both --recompute none
train 3b-batch-32-tiles --model qwen2.5-3b --untied --batch 32 --steps 10 --max-norm 1000 --resident-layers 36 --resident-tables both --recompute none
train 7b-batch-32-fp8-head-tiles "${large[@]}" --batch 32 --steps 11 "${head[@]}" --resident-layers 22
train 7b-batch-128-fp8-head-codes "${large[@]}" --batch 128 --steps 7 --passes 8 "${head[@]}" --resident-layers 19 --weight-code-layers 20 --host-gradient-slabs 8
streamed=(--model qwen2.5-7b --layers 6 --batch 8 --passes 8 --steps 12 --max-norm 1000 --compute fp8 --resident-tables both --recompute none)
train 6-layers-passes-8-fp8-cast "${streamed[@]}"
train 6-layers-passes-8-fp8-codes "${streamed[@]}" --stream-weights fp8
# Every step is clipped. The reports were made with ids of a tokenizer of 8,192 tokens instead of bytes.
exact=(--max-norm 1 --clipping exact --learning-rate 2e-5 --resident-tables both)
train 7b-batch-32-exact-passes-8 --model qwen2.5-7b --untied --batch 32 --steps 12 "${exact[@]}" --passes 8 --resident-layers 27 --recompute none
train 7b-batch-32-resident-10-tables --model qwen2.5-7b --untied --batch 32 --steps 12 --max-norm 1000 --learning-rate 2e-5 --resident-layers 10 --resident-tables both --recompute none
train 14b-batch-32-exact-host-kept-19 --model qwen2.5-14b --batch 32 --steps 11 "${exact[@]}" --resident-layers 29 --host-kept-layers 19 --keep-attention-layers 13
train 14b-batch-32-8-byte-exact-host-kept-15 --model qwen2.5-14b --batch 32 --state-bytes 8 --steps 11 "${exact[@]}" --resident-layers 20 --keep-last-layers 20 --host-kept-layers 15
train 7b-batch-32-exact-visiting-10 --model qwen2.5-7b --untied --batch 32 --steps 9 "${exact[@]}" --resident-layers 10 --visiting-layers 10 --recompute none
train 7b-batch-32-exact-passes-4 --model qwen2.5-7b --untied --batch 32 --steps 9 "${exact[@]}" --passes 4 --resident-layers 27 --recompute none
train 7b-batch-128-exact-visiting-5 --model qwen2.5-7b --untied --batch 128 --steps 5 "${exact[@]}" --passes 8 --resident-layers 17 --visiting-layers 5 --recompute none
train 7b-batch-32-beside-visiting --model qwen2.5-7b --untied --batch 32 --steps 8 --max-norm 1000 --learning-rate 2e-5 --resident-layers 10 --resident-tables both --recompute none
train 7b-batch-8-exact-tiles --model qwen2.5-7b --untied --batch 8 --steps 16 "${exact[@]}" --resident-layers 28 --recompute none
train 3b-batch-32-exact-tiles --model qwen2.5-3b --untied --batch 32 --steps 14 "${exact[@]}" --resident-layers 36 --recompute none
for gpu in second third; do
    train 7b-batch-32-exact-visiting-10-$gpu-gpu --model qwen2.5-7b --untied --batch 32 --steps 10 "${exact[@]}" --resident-layers 10 --visiting-layers 10 --recompute none
done
train 7b-batch-32-beside-visiting-second-gpu --model qwen2.5-7b --untied --batch 32 --steps 10 --max-norm 1000 --learning-rate 2e-5 --resident-layers 10 --resident-tables both --recompute none
train 7b-batch-32-24-gb-exact --model qwen2.5-7b --untied --batch 32 --steps 8 --max-norm 1 --clipping exact --learning-rate 2e-5 --device-budget-bytes 24e9 --resident-layers 3
train 7b-batch-32-24-gb-exact-late-25 --model qwen2.5-7b --untied --batch 32 --steps 8 --max-norm 1 --clipping exact --learning-rate 2e-5 --device-budget-bytes 24e9 --resident-layers 3 --late-moment-layers 25
for threads in 14 15 16; do
    train 7b-batch-32-24-gb-exact-late-25-$threads-threads --model qwen2.5-7b --untied --batch 32 --steps 7 --max-norm 1 --clipping exact --learning-rate 2e-5 --device-budget-bytes 24e9 --resident-layers 3 --late-moment-layers 25 --optimizer-threads $threads
done
for threads in 12 16; do
    train 7b-batch-32-exact-visiting-10-$threads-threads --model qwen2.5-7b --untied --batch 32 --steps 9 --max-norm 1 --clipping exact --learning-rate 2e-5 --recompute none --resident-tables both --resident-layers 10 --visiting-layers 10 --optimizer-threads $threads
    train 14b-batch-32-exact-$threads-threads --model qwen2.5-14b --batch 32 --steps 6 --max-norm 1 --clipping exact --learning-rate 2e-5 --host-kept-layers 19 --keep-attention-layers 13 --resident-layers 29 --resident-tables both --optimizer-threads $threads
done
train 7b-batch-32-24-gb-host-kept-10-second-gpu "${small[@]}" --micro-batch 16 --resident-layers 2 --host-kept-layers 10
# The plan that `sluice predict` chose for the machine in general. planned NAME STEPS FLAG... -- FLAG OF TRAINING...
planned() {
    local name=$1 steps=$2
    shift 2
    local model=()
    while [ "$1" != -- ]; do model+=("$1"); shift; done
    shift
    ./dev run sluice predict "${model[@]}" --machine h200-pcie5-16vcpu-128gib "$@" --json >"$out/$name-plan.json"
    "$program" --plan "$out/$name-plan.json" "${model[@]}" --data "$text" --warmup-steps 5 --steps "$steps" "${limit[@]}" \
        --report "$out/$name.json" >"$out/$name.txt"
}
limit=(--max-norm 1 --learning-rate 2e-5)
planned 7b-batch-64-exact-planned 7 --model qwen2.5-7b --untied -- --batch 64 --clipping exact
planned 7b-8-by-4096-exact-planned 9 --model qwen2.5-7b --untied -- --batch 8 --seq 4096 --clipping exact
planned 14b-batch-32-exact-planned 6 --model qwen2.5-14b -- --batch 32 --clipping exact
limit=(--max-norm 1000 --learning-rate 1e-4)
planned 7b-batch-32-fp8-planned 11 --model qwen2.5-7b --untied -- --batch 32 --clipping speculative --compute fp8 --kept-bits 8 --head-gradients fp8
planned 7b-batch-128-fp8-planned 6 --model qwen2.5-7b --untied -- --batch 128 --clipping speculative --compute fp8 --kept-bits 8 --head-gradients fp8
