#include "server/server.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kernels/cpu/cpu_backend.h"
#include "server/build_info.h"
#include "server/device_copy.h"
#include "server/devices.h"
#include "server/self_test.h"
#include "server/telemetry/log.h"
#include "server/telemetry/process_metrics.h"

namespace normd {
namespace {

// Replies that are on their way out, and streams that never end by themselves (health Watch).
constexpr absl::Duration kShutdownGrace = absl::Milliseconds(500);

absl::Status InContext(absl::string_view what, const absl::Status& status) {
  return absl::Status(status.code(), absl::StrCat(what, ": ", status.message()));
}

absl::Status TryDevice(Backend& backend) {
  std::unique_ptr<Backend> reference;
  if (backend.info().name != "cpu") {
    absl::StatusOr<std::unique_ptr<Backend>> cpu = NewCpuBackend({});
    if (!cpu.ok()) return cpu.status();
    reference = *std::move(cpu);
  }
  return SelfTest(backend, reference.get());
}

}  // namespace

absl::StatusOr<std::unique_ptr<Server>> Server::Start(const ServeConfig& config,
                                                      std::function<void()> on_device_lost) {
  std::unique_ptr<Server> server(new Server(config));
  if (auto status = server->StartMetrics(); !status.ok()) return status;
  if (auto status = server->StartDevice(std::move(on_device_lost)); !status.ok()) return status;
  if (auto status = server->StartServices(); !status.ok()) return status;
  return server;
}

absl::Status Server::StartMetrics() {
  telemetry_ = std::make_shared<Telemetry>(TelemetryOptions{
      .max_shapes = config_.metrics_max_shapes, .version = kVersion, .commit = kCommit});
  if (config_.metrics_listen.empty()) return absl::OkStatus();
  auto metrics = MetricsServer::Start(config_.metrics_listen,
                                      {telemetry_, std::make_shared<ProcessMetrics>()});
  if (!metrics.ok()) return InContext("--metrics_listen", metrics.status());
  metrics_ = *std::move(metrics);
  return absl::OkStatus();
}

absl::Status Server::StartDevice(std::function<void()> on_device_lost) {
  auto backend = OpenDevice(config_.device);
  if (!backend.ok()) return InContext("--devices", backend.status());
  backend_ = *std::move(backend);
  const std::string& name = backend_->info().name;
  if (auto status = TryDevice(*backend_); !status.ok()) return InContext(name, status);
  const absl::StatusOr<double> copy = MeasureDeviceCopy(*backend_);
  if (!copy.ok()) return InContext(absl::StrCat(name, ": copy"), copy.status());
  copy_bytes_per_second_ = *copy;
  telemetry_->SetDevice(backend_->info(), *copy);
  Log(LogLevel::kInfo, "device works", {{"name", name}, {"copy_bytes_per_second", *copy}});
  DeviceWorkerOptions options = config_.worker;
  options.on_lost = std::move(on_device_lost);
  auto worker = DeviceWorker::Create(options, *backend_, *telemetry_);
  if (!worker.ok()) return InContext(name, worker.status());
  worker_ = *std::move(worker);
  return absl::OkStatus();
}

absl::Status Server::StartServices() {
  norm_ = std::make_unique<NormService>(config_.norm, *worker_, *telemetry_);
  admin_ =
      std::make_unique<AdminService>(Info(), [worker = worker_.get()] { return !worker->lost(); });
  auto transport = Transport::Start(config_.transport, [this](grpc::ServerBuilder& builder) {
    norm_->Register(builder);
    builder.RegisterService(admin_.get());
  });
  if (!transport.ok()) return InContext("--listen", transport.status());
  transport_ = *std::move(transport);
  norm_->Start();
  return absl::OkStatus();
}

v1::ServerInfoResponse Server::Info() const {
  v1::ServerInfoResponse info;
  info.set_version(kVersion);
  info.set_commit(kCommit);
  info.set_build(kBuild);
  v1::Device& device = *info.add_devices();
  device.set_name(backend_->info().name);
  device.set_model(backend_->info().model);
  device.set_memory_bytes(static_cast<uint64_t>(backend_->info().memory_bytes));
  device.set_copy_bytes_per_second(copy_bytes_per_second_);
  v1::Limits& limits = *info.mutable_limits();
  limits.set_max_message_bytes(config_.transport.max_message_bytes);
  limits.set_max_width(kMaxWidth);
  limits.set_max_queue_requests(config_.worker.max_queue_requests);
  limits.set_staging_bytes(config_.worker.staging_bytes);
  for (const char* op : {"layer_norm", "rms_norm", "gated_layer_norm", "gated_rms_norm"}) {
    info.add_ops(op);
  }
  if (config_.transport.reflection) info.add_features("reflection");
  if (metrics_ != nullptr) info.add_features("metrics");
  return info;
}

absl::Status Server::BeginServing() {
  transport_->SetServing(true);
  telemetry_->SetReady(true);
  const std::string metrics = metrics_ == nullptr ? "" : metrics_->address();
  Log(LogLevel::kInfo, "serving",
      {{"address", absl::StrJoin(transport_->addresses(), ",")},
       {"metrics", metrics},
       {"device", backend_->info().name}});
  if (config_.port_file.empty()) return absl::OkStatus();
  auto file = PortFile::Write(config_.port_file, transport_->addresses(), metrics);
  if (!file.ok()) return file.status();
  port_file_ = *std::move(file);
  return absl::OkStatus();
}

void Server::TurnAway() {
  transport_->SetServing(false);
  telemetry_->SetReady(false);
  telemetry_->SetDraining(true);
}

void Server::RefuseNew() { norm_->RefuseNew(); }

void Server::MarkDeviceLost() { telemetry_->SetDeviceUp(false); }

void Server::Stop() {
  transport_->Shutdown(kShutdownGrace);
  norm_->Shutdown();
  worker_->Shutdown();
}

void Server::RemoveFiles() {
  port_file_ = PortFile();
  transport_->RemoveFiles();
}

}  // namespace normd
