// Elements of tensors as doubles: conversions of float32, float16 and bfloat16 that share no code
// with the backends: arithmetic on a spacing, no case of its own for any type.
#ifndef NORMD_TESTS_ORACLE_ELEMENT_H_
#define NORMD_TESTS_ORACLE_ELEMENT_H_

#include <cstdint>
#include <vector>

#include "kernels/data_type.h"

namespace normd {

// The nearest value that the type has, ties to even; too large gives infinity. NaN stays NaN.
double RoundTo(DataType type, double value);

// Distance from |value| to the next larger value of the type (of its largest finite value: to the
// one below). REQUIRES: value is finite.
double UlpOf(DataType type, double value);

// Bits of RoundTo(type, value), in the low bits. NaN is a quiet one.
uint32_t Encode(DataType type, double value);
double Decode(DataType type, uint32_t bits);

// One element in memory, little-endian, at any address.
void StoreElement(DataType type, double value, void* address);
double LoadElement(DataType type, const void* address);

// The values, each rounded to the type.
std::vector<double> RoundedTo(DataType type, std::vector<double> values);

}  // namespace normd

#endif  // NORMD_TESTS_ORACLE_ELEMENT_H_
