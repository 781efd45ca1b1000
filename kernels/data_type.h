// Element types of tensors.
#ifndef NORMD_KERNELS_DATA_TYPE_H_
#define NORMD_KERNELS_DATA_TYPE_H_

#include <cstdint>

namespace normd {

enum class DataType : uint8_t { kFloat32, kFloat16, kBFloat16 };

// Bytes of one element.
constexpr int64_t SizeOf(DataType type) { return type == DataType::kFloat32 ? 4 : 2; }

// "float32", "float16", "bfloat16": the names of numpy and ml_dtypes, used in metrics and texts.
constexpr const char* Name(DataType type) {
  switch (type) {
    case DataType::kFloat32:
      return "float32";
    case DataType::kFloat16:
      return "float16";
    case DataType::kBFloat16:
      return "bfloat16";
  }
  return "";
}

}  // namespace normd

#endif  // NORMD_KERNELS_DATA_TYPE_H_
