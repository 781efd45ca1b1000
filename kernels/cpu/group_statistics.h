// Statistics of one group of one row, and how they are finished from sums over the group.
#ifndef NORMD_KERNELS_CPU_GROUP_STATISTICS_H_
#define NORMD_KERNELS_CPU_GROUP_STATISTICS_H_

#include <cmath>
#include <limits>

namespace normd {

// h = ((t - shift) - correction) * rstd. `shift` is the mean rounded to fp32, `correction` what
// the rounding lost: where the mean is large against the spread, the subtraction of `shift` is
// exact, and the small rest still has all its digits.
struct GroupStatistics {
  float shift = 0;
  float correction = 0;
  float rstd = 0;
  // The sums left the range in which fp32 is accurate (or are NaN): use ExactGroup.
  bool exact = false;

  float mean() const {
    return static_cast<float>(static_cast<double>(shift) + static_cast<double>(correction));
  }
};

// The mean in fp32 from mean(t - first). Exactly `first` for a constant group, whose deviations are
// therefore exactly zero.
inline float ShiftedMean(float first, double mean_shifted) {
  return static_cast<float>(static_cast<double>(first) + mean_shifted);
}

// Below this, squares that are subnormal in fp32, each off by up to 2^-149, could show.
inline constexpr double kMinVariance = 0x1p-115;

// `mean_residue` = mean(t - shift), `mean_square` = mean((t - shift)^2).
inline GroupStatistics FinishStatistics(float shift, double mean_residue, double mean_square,
                                        float eps) {
  double variance = mean_square - mean_residue * mean_residue;
  if (variance < 0) variance = 0;
  variance += static_cast<double>(eps);
  GroupStatistics statistics;
  statistics.shift = shift;
  statistics.correction = static_cast<float>(mean_residue);
  statistics.rstd = static_cast<float>(1 / std::sqrt(variance));
  // Written so that NaN is exact too.
  statistics.exact = !(variance >= kMinVariance && variance <= std::numeric_limits<float>::max());
  return statistics;
}

// From saved statistics, taken as they are; fp32 does for the variances that it does for above.
// `mean` is 0 for RMSNorm.
inline GroupStatistics SavedStatistics(float mean, float rstd) {
  GroupStatistics statistics;
  statistics.shift = mean;
  statistics.rstd = rstd;
  statistics.exact = !(rstd >= 0x1p-62F && rstd <= 0x1p58F);
  return statistics;
}

// Whether a saved rstd says what it was: one of values near the ends of fp32 may have lost its
// digits to a subnormal number, or have become infinite.
inline bool IsFaithful(float rstd) { return std::isnormal(rstd) || std::isnan(rstd); }

// dt = rstd * (g - c2 - h * c1)
struct GroupGradient {
  float c1 = 0;  // mean(g * h)
  float c2 = 0;  // mean(g); 0 for RMSNorm
  // False: h * c1 may leave fp32, as it does for gradients near the end of fp32 and for saved
  // statistics that are far from the group's; use ExactGroup.
  bool in_range() const { return std::abs(c1) <= 0x1p40F && std::abs(c2) <= 0x1p100F; }
};

}  // namespace normd

#endif  // NORMD_KERNELS_CPU_GROUP_STATISTICS_H_
