#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# labels: core; tier: quick; cost: 1 s
# Sizes in src/io and src/zoo are computed by checked.h. What a script can see of that, and no more:
#   1. the size given to malloc, calloc, realloc, memcpy, memmove or memset holds no *, + or <<, but in sizeof
#   2. nothing named as a size or count is cast to int; (int) of a bounded one says why on its line: /* fits: ... */
# It does not follow a value from line to line; the readers' tests and the fuzzer do.
# Kernels widen a vector by zext or setr, never by a cast: the new lanes of a cast are undefined.
# Rows include core/row.h and nothing else of core; their list is core/spec.h's.
set -euo pipefail

lint() { # lint FILE...: prints FILE:LINE: what is wrong
  awk '
    function say(what) { print FILENAME ":" line ": " what }
    # The arguments of the call whose ( is at position p of text, into arg[1..n]; n, or 0 where it does not end there.
    function split_call(text, p,    depth, n, c, i) {
      n = 1; arg[1] = ""; depth = 0
      for (i = p; i <= length(text); i++) {
        c = substr(text, i, 1)
        if (c == "(" || c == "[" || c == "{") { if (depth++ == 0) continue }
        if (c == ")" || c == "]" || c == "}") { if (--depth == 0) return n }
        if (c == "," && depth == 1) { arg[++n] = ""; continue }
        arg[n] = arg[n] c
      }
      return 0
    }
    function raw(size) {
      gsub(/sizeof *\([^)]*\)|sizeof *\*+[a-z_]+((->|\.)[a-z_]+)*/, "S", size)
      gsub(/sizeof [^,]*/, "S", size)
      gsub(/\([a-z0-9_ ]+\**\)/, "", size)     # casts
      gsub(/->|\+\+|--/, "", size)
      return size ~ /[*+]|<</
    }
    function calls(text,    p, name, rest, n, offset) {
      rest = text; offset = 0
      while (match(rest, /(^|[^a-z_])(malloc|calloc|realloc|memcpy|memmove|memset)\(/)) {
        p = offset + RSTART + RLENGTH - 1
        name = substr(rest, RSTART, RLENGTH - 1); sub(/^[^a-z]/, "", name)
        n = split_call(text, p)
        if (n && (raw(arg[n]) || (name == "calloc" && raw(arg[1])))) say("raw arithmetic in the size of " name)
        offset += RSTART + RLENGTH - 1; rest = substr(text, offset + 1)
      }
    }
    function statement_ends(text) { return text ~ /[;{}] *$/ }
    FNR == 1 { text = "" }
    {
      code = $0
      fits = code ~ /\/\* fits: /
      gsub(/\/\*[^*]*\*\//, "", code); sub(/\/\/.*/, "", code); gsub(/"([^"\\]|\\.)*"/, "\"\"", code)
      if (code ~ /^ *\*|^ *\/\*/) next
      if (text == "") line = FNR
      text = text " " code
      if (!fits && code ~ /\(int(32_t)?\) *\(?[a-z_>.-]*(size|count|length|left|bytes|room|rank|index)[^a-z_(]/) {
        line = FNR; say("a size cast to int")
      }
      if (statement_ends(code) || code ~ /^ *$/) { calls(text); text = "" }
    }' "$@"
}

widening_casts() { # widening_casts FILE...: casts to a vector with more lanes
  grep -HnE '_mm256_cast[a-z]+128_[a-z]+256\(|_mm512_cast[a-z]+(128|256)_[a-z]+512\(' "$@" || true
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The lint sees what it is for, and lets pass what is fine.
cat >"$work/bad.c" <<'C'
    p = malloc(n * 8);
    p = malloc(count + 1);
    p = calloc(n * m, 4);
    p = realloc(p, (size_t)n << 3);
    memcpy(to, from,
           n * sizeof *from);
    memmove(to + 1, from, left - 1 + n);
    x = (int)length;
    x = (int)a->count;
C
cat >"$work/good.c" <<'C'
    p = malloc(bytes ? bytes : 1);
    memcpy(to + n * 4, from + 1, bytes);
    p = calloc(1, sizeof *p);
    p = calloc(1, sizeof(*p));
    memcpy(&v, at, sizeof v);
    p = io_mul(&bytes, n, 8) ? malloc(bytes) : NULL; /* n * 8 */
    say("malloc(n * 8)");
    x = (int)length; /* fits: 40 at most */
    x = (int)version;
C
bad=$(lint "$work/bad.c" | wc -l)
good=$(lint "$work/good.c")
if [ "$bad" -ne 8 ] || [ -n "$good" ]; then
  echo "FAILED: the lint itself: $bad of 8 seen; of the good: $good"
  lint "$work/bad.c"
  exit 1
fi

cat >"$work/casts.c" <<'C'
    a = _mm256_castps128_ps256(x);
    b = _mm512_castsi256_si512(x);
    c = _mm512_castps128_ps512(x);
    d = _mm256_castps256_ps128(x);
    e = _mm256_castsi256_ps(x);
    f = _mm256_zextps128_ps256(x);
C
if [ "$(widening_casts "$work/casts.c" | wc -l)" -ne 3 ]; then
  echo "FAILED: the lint itself: of 3 casts to a wider vector it sees"
  widening_casts "$work/casts.c"
  exit 1
fi
found=$(widening_casts src/kernels/*.[ch])
if [ -n "$found" ]; then
  printf 'FAILED: the new lanes are undefined; use zext or setr:\n%s\n' "$found"
  exit 1
fi

found=$(grep -nE '#include "(core|attention)/' src/encodings/*.[ch] | grep -v '"core/row.h"\|registry.c' || true)
if [ -n "$found" ]; then
  printf 'FAILED: what rows need of core is in core/row.h:\n%s\n' "$found"
  exit 1
fi

own='engine_[a-z]*|extend_[a-z]*|json_edit|spec_[a-z]*' # text that is in memory already: its length is no file's number
readers=$(ls src/io/*.[ch] src/zoo/*.[ch] | grep -vE "^src/zoo/($own)\.[ch]$")
found=$(lint $readers)
if [ -n "$found" ]; then
  printf 'FAILED: sizes go through io_mul and io_add (src/io/checked.h):\n%s\n' "$found"
  exit 1
fi
echo "$(wc -w <<<"$readers") files of src/io and src/zoo: sizes are checked"
echo "$(ls src/kernels/*.[ch] | wc -l) files of src/kernels: no cast to a wider vector"
echo "$(ls src/encodings/*.[ch] | wc -l) files of src/encodings: of core they include row.h alone"
echo "5 passed, 0 failed, 0 skipped"
