// As much of CUDA as the kernels need, on a CPU (device.h has it for a GPU): the threads of a block take turns on one thread of the CPU, each
// until it waits at a barrier, and blocks run one after the other. It is slow, and there so that the arithmetic of the kernels can be tested where
// there is no GPU. Turns go up or down the threads by chance, so that a barrier that is missing shows.
#pragma once

#include <ucontext.h>

#include <bit>
#include <cmath>
#include <functional>
#include <memory>
#include <mutex>
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
inline Index threadIdx, blockIdx;
inline std::vector<float> emulated_shared;

// A thread of a block: it goes on once the barrier at which it waits has opened more often than `opened` times.
struct EmulatedThread {
  static constexpr int STACK = 1 << 18;
  ucontext_t context;
  std::unique_ptr<char[]> stack{new char[STACK]};
  const int* openings = nullptr;
  int opened = 0;
  bool ended = false;
};
inline std::vector<EmulatedThread> emulated_threads;
inline ucontext_t emulated_turns;
inline std::function<void()> emulated_kernel;

struct EmulatedBarrier {
  int of, arrived = 0, openings = 0;
  void arrive_and_wait() {
    auto& thread = emulated_threads[threadIdx.x];
    thread.openings = &openings, thread.opened = openings;
    if (++arrived == of) arrived = 0, openings++;
    swapcontext(&thread.context, &emulated_turns);
  }
};
inline EmulatedBarrier emulated_barrier;

// The 32 threads of a warp, and what they show each other.
struct EmulatedWarp {
  EmulatedBarrier barrier{LANES};
  float weights[LANES][4], inputs[LANES][2];
};
inline std::vector<std::unique_ptr<EmulatedWarp>> emulated_warps;
inline std::mutex emulated_launch;  // the libraries of both kernels share all of these

inline void __syncthreads() { emulated_barrier.arrive_and_wait(); }
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

inline void emulated_thread() {
  emulated_kernel();
  emulated_threads[threadIdx.x].ended = true;
}

// Every thread has its turn, again and again, until all have ended.
inline void take_turns() {
  const int threads = emulated_threads.size();
  for (auto& thread : emulated_threads) {
    getcontext(&thread.context);
    thread.context.uc_stack.ss_sp = thread.stack.get(), thread.context.uc_stack.ss_size = EmulatedThread::STACK;
    thread.context.uc_link = &emulated_turns, thread.openings = nullptr, thread.ended = false;
    makecontext(&thread.context, emulated_thread, 0);
  }
  uint32_t chance = 1;
  for (int left = threads; left > 0;) {
    chance = chance * 1664525u + 1013904223u;
    for (int turn = 0; turn < threads; turn++) {
      threadIdx.x = chance >> 31 ? threads - 1 - turn : turn;
      auto& thread = emulated_threads[threadIdx.x];
      if (thread.ended || (thread.openings && *thread.openings == thread.opened)) continue;
      swapcontext(&emulated_turns, &thread.context);
      left -= thread.ended;
    }
  }
}

template <typename Kernel, typename... Arguments>
ffi::Error launched(cudaStream_t, Kernel kernel, int blocks, int threads, int bytes, Arguments... arguments) {
  const std::lock_guard<std::mutex> alone(emulated_launch);
  emulated_kernel = [=] { kernel(arguments...); };
  emulated_threads.resize(threads);
  for (blockIdx.x = 0; blockIdx.x < blocks; blockIdx.x++) {
    emulated_shared.assign(bytes / sizeof(float), std::nanf(""));  // what is read before it is written shows
    emulated_barrier = {threads};
    emulated_warps.clear();
    for (int warp = 0; warp < threads / LANES; warp++) emulated_warps.push_back(std::make_unique<EmulatedWarp>());
    take_turns();
  }
  return ffi::Error::Success();
}
