// Verify finds what a wrong kernel does, on a CPU backend whose results are spoilt on the way.
#include "tests/bench/kernel/verify.h"

#include <gtest/gtest.h>

#include <memory>

#include "kernels/cpu/cpu_backend.h"
#include "tests/bench/kernel/measure.h"

namespace normd {
namespace {

// Which element of which output is spoilt; none: the backend is right.
struct Fault {
  MutableRows Segment::*rows = nullptr;
  void* Segment::*parameter = nullptr;
  size_t segment = 0;
};

// Fills the first four bytes of an output after each launch.
class FaultyBackend : public Backend {
 public:
  FaultyBackend(std::unique_ptr<Backend> backend, Fault fault)
      : backend_(std::move(backend)), fault_(fault) {}

  const DeviceInfo& info() const override { return backend_->info(); }
  absl::StatusOr<Memory> Allocate(int64_t bytes, MemoryKind kind) override {
    return backend_->Allocate(bytes, kind);
  }
  absl::StatusOr<std::unique_ptr<Stream>> NewStream() override { return backend_->NewStream(); }
  absl::StatusOr<std::unique_ptr<Event>> NewEvent(bool timed) override {
    return backend_->NewEvent(timed);
  }
  absl::StatusOr<absl::Duration> Elapsed(Event& start, Event& end) override {
    return backend_->Elapsed(start, end);
  }
  absl::StatusOr<LaunchInfo> Forward(const NormSpec& spec, absl::Span<const Segment> segments,
                                     Stream& stream) override {
    return Spoilt(backend_->Forward(spec, segments, stream), segments, stream);
  }
  absl::StatusOr<LaunchInfo> Backward(const NormSpec& spec, absl::Span<const Segment> segments,
                                      Stream& stream) override {
    return Spoilt(backend_->Backward(spec, segments, stream), segments, stream);
  }

 private:
  absl::StatusOr<LaunchInfo> Spoilt(absl::StatusOr<LaunchInfo> launched,
                                    absl::Span<const Segment> segments, Stream& stream) {
    if (!launched.ok()) return launched;
    const Segment& segment = segments[fault_.segment];
    void* output = nullptr;
    if (fault_.rows != nullptr) output = (segment.*fault_.rows).data;
    if (fault_.parameter != nullptr) output = segment.*fault_.parameter;
    if (output == nullptr) return launched;
    absl::Status status = stream.Fill(output, std::byte{0x35}, 4);
    if (!status.ok()) return status;
    return launched;
  }

  std::unique_ptr<Backend> backend_;
  Fault fault_;
};

// The period is 512 rows of 128 columns: whole periods and a rest in each segment.
Point TestPoint(Direction direction) {
  return {
      .direction = direction, .width = 128, .rows = 3 * 1100, .gate = Gate::kSilu, .segments = 3};
}

absl::Status VerifyOn(const Point& point, Fault fault) {
  absl::StatusOr<std::unique_ptr<Backend>> cpu = NewCpuBackend({});
  if (!cpu.ok()) return cpu.status();
  FaultyBackend backend(*std::move(cpu), fault);
  absl::StatusOr<std::unique_ptr<Stream>> stream = backend.NewStream();
  if (!stream.ok()) return stream.status();
  const Period period(SpecOf(point), point.rows / point.segments, 7);
  absl::StatusOr<Workload> workload = Workload::Make(point, period, 2, backend, **stream);
  if (!workload.ok()) return workload.status();
  absl::Status status = Verify(*workload, period, backend, **stream);
  if (absl::Status waited = (*stream)->Synchronize(); !waited.ok()) return waited;
  return status;
}

TEST(VerifyTest, AcceptsTheCpuBackend) {
  for (const Direction direction : {Direction::kForward, Direction::kBackward}) {
    Point point = TestPoint(direction);
    EXPECT_EQ(VerifyOn(point, {}), absl::OkStatus());
    point.gate = Gate::kNone;
    point.residual = true;
    point.parameters = Parameters::kFloat32;
    EXPECT_EQ(VerifyOn(point, {}), absl::OkStatus());
    point = {.op = NormKind::kRmsNorm, .direction = direction, .width = 97, .rows = 1001};
    EXPECT_EQ(VerifyOn(point, {}), absl::OkStatus());
    // Periods and rests of one row.
    for (const int64_t rows : {1, 5, 9}) {
      point = {.direction = direction, .width = 32768, .rows = rows};
      EXPECT_EQ(VerifyOn(point, {}), absl::OkStatus());
    }
  }
}

TEST(VerifyTest, NamesTheTensorThatIsWrong) {
  const auto message = [](Direction direction, Fault fault) {
    const absl::Status status = VerifyOn(TestPoint(direction), fault);
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
    return std::string(status.message());
  };
  EXPECT_EQ(message(Direction::kForward, {.rows = &Segment::y}).substr(0, 7), "y[0, 0]");
  EXPECT_EQ(message(Direction::kBackward, {.rows = &Segment::dx}).substr(0, 8), "dx[0, 0]");
  EXPECT_EQ(message(Direction::kBackward, {.rows = &Segment::dz}).substr(0, 8), "dz[0, 0]");
  EXPECT_EQ(message(Direction::kBackward, {.parameter = &Segment::dweight}).substr(0, 13),
            "dweight[0, 0]");
  EXPECT_EQ(
      message(Direction::kBackward, {.parameter = &Segment::dbias, .segment = 2}).substr(0, 11),
      "dbias[2, 0]");
}

TEST(MeasurerTest, RefusesToTimeAWrongKernel) {
  FaultyBackend backend(*NewCpuBackend({}), {.rows = &Segment::y});
  Measurer measurer = *Measurer::Make(backend, {.max_bytes = 1 << 20});
  EXPECT_EQ(measurer.Measure(TestPoint(Direction::kForward)).status().code(),
            absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace normd
