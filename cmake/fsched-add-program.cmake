# SPDX-License-Identifier: Apache-2.0
# Compiles a graph in the build and links the stream.
#
#   fsched_add_program(TARGET GRAPH file.yaml [NAME name] [SYMBOL symbol] [OPTIONS option...])
#
# The stream becomes a part of TARGET, an executable or library made before in the same directory;
# where there is no such target, a static library of that name is made of it.  Either way
#   #include "NAME.h"
# declares the bytes SYMBOL and their size SYMBOL_size, for fsched_program_borrow().  NAME is by
# default that of the graph file without its suffix, SYMBOL is NAME_program.  The stream itself is
# NAME.fsb in the current binary directory.  OPTIONS are more options of fsched compile.
#
# fsched runs when the graph, a file that the graph names, or fsched itself is newer.
function(fsched_add_program target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "GRAPH;NAME;SYMBOL" "OPTIONS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "fsched_add_program: what is '${arg_UNPARSED_ARGUMENTS}'?")
  endif()
  if(NOT arg_GRAPH)
    message(FATAL_ERROR "fsched_add_program: GRAPH is missing")
  endif()
  if(NOT TARGET fsched::compiler)
    message(FATAL_ERROR "fsched_add_program: the program fsched is not installed; "
                        "FSCHED_COMPILER may name it")
  endif()
  if(NOT arg_NAME)
    get_filename_component(arg_NAME "${arg_GRAPH}" NAME_WLE)
  endif()
  get_filename_component(graph "${arg_GRAPH}" ABSOLUTE)
  set(symbol "")
  if(arg_SYMBOL)
    set(symbol --symbol "${arg_SYMBOL}")
  endif()

  # All names are absolute, so that those in the depfile are, and every generator knows them.
  set(base "${CMAKE_CURRENT_BINARY_DIR}/${arg_NAME}")
  add_custom_command(
    OUTPUT "${base}.c" "${base}.h" "${base}.fsb"
    COMMAND fsched::compiler compile "${graph}" -o "${base}.fsb" --emit "c=${base}.c" ${symbol}
            -q -MF "${base}.d" -MQ "${base}.c" ${arg_OPTIONS}
    DEPENDS "${graph}" fsched::compiler
    DEPFILE "${base}.d"
    COMMENT "Compiling graph ${arg_NAME}"
    VERBATIM)

  # The source is C++ as well.
  set(language C)
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  if(NOT "C" IN_LIST languages)
    set(language CXX)
    set_source_files_properties("${base}.c" PROPERTIES LANGUAGE CXX)
  endif()

  if(NOT TARGET "${target}")
    add_library("${target}" STATIC)
    set_target_properties("${target}" PROPERTIES LINKER_LANGUAGE ${language})
    target_include_directories("${target}" PUBLIC "${CMAKE_CURRENT_BINARY_DIR}")
  else()
    target_include_directories("${target}" PRIVATE "${CMAKE_CURRENT_BINARY_DIR}")
  endif()
  target_sources("${target}" PRIVATE "${base}.c" "${base}.h")
endfunction()
