// The backward kernel of an NTM: from the gradients of what a run returned to those before the activation of every layer.

#include "run.h"

// Where the weights of a seed lie in shared memory, in the order in which `fused.py` packs them.
constexpr int LAST_BACK = 0;
constexpr int SECOND_BACK = LAST_BACK + tiled_weights(HIDDEN, ROWS);
constexpr int READ_BACK = SECOND_BACK + tiled_weights(FIRST, HIDDEN);
constexpr int BACKWARD_WEIGHTS = READ_BACK + tiled_weights(WIDTH, FIRST);

struct Cotangents {
  const float *logits, *log_heads, *written;
};

struct Gradients {
  float *first, *hidden, *rows, *read;  // before the activations of each layer, and with respect to the first read
};

// What the scalars of the backward kernel are, for each head and warp. Those from SHARPENING to GATE are gradients of the command.
enum { SUM, SHARPENING, SHIFT, GATE = SHIFT + 3, CONTENT, SCALARS };
constexpr int GIVEN = GATE - SHARPENING + 1;
constexpr int TOTALS = HEADS * (WIDTH + GIVEN);  // of the keys, then of these scalars

// A head's part of the command in shared memory, where it takes no registers from one barrier to the next.
constexpr int ASKED = 7;

__device__ void keep_command(float* asks, const HeadCommand& own, int head, const Place& at) {
  const float numbers[ASKED] = {own.strength, own.length, own.gate, own.sharpening, own.shift[0], own.shift[1], own.shift[2]};
#pragma unroll
  for (int i = 0; i < ASKED; i++) asks[at.at(head * ASKED + i)] = numbers[i];
}

__device__ HeadCommand kept_command(const float* asks, int head, const Place& at) {
  const auto number = [&](int i) { return asks[at.at(head * ASKED + i)]; };
  HeadCommand own;
  own.strength = number(0), own.length = number(1), own.gate = number(2), own.sharpening = number(3);
#pragma unroll
  for (int s = 0; s < 3; s++) own.shift[s] = number(4 + s);
  return own;
}

// Numbers in shared memory. Alone on its multiprocessor, a block has the tape there too if it fits.
constexpr int WITHOUT_TAPE =
    BACKWARD_WEIGHTS + STRIDE * (input_rows(FIRST) + input_rows(HIDDEN) + input_rows(ROWS) + COMMANDS + 3 * WIDTH + TOTALS + HEADS * ASKED) +
    LANES * OWNERS * (2 * WIDTH + HEADS * SCALARS + 4 * HEADS);
constexpr int TAPE = WIDTH * CELLS * LANES;
constexpr bool TAPE_SHARED = BLOCKS == 1 && 4 * (WITHOUT_TAPE + TAPE) <= MOST_SHARED;
constexpr int SHARED = 4 * (WITHOUT_TAPE + TAPE_SHARED * TAPE);

// The gradient of a head's part of the command, from the totals over all warps.
__device__ void give_command(float* d_rows, const float* command, const float* totals, const HeadCommand& own, int head, const Place& at) {
  const int base = 2 * WIDTH + head * PER_HEAD;
  const auto scalar = [&](int s) { return totals[at.at(HEADS * WIDTH + head * GIVEN + s - SHARPENING)]; };
  float d_keys[WIDTH], d_strength = 0.f, d_shift[3], mean = 0.f;
#pragma unroll
  for (int k = 0; k < WIDTH; k++) {
    d_keys[k] = totals[at.at(head * WIDTH + k)];
    d_strength += d_keys[k] * command[at.at(head * WIDTH + k)];
  }
  const float along = d_strength / (own.length * own.length);
#pragma unroll
  for (int k = 0; k < WIDTH; k++)
    d_rows[at.at(head * WIDTH + k)] = own.strength * (d_keys[k] - along * command[at.at(head * WIDTH + k)]);
  d_rows[at.at(base)] = d_strength / own.length * sigmoid(command[at.at(base)]);
  d_rows[at.at(base + 1)] = scalar(GATE) * own.gate * (1.f - own.gate);
  d_rows[at.at(base + 2)] = scalar(SHARPENING) * sigmoid(command[at.at(base + 2)]);
#pragma unroll
  for (int s = 0; s < 3; s++) {
    d_shift[s] = scalar(SHIFT + s);
    mean += own.shift[s] * d_shift[s];
  }
#pragma unroll
  for (int s = 0; s < 3; s++) d_rows[at.at(base + 3 + s)] = own.shift[s] * (d_shift[s] - mean);
}

// A head between its last position and what it found by content.
__device__ void gate(float (&gated)[OWN], const float (&before)[OWN], const float (&content)[OWN], float by) {
#pragma unroll
  for (int i = 0; i < OWN; i++) gated[i] = before[i] + by * (content[i] - before[i]);
}

// Asks for what a step of the backward kernel loads: arrays that have a step together from one thread each, the rows of the others one by one.
__device__ void prefetch_step(const int* asked, const float* log_heads, const Kept& kept, const Cotangents& from, int step, const Place& at) {
  const auto whole_step = [&](const auto* array, int first_step, int rows) {
    prefetch_all(array + at.by_step(STEPS, first_step, rows, 0, 0), rows * LANES * 4);
  };
  if (threadIdx.x == 0 && !TAPE_SHARED && step % TAPE_EVERY == TAPE_EVERY - 1)
    prefetch_all(kept.tape + at.by_step(TAPES, step / TAPE_EVERY, WIDTH * CELLS, 0, 0), 4 * TAPE);
  if (threadIdx.x == 1) whole_step(from.log_heads, step, HEADS * CELLS);
  if (threadIdx.x == 2 && step > 0) whole_step(log_heads, step - 1, HEADS * CELLS);
  if (threadIdx.x == 3) whole_step(from.written, step, WIDTH);
  if (threadIdx.x == 4) whole_step(from.logits, step, OUTPUTS);
  if (threadIdx.x == 5) whole_step(kept.content, step, HEADS);
  if (threadIdx.x == 6) whole_step(asked, step, 1);
  const auto rows_of_step = [&](const float* array, int rows) {
    for (int r = threadIdx.x; r < rows; r += WARPS * LANES) prefetch(array + at.by_row(step, rows, r, 0));
  };
  rows_of_step(kept.hidden, HIDDEN), rows_of_step(kept.first, FIRST), rows_of_step(kept.commands, COMMANDS);
}

__global__ void __launch_bounds__(WARPS* LANES, BLOCKS)
    run_backward(const float* weights, const int* asked, const float* log_heads, Kept kept, Cotangents from, Gradients to, int groups) {
  SHARED_MEMORY(shared);
  float* d_first = shared + BACKWARD_WEIGHTS;                // [FIRST]
  float* d_hidden = d_first + input_rows(FIRST) * STRIDE;    // [HIDDEN]
  float* d_rows = d_hidden + input_rows(HIDDEN) * STRIDE;    // [ROWS]
  float* command = d_rows + input_rows(ROWS) * STRIDE;       // [COMMANDS]
  float* written = command + COMMANDS * STRIDE;              // [2 * WIDTH]: erase and add of the step before
  float* d_read = written + 2 * WIDTH * STRIDE;              // [WIDTH]
  float* totals = d_read + WIDTH * STRIDE;                   // [TOTALS]
  float* asks = totals + TOTALS * STRIDE;                    // [HEADS, ASKED]
  float* parts = asks + HEADS * ASKED * STRIDE;              // [2 * WIDTH, OWNERS]: of erase and add, then of the keys
  float* scalars = parts + 2 * WIDTH * OWNERS * LANES;       // [HEADS, SCALARS, OWNERS]
  float* edges = scalars + HEADS * SCALARS * OWNERS * LANES;  // [HEADS, 2, OWNERS], twice
  float* d_edges = edges + 2 * HEADS * OWNERS * LANES;
  float* tape_here = d_edges + 2 * HEADS * OWNERS * LANES;  // [WIDTH, CELLS], if TAPE_SHARED
  const Place at;

  copy_weights(shared, weights + at.run / groups * BACKWARD_WEIGHTS, BACKWARD_WEIGHTS);
  float d_tape[OWN][WIDTH] = {}, d_heads[HEADS][OWN] = {}, heads[HEADS][OWN];
#pragma unroll
  for (int h = 0; h < HEADS; h++)
#pragma unroll
    for (int i = 0; i < OWN; i++)
      heads[h][i] = at.cell(i) < CELLS ? __expf(log_heads[at.by_step(STEPS, STEPS - 1, HEADS * CELLS, h * CELLS + at.cell(i))]) : 0.f;
  EACH_ROW(k, WIDTH) d_read[at.at(k)] = 0.f;
  clear_rest<FIRST>(d_first, at), clear_rest<HIDDEN>(d_hidden, at), clear_rest<ROWS>(d_rows, at);
  const auto load_commands = [&](int step) {
    EACH_ROW(c, COMMANDS) command[at.at(c)] = kept.commands[at.by_row(step, COMMANDS, c)];
    if (step % TAPE_EVERY != 0)
      EACH_ROW(c, 2 * WIDTH) written[at.at(c)] = kept.commands[at.by_row(step - 1, COMMANDS, ERASE + c)];
  };
  const auto begin_tape = [&](int step) {
    if (TAPE_SHARED) begin_copy(tape_here, kept.tape + at.by_step(TAPES, step / TAPE_EVERY, WIDTH * CELLS, 0, 0), TAPE);
  };
  load_commands(STEPS - 1);
  begin_tape(STEPS - 1);
  wait_for_copies();
  __syncthreads();
  // The last warps have least to do here and below.
  const auto keep_commands = [&] {
#pragma unroll
    for (int h = 0; h < HEADS; h++)
      if (at.warp == WARPS - 1 - h) keep_command(asks, HeadCommand(command, h, at), h, at);
  };
  keep_commands();
  __syncthreads();

  for (int t = STEPS - 1; t >= 0; t--) {
    if (t > 0) prefetch_step(asked, log_heads, kept, from, t - 1, at);
    float before[HEADS][OWN] = {}, content[HEADS][OWN], similar[HEADS][OWN] = {}, over[OWN], d_powers[HEADS][OWN];
    // Column k of the tape before this step. Both loops over the tape load it anew, because registers are scarcer than bandwidth.
    const auto load_tape = [&](float (&numbers)[OWN], int k) {
#pragma unroll
      for (int i = 0; i < OWN; i++) {
        const int place = k * CELLS + at.cell(i);
        numbers[i] = at.cell(i) >= CELLS ? 0.f
                     : TAPE_SHARED       ? tape_here[place * LANES + at.lane]
                                         : kept.tape[at.by_step(TAPES, t / TAPE_EVERY, WIDTH * CELLS, place)];
      }
      if (t % TAPE_EVERY != 0) {
        const float erase = written[at.at(k)], add = written[at.at(WIDTH + k)];
#pragma unroll
        for (int i = 0; i < OWN; i++) numbers[i] += before[1][i] * (add - erase * numbers[i]);
      }
    };
    if (at.owns) {  // the write, the read, and the sums that the sharpened heads need
#pragma unroll
      for (int h = 0; h < HEADS; h++)
#pragma unroll
        for (int i = 0; i < OWN; i++) {
          before[h][i] = at.cell(i) == 0 ? 1.f : 0.f;
          if (t > 0) before[h][i] = at.cell(i) < CELLS ? __expf(log_heads[at.by_step(STEPS, t - 1, HEADS * CELLS, h * CELLS + at.cell(i))]) : 0.f;
        }
      const int cell = asked[at.by_step(STEPS, t, 1, 0)];
      float squares[OWN] = {}, writing[OWN] = {}, reading[OWN] = {}, is_asked[OWN];
#pragma unroll
      for (int i = 0; i < OWN; i++) is_asked[i] = at.cell(i) == cell && cell < CELLS ? 1.f : 0.f;
#pragma unroll
      for (int k = 0; k < WIDTH; k++) {
        const float erase = command[at.at(ERASE + k)], add = command[at.at(ADD + k)], read = d_read[at.at(k)];
        const float keys[HEADS] = {command[at.at(k)], command[at.at(WIDTH + k)]};
        const float asked_for = from.written[at.by_step(STEPS, t, WIDTH, k)];
        float d_erase = 0.f, d_add = 0.f, numbers[OWN];
        load_tape(numbers, k);
#pragma unroll
        for (int i = 0; i < OWN; i++) {
          const float number = numbers[i], d = d_tape[i][k] + is_asked[i] * asked_for;
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
        const HeadCommand ask = kept_command(asks, h, at);
        const float log_sum = kept.content[at.by_step(STEPS, t, HEADS, h)];
        float sum = 0.f;
#pragma unroll
        for (int i = 0; i < OWN; i++) {
          const bool is_cell = at.cell(i) < CELLS;
          similar[h][i] *= ask.strength * over[i];
          content[h][i] = is_cell ? __expf(similar[h][i] - log_sum) : 0.f;
          const float d_log = is_cell ? from.log_heads[at.by_step(STEPS, t, HEADS * CELLS, h * CELLS + at.cell(i))] : 0.f;
          d_powers[h][i] = d_log + (d_heads[h][i] + (h ? writing[i] : reading[i])) * heads[h][i];
          sum += d_powers[h][i];
        }
        scalars[at.of(h * SCALARS + SUM, at.warp)] = sum;
        float gated[OWN];
        gate(gated, before[h], content[h], ask.gate);
        offer_edges(gated, edges, h, at);
      }
    }
    __syncthreads();
    // Here and below, what all warps offered becomes the gradient of the command.
    EACH_ROW(r, 2 * WIDTH) {
      const float value = command[at.at(ERASE + r)];
      d_rows[at.at(ERASE + r)] = total(parts, r, at) * (1.f - value * value);
    }
    EACH_ROW(o, OUTPUTS) d_rows[at.at(COMMANDS + o)] = from.logits[at.by_step(STEPS, t, OUTPUTS, o)];
    if (at.owns)
#pragma unroll
      for (int h = 0; h < HEADS; h++) {
        const HeadCommand ask = kept_command(asks, h, at);
        const float sum = total(scalars, h * SCALARS + SUM, at);
        float gated[OWN];
        gate(gated, before[h], content[h], ask.gate);
        const Neighbours beside(gated, edges, h, at);
        float d_sharpening = 0.f, d_shift[3] = {};
#pragma unroll
        for (int i = 0; i < OWN; i++) {
          const float after = beside.after(gated, i), here = gated[i], last = beside.before(gated, i);
          const float shifted = ask.shift[0] * after + ask.shift[1] * here + ask.shift[2] * last + TINY;
          const float d = d_powers[h][i] - heads[h][i] * sum;
          const float d_shifted = at.cell(i) < CELLS ? __fdividef(d * ask.sharpening, shifted) : 0.f;
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
    if (at.owns)
#pragma unroll
      for (int h = 0; h < HEADS; h++) {
        const HeadCommand ask = kept_command(asks, h, at);
        const Neighbours beside(d_powers[h], d_edges, h, at);
        float d_gate = 0.f, sum = 0.f;
        float d_gated[OWN];
#pragma unroll
        for (int i = 0; i < OWN; i++)
          d_gated[i] = ask.shift[0] * beside.before(d_powers[h], i) + ask.shift[1] * d_powers[h][i] +
                       ask.shift[2] * beside.after(d_powers[h], i);
#pragma unroll
        for (int i = 0; i < OWN; i++) {
          d_gate += d_gated[i] * (content[h][i] - before[h][i]);
          d_heads[h][i] = at.cell(i) < CELLS ? (1.f - ask.gate) * d_gated[i] : 0.f;
          d_powers[h][i] = content[h][i] * ask.gate * d_gated[i];
          sum += d_powers[h][i];
        }
        scalars[at.of(h * SCALARS + GATE, at.warp)] = d_gate;
        scalars[at.of(h * SCALARS + CONTENT, at.warp)] = sum;
      }
    __syncthreads();
    if (at.owns) {
      const float strengths[HEADS] = {kept_command(asks, 0, at).strength, kept_command(asks, 1, at).strength};
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
        const float keys[HEADS] = {command[at.at(k)] * strengths[0], command[at.at(WIDTH + k)] * strengths[1]};
        float d_keys[HEADS] = {0.f, 0.f}, numbers[OWN];
        load_tape(numbers, k);
#pragma unroll
        for (int i = 0; i < OWN; i++) {
          const float number = numbers[i];
          d_keys[0] += d_powers[0][i] * number;
          d_keys[1] += d_powers[1][i] * number;
          d_tape[i][k] += keys[0] * d_powers[0][i] + keys[1] * d_powers[1][i] - number * d_norms[i];
        }
        parts[at.of(k, at.warp)] = d_keys[0];
        parts[at.of(WIDTH + k, at.warp)] = d_keys[1];
      }
    }
    __syncthreads();
    if (t > 0 && t % TAPE_EVERY == 0) begin_tape(t - 1);
    EACH_ROW(r, TOTALS) {
      const int s = r - HEADS * WIDTH;
      totals[at.at(r)] = s < 0 ? total(parts, r, at) : total(scalars, s / GIVEN * SCALARS + SHARPENING + s % GIVEN, at);
    }
    __syncthreads();
#pragma unroll
    for (int h = 0; h < HEADS; h++)
      if (at.warp == h) give_command(d_rows, command, totals, kept_command(asks, h, at), h, at);
    __syncthreads();
    layer<ROWS, HIDDEN>(
        shared + LAST_BACK, d_rows, at.warp, at.lane,
        [&](int unit, int example) { return pair_at(kept.hidden + at.by_row(t, HIDDEN, unit, example)); },
        [&](int unit, int example, float2 value, float2 sum) {
          const float2 d{sum.x * (1.f - value.x * value.x), sum.y * (1.f - value.y * value.y)};
          set_pair(d_hidden + unit * STRIDE + example, d);
          set_pair(to.hidden + at.by_row(t, HIDDEN, unit, example), d);
        });
    EACH_ROW(r, ROWS) to.rows[at.by_row(t, ROWS, r)] = d_rows[at.at(r)];
    if (t > 0) load_commands(t - 1);
    __syncthreads();
    layer<HIDDEN, FIRST>(
        shared + SECOND_BACK, d_hidden, at.warp, at.lane,
        [&](int unit, int example) { return pair_at(kept.first + at.by_row(t, FIRST, unit, example)); },
        [&](int unit, int example, float2 value, float2 sum) {
          const float2 d{sum.x * (1.f - value.x * value.x), sum.y * (1.f - value.y * value.y)};
          set_pair(d_first + unit * STRIDE + example, d);
          set_pair(to.first + at.by_row(t, FIRST, unit, example), d);
        });
    __syncthreads();
    layer<FIRST, WIDTH>(  // what was read in the step before
        shared + READ_BACK, d_first, at.warp, at.lane, [](int, int) { return float2{}; },
        [&](int unit, int example, float2, float2 sum) { set_pair(d_read + unit * STRIDE + example, sum); });
    keep_commands();  // of the step before, or again of the first
#pragma unroll
    for (int h = 0; h < HEADS; h++)
#pragma unroll
      for (int i = 0; i < OWN; i++) heads[h][i] = before[h][i];
    wait_for_copies();
    __syncthreads();
  }
  EACH_ROW(k, WIDTH) to.read[(at.run * WIDTH + k) * LANES + at.lane] = d_read[at.at(k)];
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
  return launched(stream, run_backward, sizes.blocks, WARPS * LANES, SHARED, weights.typed_data(), asked.typed_data(),
                  log_heads.typed_data(), kept, from, to, sizes.groups);
}

XLA_FFI_DEFINE_HANDLER_SYMBOL(
    Backward, backward,
    ffi::Ffi::Bind().Ctx<StreamContext>().Arg<Floats>().Arg<Ints>()
        .Arg<Floats>().Arg<Floats>().Arg<Floats>().Arg<Floats>().Arg<Floats>().Arg<Floats>().Arg<Floats>().Arg<Floats>().Arg<Floats>()
        .Ret<Floats>().Ret<Floats>().Ret<Floats>().Ret<Floats>(),
    {ffi::Traits::kCmdBufferCompatible});

// Whether the kernel fits into the shared memory of a multiprocessor.
extern "C" int fits() { return shared_limit() >= SHARED; }
