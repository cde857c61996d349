# SPDX-License-Identifier: MIT
# For scripts that run the tool: what held is counted, what did not is said.
passed=0 failed=0

ok() { passed=$((passed + 1)); }
bad() { failed=$((failed + 1)); printf 'FAILED: %s\n' "$*"; }
check() { local what=$1; shift; if "$@"; then ok; else bad "$what"; fi; }

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
