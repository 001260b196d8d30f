# Writes a C++ file that contains the viewer of the page:
#   cmake -DOUTPUT=FILE -DSCRIPTS=LIST -DSTYLES=LIST -DLIBRARIES=LIST -DLICENCES=LIST -P embed.cmake
# The scripts are joined to one script and the styles to one style, each in the order of its list. The libraries follow
# the scripts, so that the directive "use strict" of the first script stays in front; the licences are comments before
# the libraries.
function(bytes_of result)
  set(hex "")
  foreach(file ${ARGN})
    file(READ "${file}" content HEX)
    string(APPEND hex "${content}0a")
  endforeach()
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
  # Control characters in strings of a library are written as escapes (`\x1f`), so that the page contains none.
  string(REGEX REPLACE "0x([01])([0-8bcef])," "0x5c,0x78,0x3\\1,CONTROL\\2," bytes "${bytes}")
  foreach(digit 0 1 2 3 4 5 6 7 8 b c e f)
    string(HEX "${digit}" code)
    string(REPLACE "CONTROL${digit}," "0x${code}," bytes "${bytes}")
  endforeach()
  string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "\\1\n" bytes "${bytes}")
  set(${result} "${bytes}" PARENT_SCOPE)
endfunction()

string(REPLACE "," ";" LICENCES "${LICENCES}")
string(REPLACE "," ";" LIBRARIES "${LIBRARIES}")
set(licences "")
foreach(licence ${LICENCES})
  file(READ "${licence}" text)
  string(REPLACE "*/" "* /" text "${text}")
  # `<` of an address becomes `(`, so that the text cannot end the script element
  string(REPLACE "<" "(" text "${text}")
  string(REPLACE ">" ")" text "${text}")
  string(APPEND licences "/*!\n${text}*/\n")
endforeach()
if(LICENCES)
  set(licence_file "${OUTPUT}.licences")
  file(WRITE "${licence_file}" "${licences}")
endif()
string(REPLACE "," ";" SCRIPTS "${SCRIPTS}")
string(REPLACE "," ";" STYLES "${STYLES}")
bytes_of(script ${SCRIPTS} ${licence_file} ${LIBRARIES})
bytes_of(style ${STYLES})
file(WRITE "${OUTPUT}" "// Made by cmake/embed.cmake from src/report/viewer.
#include \"page/viewer.h\"

namespace depyf::page {
namespace {

constexpr unsigned char script[] = {
${script}};
constexpr unsigned char style[] = {
${style}};

}  // namespace

std::string_view viewer_script() { return {reinterpret_cast<const char*>(script), sizeof script}; }
std::string_view viewer_style() { return {reinterpret_cast<const char*>(style), sizeof style}; }

}  // namespace depyf::page
")
