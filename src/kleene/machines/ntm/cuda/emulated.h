// As much of CUDA as the kernels need, on a CPU (device.h has it for a GPU): the threads of a block are threads, and blocks run one after the
// other. It is slow, and there so that the arithmetic of the kernels can be tested where there is no GPU.
#pragma once

#include <barrier>
#include <bit>
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

struct float2 {
  float x, y;
};
struct float4 {
  float x, y, z, w;
};
struct Index {
  int x;
};
inline thread_local Index threadIdx, blockIdx;
inline std::vector<float> emulated_shared;
inline std::unique_ptr<std::barrier<>> emulated_barrier;

// The 32 threads of a warp, and what they show each other.
struct EmulatedWarp {
  std::barrier<> barrier{LANES};
  float weights[LANES][4], inputs[LANES][2];
};
inline std::vector<std::unique_ptr<EmulatedWarp>> emulated_warps;
inline std::mutex emulated_launch;  // the libraries of both kernels share all of these

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

inline void prefetch(const void*) {}
inline void prefetch_all(const void*, int) {}
inline void begin_copy(float* into, const float* from, int numbers) {
  for (int i = threadIdx.x; i < numbers; i += WARPS * LANES) into[i] = from[i];
}
inline void wait_for_copies() {}
inline uint32_t bits_of(float number) { return std::bit_cast<uint32_t>(number); }
inline float number_of(uint32_t bits) { return std::bit_cast<float>(bits); }

// A lane has rows lane / 4 and 8 below of the weights, column lane / 4 of the inputs, and columns 2 (lane % 4) and the next of the sums; of what
// is summed over it has places lane % 4 and 4 further.
inline void multiply_tile(float (&sums)[4], const uint32_t (&weights)[4], const uint32_t (&inputs)[2]) {
  const int lane = threadIdx.x % LANES;
  auto& warp = *emulated_warps[threadIdx.x / LANES];
  for (int i = 0; i < 4; i++) warp.weights[lane][i] = number_of(weights[i] & 0xffffe000u);
  for (int i = 0; i < 2; i++) warp.inputs[lane][i] = number_of(inputs[i] & 0xffffe000u);
  warp.barrier.arrive_and_wait();
  for (int i = 0; i < 4; i++)
    for (int k = 0; k < 8; k++) {
      const int row = lane / 4, column = 2 * (lane % 4) + i % 2;
      sums[i] += warp.weights[4 * row + k % 4][i / 2 + 2 * (k / 4)] * warp.inputs[4 * column + k % 4][k / 4];
    }
  warp.barrier.arrive_and_wait();
}
inline int shared_limit() { return MOST_SHARED; }

template <typename Kernel, typename... Arguments>
ffi::Error launched(cudaStream_t, Kernel kernel, int blocks, int threads, int bytes, Arguments... arguments) {
  const std::lock_guard<std::mutex> alone(emulated_launch);
  for (int block = 0; block < blocks; block++) {
    emulated_shared.assign(bytes / sizeof(float), std::nanf(""));  // what is read before it is written shows
    emulated_barrier = std::make_unique<std::barrier<>>(threads);
    emulated_warps.clear();
    for (int warp = 0; warp < threads / LANES; warp++) emulated_warps.push_back(std::make_unique<EmulatedWarp>());
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
