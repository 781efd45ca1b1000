// Backend: the seam between the server and a device. The CPU backend and the CUDA backend implement
// it; server, conformance suite and benches use nothing else.
//
// A Backend is one device. Its methods are thread-safe. A Stream runs its work in order and is used
// by one thread at a time; streams run beside each other. Every call says whether it waits.
#ifndef NORMD_KERNELS_BACKEND_H_
#define NORMD_KERNELS_BACKEND_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "kernels/norm_spec.h"
#include "kernels/segment.h"

namespace normd {

enum class MemoryKind : uint8_t {
  kDevice,   // the device's own; the host may not touch it
  kStaging,  // host memory that the device reads and writes at the same address
};

// Owns a block of memory of one backend, aligned to 256 bytes; frees it when destroyed. Must not
// outlive its backend, nor end while a stream still uses it.
class Memory {
 public:
  using Free = std::function<void(void* data, int64_t bytes)>;

  Memory() = default;
  Memory(void* data, int64_t bytes, Free free)
      : data_(data), bytes_(bytes), free_(std::move(free)) {}
  Memory(Memory&& other) noexcept { *this = std::move(other); }
  Memory& operator=(Memory&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    std::swap(free_, other.free_);
    return *this;
  }
  ~Memory() {
    if (data_ != nullptr) free_(data_, bytes_);
  }

  void* data() const { return data_; }
  int64_t bytes() const { return bytes_; }

 private:
  void* data_ = nullptr;
  int64_t bytes_ = 0;
  Free free_;
};

// A point in a stream's work. Made by Backend::NewEvent; thread-safe.
class Event {
 public:
  virtual ~Event() = default;

  // Whether all work before the last Record has completed; true before the first Record. Does not
  // wait. An error is the device's: the work failed, and a device that reports one is lost.
  virtual absl::StatusOr<bool> Query() = 0;

  // Waits until Query would say true.
  virtual absl::Status Synchronize() = 0;
};

// Work in order. Calls enqueue and return, unless they say that they wait.
class Stream {
 public:
  virtual ~Stream() = default;  // waits for its work

  // Copies between any two blocks of the backend's memory (either kind) that do not overlap.
  virtual absl::Status Copy(void* destination, const void* source, int64_t bytes) = 0;
  virtual absl::Status Fill(void* destination, std::byte value, int64_t bytes) = 0;
  virtual absl::Status Record(Event& event) = 0;
  // Work enqueued from now on starts after `event` has completed.
  virtual absl::Status Wait(Event& event) = 0;
  // Waits for all work enqueued so far.
  virtual absl::Status Synchronize() = 0;
};

struct DeviceInfo {
  std::string name;          // "cpu", "cuda:0"
  std::string model;         // as the maker names it
  int64_t memory_bytes = 0;  // in total
  int max_segments = 1;      // of one launch
};

// What a launch did, for replies and metrics.
struct LaunchInfo {
  const char* kernel = "";  // name of the kernel, static storage
  int launches = 0;         // kernels started; 0 when there was nothing to do
};

class Backend {
 public:
  virtual ~Backend() = default;

  virtual const DeviceInfo& info() const = 0;

  // RESOURCE_EXHAUSTED when the memory is not there. May take long: not on the request path.
  virtual absl::StatusOr<Memory> Allocate(int64_t bytes, MemoryKind kind) = 0;
  virtual absl::StatusOr<std::unique_ptr<Stream>> NewStream() = 0;
  // A timed event can be given to Elapsed; on a GPU it costs more to record.
  virtual absl::StatusOr<std::unique_ptr<Event>> NewEvent(bool timed) = 0;
  // Device time between two timed events that have completed.
  virtual absl::StatusOr<absl::Duration> Elapsed(Event& start, Event& end) = 0;

  // Enqueues the op for every segment. The same segment gives the same bits alone and beside any
  // others. Zero rows: nothing is read; dweight and dbias, when wanted, become zero. On an error
  // nothing was enqueued. `stream` is one of this backend's.
  // REQUIRES: Validate(spec) and Validate(spec, segment) are OK for every segment,
  //           segments.size() <= info().max_segments
  virtual absl::StatusOr<LaunchInfo> Forward(const NormSpec& spec,
                                             absl::Span<const Segment> segments,
                                             Stream& stream) = 0;
  virtual absl::StatusOr<LaunchInfo> Backward(const NormSpec& spec,
                                              absl::Span<const Segment> segments,
                                              Stream& stream) = 0;
};

}  // namespace normd

#endif  // NORMD_KERNELS_BACKEND_H_
