# SPDX-License-Identifier: MIT
# libposenc_mpi: attention over many processes. -DMPI_C_COMPILER=mpicc.mpich selects one MPI of several.
find_package(MPI REQUIRED COMPONENTS C)

# With a copy of src/base of its own: libposenc exports its header's names only.
file(GLOB mpi_sources CONFIGURE_DEPENDS src/mpi/*.c src/base/*.c)
add_library(posenc_mpi_objects OBJECT ${mpi_sources})
target_include_directories(posenc_mpi_objects PRIVATE include src)
target_link_libraries(posenc_mpi_objects PRIVATE MPI::MPI_C)
posenc_flags(posenc_mpi_objects)

add_library(posenc_mpi SHARED $<TARGET_OBJECTS:posenc_mpi_objects>)
posenc_archive(posenc_mpi_static posenc_mpi_objects)
set_target_properties(posenc_mpi PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${soversion})
if(APPLE) # libposenc lies beside it
  set_target_properties(posenc_mpi PROPERTIES INSTALL_RPATH "@loader_path")
else()
  set_target_properties(posenc_mpi PROPERTIES INSTALL_RPATH "$ORIGIN")
endif()
set_target_properties(posenc_mpi_static PROPERTIES OUTPUT_NAME posenc_mpi)
target_link_libraries(posenc_mpi PUBLIC posenc)
target_link_libraries(posenc_mpi_static PUBLIC posenc_static)
foreach(target posenc_mpi posenc_mpi_static)
  add_library(posenc::${target} ALIAS ${target})
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE C)
  posenc_flags(${target})
  target_link_libraries(${target} PUBLIC MPI::MPI_C)
  if(UNIX)
    target_link_libraries(${target} PRIVATE m)
  endif()
  if(NOT top)
    set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
endforeach()
