// As much of CUDA as kernel.cu needs, on a CPU: the threads of a block are threads, and blocks run one after the other. It is slow,
// and there so that the kernel's arithmetic can be tested where there is no GPU.
#pragma once

#include <barrier>
#include <cmath>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#define __device__
#define __host__
#define __global__
#define __launch_bounds__(...)
#define ASSUME(condition)
#define SHARED_MEMORY(name) float* name = emulated_shared.data()

struct float4 {
  float x, y, z, w;
};
struct Index {
  int x;
};
inline thread_local Index threadIdx, blockIdx;
inline std::vector<float> emulated_shared;
inline std::unique_ptr<std::barrier<>> emulated_barrier;

inline void __syncthreads() { emulated_barrier->arrive_and_wait(); }
inline float __expf(float x) { return std::exp(x); }
inline float __logf(float x) { return std::log(x); }
inline float __fdividef(float x, float y) { return x / y; }
inline float rsqrtf(float x) { return 1.f / std::sqrt(x); }

using cudaStream_t = int;
struct StreamContext {};
template <>
struct xla::ffi::CtxDecoding<StreamContext> {
  using Type = cudaStream_t;
  static std::optional<Type> Decode(const XLA_FFI_Api*, XLA_FFI_ExecutionContext*, DiagnosticEngine&) { return 0; }
};

inline void prefetch(const float*) {}
inline int shared_limit() { return 1 << 30; }

template <typename Kernel, typename... Arguments>
ffi::Error launched(cudaStream_t, Kernel kernel, int blocks, int threads, int bytes, Arguments... arguments) {
  static std::mutex one_at_a_time;  // threads of a block share the memory below
  const std::lock_guard<std::mutex> alone(one_at_a_time);
  for (int block = 0; block < blocks; block++) {
    emulated_shared.assign(bytes / sizeof(float), std::nanf(""));  // what is read before it is written shows
    emulated_barrier = std::make_unique<std::barrier<>>(threads);
    std::vector<std::thread> all;
    for (int thread = 0; thread < threads; thread++)
      all.emplace_back([=] {
        threadIdx.x = thread, blockIdx.x = block;
        kernel(arguments...);
      });
    for (auto& one : all) one.join();
  }
  return ffi::Error::Success();
}
