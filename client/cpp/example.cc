#include <cstdio>
#include <vector>

#include "client/cpp/client.h"
#include "kernels/field_error.h"

int main(int argc, char** argv) {
  normd::Client client(argc > 1 ? argv[1] : "127.0.0.1:50051");
  const std::vector<float> x(1024 * 64, 1.5F), dy(x.size(), 1.0F), weight(64, 2.0F);
  std::vector<float> y(x.size()), dx(x.size());

  normd::ForwardCall forward;
  forward.op.eps = 1e-5F;
  forward.x = normd::View(normd::DataType::kFloat32, {1024, 64}, x);
  forward.weight = normd::View(normd::DataType::kFloat32, {64}, weight);
  forward.y = normd::Output::Into(y);
  const absl::StatusOr<normd::ForwardResult> result = client.LayerNorm(forward);
  if (!result.ok()) {
    std::fprintf(stderr, "%s\n", result.status().ToString().c_str());
    return 1;
  }

  normd::BackwardCall backward;
  backward.op = forward.op;
  backward.x = forward.x;
  backward.weight = forward.weight;
  backward.dy = normd::View(normd::DataType::kFloat32, {1024, 64}, dy);
  backward.dx = normd::Output::Into(dx);
  backward.dweight = normd::Output::Owned();
  const absl::StatusOr<normd::BackwardResult> gradients = client.LayerNormBackward(backward);
  if (!gradients.ok()) return 1;
  const float dweight = gradients->dweight->As<float>()[0];
  std::printf("y[0] = %g, dweight[0] = %g\n", double{y[0]}, double{dweight});

  backward.op.group_size = 7;  // does not divide 64
  const absl::Status error = client.LayerNormBackward(backward).status();
  std::printf("wrong: %s\n", normd::FieldOf(error).c_str());
}
