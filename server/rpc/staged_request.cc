#include "server/rpc/staged_request.h"

#include <utility>

#include "normd/v1/norm.pb.h"

namespace normd {
namespace {

Shape ShapeOf(std::initializer_list<int64_t> dimensions) {
  Shape shape;
  for (const int64_t dimension : dimensions) shape.dimensions[shape.rank++] = dimension;
  return shape;
}

// Places every operand and result one after the other, each at a multiple of 256 bytes. Runs twice:
// without memory to learn how much is needed, then with it. No sum here overflows: x has exactly
// the bytes of its shape in a received message, and everything else has at most 4 bytes an element
// of x.
class Placement {
 public:
  Placement(const RequestHeader& header, const NormRequest& request)
      : header_(header), request_(request) {}

  // Sets what points into memory at `base`; null: only counts. Returns the bytes needed.
  int64_t Run(std::byte* base, absl::Span<const grpc::Slice> slices, StagedRequest& staged) {
    base_ = base;
    slices_ = slices;
    outputs_ = &staged.outputs;
    bytes_ = 0;
    PlaceInputs(staged.segment);
    if (request_.spec.direction == Direction::kForward) {
      PlaceForwardOutputs(staged.segment);
    } else {
      PlaceBackwardOutputs(staged.segment);
    }
    return bytes_;
  }

 private:
  void PlaceInputs(Segment& segment) {
    const int64_t width = request_.spec.width;
    segment.rows = request_.rows;
    segment.eps = request_.eps;
    segment.x = {Input(header_.x), width};
    segment.z = {Input(header_.z), width};
    segment.residual = {Input(header_.residual), width};
    segment.dy = {Input(header_.dy), width};
    segment.dresidual_out = {Input(header_.dresidual_out), width};
    segment.weight = Input(header_.weight);
    segment.bias = Input(header_.bias);
    segment.mean = static_cast<const float*>(Input(header_.mean));
    segment.rstd = static_cast<const float*>(Input(header_.rstd));
  }

  void PlaceForwardOutputs(Segment& segment) {
    using Reply = v1::ForwardResponse;
    const NormSpec& spec = request_.spec;
    const Shape statistic = ShapeOf({request_.rows, spec.groups()});
    segment.y = {Output(header_.y, Reply::kYFieldNumber, spec.dtype, header_.x.shape), spec.width};
    segment.mean_out = static_cast<float*>(
        Output(header_.mean_out, Reply::kMeanFieldNumber, DataType::kFloat32, statistic));
    segment.rstd_out = static_cast<float*>(
        Output(header_.rstd_out, Reply::kRstdFieldNumber, DataType::kFloat32, statistic));
    segment.residual_out = {
        Output(header_.residual_out, Reply::kResidualOutFieldNumber, spec.dtype, header_.x.shape),
        spec.width};
  }

  void PlaceBackwardOutputs(Segment& segment) {
    using Reply = v1::BackwardResponse;
    const NormSpec& spec = request_.spec;
    const Shape parameter = ShapeOf({spec.width});
    const Shape& x = header_.x.shape;
    segment.dx = {Output(header_.dx, Reply::kDxFieldNumber, spec.dtype, x), spec.width};
    segment.dz = {Output(header_.dz, Reply::kDzFieldNumber, spec.z_dtype, header_.z.shape),
                  spec.width};
    segment.dweight =
        Output(header_.dweight, Reply::kDweightFieldNumber, spec.dweight_dtype, parameter);
    segment.dbias = Output(header_.dbias, Reply::kDbiasFieldNumber, spec.dbias_dtype, parameter);
    segment.dresidual = {Output(header_.dresidual, Reply::kDresidualFieldNumber, spec.dtype, x),
                         spec.width};
  }

  const void* Input(const TensorHeader& tensor) {
    if (!tensor.present) return nullptr;
    std::byte* data = Take(tensor.data.bytes);
    if (data != nullptr) Gather(slices_, tensor.data, data);
    return data;
  }

  void* Output(const OutputHeader& output, int response_field, DataType dtype, const Shape& shape) {
    if (!output.present) return nullptr;
    // A shape without elements may have dimensions whose product overflows before the zero.
    int64_t elements = request_.rows == 0 && shape.rank > 1 ? 0 : 1;
    if (elements != 0) {
      for (const int64_t dimension : shape.span()) elements *= dimension;
    }
    const int64_t bytes = elements * SizeOf(dtype);
    std::byte* data = Take(bytes);
    if (data != nullptr) {
      outputs_->push_back({static_cast<uint32_t>(response_field), dtype, shape, data, bytes});
    }
    return data;
  }

  std::byte* Take(int64_t bytes) {
    std::byte* data = base_ == nullptr ? nullptr : base_ + bytes_;
    bytes_ += (bytes + StagingArena::kAlignment - 1) / StagingArena::kAlignment *
              StagingArena::kAlignment;
    return data;
  }

  const RequestHeader& header_;
  const NormRequest& request_;
  std::byte* base_ = nullptr;
  absl::Span<const grpc::Slice> slices_;
  absl::InlinedVector<StagedOutput, 5>* outputs_ = nullptr;
  int64_t bytes_ = 0;
};

}  // namespace

absl::StatusOr<StagedRequest> Stage(const RequestHeader& header, const NormRequest& request,
                                    absl::Span<const grpc::Slice> slices, StagingArena& arena) {
  StagedRequest staged;
  Placement placement(header, request);
  absl::StatusOr<StagingBlock> block = arena.Allocate(placement.Run(nullptr, {}, staged));
  if (!block.ok()) return block.status();
  placement.Run(block->data(), slices, staged);
  staged.block = std::make_shared<StagingBlock>(*std::move(block));
  if (absl::Status status = Validate(request.spec, staged.segment); !status.ok()) return status;
  return staged;
}

}  // namespace normd
