#include "tests/bench/kernel/verify.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/bench/kernel/launch.h"
#include "tests/oracle/bounded.h"
#include "tests/oracle/element.h"
#include "tests/oracle/oracle.h"

namespace normd {
namespace {

class Verifier {
 public:
  Verifier(const Workload& workload, const Period& period, Stream& stream, Memory staging)
      : workload_(workload), period_(period), stream_(stream), staging_(std::move(staging)) {}

  absl::Status Run() {
    const NormSpec& spec = workload_.spec();
    const Results results = RunOracle(spec, period_.operands());
    const std::pair<TensorId, const Reference*> by_row[] = {
        {TensorId::kY, &results.y},          {TensorId::kResidualOut, &results.residual_out},
        {TensorId::kMeanOut, &results.mean}, {TensorId::kRstdOut, &results.rstd},
        {TensorId::kDx, &results.dx},        {TensorId::kDz, &results.dz},
    };
    for (const auto& [id, reference] : by_row) {
      if (!workload_.tensor(id).present()) continue;
      if (absl::Status status = CheckRows(id, *reference); !status.ok()) return status;
    }
    if (spec.want_dweight || spec.want_dbias) return CheckParameterGradients(results);
    return absl::OkStatus();
  }

 private:
  int64_t segments() const { return static_cast<int64_t>(workload_.segments(0).size()); }
  int64_t segment_rows() const { return workload_.segments(0)[0].rows; }

  // The first, the last, and others spread between them with a stride that shares no factor with
  // tiles.
  std::set<int64_t> SampledRows() const {
    const int64_t rows = segments() * segment_rows();
    std::set<int64_t> sampled = {0, rows / 2, rows - 1};
    for (int64_t i = 1; i < 16; ++i) sampled.insert((rows / 16 * i + 7 * i) % rows);
    return sampled;
  }

  absl::Status CheckRows(TensorId id, const Reference& reference) {
    for (const int64_t row : SampledRows()) {
      const int64_t at = row % segment_rows() % period_.rows();
      if (absl::Status status = CheckRow(id, row, reference, at); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

  // Row `row` of a tensor against row `at` of the reference.
  absl::Status CheckRow(TensorId id, int64_t row, const Reference& reference, int64_t at) {
    const Tensor& tensor = workload_.tensor(id);
    absl::Status status =
        stream_.Copy(staging_.data(), workload_.Row(0, id, row), tensor.row_bytes());
    if (status.ok()) status = stream_.Synchronize();
    if (!status.ok()) return status;
    const auto* bytes = static_cast<const std::byte*>(staging_.data());
    for (int64_t column = 0; column < tensor.columns; ++column) {
      const auto i = static_cast<size_t>(at * tensor.columns + column);
      const double got = LoadElement(tensor.dtype, bytes + column * SizeOf(tensor.dtype));
      if (Accepts(tensor.dtype, reference.value[i], reference.error[i], got)) continue;
      return absl::DataLossError(absl::StrCat(tensor.name, "[", row, ", ", column, "] is ", got,
                                              ", not ", reference.value[i], " +- ",
                                              reference.error[i]));
    }
    return absl::OkStatus();
  }

  absl::Status CheckParameterGradients(const Results& results) {
    const NormSpec& spec = workload_.spec();
    const int64_t rest_rows = segment_rows() % period_.rows();
    const Results rest = RunOracle(spec, period_.Prefix(spec, rest_rows));
    const Reference dweight = Total(results.dweight, rest.dweight);
    const Reference dbias = Total(results.dbias, rest.dbias);
    for (const int64_t segment : {int64_t{0}, segments() - 1}) {
      if (spec.want_dweight) {
        absl::Status status = CheckRow(TensorId::kDweight, segment, dweight, 0);
        if (!status.ok()) return status;
      }
      if (spec.want_dbias) {
        absl::Status status = CheckRow(TensorId::kDbias, segment, dbias, 0);
        if (!status.ok()) return status;
      }
    }
    return absl::OkStatus();
  }

  // Bound of a part's sum as a summand of the segment's. The oracle's bound grows with the number
  // of terms relative to their magnitude, so it is scaled from the part's number of terms to the
  // segment's; one term alone has no such bound yet.
  double GrownError(double value, double error, int64_t terms) const {
    const auto steps = [](int64_t n) { return SumSteps(static_cast<double>(n)); };
    if (terms == 1) return error + steps(segment_rows()) * kStep * std::abs(value);
    return error * steps(segment_rows()) / steps(terms);
  }

  // Sum over a segment's rows: whole periods and what is left.
  Reference Total(const Reference& period, const Reference& rest) const {
    const int64_t rest_rows = segment_rows() % period_.rows();
    const auto periods = static_cast<double>(segment_rows() / period_.rows());
    Reference total = period;
    for (size_t i = 0; i < total.value.size(); ++i) {
      total.value[i] = periods * period.value[i];
      total.error[i] = periods * GrownError(period.value[i], period.error[i], period_.rows());
      if (rest_rows == 0) continue;
      total.value[i] += rest.value[i];
      total.error[i] += GrownError(rest.value[i], rest.error[i], rest_rows);
    }
    return total;
  }

  const Workload& workload_;
  const Period& period_;
  Stream& stream_;
  Memory staging_;
};

}  // namespace

absl::Status Verify(const Workload& workload, const Period& period, Backend& backend,
                    Stream& stream) {
  absl::Status status = workload.PoisonOutputs(0, stream);
  if (!status.ok()) return status;
  absl::StatusOr<LaunchInfo> launched =
      Launch(backend, workload.spec(), workload.segments(0), stream);
  if (!launched.ok()) return launched.status();
  absl::StatusOr<Memory> staging =
      backend.Allocate(workload.spec().width * 4, MemoryKind::kStaging);
  if (!staging.ok()) return staging.status();
  return Verifier(workload, period, stream, *std::move(staging)).Run();
}

}  // namespace normd
