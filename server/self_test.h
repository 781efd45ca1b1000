// A trial of a device before the server says that it is ready.
#ifndef NORMD_SERVER_SELF_TEST_H_
#define NORMD_SERVER_SELF_TEST_H_

#include "absl/status/status.h"
#include "kernels/backend.h"

namespace normd {

// Launches each kernel family once, forward and backward, and compares: small rows with values
// worked out by hand, and, when there is a `reference`, wider ones with its results. INTERNAL names
// what differs. Waits; a fraction of a second.
absl::Status SelfTest(Backend& backend, Backend* reference);

}  // namespace normd

#endif  // NORMD_SERVER_SELF_TEST_H_
