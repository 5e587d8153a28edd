// All steps of many runs of an NTM in one CUDA kernel, forward and backward, as calls of XLA's foreign function interface.
//
// A block is one run: 32 examples of one seed. Each lane of a warp is one example. So every load and store is of 32 neighbouring numbers, and no
// lane ever needs another. The warps share the work: each has a few units of every layer and a few neighbouring cells of the tape, which stay
// in its registers for the whole run. What crosses cells (the sums of a softmax, the vector that is read, the cells at the edges) crosses warps
// through shared memory, and so do the values of the layers. All weights of the seed lie in shared memory.
//
// The sizes are macros, set when the file is built: those of `KernelSizes` in building.py. The equations are those of addressing.py, and so are
// the names. Arrays are [run, step, row, lane] where `fused.py` returns them, and [run, row, step, lane] where only gradients need them, so
// that a product over steps and lanes gives the gradient of a layer.

#include <cstdint>
#include <string>

#include "xla/ffi/api/ffi.h"

namespace ffi = xla::ffi;

#ifdef EMULATED
#include "emulated.h"
#else
#include <cuda_runtime.h>
#define SHARED_MEMORY(name) extern __shared__ __align__(16) float name[]
#define ASSUME(condition) __builtin_assume(condition)
using StreamContext = ffi::PlatformStream<cudaStream_t>;

__device__ void prefetch(const float* address) { asm volatile("prefetch.global.L2 [%0];" ::"l"(address)); }

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
#endif

constexpr int HEADS = 2;  // the reading head, then the writing head
constexpr int COMMANDS = 4 * WIDTH + HEADS * PER_HEAD;
constexpr int ROWS = COMMANDS + OUTPUTS;  // of the last layer: the command and the logits
constexpr int ERASE = 2 * WIDTH + HEADS * PER_HEAD;
constexpr int ADD = ERASE + WIDTH;
constexpr int OWN = (CELLS + WARPS - 1) / WARPS;  // the cells of a warp
constexpr int OWNERS = (CELLS + OWN - 1) / OWN;   // the warps that have cells
constexpr float NOTHING = -1e30f;  // the exponent of what is no cell
static_assert(LANES == 32 && PER_HEAD == 6, "a lane is an example; strength, gate, sharpening, and the shifts by -1, 0 and +1");
static_assert(WARPS >= HEADS && WARPS * LANES <= 1024, "each head has a warp that closes its sums");

// The units of a layer that one warp has, padded so that their weights are read as vectors of four.
__host__ __device__ constexpr int per_warp(int units) { return (units + WARPS - 1) / WARPS; }
__host__ __device__ constexpr int padded(int units) { return (per_warp(units) + 3) / 4 * 4; }
__host__ __device__ constexpr int row(int units) { return WARPS * padded(units); }
constexpr int whole(int numbers) { return (numbers + 3) / 4 * 4; }

// Where the weights of a seed lie in shared memory, in the order in which `fused.py` packs them.
constexpr int ENTRY = 0;
constexpr int ENTRIES = SYMBOLS + 1;  // the last is of a symbol that does not exist
constexpr int READ = ENTRY + whole(FIRST * ENTRIES);
constexpr int SECOND = READ + WIDTH * row(FIRST);
constexpr int SECOND_BIAS = SECOND + FIRST * row(HIDDEN);
constexpr int LAST = SECOND_BIAS + row(HIDDEN);
constexpr int LAST_BIAS = LAST + HIDDEN * row(ROWS);
constexpr int FIRST_READ = LAST_BIAS + row(ROWS);
constexpr int FORWARD_WEIGHTS = FIRST_READ + whole(WIDTH);

constexpr int LAST_BACK = 0;
constexpr int SECOND_BACK = LAST_BACK + ROWS * row(HIDDEN);
constexpr int READ_BACK = SECOND_BACK + HIDDEN * row(FIRST);
constexpr int BACKWARD_WEIGHTS = READ_BACK + whole(FIRST * WIDTH);

__device__ float tanh_of(float x) { return 1.f - __fdividef(2.f, __expf(2.f * x) + 1.f); }
__device__ float sigmoid(float x) { return __fdividef(1.f, 1.f + __expf(-x)); }
__device__ float softplus(float x) { return x > 15.f ? x : __logf(1.f + __expf(x)); }

// A thread's place: its block, which is one run of 32 examples, its warp, and its lane, which is one example.
struct Place {
  int64_t run = blockIdx.x;
  int warp = threadIdx.x / LANES, lane = threadIdx.x % LANES;

  __device__ Place() { ASSUME(warp >= 0 && warp < WARPS); }

  // The index of an entry of an array [run, step, rows, lane], and of one [run, rows, step, lane].
  __device__ int64_t by_step(int steps, int step, int rows, int r) const { return ((run * steps + step) * rows + r) * LANES + lane; }
  __device__ int64_t by_row(int step, int rows, int r) const { return ((run * rows + r) * STEPS + step) * LANES + lane; }
  // Row j of those that this warp has of `rows`; it may be past the last.
  __device__ int row_of(int rows, int j) const { return warp * per_warp(rows) + j; }
  __device__ int cell(int own) const { return warp * OWN + own; }
  // Numbers in shared memory: one for each lane, or one for each warp and lane.
  __device__ int at(int r) const { return r * LANES + lane; }
  __device__ int of(int r, int from) const { return (r * WARPS + from) * LANES + lane; }
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

// Adds to a warp's units of a layer the products of their weights and the inputs.
template <int INPUTS, int UNITS>
__device__ void add_products(float (&sums)[padded(UNITS)], const float* weights, const float* inputs, const Place& at) {
  const auto* rows = reinterpret_cast<const float4*>(weights + at.warp * padded(UNITS));
#pragma unroll 5
  for (int k = 0; k < INPUTS; k++) {
    const float input = inputs[at.at(k)];
#pragma unroll
    for (int j = 0; j < padded(UNITS) / 4; j++) {
      const float4 four = rows[k * (row(UNITS) / 4) + j];
      sums[4 * j] += four.x * input;
      sums[4 * j + 1] += four.y * input;
      sums[4 * j + 2] += four.z * input;
      sums[4 * j + 3] += four.w * input;
    }
  }
}

// A head's part of the command.
struct HeadCommand {
  float strength, length, gate, sharpening, shift[3];

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

// The logarithm of a sum of exponentials over all cells: each warp offers those of its own cells, and after a barrier collects.
__device__ void offer_exponents(const float (&powers)[OWN], float* most, float* sums, int head, const Place& at) {
  float highest = NOTHING, sum = 0.f;
#pragma unroll
  for (int i = 0; i < OWN; i++) highest = fmaxf(highest, powers[i]);
#pragma unroll
  for (int i = 0; i < OWN; i++) sum += __expf(powers[i] - highest);
  most[at.of(head, at.warp)] = highest;
  sums[at.of(head, at.warp)] = at.warp < OWNERS ? sum : 0.f;
}

__device__ float log_of_sum(const float* most, const float* sums, int head, const Place& at) {
  float highest = NOTHING, sum = 0.f;
#pragma unroll
  for (int w = 0; w < OWNERS; w++) highest = fmaxf(highest, most[at.of(head, w)]);
#pragma unroll
  for (int w = 0; w < OWNERS; w++) sum += sums[at.of(head, w)] * __expf(most[at.of(head, w)] - highest);
  return highest + __logf(sum);
}

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

struct Outputs {
  float *logits, *log_heads, *written;
};

// What the backward kernel needs of the forward one.
struct Kept {
  float *first, *hidden, *commands, *reads, *tape, *content;
};

template <bool KEEP>
__global__ void __launch_bounds__(WARPS* LANES, FORWARD_BLOCKS)
    run_forward(const float* weights, const int* symbols, const int* asked, Outputs out, Kept kept, int groups, int steps) {
  SHARED_MEMORY(shared);
  float* first = shared + FORWARD_WEIGHTS;        // [FIRST]
  float* hidden = first + FIRST * LANES;          // [HIDDEN]
  float* command = hidden + HIDDEN * LANES;       // [COMMANDS]
  float* read = command + COMMANDS * LANES;       // [WIDTH]
  float* most = read + WIDTH * LANES;             // [HEADS, WARPS]
  float* sums = most + HEADS * WARPS * LANES;     // [HEADS, WARPS]
  float* edges = sums + HEADS * WARPS * LANES;    // [HEADS, 2, WARPS]
  float* parts = edges + 2 * HEADS * WARPS * LANES;  // [WIDTH, WARPS]
  const Place at;

  copy_weights(shared, weights + at.run / groups * FORWARD_WEIGHTS, FORWARD_WEIGHTS);
  __syncthreads();
  float tape[OWN][WIDTH], heads[HEADS][OWN];
#pragma unroll
  for (int i = 0; i < OWN; i++) {
    heads[0][i] = heads[1][i] = at.cell(i) == 0 ? 1.f : 0.f;
#pragma unroll
    for (int k = 0; k < WIDTH; k++) tape[i][k] = EMPTY;
  }
  EACH_ROW(k, WIDTH) read[at.at(k)] = shared[FIRST_READ + k];
  __syncthreads();

  for (int t = 0; t < steps; t++) {
    {  // the first layer
      const int symbol = symbols[at.by_step(steps, t, 1, 0)];
      float sum[padded(FIRST)];
#pragma unroll
      for (int j = 0; j < padded(FIRST); j++) {
        const int unit = at.row_of(FIRST, j);
        sum[j] = j < per_warp(FIRST) && unit < FIRST ? shared[ENTRY + unit * ENTRIES + symbol] : 0.f;
      }
      add_products<WIDTH, FIRST>(sum, shared + READ, read, at);
#pragma unroll
      for (int j = 0; j < per_warp(FIRST); j++) {
        const int unit = at.row_of(FIRST, j);
        if (unit < FIRST) {
          const float value = tanh_of(sum[j]);
          first[at.at(unit)] = value;
          if (KEEP) kept.first[at.by_row(t, FIRST, unit)] = value;
        }
      }
      if (KEEP)
        EACH_ROW(k, WIDTH) kept.reads[at.by_row(t, WIDTH, k)] = read[at.at(k)];
    }
    __syncthreads();
    {  // the second layer
      float sum[padded(HIDDEN)];
#pragma unroll
      for (int j = 0; j < padded(HIDDEN); j++) sum[j] = shared[SECOND_BIAS + at.warp * padded(HIDDEN) + j];
      add_products<FIRST, HIDDEN>(sum, shared + SECOND, first, at);
#pragma unroll
      for (int j = 0; j < per_warp(HIDDEN); j++) {
        const int unit = at.row_of(HIDDEN, j);
        if (unit < HIDDEN) {
          const float value = tanh_of(sum[j]);
          hidden[at.at(unit)] = value;
          if (KEEP) kept.hidden[at.by_row(t, HIDDEN, unit)] = value;
        }
      }
    }
    __syncthreads();
    {  // the command, and the logits
      float sum[padded(ROWS)];
#pragma unroll
      for (int j = 0; j < padded(ROWS); j++) sum[j] = shared[LAST_BIAS + at.warp * padded(ROWS) + j];
      add_products<HIDDEN, ROWS>(sum, shared + LAST, hidden, at);
#pragma unroll
      for (int j = 0; j < per_warp(ROWS); j++) {
        const int unit = at.row_of(ROWS, j);
        if (unit < COMMANDS) {
          const float value = unit < ERASE ? sum[j] : tanh_of(sum[j]);
          command[at.at(unit)] = value;
          if (KEEP) kept.commands[at.by_row(t, COMMANDS, unit)] = value;
        } else if (unit < ROWS) {
          out.logits[at.by_step(steps, t, OUTPUTS, unit - COMMANDS)] = sum[j];
        }
      }
    }
    __syncthreads();
    const HeadCommand asks[HEADS] = {HeadCommand(command, 0, at), HeadCommand(command, 1, at)};
    float gated[HEADS][OWN];  // first the similarity, then the content, then the gated head
#pragma unroll
    for (int i = 0; i < OWN; i++) {
      float square = SMALL, similar[HEADS] = {0.f, 0.f};
#pragma unroll
      for (int k = 0; k < WIDTH; k++) {
        square += tape[i][k] * tape[i][k];
        similar[0] += command[at.at(k)] * tape[i][k];
        similar[1] += command[at.at(WIDTH + k)] * tape[i][k];
        if (KEEP && at.cell(i) < CELLS) kept.tape[at.by_step(steps, t, WIDTH * CELLS, k * CELLS + at.cell(i))] = tape[i][k];
      }
      const float over = rsqrtf(square);
      gated[0][i] = at.cell(i) < CELLS ? similar[0] * asks[0].strength * over : NOTHING;
      gated[1][i] = at.cell(i) < CELLS ? similar[1] * asks[1].strength * over : NOTHING;
    }
#pragma unroll
    for (int h = 0; h < HEADS; h++) offer_exponents(gated[h], most, sums, h, at);
    __syncthreads();
#pragma unroll
    for (int h = 0; h < HEADS; h++) {
      const float log_sum = log_of_sum(most, sums, h, at);
      if (KEEP && at.warp == h) kept.content[at.by_step(steps, t, HEADS, h)] = log_sum;
#pragma unroll
      for (int i = 0; i < OWN; i++) {
        const float content = __expf(gated[h][i] - log_sum);
        gated[h][i] = heads[h][i] + asks[h].gate * (content - heads[h][i]);
      }
      offer_edges(gated[h], edges, h, at);
    }
    __syncthreads();
    float powers[HEADS][OWN];
#pragma unroll
    for (int h = 0; h < HEADS; h++) {
      const Neighbours beside(gated[h], edges, h, at);
#pragma unroll
      for (int i = 0; i < OWN; i++) {
        const float shifted = asks[h].shift[0] * beside.after(gated[h], i) + asks[h].shift[1] * gated[h][i] +
                              asks[h].shift[2] * beside.before(gated[h], i);
        powers[h][i] = at.cell(i) < CELLS ? asks[h].sharpening * __logf(shifted + TINY) : NOTHING;
      }
      offer_exponents(powers[h], most, sums, h, at);
    }
    __syncthreads();
#pragma unroll
    for (int h = 0; h < HEADS; h++) {
      const float log_sum = log_of_sum(most, sums, h, at);
#pragma unroll
      for (int i = 0; i < OWN; i++) {
        heads[h][i] = __expf(powers[h][i] - log_sum);
        if (at.cell(i) < CELLS)
          out.log_heads[at.by_step(steps, t, HEADS * CELLS, h * CELLS + at.cell(i))] = powers[h][i] - log_sum;
      }
    }
    float seen[WIDTH] = {};
    const int cell = asked[at.by_step(steps, t, 1, 0)];
#pragma unroll
    for (int k = 0; k < WIDTH; k++) {
      const float erase = command[at.at(ERASE + k)], add = command[at.at(ADD + k)];
#pragma unroll
      for (int i = 0; i < OWN; i++) {
        seen[k] += heads[0][i] * tape[i][k];
        tape[i][k] += heads[1][i] * (add - erase * tape[i][k]);
        if (at.cell(i) == cell && cell < CELLS) out.written[at.by_step(steps, t, WIDTH, k)] = tape[i][k];
      }
      parts[at.of(k, at.warp)] = seen[k];
      if (at.warp == 0 && (cell < 0 || cell >= CELLS)) out.written[at.by_step(steps, t, WIDTH, k)] = 0.f;
    }
    __syncthreads();
    EACH_ROW(k, WIDTH) read[at.at(k)] = total(parts, k, at);
    __syncthreads();
  }
}

struct Cotangents {
  const float *logits, *log_heads, *written;
};

struct Gradients {
  float *first, *hidden, *rows, *read;  // before the activations of each layer, and with respect to the first read
};

// What the scalars of the backward kernel are, for each head and warp.
enum { SUM, SHARPENING, SHIFT, GATE = SHIFT + 3, CONTENT, SCALARS };

// The gradient of a head's part of the command, from what all warps have offered.
__device__ void give_command(float* d_rows, const float* command, const float* parts, const float* scalars, const HeadCommand& own, int head,
                             const Place& at) {
  const int base = 2 * WIDTH + head * PER_HEAD;
  float d_keys[WIDTH], d_strength = 0.f, d_shift[3], mean = 0.f;
#pragma unroll
  for (int k = 0; k < WIDTH; k++) {
    d_keys[k] = total(parts, head * WIDTH + k, at);
    d_strength += d_keys[k] * command[at.at(head * WIDTH + k)];
  }
  const float along = d_strength / (own.length * own.length);
#pragma unroll
  for (int k = 0; k < WIDTH; k++)
    d_rows[at.at(head * WIDTH + k)] = own.strength * (d_keys[k] - along * command[at.at(head * WIDTH + k)]);
  d_rows[at.at(base)] = d_strength / own.length * sigmoid(command[at.at(base)]);
  d_rows[at.at(base + 1)] = total(scalars, head * SCALARS + GATE, at) * own.gate * (1.f - own.gate);
  d_rows[at.at(base + 2)] = total(scalars, head * SCALARS + SHARPENING, at) * sigmoid(command[at.at(base + 2)]);
#pragma unroll
  for (int s = 0; s < 3; s++) {
    d_shift[s] = total(scalars, head * SCALARS + SHIFT + s, at);
    mean += own.shift[s] * d_shift[s];
  }
#pragma unroll
  for (int s = 0; s < 3; s++) d_rows[at.at(base + 3 + s)] = own.shift[s] * (d_shift[s] - mean);
}

// Asks for what the next step of the backward kernel begins with, a row of 32 numbers for each lane.
__device__ void prefetch_step(const float* tape, const float* log_heads, const float* d_log_heads, int step, const Place& at) {
  for (int r = at.lane; r < WIDTH * OWN; r += LANES)
    if (at.cell(r % OWN) < CELLS) prefetch(tape + at.by_step(STEPS, step, WIDTH * CELLS, r / OWN * CELLS + at.cell(r % OWN)) - at.lane);
  for (int r = at.lane; r < HEADS * OWN; r += LANES)
    if (at.cell(r % OWN) < CELLS) {
      const int row = r / OWN * CELLS + at.cell(r % OWN);
      prefetch(d_log_heads + at.by_step(STEPS, step, HEADS * CELLS, row) - at.lane);
      if (step > 0) prefetch(log_heads + at.by_step(STEPS, step - 1, HEADS * CELLS, row) - at.lane);
    }
}

__global__ void __launch_bounds__(WARPS* LANES, BACKWARD_BLOCKS) run_backward(const float* weights, const int* asked, const float* log_heads,
                                                                    Kept kept, Cotangents from, Gradients to, int groups) {
  SHARED_MEMORY(shared);
  float* d_first = shared + BACKWARD_WEIGHTS;      // [FIRST]
  float* d_hidden = d_first + FIRST * LANES;       // [HIDDEN]
  float* d_rows = d_hidden + HIDDEN * LANES;       // [ROWS]
  float* command = d_rows + ROWS * LANES;          // [COMMANDS]
  float* d_read = command + COMMANDS * LANES;      // [WIDTH]
  float* parts = d_read + WIDTH * LANES;           // [2 * WIDTH, WARPS]: of erase and add, then of the keys
  float* scalars = parts + 2 * WIDTH * WARPS * LANES;  // [HEADS, SCALARS, WARPS]
  float* edges = scalars + HEADS * SCALARS * WARPS * LANES;  // [HEADS, 2, WARPS], twice
  float* d_edges = edges + 2 * HEADS * WARPS * LANES;
  const Place at;

  copy_weights(shared, weights + at.run / groups * BACKWARD_WEIGHTS, BACKWARD_WEIGHTS);
  float d_tape[OWN][WIDTH] = {}, d_heads[HEADS][OWN] = {}, heads[HEADS][OWN];
#pragma unroll
  for (int h = 0; h < HEADS; h++)
#pragma unroll
    for (int i = 0; i < OWN; i++)
      heads[h][i] = at.cell(i) < CELLS ? __expf(log_heads[at.by_step(STEPS, STEPS - 1, HEADS * CELLS, h * CELLS + at.cell(i))]) : 0.f;
  EACH_ROW(k, WIDTH) d_read[at.at(k)] = 0.f;
  EACH_ROW(c, COMMANDS) command[at.at(c)] = kept.commands[at.by_row(STEPS - 1, COMMANDS, c)];
  __syncthreads();

  for (int t = STEPS - 1; t >= 0; t--) {
    const HeadCommand asks[HEADS] = {HeadCommand(command, 0, at), HeadCommand(command, 1, at)};
    float before[HEADS][OWN], content[HEADS][OWN], similar[HEADS][OWN] = {}, gated[HEADS][OWN], over[OWN], d_powers[HEADS][OWN];
    // Both loops over the tape load it anew, because registers are scarcer than bandwidth.
    const auto tape = [&](int i, int k) {
      return at.cell(i) < CELLS ? kept.tape[at.by_step(STEPS, t, WIDTH * CELLS, k * CELLS + at.cell(i))] : 0.f;
    };
    {  // the write, the read, and the sums that the sharpened heads need
      const int cell = asked[at.by_step(STEPS, t, 1, 0)];
      float squares[OWN] = {}, writing[OWN] = {}, reading[OWN] = {}, is_asked[OWN];
#pragma unroll
      for (int i = 0; i < OWN; i++) is_asked[i] = at.cell(i) == cell && cell < CELLS ? 1.f : 0.f;
#pragma unroll
      for (int k = 0; k < WIDTH; k++) {
        const float erase = command[at.at(ERASE + k)], add = command[at.at(ADD + k)], read = d_read[at.at(k)];
        const float keys[HEADS] = {command[at.at(k)], command[at.at(WIDTH + k)]};
        const float asked_for = from.written[at.by_step(STEPS, t, WIDTH, k)];
        float d_erase = 0.f, d_add = 0.f;
#pragma unroll
        for (int i = 0; i < OWN; i++) {
          const float number = tape(i, k), d = d_tape[i][k] + is_asked[i] * asked_for;
          squares[i] += number * number;
          similar[0][i] += keys[0] * number;
          similar[1][i] += keys[1] * number;
          writing[i] += d * (add - erase * number);
          reading[i] += read * number;
          d_add += heads[1][i] * d;
          d_erase -= heads[1][i] * number * d;
          d_tape[i][k] = d * (1.f - heads[1][i] * erase) + heads[0][i] * read;
        }
        parts[at.of(k, at.warp)] = d_erase;
        parts[at.of(WIDTH + k, at.warp)] = d_add;
      }
#pragma unroll
      for (int i = 0; i < OWN; i++) over[i] = rsqrtf(squares[i] + SMALL);
#pragma unroll
      for (int h = 0; h < HEADS; h++) {
        const float log_sum = kept.content[at.by_step(STEPS, t, HEADS, h)];
        float sum = 0.f;
#pragma unroll
        for (int i = 0; i < OWN; i++) {
          const bool is_cell = at.cell(i) < CELLS;
          before[h][i] = at.cell(i) == 0 ? 1.f : 0.f;
          if (t > 0) before[h][i] = is_cell ? __expf(log_heads[at.by_step(STEPS, t - 1, HEADS * CELLS, h * CELLS + at.cell(i))]) : 0.f;
          similar[h][i] *= asks[h].strength * over[i];
          content[h][i] = is_cell ? __expf(similar[h][i] - log_sum) : 0.f;
          gated[h][i] = before[h][i] + asks[h].gate * (content[h][i] - before[h][i]);
          const float d_log = is_cell ? from.log_heads[at.by_step(STEPS, t, HEADS * CELLS, h * CELLS + at.cell(i))] : 0.f;
          d_powers[h][i] = d_log + (d_heads[h][i] + (h ? writing[i] : reading[i])) * heads[h][i];
          sum += d_powers[h][i];
        }
        scalars[at.of(h * SCALARS + SUM, at.warp)] = sum;
        offer_edges(gated[h], edges, h, at);
      }
    }
    __syncthreads();
    // Here and below, single warps turn what is summed into the gradient of the command.
    EACH_ROW(r, 2 * WIDTH) {
      const float value = command[at.at(ERASE + r)];
      d_rows[at.at(ERASE + r)] = total(parts, r, at) * (1.f - value * value);
    }
    EACH_ROW(o, OUTPUTS) d_rows[at.at(COMMANDS + o)] = from.logits[at.by_step(STEPS, t, OUTPUTS, o)];
#pragma unroll
    for (int h = 0; h < HEADS; h++) {
      const float sum = total(scalars, h * SCALARS + SUM, at);
      const Neighbours beside(gated[h], edges, h, at);
      float d_sharpening = 0.f, d_shift[3] = {};
#pragma unroll
      for (int i = 0; i < OWN; i++) {
        const float after = beside.after(gated[h], i), here = gated[h][i], last = beside.before(gated[h], i);
        const float shifted = asks[h].shift[0] * after + asks[h].shift[1] * here + asks[h].shift[2] * last + TINY;
        const float d = d_powers[h][i] - heads[h][i] * sum;
        const float d_shifted = at.cell(i) < CELLS ? __fdividef(d * asks[h].sharpening, shifted) : 0.f;
        d_sharpening += at.cell(i) < CELLS ? d * __logf(shifted) : 0.f;
        d_shift[0] += d_shifted * after, d_shift[1] += d_shifted * here, d_shift[2] += d_shifted * last;
        d_powers[h][i] = d_shifted;
      }
      scalars[at.of(h * SCALARS + SHARPENING, at.warp)] = d_sharpening;
#pragma unroll
      for (int s = 0; s < 3; s++) scalars[at.of(h * SCALARS + SHIFT + s, at.warp)] = d_shift[s];
      offer_edges(d_powers[h], d_edges, h, at);
    }
    __syncthreads();
#pragma unroll
    for (int h = 0; h < HEADS; h++) {
      const Neighbours beside(d_powers[h], d_edges, h, at);
      float d_gate = 0.f, sum = 0.f;
      float d_gated[OWN];
#pragma unroll
      for (int i = 0; i < OWN; i++)
        d_gated[i] = asks[h].shift[0] * beside.before(d_powers[h], i) + asks[h].shift[1] * d_powers[h][i] +
                     asks[h].shift[2] * beside.after(d_powers[h], i);
#pragma unroll
      for (int i = 0; i < OWN; i++) {
        d_gate += d_gated[i] * (content[h][i] - before[h][i]);
        d_heads[h][i] = at.cell(i) < CELLS ? (1.f - asks[h].gate) * d_gated[i] : 0.f;
        d_powers[h][i] = content[h][i] * asks[h].gate * d_gated[i];
        sum += d_powers[h][i];
      }
      scalars[at.of(h * SCALARS + GATE, at.warp)] = d_gate;
      scalars[at.of(h * SCALARS + CONTENT, at.warp)] = sum;
    }
    __syncthreads();
    {
      float d_norms[OWN] = {};
#pragma unroll
      for (int h = 0; h < HEADS; h++) {
        const float sum = total(scalars, h * SCALARS + CONTENT, at);
#pragma unroll
        for (int i = 0; i < OWN; i++) {
          d_powers[h][i] = (d_powers[h][i] - content[h][i] * sum) * over[i];
          d_norms[i] += d_powers[h][i] * similar[h][i] * over[i];
        }
      }
#pragma unroll
      for (int k = 0; k < WIDTH; k++) {
        const float keys[HEADS] = {command[at.at(k)] * asks[0].strength, command[at.at(WIDTH + k)] * asks[1].strength};
        float d_keys[HEADS] = {0.f, 0.f};
#pragma unroll
        for (int i = 0; i < OWN; i++) {
          const float number = tape(i, k);
          d_keys[0] += d_powers[0][i] * number;
          d_keys[1] += d_powers[1][i] * number;
          d_tape[i][k] += keys[0] * d_powers[0][i] + keys[1] * d_powers[1][i] - number * d_norms[i];
        }
        parts[at.of(k, at.warp)] = d_keys[0];
        parts[at.of(WIDTH + k, at.warp)] = d_keys[1];
      }
    }
    __syncthreads();
#pragma unroll
    for (int h = 0; h < HEADS; h++)
      if (at.warp == h) give_command(d_rows, command, parts, scalars, asks[h], h, at);
    __syncthreads();
    {  // the last layer
      if (t > 0) prefetch_step(kept.tape, log_heads, from.log_heads, t - 1, at);
      float sum[padded(HIDDEN)] = {}, values[per_warp(HIDDEN)] = {};
#pragma unroll
      for (int j = 0; j < per_warp(HIDDEN); j++)
        if (at.row_of(HIDDEN, j) < HIDDEN) values[j] = kept.hidden[at.by_row(t, HIDDEN, at.row_of(HIDDEN, j))];
      add_products<ROWS, HIDDEN>(sum, shared + LAST_BACK, d_rows, at);
#pragma unroll
      for (int j = 0; j < per_warp(HIDDEN); j++) {
        const int unit = at.row_of(HIDDEN, j);
        if (unit < HIDDEN) {
          const float d = sum[j] * (1.f - values[j] * values[j]);
          d_hidden[at.at(unit)] = d;
          to.hidden[at.by_row(t, HIDDEN, unit)] = d;
        }
      }
      EACH_ROW(r, ROWS) to.rows[at.by_row(t, ROWS, r)] = d_rows[at.at(r)];
      if (t > 0)
        EACH_ROW(c, COMMANDS) command[at.at(c)] = kept.commands[at.by_row(t - 1, COMMANDS, c)];
    }
    __syncthreads();
    {  // the second layer
      float sum[padded(FIRST)] = {}, values[per_warp(FIRST)] = {};
#pragma unroll
      for (int j = 0; j < per_warp(FIRST); j++)
        if (at.row_of(FIRST, j) < FIRST) values[j] = kept.first[at.by_row(t, FIRST, at.row_of(FIRST, j))];
      add_products<HIDDEN, FIRST>(sum, shared + SECOND_BACK, d_hidden, at);
#pragma unroll
      for (int j = 0; j < per_warp(FIRST); j++) {
        const int unit = at.row_of(FIRST, j);
        if (unit < FIRST) {
          const float d = sum[j] * (1.f - values[j] * values[j]);
          d_first[at.at(unit)] = d;
          to.first[at.by_row(t, FIRST, unit)] = d;
        }
      }
    }
    __syncthreads();
    EACH_ROW(k, WIDTH) {  // what was read in the step before
      float sum = 0.f;
#pragma unroll 5
      for (int u = 0; u < FIRST; u++) sum += shared[READ_BACK + u * WIDTH + k] * d_first[at.at(u)];
      d_read[at.at(k)] = sum;
    }
#pragma unroll
    for (int h = 0; h < HEADS; h++)
#pragma unroll
      for (int i = 0; i < OWN; i++) heads[h][i] = before[h][i];
    __syncthreads();
  }
  EACH_ROW(k, WIDTH) to.read[(at.run * WIDTH + k) * LANES + at.lane] = d_read[at.at(k)];
}

constexpr int FORWARD_SHARED =
    4 * (FORWARD_WEIGHTS + LANES * (FIRST + HIDDEN + COMMANDS + WIDTH + WARPS * (2 * HEADS + 2 * HEADS + WIDTH)));
constexpr int BACKWARD_SHARED =
    4 * (BACKWARD_WEIGHTS + LANES * (FIRST + HIDDEN + ROWS + COMMANDS + WIDTH + WARPS * (2 * WIDTH + HEADS * SCALARS + 4 * HEADS)));

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
};

ffi::Error forward(cudaStream_t stream, Floats weights, Ints symbols, Ints asked, Result logits, Result log_heads, Result written) {
  const Sizes sizes(symbols);
  if (!sizes.blocks) return ffi::Error::Success();
  const Outputs out{logits->typed_data(), log_heads->typed_data(), written->typed_data()};
  return launched(stream, run_forward<false>, sizes.blocks, WARPS * LANES, FORWARD_SHARED, weights.typed_data(), symbols.typed_data(),
                  asked.typed_data(), out, Kept{}, sizes.groups, sizes.steps);
}

ffi::Error forward_kept(cudaStream_t stream, Floats weights, Ints symbols, Ints asked, Result logits, Result log_heads, Result written,
                        Result first, Result hidden, Result commands, Result reads, Result tape, Result content) {
  const Sizes sizes(symbols);
  if (sizes.steps != STEPS) return ffi::Error::InvalidArgument("the NTM's kernel was built for another number of steps");
  if (!sizes.blocks) return ffi::Error::Success();
  const Outputs out{logits->typed_data(), log_heads->typed_data(), written->typed_data()};
  const Kept kept{first->typed_data(), hidden->typed_data(), commands->typed_data(),
                  reads->typed_data(), tape->typed_data(), content->typed_data()};
  return launched(stream, run_forward<true>, sizes.blocks, WARPS * LANES, FORWARD_SHARED, weights.typed_data(), symbols.typed_data(),
                  asked.typed_data(), out, kept, sizes.groups, sizes.steps);
}

ffi::Error backward(cudaStream_t stream, Floats weights, Ints asked, Floats log_heads, Floats first, Floats hidden, Floats commands,
                    Floats tape, Floats content, Floats d_logits, Floats d_log_heads, Floats d_written, Result d_first,
                    Result d_hidden, Result d_rows, Result d_read) {
  const Sizes sizes(asked);
  if (sizes.steps != STEPS) return ffi::Error::InvalidArgument("the NTM's kernel was built for another number of steps");
  if (!sizes.blocks) return ffi::Error::Success();
  const Kept kept{first.typed_data(), hidden.typed_data(), commands.typed_data(), nullptr, tape.typed_data(), content.typed_data()};
  const Cotangents from{d_logits.typed_data(), d_log_heads.typed_data(), d_written.typed_data()};
  const Gradients to{d_first->typed_data(), d_hidden->typed_data(), d_rows->typed_data(), d_read->typed_data()};
  return launched(stream, run_backward, sizes.blocks, WARPS * LANES, BACKWARD_SHARED, weights.typed_data(), asked.typed_data(),
                  log_heads.typed_data(), kept, from, to, sizes.groups);
}

#define FORWARD ffi::Ffi::Bind().Ctx<StreamContext>().Arg<Floats>().Arg<Ints>().Arg<Ints>().Ret<Floats>().Ret<Floats>().Ret<Floats>()
XLA_FFI_DEFINE_HANDLER_SYMBOL(Forward, forward, FORWARD, {ffi::Traits::kCmdBufferCompatible});
XLA_FFI_DEFINE_HANDLER_SYMBOL(
    ForwardKept, forward_kept,
    FORWARD.Ret<Floats>().Ret<Floats>().Ret<Floats>().Ret<Floats>().Ret<Floats>().Ret<Floats>(),
    {ffi::Traits::kCmdBufferCompatible});
XLA_FFI_DEFINE_HANDLER_SYMBOL(
    Backward, backward,
    ffi::Ffi::Bind().Ctx<StreamContext>().Arg<Floats>().Arg<Ints>()
        .Arg<Floats>().Arg<Floats>().Arg<Floats>().Arg<Floats>().Arg<Floats>().Arg<Floats>().Arg<Floats>().Arg<Floats>().Arg<Floats>()
        .Ret<Floats>().Ret<Floats>().Ret<Floats>().Ret<Floats>(),
    {ffi::Traits::kCmdBufferCompatible});

// Whether both kernels fit into the shared memory of a multiprocessor.
extern "C" int fits() { return shared_limit() >= (FORWARD_SHARED > BACKWARD_SHARED ? FORWARD_SHARED : BACKWARD_SHARED); }
