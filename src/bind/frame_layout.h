// Describes the place at which CPython keeps the value stack of a frame. The offsets are data, because the extension is
// one binary for several versions of CPython, while the headers of CPython would fix one version. Each use of the
// offsets is checked against the results of CPython's public functions for the same frame. Only 64-bit builds of
// CPython with a GIL are supported. Unsupported builds are recognised by the size of an object's header before any
// offset is used: in free-threaded builds, the header is twice as large, and the layouts of this file do not apply.
#pragma once

#include <cstddef>
#include <cstdint>

#include "depyf/constant.h"

namespace depyf {

struct FrameLayout {
  enum class Top : std::uint8_t {
    depth,  // an int: the number of values on the stack; -1 while the number is in a register (3.10)
    from_locals,  // an int: the number of locals and values; -1 while the number is in a register (3.11 to 3.13)
    pointer,  // a pointer to the slot above the top of the stack (3.14)
  };
  // The offset, in the frame object, of the pointer to the interpreter's frame; 0 if the frame object is the
  // interpreter's frame.
  std::size_t frame;
  std::size_t code;  // the offset of the code object; all members from `code` on are offsets in the interpreter's frame
  std::size_t top;
  Top kind;
  // The offset of the char that states the owner of the frame: `owned_by_object` if the frame has ended. The offset is
  // 0 if frames have no owner, as in 3.10.
  std::size_t owner;
  // The offset of the char that states whether the frame runs (3.10): 0 if the frame runs, and negative before its
  // start or while the frame is suspended.
  std::size_t state;
  std::size_t localsplus;
  bool tagged;  // true if references have tags in the two lowest bits (from 3.14)
};

constexpr char owned_by_object = 2;

inline constexpr FrameLayout layout_310{0, 32, 80, FrameLayout::Top::depth, 0, 108, 352, false};
inline constexpr FrameLayout layout_311{24, 32, 64, FrameLayout::Top::from_locals, 69, 0, 72, false};
inline constexpr FrameLayout layout_312{24, 0, 64, FrameLayout::Top::from_locals, 70, 0, 72, false};
inline constexpr FrameLayout layout_314{24, 0, 64, FrameLayout::Top::pointer, 74, 0, 80, true};

// Returns the layout for a version; null if the version or the kind of build is not supported. `object_header` is the
// size of an object without content in bytes, `object.__basicsize__` in Python.
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
