#pragma once

#include <memory>

namespace depyf {

// An object that is created when it is first used.
template <class T>
class Lazy {
 public:
  T* operator->() {
    if (!object_) object_ = std::make_unique<T>();
    return object_.get();
  }

 private:
  std::unique_ptr<T> object_;
};

}  // namespace depyf
