#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# labels: core; tier: quick; cost: 1 s
# posenc explore: the page bit for bit, links that say what was asked for, and no browser where nobody looks.
set -uo pipefail
POSENC=$(realpath "${POSENC:-build/posenc}")
page=$PWD/web/posenc.html
dir=$(mktemp -d)
. tests/lib.sh
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
cd "$dir" || exit 1
export XDG_CACHE_HOME=$dir/cache HOME=$dir/home
unset DISPLAY WAYLAND_DISPLAY WSL_DISTRO_NAME BROWSER

# ---- the file
expect 0 "file://$dir/out.html" "$POSENC" explore -o out.html
check "-o: the page bit for bit" cmp -s "$page" out.html
"$POSENC" explore -o - >stdout.html
check "-o -: the page on stdout" cmp -s "$page" stdout.html
mkdir "a b"
expect 0 "file://$dir/a%20b/%23%25%3F%C3%A9.html#a=rope" "$POSENC" explore rope -o "a b/#%?é.html"
check "a name with signs in it" cmp -s "$page" "a b/#%?é.html"
expect 0 "file://$dir/cache/posenc/explore-" "$POSENC" explore
kept=$(sed 's,^file://,,' stdout)
check "the cache: the page bit for bit" cmp -s "$page" "$kept"
check "the cache is the user's alone" test "$(stat -c %a cache/posenc)" = 700
expect 0 "file://$kept" "$POSENC" explore
echo changed >"$kept"
expect 0 "file://$kept" "$POSENC" explore --print-url
check "a changed file in the cache is put right" cmp -s "$page" "$kept"
check "nothing temporary is left" test "$(find cache -type f | wc -l)" = 1
XDG_CACHE_HOME=relative expect 0 "file://$dir/home/.cache/posenc/explore-" "$POSENC" explore
XDG_CACHE_HOME='' HOME='' expect 4 "-o FILE" "$POSENC" explore

# ---- links
expect 0 "#a=rope%3Atheta%3D500000" "$POSENC" explore rope:theta=500000 -o out.html
expect 0 "#a=rope&b=sinusoidal%2Balibi&lang=zh" "$POSENC" explore rope sinusoidal+alibi --lang zh -o out.html
expect 0 "#a=learned%3Arows%3D14%2F14" "$POSENC" explore learned:rows=14/14 --print-url
expect 0 "#lang=en" "$POSENC" explore --lang en --print-url
check "a link beside the page leads to it" grep -qF "url=$(basename "$kept")#lang=en" cache/posenc/link-*.html
expect 0 '"opened_by": null' "$POSENC" explore alibi --json
check "JSON has the link" grep -qF '#a=alibi"' stdout

# ---- what is wrong is said
expect 2 "did you mean 'rope'?" "$POSENC" explore rop -o wrong.html
expect 2 "did you mean" "$POSENC" explore rope rope:thta=1 -o wrong.html
check "a wrong spec writes nothing" test ! -e wrong.html
expect 2 "unexpected argument c" "$POSENC" explore a b c
expect 2 "--lang is fr" "$POSENC" explore --lang fr
expect 4 "missing/x.html" "$POSENC" explore -o missing/x.html
expect 4 "is a folder" "$POSENC" explore -o "$dir"
touch cache-file
XDG_CACHE_HOME=$dir/cache-file expect 4 "-o FILE" "$POSENC" explore
if [ "$(id -u)" != 0 ]; then
  mkdir closed && chmod 500 closed
  expect 4 "closed/x.html" "$POSENC" explore -o closed/x.html
  XDG_CACHE_HOME=$dir/closed expect 4 "-o FILE" "$POSENC" explore
fi

# ---- browsers: only where there is a terminal, and a screen or $BROWSER
mkdir bin
for name in xdg-open fake-browser; do
  printf '#!/bin/sh\nprintf "%%s\\n" "$(basename "$0")" "$#" "$1" >"%s/opened.tmp"\nmv "%s/opened.tmp" "%s/opened"\n' "$dir" "$dir" "$dir" >bin/$name
  chmod +x bin/$name
done
export PATH=$dir/bin:$PATH
# Both end when every process that was begun has ended: each holds the pipe.
no_terminal() { "$POSENC" "$@" 9>&1 >stdout 2>stderr | cat; }
in_terminal() { script -qec "'$POSENC' $*" /dev/null </dev/null 9>&1 >terminal 2>&1 | cat; }
BROWSER=fake-browser DISPLAY=:0 no_terminal explore rope
check "no terminal: no browser" test ! -e opened
if command -v script >/dev/null && script -qec true /dev/null </dev/null >/dev/null 2>&1; then
  in_terminal explore rope
  check "no screen and no BROWSER: no browser" test ! -e opened
  check "no screen: the link is printed" grep -q 'file://.*#a=rope' terminal
  DISPLAY=:0 in_terminal explore
  check "a screen: xdg-open is called" test -e opened
  check "xdg-open gets one word, the page" test "$(tr '\n' ' ' <opened)" = "xdg-open 1 file://$kept "
  rm -f opened
  BROWSER=missing-browser:fake-browser in_terminal explore "'rope:theta=500000'" alibi
  check "BROWSER is called, the first that there is" test -e opened
  check "it gets the file that leads to the page" grep -q "^file://$dir/cache/posenc/link-[0-9a-f]*.html$" opened
  check "which asks for what was asked for" grep -qF '#a=rope%3Atheta%3D500000&#38;b=alibi"' \
    "$(sed -n 's,^file://,,p' opened)"
  check "and says who opened it" grep -q 'opened by fake-browser' terminal
  rm -f opened
  BROWSER="sh -c touch\${IFS}$dir/shell %s" in_terminal explore
  check "BROWSER never goes through a shell" test ! -e shell
  DISPLAY=:0 in_terminal explore --print-url
  check "--print-url opens nothing" test ! -e opened
  DISPLAY=:0 in_terminal explore -o out.html
  check "-o opens nothing" test ! -e opened
else
  skip "no script(1) that makes a terminal: browsers are not called"
fi
finish
