// Tensors at the edge of the C++ client: what goes into a call (Operand), where a result goes
// (Output), and the result (Tensor). Views: none of them outlives the memory it points to, except
// a Tensor that owns its own. Bytes are in the order of the host, which is little-endian.
#ifndef NORMD_CLIENT_CPP_TENSOR_H_
#define NORMD_CLIENT_CPP_TENSOR_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "kernels/data_type.h"

namespace normd {

// Elements in the caller's memory, row-major and contiguous. The last dimension of `shape` is the
// width, the others are rows. The server checks that `bytes` is what dtype and shape say.
struct Operand {
  DataType dtype = DataType::kFloat32;
  std::vector<int64_t> shape;
  absl::Span<const std::byte> bytes;
};

// `elements` as an operand; T is float, or any 2-byte type that holds float16 or bfloat16 bits.
template <typename T>
Operand View(DataType dtype, std::vector<int64_t> shape, absl::Span<const T> elements) {
  static_assert(std::is_trivially_copyable_v<T>);
  return {dtype, std::move(shape),
          absl::MakeConstSpan(reinterpret_cast<const std::byte*>(elements.data()),
                              elements.size() * sizeof(T))};
}

template <typename T>
Operand View(DataType dtype, std::vector<int64_t> shape, const std::vector<T>& elements) {
  return View(dtype, std::move(shape), absl::MakeConstSpan(elements));
}

// Where an output of a call goes.
class Output {
 public:
  Output() = default;  // not wanted: neither computed nor sent

  // Into memory that the result owns.
  static Output Owned() { return Output(Kind::kOwned, {}); }

  // Into `memory`, which must have exactly the size of the output. It may be the memory of an
  // operand of the same call. After a failed call its content is unspecified.
  template <typename T>
  static Output Into(absl::Span<T> memory) {
    static_assert(std::is_trivially_copyable_v<T>);
    return Output(Kind::kInto, absl::MakeSpan(reinterpret_cast<std::byte*>(memory.data()),
                                              memory.size() * sizeof(T)));
  }
  template <typename T>
  static Output Into(std::vector<T>& memory) {
    return Into(absl::MakeSpan(memory));
  }

  bool wanted() const { return kind_ != Kind::kNone; }
  bool owned() const { return kind_ == Kind::kOwned; }
  absl::Span<std::byte> memory() const { return memory_; }

 private:
  enum class Kind : uint8_t { kNone, kOwned, kInto };

  Output(Kind kind, absl::Span<std::byte> memory) : kind_(kind), memory_(memory) {}

  Kind kind_ = Kind::kNone;
  absl::Span<std::byte> memory_;
};

// A result: in the caller's memory (Output::Into) or in its own (Output::Owned).
struct Tensor {
  DataType dtype = DataType::kFloat32;
  std::vector<int64_t> shape;
  absl::Span<std::byte> bytes;
  std::unique_ptr<std::byte[]> storage;  // null in the caller's memory

  // The elements. REQUIRES: sizeof(T) == SizeOf(dtype)
  template <typename T>
  absl::Span<const T> As() const {
    static_assert(std::is_trivially_copyable_v<T>);
    return absl::MakeConstSpan(reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T));
  }
};

}  // namespace normd

#endif  // NORMD_CLIENT_CPP_TENSOR_H_
