#include <cstdio>
#include <vector>

#include "client/cpp/client.h"

int main(int argc, char** argv) {
  normd::Client client(argc > 1 ? argv[1] : "127.0.0.1:50051");
  std::vector<float> x(1024 * 64, 1.5f), y(x.size());

  normd::ForwardCall call;
  call.op.eps = 1e-5f;
  call.x = normd::View(normd::DataType::kFloat32, {1024, 64}, x);
  call.y = normd::Output::Into(y);
  const absl::StatusOr<normd::ForwardResult> result = client.LayerNorm(call);
  if (!result.ok()) {
    std::fprintf(stderr, "%s\n", result.status().ToString().c_str());
    return 1;
  }
  std::printf("y[0] = %g, on %s\n", static_cast<double>(y[0]), result->execution.device.c_str());
}
