# SPDX-License-Identifier: MIT
# The Python module and the tool inside the package (pyproject.toml). One build serves Python 3.11 and later; a
# free-threaded Python has no limited API yet and gets its own.
find_package(Python 3.11 REQUIRED COMPONENTS Interpreter Development.Module ${SKBUILD_SABI_COMPONENT})

file(GLOB sources CONFIGURE_DEPENDS python/core/*.c)
if(SKBUILD_SABI_VERSION)
  python_add_library(_core MODULE WITH_SOABI USE_SABI ${SKBUILD_SABI_VERSION} ${sources})
else()
  python_add_library(_core MODULE WITH_SOABI ${sources})
endif()
target_link_libraries(_core PRIVATE posenc_static)
if(POSENC_CUDA) # it opens CUDA's driver when an array lies on a GPU
  target_link_libraries(_core PRIVATE posenc_cuda_static)
  target_compile_definitions(_core PRIVATE POSENC_CUDA)
endif()
posenc_flags(_core)
if(gnu) # Python's slots hold functions as void *
  target_compile_options(_core PRIVATE -Wno-pedantic)
endif()
if(UNIX AND NOT APPLE) # another libposenc in the same process keeps its own symbols
  target_link_options(_core PRIVATE -Wl,--exclude-libs,ALL)
endif()

install(TARGETS _core DESTINATION posenc COMPONENT python)
install(TARGETS posenc_tool DESTINATION posenc/bin COMPONENT python)
