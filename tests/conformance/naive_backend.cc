#include "tests/conformance/naive_backend.h"

#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "tests/conformance/naive_rows.h"

namespace normd {
namespace {

// Everything has happened when a call returns.
class DoneEvent : public Event {
 public:
  absl::StatusOr<bool> Query() override { return true; }
  absl::Status Synchronize() override { return absl::OkStatus(); }
};

class DoneStream : public Stream {
 public:
  absl::Status Copy(void* destination, const void* source, int64_t bytes) override {
    std::memcpy(destination, source, static_cast<size_t>(bytes));
    return absl::OkStatus();
  }
  absl::Status Fill(void* destination, std::byte value, int64_t bytes) override {
    std::memset(destination, static_cast<int>(value), static_cast<size_t>(bytes));
    return absl::OkStatus();
  }
  absl::Status Record(Event&) override { return absl::OkStatus(); }
  absl::Status Wait(Event&) override { return absl::OkStatus(); }
  absl::Status Synchronize() override { return absl::OkStatus(); }
};

class NaiveBackend : public Backend {
 public:
  explicit NaiveBackend(Fault fault) : fault_(fault), info_{"naive", "", 0, 1000} {}

  const DeviceInfo& info() const override { return info_; }

  absl::StatusOr<Memory> Allocate(int64_t bytes, MemoryKind) override {
    constexpr std::align_val_t kAlignment{256};
    void* data = ::operator new(static_cast<size_t>(bytes), kAlignment);
    return Memory(data, bytes, [](void* block, int64_t) { ::operator delete(block, kAlignment); });
  }
  absl::StatusOr<std::unique_ptr<Stream>> NewStream() override {
    return std::make_unique<DoneStream>();
  }
  absl::StatusOr<std::unique_ptr<Event>> NewEvent(bool) override {
    return std::make_unique<DoneEvent>();
  }
  absl::StatusOr<absl::Duration> Elapsed(Event&, Event&) override { return absl::ZeroDuration(); }

  absl::StatusOr<LaunchInfo> Forward(const NormSpec& spec, absl::Span<const Segment> segments,
                                     Stream&) override {
    return Run(spec, segments);
  }
  absl::StatusOr<LaunchInfo> Backward(const NormSpec& spec, absl::Span<const Segment> segments,
                                      Stream&) override {
    return Run(spec, segments);
  }

 private:
  LaunchInfo Run(const NormSpec& spec, absl::Span<const Segment> segments) const {
    int64_t rows_before = 0;
    for (Segment segment : segments) {
      if (fault_ == Fault::kEpsOfFirstSegment) segment.eps = segments.front().eps;
      if (fault_ == Fault::kWeightOfFirstSegment) segment.weight = segments.front().weight;
      NaiveRows(spec, segment, fault_, rows_before).Run();
      rows_before += segment.rows;
    }
    return {"naive", 1};
  }

  const Fault fault_;
  const DeviceInfo info_;
};

}  // namespace

std::unique_ptr<Backend> NewNaiveBackend(Fault fault) {
  return std::make_unique<NaiveBackend>(fault);
}

const char* Name(Fault fault) {
  static constexpr const char* kNames[] = {
      "None",
      "OnePassVariance",
      "ClampedOnePassVariance",
      "MeanRoundedToFloat",
      "SerialFloatSums",
      "HalfSums",
      "UnbiasedVariance",
      "RmsSubtractsMean",
      "EpsOutsideRoot",
      "EpsAddedToSum",
      "EpsFixed",
      "StatisticsSavedInHalf",
      "StatisticsOfUnroundedSum",
      "GroupIgnored",
      "GroupIgnoredInBackward",
      "SquaresOverflow",
      "SubnormalsFlushed",
      "NanSpreadsToNextRow",
      "OffsetAddedInHalf",
      "OffsetWithoutWeight",
      "OffsetEntersDweight",
      "WeightOnlyWithBias",
      "FloatWeightReadAsHalf",
      "GateOrderSwapped",
      "BiasNotGated",
      "SigmoidForSilu",
      "GateOverflows",
      "GateRoundedToHalf",
      "RoundsTwice",
      "RoundBeforeWeightIgnored",
      "OutputTruncated",
      "MeanGradientMissing",
      "SavedStatisticsIgnored",
      "ResidualGradientDropped",
      "BiasMissingInDz",
      "DweightInHalf",
      "DweightAccumulates",
      "DweightWithoutLastRow",
      "DweightAndDbiasSwapped",
      "NoRowsLeaveGradients",
      "RowPaddingWritten",
      "LastRowNotWritten",
      "StrideIgnored",
      "InputChanged",
      "ReadsAfterWriteInPlace",
      "EpsOfFirstSegment",
      "WeightOfFirstSegment",
      "SumOrderFromBatch",
  };
  static_assert(std::size(kNames) == static_cast<size_t>(Fault::kEnd));
  return kNames[static_cast<size_t>(fault)];
}

}  // namespace normd
