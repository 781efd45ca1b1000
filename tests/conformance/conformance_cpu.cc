// The conformance suite on the CPU backend.
#include "kernels/cpu/cpu_backend.h"
#include "tests/conformance/suite.h"

int main(int argc, char** argv) {
  return normd::RunSuite(argc, argv, [](int) { return normd::NewCpuBackend({}); });
}
