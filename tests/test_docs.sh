#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# labels: core; tier: test; cost: 25 s; needs: compiler; sanitize: no
# The docs are run: commands of the READMEs, their C example and the rows of the page that adds an encoding.
set -euo pipefail
root=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. tests/lib.sh
check() { check_quietly "$work/log" "$@"; }

# The C example of a README is the middle of examples/kv_cache.c, less its indentation.
example_is_the_file() { # example_is_the_file README
  block "$1" c >"$work/readme.c"
  sed -n '/pe_encoding \*rope;/,/pe_encoding_free/p' examples/kv_cache.c | sed 's/^    //' >"$work/file.c"
  [ -s "$work/readme.c" ] && diff "$work/readme.c" "$work/file.c"
}
for f in README.md README.zh-CN.md; do check "the C example of $f is examples/kv_cache.c" example_is_the_file "$f"; done

# Every command line of the docs: posenc ones run, make ones must be targets; packaging/run.sh runs the install and cc ones.
mkdir "$work/bin" "$work/run"
ln -s "$(cd "$(dirname "$POSENC")" && pwd)/$(basename "$POSENC")" "$work/bin/posenc"
cd "$work/run"
cp "$root"/examples/llama-3.1-8b/config.json .
. "$root/tests/tiny_model.sh"
tiny_model "$root/tests/story.txt"
while IFS= read -r line; do
  command=${line%%#*}
  case $command in
    posenc*) check "$line" env PATH="$work/bin:$PATH" bash -c "$command" ;;
    "make "*) check "$line" make -C "$root" -n $(set -- $command; echo "$2") ;;
    "cc app.c"* | "pip install "*) ;; # the latter is done by scripts/python.sh
    *[![:space:]]*) bad "nothing runs this line of the docs: $line" ;;
  esac
done < <(for f in "$root"/README*.md "$root"/docs/*.md; do block "$f" sh; done)
cd "$root"

# docs/models.md counts the types that are left out, by kind, and what the censuses hold.
unread=$(awk '/^    \{ "/ { t = 1 } t { last = /",$/; gsub(/[{",]/, ""); n += NF; t = !last } END { print n }' src/zoo/facts_unread.c)
kinds=$(awk -F'|' '/^\| left out/ { t = 1 } t && $2 + 0 { n += $2 } /^$/ { t = 0 } END { print n }' docs/models.md)
check "docs/models.md: $unread types are left out" grep -q "^$unread are left out" docs/models.md
check "and its kinds are as many" test "$kinds" = "$unread"
rows=$(cat $(ls src/zoo/facts_*.c | grep -v facts_unread) | grep -cE '^    \{ "[^"]+", "')
number() { grep -oE "[0-9]+ $1" docs/models.md | head -n 1 | cut -d' ' -f1; }
check "docs/models.md: the $rows rows are counted" test $(($(number 'have a row here') + $(number 'more rows are of'))) = "$rows"
check "and all types" test $(($(number 'have a row here') + unread)) = "$(number 'model types')"
for census in rope_census layer_census table_census; do
  cases=$(grep -c '^ "' tests/golden/$census.json)
  left=$(grep '^"left_out"' tests/golden/$census.json | grep -o '": "' | wc -l)
  check "docs/models.md: $census has $cases cases" grep -q "^| .$census.* | $cases of $cases " docs/models.md
  check "and leaves out $left" grep -q "^| .$census.* | $left " docs/models.md
done

# docs/results.md: tables that are made again from what the races wrote into docs/results/*.csv.
table_below() { # table_below FILE HEADER: its rows, without marks
  awk -v header="$2" '/^$/ { on = 0 } on > 1 { print } on { on = 2 } index($0, header) == 1 { on = 1 }' "$1" | sed '/^|---/d' | tr -d '*`'
}
race_table() { # race_table RACE HEADER [digits]: bits, or the share of right digits with its deviation over seeds
  awk -F'"' -v digits="${3:-}" 'NR > 1 {
      split($1, at, ","); split($3, bits, ","); split($5, right, ",")
      value = digits == "" ? bits[2] : 100 * right[3]
      if (!($2 in row)) row[$2] = ++rows
      if (!(at[2] in column)) column[at[2]] = ++columns
      cell = row[$2] " " column[at[2]]; name[row[$2]] = $2; n[cell]++; sum[cell] += value; square[cell] += value ^ 2
    }
    END {
      for (r = 1; r <= rows; r++) {
        line = "| " name[r] " |"
        for (c = 1; c <= columns; c++) {
          cell = r " " c; mean = sum[cell] / n[cell]
          spread = n[cell] > 1 ? sqrt((square[cell] - n[cell] * mean ^ 2) / (n[cell] - 1)) : 0
          line = line (digits == "" ? sprintf(" %.2f |", mean) : sprintf(" %.0f ± %.0f |", mean, spread))
        }
        print line
      }
    }' "docs/results/$1.csv" | sort >"$work/race"
  table_below docs/results.md "$2" | sort >"$work/table"
  [ -s "$work/table" ] && diff "$work/race" "$work/table"
}
check "docs/results.md: passkey.csv" race_table passkey "| right digits, % | 32 |" digits
check "docs/results.md: recall.csv" race_table recall "| right answers, % | 32 |" digits
check "docs/results.md: masked.csv" race_table masked "| bits per predicted token | 256 | 512 |"

# The race on books: books.csv has the table; the READMEs have some rows of it, and the picture the rows of README.
books_rows() { # books_rows [short]: lines of the table in results.md, or up to 4096 as in the READMEs
  awk -F'"' -v short="${1:-}" 'NR > 1 {
    split($3, v, ",")
    line = "| " $2 " | " v[2] " | " v[3] " | " v[4] " | " v[5] " | " v[6] " |"
    print short ? line : line " " v[7] " | " v[8] (v[9] == "cannot" ? "" : ", " v[9]) " |"
  }' docs/results/books.csv
}
books_table() { diff <(books_rows) <(table_below docs/results.md "| encoding | 256 |"); }
books_readme() { # books_readme README HEADER: leaves the rows in English
  table_below "$1" "$2" | sed 's/，测试时用 YaRN/, YaRN at test/; s/，相加/, added/; s/不可用/cannot/g' >"$work/$1.rows"
  [ -s "$work/$1.rows" ] && ! grep -vxFf <(books_rows short) "$work/$1.rows"
}
books_picture() { # "t5: 2.03 at 256, then 2.01 at 4096." of each row of README, in its order
  awk -F' [|] ' '{ sub(/^[|] /, "", $1); sub(/ [|]$/, "", $6)
    print $1 ": " $2 + 0 " at 256, then " ($6 == "cannot" ? $6 : $6 + 0 " at 4096") "." }' "$work/README.md.rows" >"$work/picture"
  diff "$work/picture" <(sed -n 's/^<desc>[^.]*\. \(.*\) <.desc>$/\1/p' docs/results/extrapolation.svg | sed 's/\. /.\n/g')
}
check "docs/results.md: books.csv" books_table
check "README.md: books.csv" books_readme README.md "| bits per byte at |"
check "README.zh-CN.md: books.csv" books_readme README.zh-CN.md "| 每字节比特数"
check "both READMEs have the same rows" diff "$work/README.md.rows" "$work/README.zh-CN.md.rows"
check "docs/results/extrapolation.svg: the rows of README" books_picture

# Whole programs of the docs (```c run) compile and end well.
run_program() {
  block "$1" "c run" >"$work/program.c" && ${CC:-cc} -std=c11 -Wall -Wextra -Werror -Iinclude "$work/program.c" \
    "$POSENC_BUILD/libposenc.a" -lm -pthread -o "$work/program" && "$work/program"
}
for f in $(grep -l '^```c run' README.md docs/*.md); do check "program of $f" run_program "$f"; done
# Those of the GPU library (```c gpu) do so without a GPU, too.
run_gpu_program() {
  block "$1" "c gpu" >"$work/program.c" && ${CC:-cc} -std=c11 -Wall -Wextra -Werror -Iinclude "$work/program.c" \
    "$POSENC_BUILD/libposenc_cuda.a" "$POSENC_BUILD/libposenc.a" -lm -ldl -pthread -o "$work/program" && "$work/program"
}
for f in $(grep -l '^```c gpu' README.md docs/*.md); do
  [ ! -e "$POSENC_BUILD/libposenc_cuda.a" ] || check "GPU program of $f" run_gpu_program "$f"
done

# Every spec in the README's table makes an encoding.
npy "$work/grid.npy" '<i8' '(2, 3)' 8 0 0 0 0 0 0 # two tokens at (0, 0, 0)
for spec in $(sed -n '/^| spec/,/^$/p' README.md | sed 's/|[^|]*|$//' | grep -o '`[^`]*`' | tr -d '`'); do
  check "spec $spec" bash -c '"$1" table "$2" --head-dim 128 -n 2 || "$1" bias "$2" -n 2 || "$1" table "$2" --head-dim 128 --pos "$3"' \
    spec "$POSENC" "$spec" "$work/grid.npy"
done

# docs/add-an-encoding.md: its two rows, compiled with a registry that has them and linked with the rest of the library as it
# was built; quick tests that loop over rows hold them. test_add_encoding.sh builds all of it anew.
mkdir "$work/rows"
rows_compile() {
  local row file
  sed 's/X(window)/X(window) X(gaussian) X(tuned)/' src/encodings/registry.c >"$work/rows/registry.c"
  for row in gaussian tuned; do block docs/add-an-encoding.md "c file=src/encodings/$row.c" >"$work/rows/$row.c"; done
  for file in "$work"/rows/*.c; do
    [ -s "$file" ] && ${CC:-cc} -std=c11 -O2 -Wall -Wextra -Werror -fPIC -Iinclude -Isrc -Isrc/encodings -c "$file" -o "${file%.c}.o" || return 1
  done
}
# Of the sources that there are: a build folder may have objects of older ones. The registry is compiled above.
library_objects() {
  local c
  for c in src/{attention,base,core,encodings,kernels}/*.c; do
    [ "$c" = src/encodings/registry.c ] || [ ! -e "$POSENC_BUILD/CMakeFiles/posenc_objects.dir/$c.o" ] || echo "$POSENC_BUILD/CMakeFiles/posenc_objects.dir/$c.o"
  done
}
rows_hold() { # rows_hold TEST
  ${CC:-cc} "$POSENC_BUILD/tests/CMakeFiles/test_$1.dir/test_$1.c.o" "$work"/rows/*.o \
    $(library_objects) -lcmocka -lm -pthread -o "$work/test_$1" && "$work/test_$1"
}
if [ -d "$POSENC_BUILD/CMakeFiles/posenc_objects.dir" ] && check "rows of docs/add-an-encoding.md compile" rows_compile; then
  for name in contract lowered ring rotate trained spec_rows gradients; do check "test_$name holds them" rows_hold $name; done
fi

finish
