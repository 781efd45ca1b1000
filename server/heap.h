// How malloc treats large blocks.
#ifndef NORMD_SERVER_HEAP_H_
#define NORMD_SERVER_HEAP_H_

namespace normd {

// Makes glibc's malloc keep freed memory. By default it maps large blocks anew and gives them back,
// so that every large message pays for fresh pages: a 64 MB echo took 6 to 15 times longer
// (measured with gRPC 1.51 over a Unix socket, default against this). The price: resident memory
// stays at its peak. Does nothing with another C library. Before threads are started.
void KeepFreedMemory();

}  // namespace normd

#endif  // NORMD_SERVER_HEAP_H_
