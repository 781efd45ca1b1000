// Launch: one call of Forward or Backward, cut into work units and ready to run.
#ifndef NORMD_KERNELS_CPU_LAUNCH_H_
#define NORMD_KERNELS_CPU_LAUNCH_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kernels/cpu/thread_pool.h"
#include "kernels/norm_spec.h"
#include "kernels/segment.h"

namespace normd {

class Launch {
 public:
  // RESOURCE_EXHAUSTED when the memory for partial sums of parameter gradients is not there: at
  // most 16 bytes a column for every kMinStripRows rows.
  static absl::StatusOr<std::unique_ptr<Launch>> Make(const NormSpec& spec,
                                                      absl::Span<const Segment> segments);

  // False when there is nothing to compute and nothing to write.
  bool has_work() const { return units_ > 0 || finish_units_ > 0; }

  // Once. Returns when everything is written.
  void Run(ThreadPool& pool, Scratch& scratch);

 private:
  struct Part {
    Segment segment;
    int64_t unit_rows = 0;
    int64_t first_unit = 0;  // of the launch
    int64_t units = 0;
    int64_t first_sum = 0;  // of this segment, in sums_
  };

  Launch(const NormSpec& spec, absl::Span<const Segment> segments);

  int64_t partial_sums() const { return spec_.want_dweight + spec_.want_dbias; }
  double* DweightSums(const Part& part, int64_t strip) const;
  double* DbiasSums(const Part& part, int64_t strip) const;
  void RunUnit(int64_t unit, Scratch& scratch) const;
  void RunFinishUnit(int64_t unit, Scratch& scratch) const;

  const NormSpec spec_;
  std::vector<Part> parts_;
  int64_t units_ = 0;
  int64_t finish_units_ = 0;  // column blocks of parameter gradients
  int64_t sums_size_ = 0;
  // For each segment: dweight [units, width] when wanted, then dbias likewise.
  std::unique_ptr<double[]> sums_;
};

}  // namespace normd

#endif  // NORMD_KERNELS_CPU_LAUNCH_H_
