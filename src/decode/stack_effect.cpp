#include "decode/decode.h"
#include "decode/op.h"
#include "decode/op_info.h"

namespace depyf {

std::string_view op_name(Op op) { return info_of(op).name; }

StackEffect stack_effect(const Instruction& it, Version version, bool jump) {
  const OpInfo& info = info_of(it.op);
  const Picture* picture = info.pictures.data();
  if (info.is_fixed) return {picture->pops.fixed, picture->pushes.fixed, picture->stays.fixed};
  for (const Picture* last = picture + info.pictures_count - 1; picture != last; ++picture) {
    if (picture->only_where_it_jumps && !jump) continue;
    if (!picture->fact || dialect_of(version).*picture->fact == picture->is_wanted) break;
  }
  return {picture->pops.of(it), picture->pushes.of(it), picture->stays.of(it)};
}

}  // namespace depyf
