# SPDX-License-Identifier: MIT
# The BLAS of the lab, behind cblas.h: OpenBLAS, or whatever the machine has under that name. Without one the lab's own
# loops do the work, an order of magnitude slower; `posenc doctor` says which. -DPOSENC_BLAS=OFF asks for those.
option(POSENC_BLAS "matrix products of the lab by a BLAS" ON)
set(posenc_blas "")
if(POSENC_BLAS AND NOT CMAKE_CROSSCOMPILING)
  find_path(POSENC_BLAS_INCLUDE cblas.h PATH_SUFFIXES openblas openblas-pthread openblas-serial)
  find_library(POSENC_BLAS_LIBRARY NAMES openblas blis cblas blas)
  if(POSENC_BLAS_INCLUDE AND POSENC_BLAS_LIBRARY)
    set(posenc_blas ${POSENC_BLAS_LIBRARY})
  else()
    message(STATUS "no BLAS (cblas.h): matrix products of the lab are plain loops")
  endif()
endif()

function(posenc_use_blas target)
  if(posenc_blas)
    target_include_directories(${target} SYSTEM PRIVATE ${POSENC_BLAS_INCLUDE})
    target_compile_definitions(${target} PRIVATE POSENC_HAS_BLAS)
    target_link_libraries(${target} PUBLIC ${posenc_blas})
  endif()
endfunction()
