#include "server/rpc/norm_service.h"

#include <thread>
#include <utility>
#include <vector>

#include "grpcpp/generic/async_generic_service.h"
#include "server/rpc/call.h"
#include "server/rpc/norm_call.h"
#include "server/rpc/refused_call.h"
#include "server/rpc/unserved_methods.h"

namespace normd {
namespace {

// Calls that wait for a request, of each method and queue. Each that arrives posts the next.
constexpr int kPostedCalls = 16;
constexpr int kPostedRefusals = 2;

}  // namespace

struct NormService::State {
  State(const NormServiceOptions& options, DeviceWorker& worker, Telemetry& telemetry)
      : completion_threads(options.completion_threads),
        context{methods, worker, telemetry, counter, options.max_message_bytes} {}

  const int completion_threads;
  NormMethods methods;
  BufferMethods buffer_methods;
  grpc::AsyncGenericService refused;
  CallCounter counter;
  NormCallContext context;
  std::vector<std::unique_ptr<grpc::ServerCompletionQueue>> queues;
  std::vector<std::thread> threads;
};

NormService::NormService(const NormServiceOptions& options, DeviceWorker& worker,
                         Telemetry& telemetry)
    : state_(std::make_unique<State>(options, worker, telemetry)) {}

NormService::~NormService() = default;

void NormService::Register(grpc::ServerBuilder& builder) {
  builder.RegisterService(&state_->methods);
  builder.RegisterService(&state_->buffer_methods);
  builder.RegisterAsyncGenericService(&state_->refused);
  for (int i = 0; i < state_->completion_threads; ++i) {
    state_->queues.push_back(builder.AddCompletionQueue());
  }
}

void NormService::Start() {
  for (const auto& queue : state_->queues) {
    for (int i = 0; i < kPostedCalls; ++i) {
      NormCall::Post(state_->context, *queue, Direction::kForward);
      NormCall::Post(state_->context, *queue, Direction::kBackward);
    }
    for (int i = 0; i < kPostedRefusals; ++i) {
      RefusedCall::Post(state_->refused, *queue, state_->counter);
    }
    state_->threads.emplace_back([&queue = *queue] { Call::ServeQueue(queue); });
  }
}

void NormService::RefuseNew() { state_->context.draining = true; }

int64_t NormService::arrived() { return state_->counter.arrived(); }

int64_t NormService::unanswered() { return state_->counter.unanswered(); }

bool NormService::WaitIdle(absl::Time deadline) {
  return state_->counter.WaitAnswered(state_->context.worker.clock(), deadline);
}

void NormService::Shutdown() {
  // Nothing may be started on a queue that was shut down, so first every call goes.
  state_->counter.Stop();
  state_->counter.WaitGone();
  for (const auto& queue : state_->queues) queue->Shutdown();
  for (std::thread& thread : state_->threads) thread.join();
  state_->threads.clear();
}

}  // namespace normd
