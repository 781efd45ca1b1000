// What the exit codes of `normd` mean. Documented in `normd --help`; scripts rely on them.
#ifndef NORMD_SERVER_EXIT_CODES_H_
#define NORMD_SERVER_EXIT_CODES_H_

namespace normd {

// All went well; for `health`: serving.
inline constexpr int kExitOk = 0;
// The server could not start (port taken, device or self-test failed); for `health`: not serving;
// for `info`: the server did not answer.
inline constexpr int kExitFailed = 1;
// A flag is wrong; for `health` also: the server cannot be reached.
inline constexpr int kExitUsage = 2;
inline constexpr int kExitUnreachable = 2;
// The drain deadline passed with requests unanswered.
inline constexpr int kExitDrainTimeout = 3;
// The device was lost; a supervisor should start the server again.
inline constexpr int kExitDeviceLost = 4;

}  // namespace normd

#endif  // NORMD_SERVER_EXIT_CODES_H_
