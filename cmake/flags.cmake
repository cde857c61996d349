# SPDX-License-Identifier: MIT
# posenc_flags(target): what every object of ours is compiled and linked with.
include(CheckCSourceCompiles)
include(CheckPIESupported)
check_pie_supported(LANGUAGES C)

set(gnu FALSE)
if(CMAKE_C_COMPILER_ID MATCHES "GNU|Clang" AND NOT MSVC)
  set(gnu TRUE)
endif()

# Hardening, for the posenc tool reads files from strangers. Not with sanitizers, which replace it.
set(hardened FALSE)
if(POSENC_TOOL AND NOT POSENC_SANITIZE AND gnu AND CMAKE_SYSTEM_NAME STREQUAL "Linux")
  set(hardened TRUE)
  set(CMAKE_REQUIRED_FLAGS "-O2 -Werror -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3")
  check_c_source_compiles("#include <stdio.h>\nint main(void) { return 0; }" POSENC_HAS_FORTIFY_3)
  set(CMAKE_REQUIRED_FLAGS "-Werror -fcf-protection")
  check_c_source_compiles("int main(void) { return 0; }" POSENC_HAS_CET)
  unset(CMAKE_REQUIRED_FLAGS)
  set(hardening -fstack-protector-strong)
  if(POSENC_HAS_CET)
    list(APPEND hardening -fcf-protection)
  endif()
  if(POSENC_HAS_FORTIFY_3)
    set(fortify -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3)
  else()
    set(fortify -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
  endif()
  list(APPEND hardening $<$<NOT:$<CONFIG:Debug>>:${fortify}>) # it needs an optimiser
endif()

function(posenc_flags target)
  set_target_properties(${target} PROPERTIES C_STANDARD 11 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF
                        C_VISIBILITY_PRESET hidden POSITION_INDEPENDENT_CODE ON)
  if(NOT gnu)
    return()
  endif()
  # Exactness: a parent project's fast-math must not reach our sums; this order, for clang.
  target_compile_options(${target} PRIVATE -fno-fast-math -ffp-contract=off)
  if(CMAKE_C_COMPILER_ID STREQUAL "GNU" AND CMAKE_SYSTEM_PROCESSOR MATCHES "^s390")
    target_compile_options(${target} PRIVATE -fexcess-precision=fast) # -std=c11 computes floats in double there
  endif()
  if(POSENC_WARNINGS)
    target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow
                                             $<$<C_COMPILER_ID:Clang>:-Wno-enum-float-conversion>) # enums name sizes
  endif()
  if(POSENC_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(hardened)
    target_compile_options(${target} PRIVATE "${hardening}")
    target_link_options(${target} PRIVATE -Wl,-z,relro,-z,now)
  endif()
  if(POSENC_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${POSENC_SANITIZE} -fno-sanitize-recover=all
                                             -fno-omit-frame-pointer -g)
    target_link_options(${target} PRIVATE -fsanitize=${POSENC_SANITIZE})
  endif()
endfunction()
