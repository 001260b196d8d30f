# Writes a C++ file that holds the viewer of the page: cmake -DOUTPUT=FILE -DSCRIPTS=LIST -DSTYLES=LIST -P embed.cmake
# The scripts become one script and the styles one style, each in the order of its list.
function(bytes_of result)
  set(hex "")
  foreach(file ${ARGN})
    file(READ "${file}" content HEX)
    string(APPEND hex "${content}0a")
  endforeach()
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
  string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "\\1\n" bytes "${bytes}")
  set(${result} "${bytes}" PARENT_SCOPE)
endfunction()

string(REPLACE "," ";" SCRIPTS "${SCRIPTS}")
string(REPLACE "," ";" STYLES "${STYLES}")
bytes_of(script ${SCRIPTS})
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
