# SPDX-License-Identifier: MIT
# cmake -DTOOL=posenc -DOUT=folder -P pages.cmake: manual pages and completion scripts, as the tool prints them.
function(ask file)
  execute_process(COMMAND ${TOOL} ${ARGN} OUTPUT_FILE ${file} RESULT_VARIABLE code)
  if(code)
    message(FATAL_ERROR "${TOOL} ${ARGN}: exit code ${code}")
  endif()
endfunction()

file(REMOVE_RECURSE ${OUT})
file(MAKE_DIRECTORY ${OUT}/man1)
ask(${OUT}/stamp man --list)
file(STRINGS ${OUT}/stamp names)
foreach(name ${names})
  ask(${OUT}/man1/${name}.1 man ${name})
endforeach()
ask(${OUT}/posenc completion bash)
ask(${OUT}/_posenc completion zsh)
ask(${OUT}/posenc.fish completion fish)
