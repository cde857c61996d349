# SPDX-License-Identifier: MIT
# Library, header, pkg-config file, CMake package, tool. Everything may be moved: no path is absolute.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/posenc)
set(pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

set(libraries posenc posenc_static)
set(headers include/posenc.h)
set(pc_files posenc)
if(TARGET posenc_cuda)
  list(APPEND libraries posenc_cuda posenc_cuda_static)
  list(APPEND headers include/posenc_cuda.h)
  list(APPEND pc_files posenc_cuda)
endif()
if(TARGET posenc_mpi) # an export of its own: who asks for the component mpi needs MPI, nobody else does
  install(TARGETS posenc_mpi posenc_mpi_static EXPORT posencMpiTargets
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
          RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(EXPORT posencMpiTargets NAMESPACE posenc:: DESTINATION ${package_dir})
  list(APPEND headers include/posenc_mpi.h)
  list(APPEND pc_files posenc_mpi)
endif()
install(TARGETS ${libraries} EXPORT posencTargets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES ${headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES LICENSE NOTICE DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(TARGET posenc_tool)
  install(TARGETS posenc_tool RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
if(TARGET posenc_tool AND EXISTS ${PROJECT_SOURCE_DIR}/models) # what the tool looks for beside itself, ../share/posenc/models
  install(DIRECTORY models/ DESTINATION ${CMAKE_INSTALL_DATADIR}/posenc/models)
endif()
if(TARGET posenc_pages)
  install(DIRECTORY ${PROJECT_BINARY_DIR}/pages/man1 DESTINATION ${CMAKE_INSTALL_MANDIR})
  install(FILES ${PROJECT_BINARY_DIR}/pages/posenc DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES ${PROJECT_BINARY_DIR}/pages/_posenc DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  install(FILES ${PROJECT_BINARY_DIR}/pages/posenc.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()

install(EXPORT posencTargets NAMESPACE posenc:: DESTINATION ${package_dir})
if(PROJECT_VERSION_MAJOR EQUAL 0)
  set(compatible SameMinorVersion)
else()
  set(compatible SameMajorVersion)
endif()
configure_package_config_file(cmake/posencConfig.cmake.in posencConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(posencConfigVersion.cmake COMPATIBILITY ${compatible})
install(FILES ${PROJECT_BINARY_DIR}/posencConfig.cmake ${PROJECT_BINARY_DIR}/posencConfigVersion.cmake
        DESTINATION ${package_dir})

file(RELATIVE_PATH pc_prefix ${CMAKE_INSTALL_PREFIX}/${pkgconfig_dir} ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" pc_prefix "${pc_prefix}")
foreach(file ${pc_files})
  configure_file(${file}.pc.in ${file}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${file}.pc DESTINATION ${pkgconfig_dir})
endforeach()
