# SPDX-License-Identifier: MIT
# For scripts that run the tool: what held is counted, what did not is said.
passed=0 failed=0 skipped=0

ok() { passed=$((passed + 1)); }
bad() { failed=$((failed + 1)); printf 'FAILED: %s\n' "$*"; }
skip() { skipped=$((skipped + 1)); printf 'SKIP: %s\n' "$*"; }
# The account that scripts/test.sh adds up; the script's last line.
finish() { echo "$passed passed, $failed failed, $skipped skipped"; [ $failed = 0 ]; }
check() { local what=$1; shift; if "$@"; then ok; else bad "$what"; fi; }
# check_quietly LOG WHAT COMMAND...: the same, and the end of what it printed where it failed.
check_quietly() { if "${@:3}" >"$1" 2>&1; then ok; else bad "$2"; tail -n 20 "$1"; fi; }
# block FILE FENCE: the text between ```FENCE and ```
block() { awk -v fence="\`\`\`$2" '$0 == fence { on = 1; next } /^```/ { on = 0 } on' "$1"; }

# expect CODE WORDS COMMAND...: the exit code, and WORDS in what it prints; an error prints nothing on stdout. What it
# printed stays in stdout and stderr, in the folder $seen or the one at hand.
expect() {
  local code=$1 words=$2 out=${seen:-.}/stdout err=${seen:-.}/stderr got; shift 2
  "$@" >"$out" 2>"$err"; got=$?
  if [ $got != "$code" ]; then bad "$* : exit code $got, not $code: $(head -c 300 "$err")"; return; fi
  if [ "$code" -gt 1 ] && [ -s "$out" ]; then bad "$* : an error, and something on stdout"; return; fi
  if ! grep -qF -- "$words" "$out" "$err"; then bad "$* : '$words' is not in: $(cat "$out" "$err" | head -c 300)"; return; fi
  ok
}

# await PID COMMAND...: until the command succeeds; false where the process ended before. One that never comes is ended by
# ctest, after many minutes: no test depends on how fast the machine is.
await() { until "${@:2}"; do kill -0 "$1" 2>/dev/null || return 1; sleep 0.01; done; }
has_lines() { [ -e "$1" ] && [ "$(wc -l <"$1")" -ge "$2" ]; } # has_lines FILE COUNT
# The process used so many hundredths of a second of a CPU: it is at its work.
worked() { [ "$(awk '{ print $14 + $15 }' "/proc/$1/stat" 2>/dev/null || echo 0)" -ge "$2" ]; }
took_signal() { ! grep -qsE '^(SigPnd|ShdPnd):.*[2367abef]$' "/proc/$1/status"; } # took_signal PID: no SIGINT waits
