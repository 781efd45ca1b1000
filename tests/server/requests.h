// Requests for the server's tests: small, right ones to start from, and ways to cut them up.
#ifndef NORMD_TESTS_SERVER_REQUESTS_H_
#define NORMD_TESTS_SERVER_REQUESTS_H_

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "grpcpp/support/slice.h"
#include "normd/v1/norm.pb.h"

namespace normd {

// A tensor of float32 with values between -1 and 1.
v1::Tensor FloatTensor(const std::vector<int64_t>& shape, uint32_t seed);

// LayerNorm of float32 [rows, width] with weight and bias; y, mean and rstd are wanted.
v1::ForwardRequest LayerNormRequest(int64_t rows, int64_t width);
// RMSNorm with a SILU gate after the norm; y is wanted.
v1::ForwardRequest GatedRequest(int64_t rows, int64_t width);
// LayerNorm's gradients dx, dweight and dbias.
v1::BackwardRequest LayerNormBackwardRequest(int64_t rows, int64_t width);

// The bytes in slices of `bytes` bytes each.
std::vector<grpc::Slice> CutEvery(const std::string& message, size_t bytes);
// In slices of random lengths, empty ones among them.
std::vector<grpc::Slice> CutAnywhere(const std::string& message, std::mt19937& random);

}  // namespace normd

#endif  // NORMD_TESTS_SERVER_REQUESTS_H_
