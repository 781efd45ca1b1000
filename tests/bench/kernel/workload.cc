#include "tests/bench/kernel/workload.h"

#include <algorithm>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace normd {
namespace {

constexpr int64_t kAlignment = 256;
// Together the sets take this much, several times the largest cache of the devices in reach
// (50 MB on an H100, 60 MB on an H200, 126 MB on a B200).
constexpr int64_t kBeyondCachesBytes = int64_t{512} << 20;
constexpr int64_t kMaxSets = 256;

int64_t Aligned(int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

// Writes `period`, again and again, over [destination, destination + bytes). The staging memory
// holds the period; doubling copies inside the device do the rest.
absl::Status Repeat(std::byte* destination, int64_t bytes, const void* staging, int64_t period,
                    Stream& stream) {
  int64_t done = std::min(period, bytes);
  absl::Status status = stream.Copy(destination, staging, done);
  while (status.ok() && done < bytes) {
    // A whole number of periods at a time, so that the pattern goes on.
    const int64_t next = std::min(done, bytes - done);
    status = stream.Copy(destination + done, destination, next);
    done += next;
  }
  return status;
}

}  // namespace

int64_t SetBytes(const Point& point) {
  int64_t bytes = 0;
  for (const Tensor& tensor : TensorsOf(SpecOf(point))) {
    bytes += Aligned(tensor.row_bytes() * (tensor.per_segment ? point.segments : point.rows));
  }
  return bytes;
}

absl::StatusOr<Point> FitRows(const Point& point, int64_t max_bytes) {
  Point fitted = point;
  while (SetBytes(fitted) > max_bytes) {
    const double share = static_cast<double>(max_bytes) / static_cast<double>(SetBytes(fitted));
    const auto wanted = static_cast<int64_t>(static_cast<double>(fitted.rows) * share);
    const int64_t rows = std::min(wanted, fitted.rows - 1) / fitted.segments * fitted.segments;
    if (rows < fitted.segments) {
      return absl::ResourceExhaustedError(
          absl::StrCat("one row a segment takes more than ", max_bytes, " bytes"));
    }
    fitted.rows = rows;
  }
  return fitted;
}

int64_t Workload::SetsFor(const Point& point, int64_t max_bytes) {
  if (!point.rotate) return 1;
  const int64_t bytes = SetBytes(point);
  const int64_t sets = std::min(kMaxSets, (kBeyondCachesBytes + bytes - 1) / bytes);
  return std::max(int64_t{1}, std::min(sets, max_bytes / bytes));
}

absl::StatusOr<Workload> Workload::Make(const Point& point, const Period& period, int64_t sets,
                                        Backend& backend, Stream& stream) {
  Workload workload;
  workload.spec_ = SpecOf(point);
  workload.tensors_ = TensorsOf(workload.spec_);
  workload.rows_ = point.rows;
  workload.segment_count_ = point.segments;
  for (size_t i = 0; i < kTensors; ++i) {
    const Tensor& tensor = workload.tensors_[i];
    workload.offsets_[i] = workload.set_bytes_;
    workload.set_bytes_ += Aligned(tensor.row_bytes() * workload.RowsOf(tensor));
  }
  absl::StatusOr<Memory> memory = backend.Allocate(sets * workload.set_bytes_, MemoryKind::kDevice);
  if (!memory.ok()) return memory.status();
  workload.memory_ = *std::move(memory);
  workload.segments_.resize(static_cast<size_t>(sets));
  for (int64_t set = 0; set < sets; ++set) {
    for (int64_t index = 0; index < point.segments; ++index) {
      workload.segments_[static_cast<size_t>(set)].push_back(
          workload.SegmentAt(set, index, period.eps()));
    }
  }
  if (absl::Status status = workload.Upload(period, backend, stream); !status.ok()) return status;
  for (int64_t set = 0; set < sets; ++set) {
    // Every output page is touched before the clock runs.
    if (absl::Status status = workload.PoisonOutputs(set, stream); !status.ok()) return status;
  }
  if (absl::Status status = stream.Synchronize(); !status.ok()) return status;
  return workload;
}

absl::Status Workload::Upload(const Period& period, Backend& backend, Stream& stream) {
  for (size_t i = 0; i < kTensors; ++i) {
    const Tensor& tensor = tensors_[i];
    if (!tensor.present() || tensor.output) continue;
    const auto id = static_cast<TensorId>(i);
    const std::vector<std::byte>& bytes = period.bytes(id);
    const auto period_bytes = static_cast<int64_t>(bytes.size());
    absl::StatusOr<Memory> staging = backend.Allocate(period_bytes, MemoryKind::kStaging);
    if (!staging.ok()) return staging.status();
    std::memcpy(staging->data(), bytes.data(), bytes.size());
    // Segments start at the period's first row; a parameter's rows are all the same.
    const int64_t parts = tensor.per_segment ? 1 : segment_count_;
    const int64_t part_rows = RowsOf(tensor) / parts;
    for (int64_t set = 0; set < sets(); ++set) {
      for (int64_t part = 0; part < parts; ++part) {
        absl::Status status = Repeat(Row(set, id, part * part_rows), part_rows * tensor.row_bytes(),
                                     staging->data(), period_bytes, stream);
        if (!status.ok()) return status;
      }
    }
    if (absl::Status status = stream.Synchronize(); !status.ok()) return status;
  }
  return absl::OkStatus();
}

std::byte* Workload::Row(int64_t set, TensorId id, int64_t row) const {
  const Tensor& tensor = this->tensor(id);
  if (!tensor.present()) return nullptr;
  return static_cast<std::byte*>(memory_.data()) + set * set_bytes_ +
         offsets_[static_cast<size_t>(id)] + row * tensor.row_bytes();
}

Segment Workload::SegmentAt(int64_t set, int64_t index, float eps) const {
  const int64_t rows = rows_ / segment_count_;
  const int64_t width = spec_.width;
  const auto matrix = [&](TensorId id) -> std::byte* { return Row(set, id, index * rows); };
  const auto statistic = [&](TensorId id) { return reinterpret_cast<float*>(matrix(id)); };
  const auto parameter = [&](TensorId id) -> std::byte* { return Row(set, id, index); };
  Segment segment;
  segment.rows = rows;
  segment.eps = eps;
  segment.x = {matrix(TensorId::kX), width};
  segment.z = {matrix(TensorId::kZ), width};
  segment.residual = {matrix(TensorId::kResidual), width};
  segment.dy = {matrix(TensorId::kDy), width};
  segment.dresidual_out = {matrix(TensorId::kDresidualOut), width};
  segment.weight = parameter(TensorId::kWeight);
  segment.bias = parameter(TensorId::kBias);
  segment.mean = statistic(TensorId::kMean);
  segment.rstd = statistic(TensorId::kRstd);
  segment.y = {matrix(TensorId::kY), width};
  segment.residual_out = {matrix(TensorId::kResidualOut), width};
  segment.mean_out = statistic(TensorId::kMeanOut);
  segment.rstd_out = statistic(TensorId::kRstdOut);
  segment.dx = {matrix(TensorId::kDx), width};
  segment.dz = {matrix(TensorId::kDz), width};
  segment.dweight = parameter(TensorId::kDweight);
  segment.dbias = parameter(TensorId::kDbias);
  return segment;
}

absl::Status Workload::PoisonOutputs(int64_t set, Stream& stream) const {
  for (size_t i = 0; i < kTensors; ++i) {
    const Tensor& tensor = tensors_[i];
    if (!tensor.present() || !tensor.output) continue;
    absl::Status status = stream.Fill(Row(set, static_cast<TensorId>(i), 0), std::byte{0xff},
                                      tensor.row_bytes() * RowsOf(tensor));
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace normd
