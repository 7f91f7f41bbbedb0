# Flags of every target of ours: the language, the warnings, the sanitizers.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
endif()

find_package(Threads REQUIRED)

add_library(flare_flags INTERFACE)
target_compile_options(flare_flags INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror>)
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  target_compile_options(flare_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wthread-safety>)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC bug 105651: with -O2 and up, "text" + std::string() is taken for an overlapping copy. Fixed in 13.
  target_compile_options(flare_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
endif()
if(FLARE_SANITIZE)
  # Every object of the program is instrumented, the generated C of llhttp too.
  add_compile_options(-fsanitize=${FLARE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${FLARE_SANITIZE})
endif()

if(FLARE_COVERAGE)
  # Atomic updates: counters of code that several threads run stay right.
  add_compile_options(--coverage -fprofile-update=atomic)
  add_link_options(--coverage)
endif()

# flare_test(NAME name LABEL label SOURCES files... [LIBS libs...] [TIMEOUT seconds] [WRAP symbols...]
#            [PROPERTIES filter] [DEFERRED filter] [ONE_CPU] [SERIAL])
# One GoogleTest program; its cases become CTest tests with one label.
# WRAP: system calls that the program replaces at link time (--wrap), for fault injection.
# PROPERTIES: a GoogleTest filter; these cases are labelled property instead. A test has one label: gtest_discover_tests
# keeps the first of several. ONE_CPU: each case once more, as one-cpu/CASE, with FLARE_STRESS_CPUS=1. DEFERRED: a
# GoogleTest filter; these cases once more, as deferred/CASE, with servers that defer accept (FLARE_TEST_DEFER). Their
# label is unit: such a drain takes 1.2 s, and shutdown promises short ones.
function(flare_test)
  cmake_parse_arguments(T "SERIAL;ONE_CPU" "NAME;LABEL;TIMEOUT;PROPERTIES;DEFERRED" "SOURCES;LIBS;WRAP" ${ARGN})
  if(NOT T_TIMEOUT)
    set(T_TIMEOUT 60)
  endif()
  if(FLARE_SANITIZE)
    math(EXPR T_TIMEOUT "${T_TIMEOUT} * 3")
  endif()
  add_executable(${T_NAME} ${T_SOURCES})
  target_link_libraries(${T_NAME} PRIVATE flare_flags flare_test_support flare::runtime ${T_LIBS} GTest::gtest GTest::gtest_main)
  target_precompile_headers(${T_NAME} REUSE_FROM flare_test_headers)
  foreach(symbol IN LISTS T_WRAP)
    target_link_options(${T_NAME} PRIVATE -Wl,--wrap=${symbol})
  endforeach()
  set(extra "")
  if(T_SERIAL)
    set(extra RUN_SERIAL TRUE)
  endif()
  if("rapidcheck" IN_LIST T_LIBS)
    # RapidCheck's own 100 cases are too few; a sanitizer looks for other faults and is slower. No generator expression:
    # the commas of FLARE_SANITIZE would end its parameter.
    set(cases 5000)
    if(FLARE_SANITIZE)
      set(cases 500)
    endif()
    list(APPEND extra ENVIRONMENT RC_PARAMS=max_success=${cases})
  endif()
  set(discover DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60)
  set(filter "")
  if(T_PROPERTIES)
    gtest_discover_tests(${T_NAME} ${discover} TEST_FILTER ${T_PROPERTIES} TEST_LIST ${T_NAME}_PROPERTIES
      PROPERTIES LABELS property TIMEOUT ${T_TIMEOUT} ${extra})
    set(filter TEST_FILTER "-${T_PROPERTIES}")
  endif()
  gtest_discover_tests(${T_NAME} ${discover} ${filter} PROPERTIES LABELS ${T_LABEL} TIMEOUT ${T_TIMEOUT} ${extra})
  if(T_DEFERRED)
    gtest_discover_tests(${T_NAME} ${discover} TEST_FILTER ${T_DEFERRED} TEST_PREFIX deferred/
      TEST_LIST ${T_NAME}_DEFERRED PROPERTIES LABELS unit TIMEOUT ${T_TIMEOUT} ${extra}
      ENVIRONMENT FLARE_TEST_DEFER=1)
  endif()
  if(T_ONE_CPU)
    gtest_discover_tests(${T_NAME} ${discover} TEST_PREFIX one-cpu/ TEST_LIST ${T_NAME}_ONE_CPU
      PROPERTIES LABELS ${T_LABEL} TIMEOUT ${T_TIMEOUT} ${extra} ENVIRONMENT FLARE_STRESS_CPUS=1)
  endif()
endfunction()
