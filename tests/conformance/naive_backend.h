// NaiveBackend: the ops in plain scalar code, statistics in double, the rest in float; and, on
// demand, one of the faults that real libraries had. The suite must accept it without a fault and
// reject it with each (mutants_test.cc).
#ifndef NORMD_TESTS_CONFORMANCE_NAIVE_BACKEND_H_
#define NORMD_TESTS_CONFORMANCE_NAIVE_BACKEND_H_

#include <cstdint>
#include <memory>

#include "kernels/backend.h"

namespace normd {

enum class Fault : uint8_t {
  kNone,
  // Statistics.
  kOnePassVariance,
  kClampedOnePassVariance,
  kMeanRoundedToFloat,
  kSerialFloatSums,
  kHalfSums,
  kUnbiasedVariance,
  kRmsSubtractsMean,
  kEpsOutsideRoot,
  kEpsAddedToSum,
  kEpsFixed,
  kStatisticsSavedInHalf,
  kStatisticsOfUnroundedSum,
  kGroupIgnored,
  kGroupIgnoredInBackward,
  kSquaresOverflow,
  kSubnormalsFlushed,
  kNanSpreadsToNextRow,
  // Parameters.
  kOffsetAddedInHalf,
  kOffsetWithoutWeight,
  kOffsetEntersDweight,
  kWeightOnlyWithBias,
  kFloatWeightReadAsHalf,
  // Gate.
  kGateOrderSwapped,
  kBiasNotGated,
  kSigmoidForSilu,
  kGateOverflows,
  kGateRoundedToHalf,
  // Rounding.
  kRoundsTwice,
  kRoundBeforeWeightIgnored,
  kOutputTruncated,
  // Backward.
  kMeanGradientMissing,
  kSavedStatisticsIgnored,
  kResidualGradientDropped,
  kBiasMissingInDz,
  kDweightInHalf,
  kDweightAccumulates,
  kDweightWithoutLastRow,
  kDweightAndDbiasSwapped,
  kNoRowsLeaveGradients,
  // Memory.
  kRowPaddingWritten,
  kLastRowNotWritten,
  kStrideIgnored,
  kInputChanged,
  kReadsAfterWriteInPlace,
  // Batches.
  kEpsOfFirstSegment,
  kWeightOfFirstSegment,
  kSumOrderFromBatch,
  kEnd,
};

const char* Name(Fault fault);

std::unique_ptr<Backend> NewNaiveBackend(Fault fault);

}  // namespace normd

#endif  // NORMD_TESTS_CONFORMANCE_NAIVE_BACKEND_H_
