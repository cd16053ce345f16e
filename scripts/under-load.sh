#!/bin/sh
# Runs a command again and again while every processor is kept busy:
# scripts/under-load.sh TIMES COMMAND... It ends with how often it passed.
set -eu
times=$1
shift
burners=""
end() { for pid in $burners; do kill "$pid" 2>/dev/null || true; done; }
trap end EXIT
trap 'exit 130' INT TERM
for _ in $(seq "$(getconf _NPROCESSORS_ONLN)"); do
  nice -n 5 sh -c 'while :; do :; done' &
  burners="$burners $!"
done
passed=0 failed=0
for n in $(seq "$times"); do
  if out=$("$@" 2>&1); then
    passed=$((passed + 1))
    echo "run $n of $times: $(echo "$out" | tail -n 1)"
  else
    failed=$((failed + 1))
    echo "run $n:"
    echo "$out" | grep -v '^ok ' || true
  fi
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
