// The cases on the CPU backend.
#include "kernels/cpu/cpu_backend.h"
#include "tests/cases/cases_main.h"

int main(int argc, char** argv) {
  return normd::RunCases(argc, argv, [](int) { return normd::NewCpuBackend({}); });
}
