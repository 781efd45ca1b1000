// Slots: the operands and outputs of a Segment by number, so that tests can place, fill and compare
// all of them in one loop.
#ifndef NORMD_TESTS_CONFORMANCE_SLOTS_H_
#define NORMD_TESTS_CONFORMANCE_SLOTS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/norm_spec.h"
#include "kernels/segment.h"
#include "tests/oracle/oracle.h"

namespace normd {

enum class Slot : uint8_t {
  kX,
  kZ,
  kResidual,
  kDy,
  kDresidualOut,
  kWeight,
  kBias,
  kMean,
  kRstd,
  kY,
  kResidualOut,
  kMeanOut,
  kRstdOut,
  kDx,
  kDz,
  kDresidual,
  kDweight,
  kDbias,
};

inline constexpr size_t kSlots = 18;

template <typename T>
using PerSlot = std::array<T, kSlots>;

constexpr Slot SlotAt(size_t index) { return static_cast<Slot>(index); }
constexpr size_t IndexOf(Slot slot) { return static_cast<size_t>(slot); }
constexpr bool IsOutput(Slot slot) { return slot >= Slot::kY; }

const char* Name(Slot slot);

// What a slot holds under a spec.
struct SlotShape {
  bool present = false;  // the spec has the operand, or wants the output
  DataType dtype = DataType::kFloat32;
  int64_t rows = 0;
  int64_t columns = 0;
  bool matrix = false;  // has a row stride
};

SlotShape ShapeOf(Slot slot, const NormSpec& spec, int64_t rows);

// Writes the address (and row stride) into the segment.
void SetSlot(Slot slot, void* data, int64_t row_stride, Segment& segment);

// The operand's values. REQUIRES: !IsOutput(slot)
const std::vector<double>& ValuesOf(Slot slot, const Operands& operands);

// The output's reference. REQUIRES: IsOutput(slot)
const Reference& ReferenceOf(Slot slot, const Results& results);

// The input that an output may lie on: x for y, dy for dx. kX and kDy stand for themselves.
Slot InPlaceInput(Slot output);

}  // namespace normd

#endif  // NORMD_TESTS_CONFORMANCE_SLOTS_H_
