# SPDX-License-Identifier: MIT
# Every fuzz/fuzz_NAME.c becomes a program fuzz_NAME: with replay.c a test, which tries the files of fuzz/corpus/NAME/ and
# some inputs made from them; with POSENC_FUZZ, and clang, a fuzzer (scripts/fuzz.sh).
set(POSENC_FUZZ_RUNS 20000 CACHE STRING "inputs that each fuzz test makes")
file(GLOB targets CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/fuzz/fuzz_*.c)
foreach(file ${targets})
  get_filename_component(name ${file} NAME_WE)
  string(REPLACE fuzz_ "" corpus ${name})
  if(POSENC_FUZZ)
    add_executable(${name} ${file} ${PROJECT_SOURCE_DIR}/fuzz/harness.c)
    target_link_options(${name} PRIVATE -fsanitize=fuzzer -static-libstdc++ -static-libgcc) # runs where clang is not
  else()
    add_executable(${name} ${file} ${PROJECT_SOURCE_DIR}/fuzz/harness.c ${PROJECT_SOURCE_DIR}/fuzz/replay.c)
    register(${name} core test 2 ${name} --runs ${POSENC_FUZZ_RUNS} fuzz/corpus/${corpus})
  endif()
  if(NOT POSENC_SANITIZE MATCHES address) # whose hooks see more
    target_compile_definitions(${name} PRIVATE HARNESS_WRAP)
    target_link_options(${name} PRIVATE -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=free)
  endif()
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/fuzz)
  target_link_libraries(${name} PRIVATE posenc_cli)
  posenc_flags(${name})
endforeach()
