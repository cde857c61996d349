#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# labels: core; tier: quick; cost: 3 s
# What is made from the table of verbs beside the help: completion scripts, manual pages; and doctor.
set -uo pipefail
. tests/lib.sh
POSENC=$(realpath "${POSENC:-build/posenc}")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/bin" && ln -s "$POSENC" "$dir/bin/posenc"
PATH=$dir/bin:$PATH
cd "$dir" || exit 1
verbs=$(posenc --help | sed -n '/^Verbs/,/^$/s/^  \([a-z]*\) .*/\1/p')

# ---- bash, really completing: offer WORDS... is what it answers to the last of them
posenc completion bash >posenc.bash
source ./posenc.bash
COMP_LINE='' COMP_POINT=0 # looked at for specs only
offer() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _posenc; echo "${COMPREPLY[*]}"; }
offers() { local wanted=$1 got; shift; got=$(offer "$@"); [ "$got" = "$wanted" ] || { echo "'$*': '$got'"; return 1; }; }
check "it is registered" test -n "$(complete -p posenc)"
check "verbs" offers "$(echo $verbs) --help --version" posenc ""
check "a verb" offers "table" posenc tab
check "an encoding" offers "rope" posenc table rop
check "a name" offers "sinusoidal" posenc list sinu
check "an option" offers "--head-dim" posenc table rope --head-
check "options of this verb only" offers "--in --inverse" posenc apply rope --in
check "help is an option of all" offers "--help" posenc dogs --hel
check "a choice" offers "f32 f16 f64" posenc table rope --dtype f
check "a choice after =, three words to bash" offers "f32 f16 f64" posenc table rope --dtype = f
check "all choices after =" offers "f32 f16 bf16 f64" posenc table rope --dtype =
check "nothing for a number" offers "" posenc table rope -n ""
check "words of an operand" offers "bash" posenc completion b
check "a verb as operand" offers "table" posenc help tab
touch "one file.npy" two.npy
check "files" offers "two.npy" posenc apply rope --in tw
check "files with spaces, by a letter" offers "one file.npy" posenc table rope -o one
check "every verb's every option" bash -c '
  source ./posenc.bash; COMP_LINE= COMP_POINT=0
  for verb in '"$(echo $verbs)"'; do
    COMP_WORDS=(posenc $verb --) COMP_CWORD=2; _posenc
    [ "$(printf "%s\n" "${COMPREPLY[@]}" | sort)" = "$(posenc $verb --help | sed -n "/^Options/,/^\$/p" | grep -oE "^  (-., )?--[a-z0-9-]+" | grep -oE -- "--.*" | sort)" ] || exit 1
  done'
# spec LINE: as bash would cut it
spec() { COMP_LINE=$1 COMP_POINT=${#1}; offer $(sed 's/[:=]/ & /g' <<<"$1"); }
specs() { local got; got=$(spec "$2"); [ "$got" = "$1" ] || { echo "'$2': '$got'"; return 1; }; }
check "keys of an encoding" specs "theta=" "posenc table rope:th"
check "a key after a comma" specs "1,scaling=" "posenc table rope:theta=1,scal"
check "choices of a key" specs "yarn" "posenc table rope:scaling=y"
check "choices after another key" specs "yarn" "posenc table rope:theta=1,scaling=y"
check "keys of the second part" specs "convention=" "posenc table sinusoidal+alibi:con"
check "what comes after a spec" specs "f16" "posenc table rope:theta=1 --dtype f1"
COMP_LINE='' COMP_POINT=0
posenc completion zsh >_posenc
posenc completion fish >posenc.fish
if command -v zsh >/dev/null; then check "zsh reads it" zsh -n _posenc; fi
if command -v fish >/dev/null; then
  check "fish reads it" fish --no-execute posenc.fish
  check "fish offers choices" test "$(fish -c 'source posenc.fish; complete -C "posenc table --dtype f1"' | cut -f1)" = f16
fi
posenc completion csh >out 2>err; check "another shell is refused" test $? = 2 -a ! -s out
check "and told which there are" grep -q "csh; needs one of bash|zsh|fish" err
check "--json" grep -q '"file": "_posenc"' <(posenc completion zsh --json)

# ---- manual pages
check "a page per verb, and the tool's" test "$(posenc man --list | paste -sd' ')" = "posenc $(printf 'posenc-%s\n' $verbs | paste -sd' ')"
check "the same as JSON" test "$(posenc man --list --json | grep '"pages"' | grep -oE 'posenc[a-z-]*')" = "$(posenc man --list)"
check "help as JSON has what a verb prints from a table" test "$(posenc help check --json | grep -c '"more_notes": ".*pair-layout')" = 1
plain() { sed 's/\\-/-/g; s/\\f[BR]//g; s/\\e/\\/g; s/\\&//g' "$1"; }
for page in $(posenc man --list); do
  posenc man "$page" >"$page.1"
  verb=${page#posenc}; verb=${verb#-}
  check "$page: parts" test "$(grep -cE '^\.SH (NAME|SYNOPSIS|OPTIONS|EXAMPLES|EXIT STATUS|SEE ALSO)$' "$page.1")" = 6
  while IFS= read -r line; do check "$page has $line" grep -qF -- "$line" <(plain "$page.1"); done < <(
    if [ -n "$verb" ]; then posenc help "$verb" --examples; posenc "$verb" --help | grep -oE -- '--[a-z0-9-]+( [A-Zf-][A-Zbf0-9|]*)?  +' | sed 's/ *$//'; fi)
  if command -v groff >/dev/null; then check "$page: groff has no complaint" test -z "$(groff -man -Tutf8 -ww -z "$page.1" 2>&1)"; fi
  if command -v mandoc >/dev/null; then check "$page: mandoc has no error" mandoc -T lint -W error "$page.1"; fi
done
check "man table is man posenc-table" cmp -s <(posenc man table) posenc-table.1
posenc man tabel >out 2>err; check "man tabel: did you mean" test $? = 2 -a -n "$(grep 'did you mean table' err)"
posenc man table --list >out 2>err; check "man table --list is refused" test $? = 2

# ---- doctor
posenc doctor >doctor.txt; check "doctor is well" test $? = 0
check "groups" test "$(grep -c '^[a-z]' doctor.txt)" = 8
check "the scalar kernels are on" grep -qE '^  scalar +on$' doctor.txt
rungs() { sed -n '/^kernels$/,/^$/p' doctor.txt; }
check "the highest kernels that are on are used" test "$(rungs | awk '$2 == "on" { last = $1 } END { print last }')" = "$(rungs | awk '$1 == "used" { print $2 }')"
check "others say why they are off" test -z "$(grep -E '^  [a-z0-9 ]+ off$' doctor.txt)"
check "the self-test has no wrong line" test -z "$(grep WRONG doctor.txt)" -a "$(grep -c ' right$' doctor.txt)" -ge 5
check "within 100 columns" test -z "$(awk 'length > 100' doctor.txt)"
check "doctor --json says so" grep -q '"well": true' <(posenc doctor --json)
if command -v jq >/dev/null; then check "jq reads it" jq -e '.kernels.scalar and .cpu.architecture and ."self-test"' >/dev/null < <(posenc doctor --json); fi
if [ -r /proc/cpuinfo ] && grep -qw avx2 /proc/cpuinfo; then check "avx2, as the kernel says" grep -qE '^  avx2 +yes$' doctor.txt; fi
check "CPUs allowed, as nproc says" grep -qE "^  CPUs allowed +$(nproc)\$" doctor.txt

# ---- units
same() { cmp -s <(posenc table rope $1 $2 --json) <(posenc table rope $3 $4 --json); }
check "2k" same -n 2k -n 2048
check "G" same "-n2 --start=-1G" "" "-n2 --start=-1073741824" ""
posenc table rope -n 1.5k >out 2>err; check "whole numbers only, and it says so" test $? = 2 -a -n "$(grep 'needs a whole number' err)"
check "units in a spec" cmp -s <(posenc table rope:scaling=yarn,factor=4,trained=32k -n 2) <(posenc table rope:scaling=yarn,factor=4,trained=32768 -n 2)

finish
