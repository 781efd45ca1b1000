// The cases on the CUDA backend. Needs a GPU; without one it says so and fails.
#include <string>

#include "kernels/cuda/cuda_backend.h"
#include "tests/cases/cases_main.h"

int main(int argc, char** argv) {
  return normd::RunCases(
      argc, argv, [](int index) -> absl::StatusOr<std::unique_ptr<normd::Backend>> {
        const int devices = normd::CudaDeviceCount();
        if (devices == 0) return absl::NotFoundError("this machine has no GPU that CUDA can use");
        return normd::NewCudaBackend(index % devices);
      });
}
