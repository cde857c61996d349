# SPDX-License-Identifier: MIT
# posenc_archive(TARGET OBJECTS): a static library of the objects of the library OBJECTS, of which a program sees what the
# header declares and no other name: they are linked into one object, in which objcopy makes hidden names local. Without
# the tools of ELF (macOS, Windows, WebAssembly) it is a plain archive, and a program must not have the same short names.

# Whether compiler and objcopy do that, tried with the flags of this build; the result is kept.
function(posenc_try_one_object)
  set(trial ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/one_object)
  set(works FALSE)
  file(WRITE ${trial}.c "__attribute__((visibility(\"hidden\"))) int hidden_name(void) { return 0; }\n")
  if(gnu AND CMAKE_EXECUTABLE_FORMAT STREQUAL "ELF" AND CMAKE_OBJCOPY AND NOT CMAKE_CONFIGURATION_TYPES)
    set(works TRUE)
    foreach(command "${CMAKE_C_COMPILER};${one_object_flags};-c;${trial}.c;-o;${trial}.1.o"
                    "${CMAKE_C_COMPILER};${one_object_flags};-r;-nostdlib;${one_object_groups};${trial}.1.o;-o;${trial}.o"
                    "${CMAKE_OBJCOPY};--localize-hidden;${trial}.o")
      if(works)
        execute_process(COMMAND ${command} RESULT_VARIABLE code OUTPUT_QUIET ERROR_QUIET)
        string(COMPARE EQUAL "${code}" 0 works)
      endif()
    endforeach()
  endif()
  set(POSENC_ONE_OBJECT ${works} CACHE INTERNAL "libposenc.a is one object with local names")
endfunction()

function(posenc_archive target objects)
  separate_arguments(one_object_flags UNIX_COMMAND "${CMAKE_C_FLAGS}")
  if(CMAKE_C_COMPILER_TARGET)
    list(APPEND one_object_flags ${CMAKE_C_COMPILE_OPTIONS_TARGET}${CMAKE_C_COMPILER_TARGET})
  endif()
  list(APPEND one_object_flags -fno-lto -fno-sanitize=all)
  set(one_object_groups "")
  if(CMAKE_SIZEOF_VOID_P EQUAL 4) # i386's __x86.get_pc_thunk.bx: made local, it must not be shared with another library's
    set(one_object_groups -Wl,--force-group-allocation)
  endif()
  if(NOT DEFINED POSENC_ONE_OBJECT)
    posenc_try_one_object()
  endif()
  if(NOT POSENC_ONE_OBJECT)
    add_library(${target} STATIC $<TARGET_OBJECTS:${objects}>)
    return()
  endif()
  # Code, not the compiler's notes for a later link; unused functions can still be left out by -Wl,--gc-sections.
  set_target_properties(${objects} PROPERTIES INTERPROCEDURAL_OPTIMIZATION OFF)
  target_compile_options(${objects} PRIVATE -fno-lto -ffunction-sections -fdata-sections)
  set(one ${CMAKE_CURRENT_BINARY_DIR}/${target}.o)
  add_custom_command(OUTPUT ${one}
                     COMMAND ${CMAKE_C_COMPILER} ${one_object_flags} -r -nostdlib ${one_object_groups} -o ${one}
                             $<TARGET_OBJECTS:${objects}>
                     COMMAND ${CMAKE_OBJCOPY} --localize-hidden ${one}
                     DEPENDS ${objects} $<TARGET_OBJECTS:${objects}> COMMAND_EXPAND_LISTS VERBATIM
                     COMMENT "Linking C object ${target}.o")
  set_source_files_properties(${one} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
  add_library(${target} STATIC ${one})
endfunction()
