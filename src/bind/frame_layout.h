// Describes where CPython keeps the value stack of a frame. The extension is one binary for several versions, and a
// header of CPython would fix the version, so the offsets are data here. Each use is checked against what the public
// functions say of the same frame. Only builds for 64 bits with a GIL are known. Other builds are recognised by the size of
// an object's header before anything is read: in free-threaded builds it is twice as large, and the offset at which these
// layouts have a pointer holds something else there.
#pragma once

#include <cstddef>
#include <cstdint>

#include "depyf/constant.h"

namespace depyf {

struct FrameLayout {
  enum class Top : std::uint8_t {
    depth,  // int: values on the stack, -1 while they are in registers (3.10)
    from_locals,  // int: locals and values, -1 while they are in registers (3.11 to 3.13)
    pointer,  // to the place above the top (3.14)
  };
  std::size_t frame;  // in the frame object: a pointer to the interpreter's frame; 0: it is the frame object itself
  std::size_t code;  // in the interpreter's frame, as all that follow
  std::size_t top;
  Top kind;
  std::size_t owner;  // char: who owns it, `owned_by_object` when it has ended; 0: `state` instead
  std::size_t state;  // char: 0 running, negative not yet or suspended (3.10)
  std::size_t localsplus;
  bool tagged;  // references carry their kind in the two lowest bits (from 3.14)
};

constexpr char owned_by_object = 2;

inline constexpr FrameLayout layout_310{0, 32, 80, FrameLayout::Top::depth, 0, 108, 352, false};
inline constexpr FrameLayout layout_311{24, 32, 64, FrameLayout::Top::from_locals, 69, 0, 72, false};
inline constexpr FrameLayout layout_312{24, 0, 64, FrameLayout::Top::from_locals, 70, 0, 72, false};
inline constexpr FrameLayout layout_314{24, 0, 64, FrameLayout::Top::pointer, 74, 0, 80, true};

// Returns null for a version or a kind of build that is not known. `object_header` is the size of an object without content
// in bytes, `object.__basicsize__` in Python.
constexpr const FrameLayout* frame_layout(Version version, std::size_t object_header) {
  constexpr std::size_t count_and_type = 2 * sizeof(void*);
  if (sizeof(void*) != 8 || object_header != count_and_type) return nullptr;
  switch (version.minor) {
    case 10: return &layout_310;
    case 11: return &layout_311;
    case 12:
    case 13: return &layout_312;
    case 14: return &layout_314;
  }
  return nullptr;
}

}  // namespace depyf
