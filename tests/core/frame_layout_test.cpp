// Tests of the builds of CPython whose frames the extension module reads.
#include "bind/frame_layout.h"

#include <doctest/doctest.h>

namespace depyf {

TEST_CASE("frame layout: builds with another object header are refused before anything of a frame is read") {
  constexpr std::size_t with_lock = 16, free_threaded = 32;
  for (std::uint8_t minor : {10, 11, 12, 13, 14}) {
    CAPTURE(minor);
    CHECK(frame_layout({3, minor}, with_lock));
    CHECK(!frame_layout({3, minor}, free_threaded));
  }
  CHECK(!frame_layout({3, 9}, with_lock));
  CHECK(!frame_layout({3, 15}, with_lock));
}

}  // namespace depyf
