// What the forward and the backward kernel of an NTM share: the sizes, who has what, and the parts of a step that both compute.
//
// All steps of many runs are one kernel. A block is one run: 32 examples of one seed. Each lane of a warp is one example. So every load and store
// is of 32 neighbouring numbers, and no lane ever needs another, but in the layers, which are products of matrices (layers.h). The warps share the
// work: each has some tiles of every layer and a few neighbouring cells of the tape, which stay in its registers for the whole run. What crosses
// cells (the sums of a softmax, the vector that is read, the cells at the edges) crosses warps through shared memory, and so do the values of the
// layers. All weights of the seed lie in shared memory.
//
// The sizes are macros, set when a kernel is built: those of `KernelSizes` in building.py. The equations are those of addressing.py, and so are
// the names. Arrays are [run, step, row, lane], but for the values of layers and their gradients, which are [run, row, step, lane], so that a
// product over steps and lanes gives the gradient of a layer.
#pragma once

#include <cstdint>
#include <string>

#include "xla/ffi/api/ffi.h"

namespace ffi = xla::ffi;

#ifdef EMULATED
#include "emulated.h"
#else
#include "device.h"
#endif
#include "layers.h"

constexpr int HEADS = 2;  // the reading head, then the writing head
constexpr int COMMANDS = 4 * WIDTH + HEADS * PER_HEAD;
constexpr int ROWS = COMMANDS + OUTPUTS;  // of the last layer: the command and the logits
constexpr int ERASE = 2 * WIDTH + HEADS * PER_HEAD;
constexpr int ADD = ERASE + WIDTH;
constexpr int OWN = (CELLS + WARPS - 1) / WARPS;  // the cells of a warp
constexpr int OWNERS = (CELLS + OWN - 1) / OWN;   // the warps that have cells
constexpr float NOTHING = -1e30f;  // the exponent of what is no cell
static_assert(LANES == 32 && PER_HEAD == 6, "a lane is an example; strength, gate, sharpening, and the shifts by -1, 0 and +1");
static_assert(TAPE_EVERY == 2, "the backward kernel knows the writing head of one step before");
static_assert(WARPS >= HEADS && WARPS * LANES <= 1024, "each head has a warp that closes its sums");

__host__ __device__ constexpr int per_warp(int rows) { return (rows + WARPS - 1) / WARPS; }
constexpr int whole(int numbers) { return (numbers + 3) / 4 * 4; }

// Near 0 a polynomial (Cephes, tanhf), because the other formula has 0.0000001 of error however small x is. What is written on an empty tape
// is small, and the gradient of a key is made of differences of cells.
__device__ float tanh_of(float x) {
  const float z = x * x;
  const float p = (((-5.70498872745e-3f * z + 2.06390887954e-2f) * z - 5.37397155531e-2f) * z + 1.33314422036e-1f) * z - 3.33332819422e-1f;
  return z < 0.390625f ? x + x * (z * p) : 1.f - __fdividef(2.f, __expf(2.f * x) + 1.f);
}
__device__ float sigmoid(float x) { return __fdividef(1.f, 1.f + __expf(-x)); }
__device__ float softplus(float x) { return x > 15.f ? x : __logf(1.f + __expf(x)); }

// A thread's place: its block, which is one run of 32 examples, its warp, and its lane, which is one example.
struct Place {
  int64_t run = blockIdx.x;
  int warp = threadIdx.x / LANES, lane = threadIdx.x % LANES;
  bool owns = warp < OWNERS;  // whether its warp has cells

  __device__ Place() { ASSUME(warp >= 0 && warp < WARPS); }

  // The index of an entry of an array [run, step, rows, lane], and of one [run, rows, step, lane], for this lane's example or another. What lies
  // within a run is counted in 32 bits.
  __device__ int64_t by_step(int steps, int step, int rows, int r, int example) const {
    return run * (steps * rows * LANES) + ((step * rows + r) * LANES + example);
  }
  __device__ int64_t by_row(int step, int rows, int r, int example) const {
    return run * (rows * STEPS * LANES) + ((r * STEPS + step) * LANES + example);
  }
  __device__ int64_t by_step(int steps, int step, int rows, int r) const { return by_step(steps, step, rows, r, lane); }
  __device__ int64_t by_row(int step, int rows, int r) const { return by_row(step, rows, r, lane); }
  // Row j of those that this warp has of `rows`; it may be past the last.
  __device__ int row_of(int rows, int j) const { return warp * per_warp(rows) + j; }
  __device__ int cell(int own) const { return warp * OWN + own; }
  // Numbers in shared memory: one for each lane, or one for each warp that has cells and lane.
  __device__ int at(int r) const { return r * STRIDE + lane; }
  __device__ int of(int r, int from) const { return (r * OWNERS + from) * LANES + lane; }
};

// The rows of an array that this warp has.
#define EACH_ROW(r, rows)                                              \
  _Pragma("unroll") for (int own_ = 0; own_ < per_warp(rows); own_++) \
    if (const int r = at.row_of(rows, own_); r < (rows))

__device__ void copy_weights(float* into, const float* from, int64_t count) {
  auto* target = reinterpret_cast<float4*>(into);
  const auto* source = reinterpret_cast<const float4*>(from);
  for (int i = threadIdx.x; i < count / 4; i += WARPS * LANES) target[i] = source[i];
}

__device__ void set_pair(float* pair, float2 values) { *reinterpret_cast<float2*>(pair) = values; }
__device__ float2 pair_at(const float* pair) { return *reinterpret_cast<const float2*>(pair); }

// Rows that are no inputs of a layer but are multiplied by weights of 0.
template <int INPUTS>
__device__ void clear_rest(float* rows, const Place& at) {
  for (int r = INPUTS + at.warp; r < input_rows(INPUTS); r += WARPS) rows[at.at(r)] = 0.f;
}

// A head's part of the command.
struct HeadCommand {
  float strength, length, gate, sharpening, shift[3];

  // Bounds of the largest exponent: a cosine is at most 1, and the weights of a head sum to 1, so that the largest is at least 1 / CELLS.
  __device__ float content_bound() const { return strength * length; }
  __device__ float power_bound() const { return sharpening * __logf(float(CELLS)); }

  HeadCommand() = default;
  __device__ HeadCommand(const float* command, int head, const Place& at) {
    float square = SMALL;
#pragma unroll
    for (int k = 0; k < WIDTH; k++) {
      const float key = command[at.at(head * WIDTH + k)];
      square += key * key;
    }
    length = sqrtf(square);
    const int from = 2 * WIDTH + head * PER_HEAD;
    strength = softplus(command[at.at(from)]) / length;
    gate = sigmoid(command[at.at(from + 1)]);
    sharpening = 1.f + softplus(command[at.at(from + 2)]);
    const float a = command[at.at(from + 3)], b = command[at.at(from + 4)], c = command[at.at(from + 5)];
    const float most = fmaxf(a, fmaxf(b, c));
    shift[0] = __expf(a - most), shift[1] = __expf(b - most), shift[2] = __expf(c - most);
    const float over = 1.f / (shift[0] + shift[1] + shift[2]);
    shift[0] *= over, shift[1] *= over, shift[2] *= over;
  }
};

__device__ float total(const float* parts, int r, const Place& at) {
  float sum = 0.f;
#pragma unroll
  for (int w = 0; w < OWNERS; w++) sum += parts[at.of(r, w)];
  return sum;
}

// The first and the last cell of each warp, so that its neighbours on the ring can see them.
__device__ void offer_edges(const float (&values)[OWN], float* edges, int head, const Place& at) {
  float last = values[0];
#pragma unroll
  for (int i = 1; i < OWN; i++) last = at.cell(i) < CELLS ? values[i] : last;
  edges[at.of(2 * head, at.warp)] = values[0];
  edges[at.of(2 * head + 1, at.warp)] = last;
}

// The cells on both sides of a warp's own. A slot past the end of the tape holds what lies to the right of the last cell.
struct Neighbours {
  float left, right;

  __device__ Neighbours(float (&values)[OWN], const float* edges, int head, const Place& at) {
    right = edges[at.of(2 * head, at.warp + 1 < OWNERS ? at.warp + 1 : 0)];
    left = edges[at.of(2 * head + 1, at.warp > 0 ? at.warp - 1 : OWNERS - 1)];
#pragma unroll
    for (int i = 1; i < OWN; i++) values[i] = at.cell(i) < CELLS ? values[i] : right;
  }
  __device__ float before(const float (&values)[OWN], int i) const { return i > 0 ? values[i - 1] : left; }
  __device__ float after(const float (&values)[OWN], int i) const { return i + 1 < OWN ? values[i + 1] : right; }
};

// The tape is kept before every second step. The backward kernel computes the others.
static_assert(int64_t(STEPS) * LANES * (WIDTH * CELLS + FIRST + HIDDEN + ROWS) <= INT32_MAX, "a run is counted in 32 bits");
constexpr int TAPES = (STEPS + TAPE_EVERY - 1) / TAPE_EVERY;

// What the forward kernel keeps for the backward one.
struct Kept {
  float *first, *hidden, *commands, *reads, *tape, *content;
};

using Floats = ffi::Buffer<ffi::F32>;
using Ints = ffi::Buffer<ffi::S32>;
using Result = ffi::Result<Floats>;

// The sizes of a call, from an array [seeds, groups, step, lane]; there may be any number of axes of seeds.
struct Sizes {
  int groups, steps, blocks;

  explicit Sizes(const Ints& array) {
    const auto sizes = array.dimensions();
    groups = sizes[sizes.size() - 3], steps = sizes[sizes.size() - 2];
    blocks = steps ? array.element_count() / (int64_t(steps) * LANES) : 0;
  }
  // Whether what lies within a run can be counted in 32 bits.
  bool are_small() const { return int64_t(steps) * LANES * (HEADS * CELLS + OUTPUTS + WIDTH) <= INT32_MAX; }
};

