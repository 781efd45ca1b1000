// The methods of BufferService as they are registered: by name, for reflection, and answered by
// RefusedCall.
#ifndef NORMD_SERVER_RPC_UNSERVED_METHODS_H_
#define NORMD_SERVER_RPC_UNSERVED_METHODS_H_

#include "normd/v1/buffers.grpc.pb.h"

namespace normd {

namespace buffer_methods {

using Service = v1::BufferService;
using Sessions = Service::WithGenericMethod_OpenSession<Service::WithGenericMethod_KeepAlive<
    Service::WithGenericMethod_CloseSession<Service::WithGenericMethod_Renew<Service::Service>>>>;
using Data = Service::WithGenericMethod_CreateBuffer<
    Service::WithGenericMethod_Upload<Service::WithGenericMethod_Download<Sessions>>>;
using Buffers = Service::WithGenericMethod_GetBuffer<
    Service::WithGenericMethod_ListBuffers<Service::WithGenericMethod_ReleaseBuffer<Data>>>;
using All = Service::WithGenericMethod_PutConstant<
    Service::WithGenericMethod_HasConstant<Service::WithGenericMethod_AttachLocal<Buffers>>>;

}  // namespace buffer_methods

using BufferMethods = buffer_methods::All;

}  // namespace normd

#endif  // NORMD_SERVER_RPC_UNSERVED_METHODS_H_
