#include "tests/cases/large_cases.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/cases/expected.h"
#include "tests/conformance/checker.h"
#include "tests/conformance/suite.h"
#include "tests/oracle/element.h"

namespace normd {
namespace {

constexpr int64_t kGuardBytes = 256;
constexpr std::byte kUnwritten{0xFF};  // NaN in every dtype
constexpr int64_t kChunkBytes = 64 << 20;

// A matrix on the device, with guard bytes behind it.
struct DeviceRows {
  Memory memory;
  int64_t row_bytes = 0;

  char* data() const { return static_cast<char*>(memory.data()); }
};

class LargeCase {
 public:
  explicit LargeCase(const NormCase& norm_case)
      : case_(norm_case), spec_(norm_case.spec), backend_(BackendUnderTest()) {}

  std::vector<std::string> Run() {
    if (absl::Status status = Place(); !status.ok()) return {status.ToString()};
    for (const int64_t rows : {case_.rows, case_.rows - 1}) {
      if (absl::Status status = Launch(rows); !status.ok()) faults_.push_back(status.ToString());
      if (!faults_.empty()) return std::move(faults_);
    }
    if (case_.Has("path_switch_rows")) CheckTime();
    return std::move(faults_);
  }

 private:
  absl::Status Place() {
    auto stream = backend_.NewStream();
    if (!stream.ok()) return stream.status();
    stream_ = *std::move(stream);
    auto staging = backend_.Allocate(kChunkBytes, MemoryKind::kStaging);
    if (!staging.ok()) return staging.status();
    staging_ = *std::move(staging);
    period_ = MakeOperands(case_, spec_, case_.period);
    for (size_t i = 0; i < kSlots; ++i) {
      if (absl::Status status = PlaceSlot(SlotAt(i)); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

  absl::Status PlaceSlot(Slot slot) {
    const SlotShape shape = ShapeOf(slot, spec_, case_.rows);
    if (!shape.present) return absl::OkStatus();
    DeviceRows& rows = rows_[IndexOf(slot)];
    rows.row_bytes = shape.columns * SizeOf(shape.dtype);
    auto memory = backend_.Allocate(shape.rows * rows.row_bytes + kGuardBytes, MemoryKind::kDevice);
    if (!memory.ok()) return memory.status();
    rows.memory = *std::move(memory);
    SetSlot(slot, rows.data(), shape.columns, segment_);
    if (IsOutput(slot)) return absl::OkStatus();
    // One period from the host, the rest by doubling.
    const int64_t first = std::min(shape.rows, case_.period) * rows.row_bytes;
    auto* host = static_cast<char*>(staging_.data());
    const std::vector<double>& values = ValuesOf(slot, period_);
    for (size_t i = 0; i < values.size(); ++i) {
      StoreElement(shape.dtype, values[i], host + static_cast<int64_t>(i) * SizeOf(shape.dtype));
    }
    if (absl::Status status = stream_->Copy(rows.data(), host, first); !status.ok()) return status;
    const int64_t total = shape.rows * rows.row_bytes;
    for (int64_t done = first; done < total;) {
      const int64_t bytes = std::min(done, total - done);
      const absl::Status status = stream_->Copy(rows.data() + done, rows.data(), bytes);
      if (!status.ok()) return status;
      done += bytes;
    }
    return stream_->Synchronize();
  }

  absl::Status Enqueue() {
    auto info = case_.backward() ? backend_.Backward(spec_, {segment_}, *stream_)
                                 : backend_.Forward(spec_, {segment_}, *stream_);
    return info.status();
  }

  absl::Status Launch(int64_t rows) {
    segment_.rows = rows;
    segment_.eps = static_cast<float>(case_.eps);
    for (size_t i = IndexOf(Slot::kY); i < kSlots; ++i) {
      const Memory& memory = rows_[i].memory;
      if (memory.data() == nullptr) continue;
      const absl::Status status = stream_->Fill(memory.data(), kUnwritten, memory.bytes());
      if (!status.ok()) return status;
    }
    if (absl::Status status = Validate(spec_, segment_); !status.ok()) return status;
    if (absl::Status status = Enqueue(); !status.ok()) return status;
    if (absl::Status status = stream_->Synchronize(); !status.ok()) return status;
    SegmentOutcome outcome;
    for (size_t i = IndexOf(Slot::kY); i < kSlots; ++i) {
      if (absl::Status status = Check(SlotAt(i), rows, outcome); !status.ok()) return status;
    }
    CheckFirstRows(rows, outcome);
    return absl::OkStatus();
  }

  // Takes the first period of an output; every other row must repeat it, and no byte behind the
  // last row may have changed.
  absl::Status Check(Slot slot, int64_t rows, SegmentOutcome& outcome) {
    const DeviceRows& device = rows_[IndexOf(slot)];
    if (device.memory.data() == nullptr) return absl::OkStatus();
    const SlotShape shape = ShapeOf(slot, spec_, rows);
    const int64_t total = shape.rows * device.row_bytes;
    const int64_t period = std::min(shape.rows, case_.period) * device.row_bytes;
    const int64_t chunk = std::max<int64_t>(kChunkBytes / period, 1) * period;
    const auto* host = static_cast<const std::byte*>(staging_.data());
    SlotBytes& first = outcome.outputs[IndexOf(slot)];
    first.dtype = shape.dtype;
    std::vector<std::byte> right;
    for (int64_t done = 0; done < device.memory.bytes(); done += chunk) {
      const int64_t bytes = std::min(chunk, device.memory.bytes() - done);
      const absl::Status copied = stream_->Copy(staging_.data(), device.data() + done, bytes);
      if (!copied.ok()) return copied;
      if (absl::Status status = stream_->Synchronize(); !status.ok()) return status;
      if (done == 0) {
        first.bytes.assign(host, host + period);
        while (static_cast<int64_t>(right.size()) < chunk) {
          right.insert(right.end(), first.bytes.begin(), first.bytes.end());
        }
      }
      const int64_t inside = std::clamp<int64_t>(total - done, 0, bytes);
      const bool repeats = std::equal(host, host + inside, right.begin());
      const bool clean = std::all_of(host + inside, host + bytes,
                                     [](std::byte byte) { return byte == kUnwritten; });
      if (repeats && clean) continue;
      faults_.push_back(absl::StrCat(rows, " rows: ", Name(slot), ": ",
                                     repeats ? "written behind its end" : "rows do not repeat",
                                     ", from byte ", done));
      return absl::OkStatus();
    }
    return absl::OkStatus();
  }

  void CheckFirstRows(int64_t rows, const SegmentOutcome& outcome) {
    std::vector<std::string> found;
    // The file's sums over rows are those of all rows.
    if (rows == case_.rows) found = ExpectedFaults(case_, outcome);
    NormSpec rowwise = spec_;
    rowwise.want_dweight = rowwise.want_dbias = false;
    for (std::string& fault : FaultsOf(rowwise, period_, RunOracle(spec_, period_), outcome)) {
      found.push_back(std::move(fault));
    }
    for (const std::string& fault : found) faults_.push_back(absl::StrCat(rows, " rows: ", fault));
  }

  // Within three times the time that the device needs to copy the bytes of the op. Only where
  // device time is known and the device is ours alone.
  void CheckTime() {
    if (!absl::StartsWith(backend_.info().name, "cuda")) return;
    const DeviceRows& x = rows_[IndexOf(Slot::kX)];
    const DeviceRows& dx = rows_[IndexOf(Slot::kDx)];
    const int64_t bytes = case_.rows * x.row_bytes;
    const absl::Duration copy = Time([&] { return stream_->Copy(dx.data(), x.data(), bytes); });
    const absl::Duration op = Time([&] { return Enqueue(); });
    const double allowed = 3 * absl::ToDoubleSeconds(copy) / static_cast<double>(2 * bytes) *
                           static_cast<double>(BytesMoved(spec_, case_.rows));
    if (absl::ToDoubleSeconds(op) <= allowed) return;
    faults_.push_back(absl::StrCat("took ", absl::FormatDuration(op), ", more than ",
                                   absl::FormatDuration(absl::Seconds(allowed))));
  }

  // Median of five.
  template <typename F>
  absl::Duration Time(F enqueue) {
    const auto start = backend_.NewEvent(true);
    const auto end = backend_.NewEvent(true);
    std::vector<absl::Duration> times;
    for (int i = 0; i < 5 && start.ok() && end.ok(); ++i) {
      const bool ok = stream_->Record(**start).ok() && enqueue().ok() &&
                      stream_->Record(**end).ok() && (*end)->Synchronize().ok();
      const auto elapsed = backend_.Elapsed(**start, **end);
      if (ok && elapsed.ok()) times.push_back(*elapsed);
    }
    if (times.size() < 5) faults_.push_back("the device could not be timed");
    if (times.empty()) return absl::InfiniteDuration();
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
  }

  const NormCase& case_;
  const NormSpec spec_;
  Backend& backend_;
  std::unique_ptr<Stream> stream_;
  Memory staging_;
  Operands period_;  // one period of rows
  PerSlot<DeviceRows> rows_;
  Segment segment_;
  std::vector<std::string> faults_;
};

}  // namespace

int64_t BytesNeeded(const NormCase& norm_case) {
  int64_t bytes = kChunkBytes;
  for (size_t i = 0; i < kSlots; ++i) {
    const SlotShape shape = ShapeOf(SlotAt(i), norm_case.spec, norm_case.rows);
    if (shape.present) bytes += shape.rows * shape.columns * SizeOf(shape.dtype) + kGuardBytes;
  }
  return bytes;
}

std::vector<std::string> RunLargeCase(const NormCase& norm_case) {
  return LargeCase(norm_case).Run();
}

int64_t BytesOfLongStrides(const NormCase& norm_case) {
  const auto stride = norm_case.params.at("row_stride").get<int64_t>();
  return 2 * (stride + norm_case.columns) * SizeOf(norm_case.spec.dtype);
}

std::vector<std::string> RunLongStrides(const NormCase& norm_case) {
  Backend& backend = BackendUnderTest();
  NormSpec spec = norm_case.spec;
  spec.want_rstd = spec.want_mean = false;
  const Operands operands = MakeOperands(norm_case, spec, 2);
  const auto stride = norm_case.params.at("row_stride").get<int64_t>();
  const int64_t element = SizeOf(spec.dtype);
  const int64_t row_bytes = spec.width * element;
  auto x = backend.Allocate(stride * element + row_bytes, MemoryKind::kDevice);
  auto y = backend.Allocate(stride * element + row_bytes, MemoryKind::kDevice);
  auto staging = backend.Allocate(2 * row_bytes, MemoryKind::kStaging);
  auto stream = backend.NewStream();
  for (const absl::Status& status : {x.status(), y.status(), staging.status(), stream.status()}) {
    if (!status.ok()) return {status.ToString()};
  }
  auto* host = static_cast<char*>(staging->data());
  for (size_t i = 0; i < operands.x.size(); ++i) {
    StoreElement(spec.dtype, operands.x[i], host + static_cast<int64_t>(i) * element);
  }
  Segment segment;
  segment.rows = 2;
  segment.eps = operands.eps;
  segment.x = {x->data(), stride};
  segment.y = {y->data(), stride};
  std::vector<absl::Status> steps = {Validate(spec, segment)};
  for (int64_t row = 0; row < 2; ++row) {
    char* to = static_cast<char*>(x->data()) + row * stride * element;
    steps.push_back((*stream)->Copy(to, host + row * row_bytes, row_bytes));
  }
  steps.push_back((*stream)->Synchronize());
  steps.push_back(backend.Forward(spec, {segment}, **stream).status());
  for (int64_t row = 0; row < 2; ++row) {
    const char* from = static_cast<const char*>(y->data()) + row * stride * element;
    steps.push_back((*stream)->Copy(host + row * row_bytes, from, row_bytes));
  }
  steps.push_back((*stream)->Synchronize());
  for (const absl::Status& step : steps) {
    if (!step.ok()) return {step.ToString()};
  }
  SegmentOutcome outcome;
  SlotBytes& got = outcome.outputs[IndexOf(Slot::kY)];
  got.dtype = spec.dtype;
  const auto* bytes = reinterpret_cast<const std::byte*>(host);
  got.bytes.assign(bytes, bytes + 2 * row_bytes);
  return FaultsOf(spec, operands, RunOracle(spec, operands), outcome);
}

}  // namespace normd
