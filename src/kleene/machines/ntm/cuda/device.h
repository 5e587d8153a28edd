// What the kernels need of the device. emulated.h has the same for a CPU.
#pragma once

#include <cuda_runtime.h>

#define SHARED_MEMORY(name) extern __shared__ __align__(16) float name[]
#define ASSUME(condition) __builtin_assume(condition)
using StreamContext = ffi::PlatformStream<cudaStream_t>;

__device__ void prefetch(const void* address) { asm volatile("prefetch.global.L2 [%0];" ::"l"(address)); }

// Asks for `bytes`, a multiple of 16, from one thread.
__device__ void prefetch_all(const void* address, int bytes) {
#if __CUDA_ARCH__ >= 900 && __CUDACC_VER_MAJOR__ >= 12
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(__cvta_generic_to_global(address)), "r"(bytes));
#else
  for (int i = 0; i < bytes; i += 128) prefetch(static_cast<const char*>(address) + i);
#endif
}

// Copies numbers, a multiple of 4, into shared memory while the threads of the block go on. They are there after `wait_for_copies` and a barrier.
__device__ void begin_copy(float* into, const float* from, int numbers) {
  const auto target = static_cast<uint32_t>(__cvta_generic_to_shared(into));
  for (int i = threadIdx.x; i < numbers / 4; i += WARPS * LANES)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(target + 16 * i), "l"(from + 4 * i) : "memory");
}
__device__ void wait_for_copies() { asm volatile("cp.async.wait_all;" ::: "memory"); }

__device__ uint32_t bits_of(float number) { return __float_as_uint(number); }
__device__ float number_of(uint32_t bits) { return __uint_as_float(bits); }

// Adds the product of 16 units × 8 inputs and 8 inputs × 8 examples. A tensor core leaves out the last 13 bits of what it multiplies.
__device__ void multiply_tile(float (&sums)[4], const uint32_t (&weights)[4], const uint32_t (&inputs)[2]) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(weights[0]), "r"(weights[1]), "r"(weights[2]), "r"(weights[3]), "r"(inputs[0]), "r"(inputs[1]));
}

inline int shared_limit() {
  int device = 0, bytes = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  return bytes;
}

template <typename Kernel, typename... Arguments>
ffi::Error launched(cudaStream_t stream, Kernel kernel, int blocks, int threads, int bytes, Arguments... arguments) {
  cudaGetLastError();  // an older error is not of this launch
  cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  if (error == cudaSuccess) {
    kernel<<<blocks, threads, bytes, stream>>>(arguments...);
    error = cudaGetLastError();
  }
  if (error == cudaSuccess) return ffi::Error::Success();
  return ffi::Error::Internal(std::string("the NTM's kernel was not launched: ") + cudaGetErrorString(error));
}
