// Reads the live nodes of FX graphs, and prints their arguments.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "live_text.h"

namespace depyf {

bool is_identifier(std::string_view name);

// True if `path` consists of identifiers with dots between them.
bool is_dotted_name(std::string_view path);

// The kinds of values in the nodes of a graph. The name of the type of a value determines the kind of the value.
enum class Kind { node, tuple, list, text, number, constant, tensor, symbol, other };

struct Type {
  nanobind::object name;
  Kind kind;
  // The printer collects in a set the types that occur in a graph. Each flag is true if this set already contains the
  // type in one role: as the type of an argument, of a value without a declared type, or of a value with a declared
  // type.
  bool is_known_argument = false, is_known_value = false, is_known_declared = false;
};

// Holds the names of the attributes of nodes, and caches the types of the values in nodes.
class NodeReader {
 public:
  const nanobind::object op = interned("op"), name = interned("name"), target = interned("target"),
                         args = interned("args"), kwargs = interned("kwargs"), type = interned("type"),
                         users = interned("users"), meta = interned("meta");

  Type& type_of(nanobind::handle value);

 private:
  std::unordered_map<PyObject*, Type> types_;  // the values keep their types alive
};

// Prints the arguments of nodes.
class Arguments {
 public:
  Arguments(NodeReader& reader, nanobind::set parts) : reader_(reader), parts_(parts) {}

  // Appends the text of an argument, and adds the nodes in the argument to `inputs`.
  void append(std::string& text, nanobind::handle value, std::vector<PyObject*>& inputs);

  // Appends the items of a list or tuple, with commas between them. Returns the number of items.
  std::size_t append_all(std::string& text, nanobind::handle items, std::vector<PyObject*>& inputs);

 private:
  NodeReader& reader_;
  nanobind::set parts_;
};

}  // namespace depyf
