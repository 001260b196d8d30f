// Returns the names of markers, which represent unfinished parts of a tree. A marker in a finished tree is printed as
// `__internal_NAME__`.
#include "print/markers.h"

namespace depyf::print {

std::string_view name_of(ast::Marker marker) {
  using ast::Marker;
  switch (marker) {
    case Marker::null: return "null";
    case Marker::exception: return "exception";
    case Marker::previous_exception: return "previous_exception";
    case Marker::iterator: return "iterator";
    case Marker::with_exit: return "with_exit";
    case Marker::enter_result: return "enter_result";
    case Marker::awaitable: return "awaitable";
    case Marker::item: return "item";
    case Marker::result: return "result";
    case Marker::code: return "code";
    case Marker::chain: return "chain";
    case Marker::unbound: return "unbound";
    case Marker::build_class: return "build_class";
    case Marker::function: return "function";
    case Marker::type_param: return "type_param";
    case Marker::type_alias: return "type_alias";
    case Marker::generic_base: return "generic_base";
    case Marker::exc_match: return "exc_match";
    case Marker::eg_match: return "eg_match";
    case Marker::match_case: return "match_case";
    case Marker::import_module: return "import_module";
    case Marker::import_member: return "import_member";
    case Marker::unpacked: return "unpacked";
    case Marker::copied: return "copied";
    case Marker::locals: return "locals";
    case Marker::other: return "other";
  }
  return "other";
}

std::string_view name_of(ast::StmtMarker marker) {
  using ast::StmtMarker;
  switch (marker) {
    case StmtMarker::bind_exception: return "bind_exception";
    case StmtMarker::pop_except: return "pop_except";
    case StmtMarker::reraise: return "reraise";
    case StmtMarker::with_exit: return "with_exit";
    case StmtMarker::annotated: return "annotated";
    case StmtMarker::annotate: return "annotate";
    case StmtMarker::append: return "append";
    case StmtMarker::other: return "other";
  }
  return "other";
}

}  // namespace depyf::print
