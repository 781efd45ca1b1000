#include "server/rpc/request_header.h"

#include "normd/v1/norm.pb.h"

namespace normd {
namespace {

using Header = RequestHeader;
using Forward = v1::ForwardRequest;
using Backward = v1::BackwardRequest;

constexpr TensorField kForwardTensors[] = {
    {Forward::kXFieldNumber, "x", &Header::x},
    {Forward::kZFieldNumber, "z", &Header::z},
    {Forward::kWeightFieldNumber, "weight", &Header::weight},
    {Forward::kBiasFieldNumber, "bias", &Header::bias},
    {Forward::kResidualFieldNumber, "residual", &Header::residual},
};

constexpr TensorField kBackwardTensors[] = {
    {Backward::kXFieldNumber, "x", &Header::x},
    {Backward::kDyFieldNumber, "dy", &Header::dy},
    {Backward::kZFieldNumber, "z", &Header::z},
    {Backward::kWeightFieldNumber, "weight", &Header::weight},
    {Backward::kBiasFieldNumber, "bias", &Header::bias},
    {Backward::kMeanFieldNumber, "mean", &Header::mean},
    {Backward::kRstdFieldNumber, "rstd", &Header::rstd},
    {Backward::kDresidualOutFieldNumber, "dresidual_out", &Header::dresidual_out},
};

constexpr OutputField kForwardOutputs[] = {
    {Forward::kYFieldNumber, "y", &Header::y},
    {Forward::kMeanFieldNumber, "mean", &Header::mean_out},
    {Forward::kRstdFieldNumber, "rstd", &Header::rstd_out},
    {Forward::kResidualOutFieldNumber, "residual_out", &Header::residual_out},
};

constexpr OutputField kBackwardOutputs[] = {
    {Backward::kDxFieldNumber, "dx", &Header::dx},
    {Backward::kDzFieldNumber, "dz", &Header::dz},
    {Backward::kDweightFieldNumber, "dweight", &Header::dweight},
    {Backward::kDbiasFieldNumber, "dbias", &Header::dbias},
    {Backward::kDresidualFieldNumber, "dresidual", &Header::dresidual},
};

}  // namespace

absl::Span<const TensorField> TensorFields(Direction direction) {
  if (direction == Direction::kForward) return kForwardTensors;
  return kBackwardTensors;
}

absl::Span<const OutputField> OutputFields(Direction direction) {
  if (direction == Direction::kForward) return kForwardOutputs;
  return kBackwardOutputs;
}

}  // namespace normd
