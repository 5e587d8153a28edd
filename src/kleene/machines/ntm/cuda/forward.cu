// The forward kernel of an NTM, without and with what the backward kernel needs.

#include "run.h"

// Where the weights of a seed lie in shared memory, in the order in which `fused.py` packs them.
constexpr int READ = 0;
constexpr int SECOND = READ + tiled_weights(FIRST, WIDTH);
constexpr int LAST = SECOND + tiled_weights(HIDDEN, FIRST);
constexpr int ENTRY = LAST + tiled_weights(ROWS, HIDDEN);
constexpr int ENTRIES = SYMBOLS + 1;  // the last is of a symbol that does not exist
constexpr int SECOND_BIAS = ENTRY + whole(FIRST * ENTRIES);
constexpr int LAST_BIAS = SECOND_BIAS + whole(HIDDEN);
constexpr int FIRST_READ = LAST_BIAS + whole(ROWS);
constexpr int FORWARD_WEIGHTS = FIRST_READ + whole(WIDTH);

// The logarithm of a sum of exponentials over all cells: each warp offers those of its own cells, and after a barrier collects. The largest
// exponent lies between -bound and +bound. Where exp(bound) is far from the limits of a float it need not be subtracted first. With one cell
// it always is, so that the weight of that cell is exactly 1.
constexpr float SAFE_EXPONENT = CELLS > 1 ? 30.f : 0.f;

__device__ void offer_exponents(const float (&powers)[OWN], float bound, float* most, float* sums, int head, const Place& at) {
  float highest = NOTHING, sum = 0.f;
#pragma unroll
  for (int i = 0; i < OWN; i++) highest = fmaxf(highest, powers[i]);
  if (bound < SAFE_EXPONENT) highest = 0.f;
#pragma unroll
  for (int i = 0; i < OWN; i++) sum += __expf(powers[i] - highest);
  most[at.of(head, at.warp)] = highest;
  sums[at.of(head, at.warp)] = sum;
}

__device__ float log_of_sum(float bound, const float* most, const float* sums, int head, const Place& at) {
  if (bound < SAFE_EXPONENT) return __logf(total(sums, head, at));
  float highest = NOTHING, sum = 0.f;
#pragma unroll
  for (int w = 0; w < OWNERS; w++) highest = fmaxf(highest, most[at.of(head, w)]);
#pragma unroll
  for (int w = 0; w < OWNERS; w++) sum += sums[at.of(head, w)] * __expf(most[at.of(head, w)] - highest);
  return highest + __logf(sum);
}

struct Outputs {
  float *logits, *log_heads, *written;
};

template <bool KEEP>
__global__ void __launch_bounds__(WARPS* LANES, BLOCKS)
    run_forward(const float* weights, const int* symbols, const int* asked, Outputs out, Kept kept, int groups, int steps) {
  SHARED_MEMORY(shared);
  float* first = shared + FORWARD_WEIGHTS;                // [FIRST]
  float* hidden = first + input_rows(FIRST) * STRIDE;     // [HIDDEN]
  float* read = hidden + input_rows(HIDDEN) * STRIDE;     // [WIDTH]
  float* command = read + input_rows(WIDTH) * STRIDE;     // [COMMANDS]
  float* symbol = command + COMMANDS * STRIDE;            // of this step
  float* most = symbol + LANES;                           // [HEADS, OWNERS]
  float* sums = most + HEADS * OWNERS * LANES;            // [HEADS, OWNERS]
  float* edges = sums + HEADS * OWNERS * LANES;           // [HEADS, 2, OWNERS]
  float* parts = edges + 2 * HEADS * OWNERS * LANES;      // [WIDTH, OWNERS]
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
  clear_rest<FIRST>(first, at), clear_rest<HIDDEN>(hidden, at), clear_rest<WIDTH>(read, at);
  if (at.warp == 0 && steps > 0) symbol[at.lane] = symbols[at.by_step(steps, 0, 1, 0)];
  __syncthreads();

  for (int t = 0; t < steps; t++) {
    // Loaded long before they are needed.
    const int cell = asked[at.by_step(steps, t, 1, 0)], upcoming = t + 1 < steps ? symbols[at.by_step(steps, t + 1, 1, 0)] : 0;
    if (KEEP)
      EACH_ROW(k, WIDTH) kept.reads[at.by_row(t, WIDTH, k)] = read[at.at(k)];
    layer<WIDTH, FIRST>(
        shared + READ, read, at.warp, at.lane,
        [&](int unit, int example) {
          const float* entries = shared + ENTRY + unit * ENTRIES;
          return float2{entries[int(symbol[example])], entries[int(symbol[example + 1])]};
        },
        [&](int unit, int example, float2 entry, float2 sum) {
          const float2 values{tanh_of(entry.x + sum.x), tanh_of(entry.y + sum.y)};
          set_pair(first + unit * STRIDE + example, values);
          if (KEEP) set_pair(kept.first + at.by_row(t, FIRST, unit, example), values);
        });
    __syncthreads();
    layer<FIRST, HIDDEN>(
        shared + SECOND, first, at.warp, at.lane,
        [&](int unit, int) { return float2{shared[SECOND_BIAS + unit], shared[SECOND_BIAS + unit]}; },
        [&](int unit, int example, float2 bias, float2 sum) {
          const float2 values{tanh_of(bias.x + sum.x), tanh_of(bias.y + sum.y)};
          set_pair(hidden + unit * STRIDE + example, values);
          if (KEEP) set_pair(kept.hidden + at.by_row(t, HIDDEN, unit, example), values);
        });
    __syncthreads();
    layer<HIDDEN, ROWS>(  // the command, and the logits
        shared + LAST, hidden, at.warp, at.lane,
        [&](int unit, int) { return float2{shared[LAST_BIAS + unit], shared[LAST_BIAS + unit]}; },
        [&](int unit, int example, float2 bias, float2 sum) {
          float2 values{bias.x + sum.x, bias.y + sum.y};
          if (unit >= COMMANDS) {
            set_pair(out.logits + at.by_step(steps, t, OUTPUTS, unit - COMMANDS, example), values);
            return;
          }
          if (unit >= ERASE) values = {tanh_of(values.x), tanh_of(values.y)};
          set_pair(command + unit * STRIDE + example, values);
          if (KEEP) set_pair(kept.commands + at.by_row(t, COMMANDS, unit, example), values);
        });
    __syncthreads();
    HeadCommand asks[HEADS];
    float gated[HEADS][OWN];  // first the similarity, then the gated head
    float powers[HEADS][OWN];
    if (at.owns) {
      asks[0] = HeadCommand(command, 0, at), asks[1] = HeadCommand(command, 1, at);
#pragma unroll
      for (int i = 0; i < OWN; i++) {
        float square = SMALL, similar[HEADS] = {0.f, 0.f};
#pragma unroll
        for (int k = 0; k < WIDTH; k++) {
          square += tape[i][k] * tape[i][k];
          similar[0] += command[at.at(k)] * tape[i][k];
          similar[1] += command[at.at(WIDTH + k)] * tape[i][k];
          if (KEEP && t % TAPE_EVERY == 0 && at.cell(i) < CELLS)
            kept.tape[at.by_step(TAPES, t / TAPE_EVERY, WIDTH * CELLS, k * CELLS + at.cell(i))] = tape[i][k];
        }
        const float over = rsqrtf(square);
        gated[0][i] = at.cell(i) < CELLS ? similar[0] * asks[0].strength * over : NOTHING;
        gated[1][i] = at.cell(i) < CELLS ? similar[1] * asks[1].strength * over : NOTHING;
      }
#pragma unroll
      for (int h = 0; h < HEADS; h++) offer_exponents(gated[h], asks[h].content_bound(), most, sums, h, at);
    }
    __syncthreads();
    if (at.owns)
#pragma unroll
      for (int h = 0; h < HEADS; h++) {
        const float log_sum = log_of_sum(asks[h].content_bound(), most, sums, h, at);
        if (KEEP && at.warp == h % OWNERS) kept.content[at.by_step(steps, t, HEADS, h)] = log_sum;
#pragma unroll
        for (int i = 0; i < OWN; i++) {
          const float content = __expf(gated[h][i] - log_sum);
          gated[h][i] = heads[h][i] + asks[h].gate * (content - heads[h][i]);
        }
        offer_edges(gated[h], edges, h, at);
      }
    __syncthreads();
    if (at.owns)
#pragma unroll
      for (int h = 0; h < HEADS; h++) {
        const Neighbours beside(gated[h], edges, h, at);
#pragma unroll
        for (int i = 0; i < OWN; i++) {
          const float shifted = asks[h].shift[0] * beside.after(gated[h], i) + asks[h].shift[1] * gated[h][i] +
                                asks[h].shift[2] * beside.before(gated[h], i);
          powers[h][i] = at.cell(i) < CELLS ? asks[h].sharpening * __logf(shifted + TINY) : NOTHING;
        }
        offer_exponents(powers[h], asks[h].power_bound(), most, sums, h, at);
      }
    __syncthreads();
    if (at.owns) {
#pragma unroll
      for (int h = 0; h < HEADS; h++) {
        const float log_sum = log_of_sum(asks[h].power_bound(), most, sums, h, at);
#pragma unroll
        for (int i = 0; i < OWN; i++) {
          heads[h][i] = __expf(powers[h][i] - log_sum);
          if (at.cell(i) < CELLS)
            out.log_heads[at.by_step(steps, t, HEADS * CELLS, h * CELLS + at.cell(i))] = powers[h][i] - log_sum;
        }
      }
      float seen[WIDTH] = {};
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
    }
    __syncthreads();
    EACH_ROW(k, WIDTH) read[at.at(k)] = total(parts, k, at);
    if (at.warp == 0) symbol[at.lane] = upcoming;
    __syncthreads();
  }
}

constexpr int SHARED =
    4 * (FORWARD_WEIGHTS + STRIDE * (input_rows(FIRST) + input_rows(HIDDEN) + input_rows(WIDTH) + COMMANDS) +
         LANES * (1 + OWNERS * (2 * HEADS + 2 * HEADS + WIDTH)));

ffi::Error forward(cudaStream_t stream, Floats weights, Ints symbols, Ints asked, Result logits, Result log_heads, Result written) {
  const Sizes sizes(symbols);
  if (!sizes.are_small()) return ffi::Error::InvalidArgument("the NTM's kernel takes no run of so many steps");
  if (!sizes.blocks) return ffi::Error::Success();
  const Outputs out{logits->typed_data(), log_heads->typed_data(), written->typed_data()};
  return launched(stream, run_forward<false>, sizes.blocks, WARPS * LANES, SHARED, weights.typed_data(), symbols.typed_data(),
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
  return launched(stream, run_forward<true>, sizes.blocks, WARPS * LANES, SHARED, weights.typed_data(), symbols.typed_data(),
                  asked.typed_data(), out, kept, sizes.groups, sizes.steps);
}

#define FORWARD ffi::Ffi::Bind().Ctx<StreamContext>().Arg<Floats>().Arg<Ints>().Arg<Ints>().Ret<Floats>().Ret<Floats>().Ret<Floats>()
XLA_FFI_DEFINE_HANDLER_SYMBOL(Forward, forward, FORWARD, {ffi::Traits::kCmdBufferCompatible});
XLA_FFI_DEFINE_HANDLER_SYMBOL(
    ForwardKept, forward_kept,
    FORWARD.Ret<Floats>().Ret<Floats>().Ret<Floats>().Ret<Floats>().Ret<Floats>().Ret<Floats>(),
    {ffi::Traits::kCmdBufferCompatible});

// Whether the kernel fits into the shared memory of a multiprocessor.
extern "C" int fits() { return shared_limit() >= SHARED; }
