// From run-time values to template arguments. The only place where this happens.
#ifndef NORMD_KERNELS_CUDA_KERNEL_DISPATCH_CUH_
#define NORMD_KERNELS_CUDA_KERNEL_DISPATCH_CUH_

#include <algorithm>

#include "kernels/cuda/kernel/gate.cuh"
#include "kernels/cuda/kernel/moments.cuh"
#include "kernels/cuda/kernel/team.cuh"
#include "kernels/cuda/launch.h"

namespace normd::cuda {

template <typename T>
struct Type {
  using type = T;
};

template <RowShape kValue>
struct Shape {
  static constexpr RowShape kShape = kValue;
};

template <typename F>
cudaError_t DispatchNorm(NormForm norm, F call) {
  switch (norm) {
    case NormForm::kLayerNorm:
      return call(Type<LayerNorm>());
    case NormForm::kRmsNorm:
      return call(Type<RmsNorm>());
  }
  return cudaErrorNotSupported;
}

template <typename F>
cudaError_t DispatchGate(GateForm gate, F call) {
  switch (gate) {
    case GateForm::kNone:
      return call(Type<NoGate>());
    case GateForm::kAfterNorm:
      return call(Type<GateAfterNorm>());
    case GateForm::kBeforeNorm:
      return call(Type<GateBeforeNorm>());
  }
  return cudaErrorNotSupported;
}

template <typename F>
cudaError_t DispatchTeam(bool block_team, F call) {
  return block_team ? call(Type<BlockTeam>()) : call(Type<WarpTeam>());
}

template <typename F>
cudaError_t DispatchForwardShape(RowShape shape, F call) {
  switch (shape) {
    case RowShape::kTile1:
      return call(Shape<RowShape::kTile1>());
    case RowShape::kTile2:
      return call(Shape<RowShape::kTile2>());
    case RowShape::kTile4:
      return call(Shape<RowShape::kTile4>());
    case RowShape::kBlock2:
      return call(Shape<RowShape::kBlock2>());
    case RowShape::kBlock4:
      return call(Shape<RowShape::kBlock4>());
  }
  return cudaErrorNotSupported;
}

// kBlock: the block shape of the dtype.
template <RowShape kBlock, typename F>
cudaError_t DispatchBackwardShape(RowShape shape, F call) {
  switch (shape) {
    case RowShape::kTile1:
      return call(Shape<RowShape::kTile1>());
    case RowShape::kTile2:
      return call(Shape<RowShape::kTile2>());
    case RowShape::kTile4:
      return cudaErrorNotSupported;
    case RowShape::kBlock2:
    case RowShape::kBlock4:
      return shape == kBlock ? call(Shape<kBlock>()) : cudaErrorNotSupported;
  }
  return cudaErrorNotSupported;
}

// The way back, for constants that depend on the gate.
template <typename Gate>
inline constexpr GateForm kFormOf = Gate::kAfterNorm    ? GateForm::kAfterNorm
                                    : Gate::kBeforeNorm ? GateForm::kBeforeNorm
                                                        : GateForm::kNone;

// Copies a launch into a table of the kernel's size and starts the kernel.
template <typename Table, typename Segment>
cudaError_t StartKernel(void (*kernel)(Table), const TableLaunch<Segment>& launch) {
  if (launch.count > Table::kCapacity) return cudaErrorNotSupported;
  Table table;
  table.header = *launch.header;
  table.count = launch.count;
  std::copy_n(launch.first_tile, launch.count, table.first_tile);
  std::copy_n(launch.segments, launch.count, table.segments);
  void* arguments[] = {&table};
  return cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(launch.blocks),
                          dim3(static_cast<unsigned>(launch.threads)), arguments, 0, launch.stream);
}

}  // namespace normd::cuda

#endif  // NORMD_KERNELS_CUDA_KERNEL_DISPATCH_CUH_
