#include "server/self_test.h"

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/cpu/cpu_backend.h"
#include "server/device_copy.h"
#include "server/devices.h"

namespace normd {
namespace {

using ::testing::HasSubstr;

// The CPU backend, but for the specs that `breaks` picks: their launches do nothing.
class Broken : public Backend {
 public:
  using Breaks = bool (*)(const NormSpec&);

  explicit Broken(Breaks breaks) : cpu_(*NewCpuBackend({.threads = 1})), breaks_(breaks) {}

  const DeviceInfo& info() const override { return cpu_->info(); }
  absl::StatusOr<Memory> Allocate(int64_t bytes, MemoryKind kind) override {
    return cpu_->Allocate(bytes, kind);
  }
  absl::StatusOr<std::unique_ptr<Stream>> NewStream() override { return cpu_->NewStream(); }
  absl::StatusOr<std::unique_ptr<Event>> NewEvent(bool timed) override {
    return cpu_->NewEvent(timed);
  }
  absl::StatusOr<absl::Duration> Elapsed(Event& start, Event& end) override {
    return cpu_->Elapsed(start, end);
  }
  absl::StatusOr<LaunchInfo> Forward(const NormSpec& spec, absl::Span<const Segment> segments,
                                     Stream& stream) override {
    if (breaks_(spec)) return LaunchInfo{"broken", 1};
    return cpu_->Forward(spec, segments, stream);
  }
  absl::StatusOr<LaunchInfo> Backward(const NormSpec& spec, absl::Span<const Segment> segments,
                                      Stream& stream) override {
    if (breaks_(spec)) return LaunchInfo{"broken", 1};
    return cpu_->Backward(spec, segments, stream);
  }

 private:
  std::unique_ptr<Backend> cpu_;
  const Breaks breaks_;
};

std::string Failure(Broken::Breaks breaks) {
  Broken backend(breaks);
  const auto reference = NewCpuBackend({.threads = 1});
  const absl::Status status = SelfTest(backend, reference->get());
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  return std::string(status.message());
}

TEST(SelfTest, TheCpuBackendPasses) {
  const auto backend = NewCpuBackend({.threads = 2});
  ASSERT_TRUE(backend.ok());
  EXPECT_TRUE(SelfTest(**backend, nullptr).ok());
  const auto reference = NewCpuBackend({.threads = 1});
  EXPECT_TRUE(SelfTest(**backend, reference->get()).ok());
}

TEST(SelfTest, FindsWhatDoesNotWorkAndNamesIt) {
  EXPECT_THAT(Failure([](const NormSpec& spec) { return spec.kind == NormKind::kLayerNorm; }),
              HasSubstr("layer_norm forward, width 4"));
  EXPECT_THAT(Failure([](const NormSpec& spec) { return spec.direction == Direction::kBackward; }),
              HasSubstr("layer_norm backward, width 4"));
  EXPECT_THAT(Failure([](const NormSpec& spec) { return spec.kind == NormKind::kRmsNorm; }),
              HasSubstr("rms_norm forward, width 4"));
}

TEST(SelfTest, ComparesEveryFamilyWithTheReference) {
  EXPECT_THAT(Failure([](const NormSpec& spec) { return spec.path == KernelPath::kRowTiled; }),
              HasSubstr("row-tiled, width 64"));
  EXPECT_THAT(Failure([](const NormSpec& spec) { return spec.path == KernelPath::kSingleRow; }),
              HasSubstr("single-row, width 1024"));
  EXPECT_THAT(Failure([](const NormSpec& spec) { return spec.width == 65536; }),
              HasSubstr("width 65536"));
  EXPECT_THAT(Failure([](const NormSpec& spec) { return spec.want_dweight; }),
              HasSubstr("layer_norm backward row-tiled, width 64"));
}

TEST(DeviceCopy, MeasuresAPlausibleSpeed) {
  const auto backend = NewCpuBackend({.threads = 1});
  const absl::StatusOr<double> speed = MeasureDeviceCopy(**backend);
  ASSERT_TRUE(speed.ok()) << speed.status();
  EXPECT_GT(*speed, 1e7);
  EXPECT_LT(*speed, 1e13);
}

TEST(Devices, OpensTheCpuThatWasAskedFor) {
  const auto options = ParseDevices("cpu");
  ASSERT_TRUE(options.ok());
  const auto backend = OpenDevice(*options);
  ASSERT_TRUE(backend.ok()) << backend.status();
  EXPECT_EQ((*backend)->info().name, "cpu");
}

TEST(Devices, PassesOnWhyTheDeviceCannotBeOpened) {
  DeviceOptions options;
  options.choice = DeviceChoice::kCpu;
  options.cpu_threads = -1;
  EXPECT_EQ(OpenDevice(options).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace normd
