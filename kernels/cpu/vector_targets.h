// The vector instruction sets that the kernels are compiled for; the best one that the processor
// has is chosen at the first call. Include before any header of Highway.
//
// Left out: those that gain nothing here over one that is kept (SSSE3; the extensions of AVX-512
// for cryptography and integers) and the scalable ones (SVE), whose vectors cannot lie in arrays.
// NEON, which every 64-bit Arm has, is kept.
#ifndef NORMD_KERNELS_CPU_VECTOR_TARGETS_H_
#define NORMD_KERNELS_CPU_VECTOR_TARGETS_H_

#define HWY_DISABLED_TARGETS \
  (HWY_SSSE3 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)

#endif  // NORMD_KERNELS_CPU_VECTOR_TARGETS_H_
