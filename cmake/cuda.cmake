# SPDX-License-Identifier: MIT
# libposenc_cuda: the GPU library. It needs no CUDA to build or to link. Kernel sources are part of it as text; with
# POSENC_NVRTC, the path of a libnvrtc, it also has the usual kernels as compiled code.
set(POSENC_NVRTC "" CACHE FILEPATH "libnvrtc, which compiles the kernels that are built into posenc_cuda; empty: none are")

# ---- text.c: the kernel sources

file(GLOB texts RELATIVE ${PROJECT_SOURCE_DIR}/src/cuda CONFIGURE_DEPENDS src/cuda/*.cu src/cuda/*_args.h)
set(embeds "")
set(rows "")
set(text_paths "")
foreach(text ${texts})
  string(MAKE_C_IDENTIFIER "cuda_text_${text}" symbol)
  string(APPEND embeds "EMBED(${symbol}, \"${text}\");\n")
  string(APPEND rows "    { \"${text}\", ${symbol} },\n")
  list(APPEND text_paths ${PROJECT_SOURCE_DIR}/src/cuda/${text})
endforeach()
set(text_c ${PROJECT_BINARY_DIR}/cuda/text.c)
file(GENERATE OUTPUT ${text_c} CONTENT
"/* Made by cmake/cuda.cmake. */
#include \"cuda/cuda.h\"
#include \"cuda/embed.h\"

#include <stddef.h>

${embeds}
const cuda_text cuda_texts[] = {
${rows}    { NULL, NULL },
};
")
set_source_files_properties(${text_c} PROPERTIES OBJECT_DEPENDS "${text_paths}" COMPILE_OPTIONS
                            "-fno-lto;-Xassembler;-I;-Xassembler;${PROJECT_SOURCE_DIR}/src/cuda")

# With a copy of src/base of its own: libposenc exports its header's names only.
file(GLOB cuda_sources CONFIGURE_DEPENDS src/cuda/*.c src/base/*.c)
function(posenc_cuda_sources target built_in)
  target_sources(${target} PRIVATE ${cuda_sources} ${text_c} ${PROJECT_SOURCE_DIR}/src/cuda/build/${built_in}.c)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  target_compile_definitions(${target} PRIVATE _POSIX_C_SOURCE=200809L)
  posenc_flags(${target})
endfunction()

# ---- the kernels that are built in

set(bundle "")
if(POSENC_NVRTC AND NOT CMAKE_CROSSCOMPILING)
  set(bundle ${PROJECT_BINARY_DIR}/cuda/posenc_cuda.bundle)
  add_executable(posenc-cuda-build src/cuda/build/main.c)
  posenc_cuda_sources(posenc-cuda-build empty)
  target_link_libraries(posenc-cuda-build PRIVATE posenc_static ${CMAKE_DL_LIBS} Threads::Threads)
  add_custom_command(OUTPUT ${bundle} COMMAND posenc-cuda-build ${POSENC_NVRTC} ${bundle} 90 80 89 100
                     DEPENDS posenc-cuda-build ${POSENC_NVRTC} VERBATIM COMMENT "Compiling the kernels that are built in")
  add_custom_target(posenc_cuda_bundle DEPENDS ${bundle})
elseif(POSENC_NVRTC)
  message(WARNING "POSENC_NVRTC: a cross build has no kernels built in")
endif()

# ---- the library

add_library(posenc_cuda_objects OBJECT)
if(bundle)
  posenc_cuda_sources(posenc_cuda_objects full)
  add_dependencies(posenc_cuda_objects posenc_cuda_bundle)
  set_source_files_properties(src/cuda/build/full.c PROPERTIES OBJECT_DEPENDS ${bundle} COMPILE_OPTIONS
                              "-fno-lto;-Xassembler;-I;-Xassembler;${PROJECT_BINARY_DIR}/cuda")
else()
  posenc_cuda_sources(posenc_cuda_objects empty)
endif()

add_library(posenc_cuda SHARED $<TARGET_OBJECTS:posenc_cuda_objects>)
posenc_archive(posenc_cuda_static posenc_cuda_objects)
set_target_properties(posenc_cuda PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${soversion})
if(APPLE) # libposenc lies beside it
  set_target_properties(posenc_cuda PROPERTIES INSTALL_RPATH "@loader_path")
else()
  set_target_properties(posenc_cuda PROPERTIES INSTALL_RPATH "$ORIGIN")
endif()
set_target_properties(posenc_cuda_static PROPERTIES OUTPUT_NAME posenc_cuda)
target_link_libraries(posenc_cuda PUBLIC posenc)
target_link_libraries(posenc_cuda_static PUBLIC posenc_static)
foreach(target posenc_cuda posenc_cuda_static)
  add_library(posenc::${target} ALIAS ${target})
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE C)
  posenc_flags(${target})
  target_link_libraries(${target} PRIVATE ${CMAKE_DL_LIBS} Threads::Threads)
  if(NOT top)
    set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
endforeach()
