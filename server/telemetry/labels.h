// The label values of metrics, and their places in the arrays that count by them.
#ifndef NORMD_SERVER_TELEMETRY_LABELS_H_
#define NORMD_SERVER_TELEMETRY_LABELS_H_

#include <cstddef>
#include <cstdint>

#include "kernels/norm_spec.h"
#include "server/telemetry/telemetry.h"

namespace normd {

// The last op and the last dtype are "unknown": a request whose op was never understood.
inline constexpr size_t kOps = 5;
inline constexpr size_t kDirections = 2;
inline constexpr size_t kDataTypes = 4;
inline constexpr size_t kCodes = 17;  // of gRPC
inline constexpr size_t kStages = 4;

inline constexpr const char* kOpLabels[kOps] = {"layer_norm", "rms_norm", "gated_layer_norm",
                                                "gated_rms_norm", "unknown"};
inline constexpr const char* kDirectionLabels[kDirections] = {"forward", "backward"};
inline constexpr const char* kDataTypeLabels[kDataTypes] = {"float32", "float16", "bfloat16",
                                                            "unknown"};
inline constexpr const char* kStageLabels[kStages] = {"decode", "queue", "kernel", "encode"};

// Why admission refuses. They are shown from the start, others when they first happen.
inline constexpr const char* kReasonLabels[] = {"draining", "message_size", "staging",
                                                "queue_full"};

inline size_t OpIndex(const NormSpec& spec) {
  return static_cast<size_t>(spec.kind) + (spec.has_gate() ? 2u : 0u);
}
inline size_t Index(Direction direction) { return static_cast<size_t>(direction); }
inline size_t Index(DataType dtype) { return static_cast<size_t>(dtype); }
inline size_t Index(Stage stage) { return static_cast<size_t>(stage); }

// The class of a number of rows: the least n with rows <= 4^n.
inline int RowClass(int64_t rows) {
  int n = 0;
  for (int64_t top = 1; top < rows && n < 31; top *= 4) ++n;
  return n;
}

}  // namespace normd

#endif  // NORMD_SERVER_TELEMETRY_LABELS_H_
