# How our own code is compiled. Targets link normd_compile (PRIVATE).
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Build type" FORCE)
endif()

set(NORMD_SANITIZE "" CACHE STRING "Sanitizers for all of our code, such as address,undefined")
if(NORMD_SANITIZE)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${NORMD_SANITIZE}>
                      $<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize-recover=all>
                      $<$<COMPILE_LANGUAGE:CXX>:-fno-omit-frame-pointer>)
  add_link_options(-fsanitize=${NORMD_SANITIZE})
endif()

add_library(normd_compile INTERFACE)
target_include_directories(normd_compile INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(
  normd_compile
  INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wall
            -Wextra
            -Wpedantic
            -Wconversion
            -Wshadow
            -Werror>
            $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wthread-safety>)

option(NORMD_TIDY "Run clang-tidy on our own code, findings are errors" OFF)
if(NORMD_TIDY)
  find_program(NORMD_CLANG_TIDY clang-tidy REQUIRED)
  set(CMAKE_CXX_CLANG_TIDY ${NORMD_CLANG_TIDY} --quiet --warnings-as-errors=*)
endif()
