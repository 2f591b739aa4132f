#!/bin/sh
# Tests the tests: plants one known error at a time in a copy of the source and runs the test that must fail.
# `make check-planted`. Each line: file | what is replaced | by what | the test's make target.
set -u
root=$(pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
passed=0
failed=0

copy() {
    rm -rf "$work/tree"
    mkdir -p "$work/tree"
    tar -cf - --exclude=./build --exclude=./.git --exclude=./models . | tar -xf - -C "$work/tree"
}

while IFS='|' read -r file from to target; do
    [ -n "$file" ] || continue
    copy
    cd "$work/tree" || exit 1
    sed -i "s|$from|$to|" "$file"
    if cmp -s "$file" "$root/$file"; then
        echo "NOT PLANTED  $file: '$from' is not there"
        failed=$((failed + 1))
    elif ! make -s B="$work/build" "$work/build/tests/$target" >"$work/log" 2>&1; then
        echo "NOT BUILT    $file: $from -> $to"
        tail -5 "$work/log"
        failed=$((failed + 1))
    elif "$work/build/tests/$target" >"$work/log" 2>&1; then
        echo "NOT NOTICED  $file: $from -> $to ($target passed)"
        failed=$((failed + 1))
    else
        echo "noticed      $file: $from -> $to ($target)"
        passed=$((passed + 1))
    fi
    cp "$root/$file" "$file"
    cd "$root" || exit 1
done <<'LIST'
src/engine/kernels/plain.c|real dh = -b->c0\[k\]|real dh = b->c0[k]|double_gradients
src/engine/kernels/cpu_encoder.c|\* centred +$|* centred -|double_gradients
src/engine/kernels/cpu_decoder.c|+ b->e\[e\] \* late|- b->e[e] * late|double_gradients
src/engine/kernels/cpu.c|k1\[c\] = (real)(g \* inv \* m2)|k1[c] = (real)(-g * inv * m2)|double_gradients
src/engine/kernels/cpu_head.c|i == right\[t\] ? each|i != right[t] ? each|test_engine_golden
src/engine/kernels/cpu_decoder.c|start\[c\] += spare|start[c] -= spare|double_gradients
src/engine/model/generated.c|theta + sh->tensor\[k\].offset);|theta + sh->tensor[k].offset); theta[77] += 0.01f;|test_engine_golden
src/engine/kernels/cpu_head.c|(size_t)(at->n - n) \* D|(size_t)0 * D|test_engine_golden
src/engine/kernels/cpu_decoder.c|(size_t)(s->at\[b\].n - s->at\[b\].m)|(size_t)0|test_mixed
src/engine/kernels/batch_size.c|size->step_cells += (size_t)m|size->step_cells += (size_t)n|test_engine_golden
src/engine/decode/search.c|t < 2 ? t : 2|t < 1 ? t : 2|test_engine_properties
LIST
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
