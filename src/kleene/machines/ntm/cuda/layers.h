// A layer for the 32 examples of a block, on tensor cores, as precise as with floats.
//
// A tile has 16 units, 8 inputs and 8 examples. A tensor core takes 10 bits of a number after the point. So each number is split into a large
// part, rounded to these 10 bits, and a small one; a product is that of the large parts and the two mixed ones. What is left out is below 2^-22 of
// the product. Weights lie in the order in which the lanes of a warp take them (`_tiled` in fused.py). Without tiles every weight would be
// loaded from shared memory for a single product, which takes longer than the product; a tile uses each weight for 8 examples and each input
// for 16 units.
#pragma once

static_assert(TILE_UNITS == 16 && TILE_INPUTS == 8, "the tiles of multiply_tile");
constexpr int TILE_EXAMPLES = 8;
constexpr int COLUMNS = LANES / TILE_EXAMPLES;
constexpr int STRIDE = LANES + 8;  // of the rows that are inputs of a layer: the four rows that a warp reads at once are in different banks

__host__ __device__ constexpr int tiles(int units) { return (units + TILE_UNITS - 1) / TILE_UNITS; }
__host__ __device__ constexpr int tile_steps(int inputs) { return (inputs + TILE_INPUTS - 1) / TILE_INPUTS; }
__host__ __device__ constexpr int tiled_weights(int units, int inputs) { return tiles(units) * TILE_UNITS * tile_steps(inputs) * TILE_INPUTS; }
// The rows of an array that is the input of a layer; those past the last must hold 0.
__host__ __device__ constexpr int input_rows(int inputs) { return tile_steps(inputs) * TILE_INPUTS; }

template <int COUNT>
struct Parts {
  uint32_t large[COUNT], small[COUNT];

  __device__ void set(int i, float number) {
    large[i] = (bits_of(number) + 0x1000u) & 0xffffe000u;
    small[i] = bits_of(number - number_of(large[i]));
  }
};

// The sums of a tile that a lane has: two units, 8 apart, each for two neighbouring examples. Three sums that do not wait for each other.
struct TileSums {
  float large[4] = {}, first[4] = {}, second[4] = {};

  __device__ void add(const Parts<4>& weights, const Parts<2>& inputs) {
    multiply_tile(large, weights.large, inputs.large);
    multiply_tile(first, weights.small, inputs.large);
    multiply_tile(second, weights.large, inputs.small);
  }
  __device__ float2 of(int half) const {
    return {large[2 * half] + (first[2 * half] + second[2 * half]), large[2 * half + 1] + (first[2 * half + 1] + second[2 * half + 1])};
  }
};

// Calls end(unit, example, given, sums) for every unit and every second example, with the sums for this example and the next one; `given` is
// begin(unit, example), which is called before the products, so that what it loads has time to come.
template <int INPUTS, int UNITS, class Begin, class End>
__device__ void layer(const float* weights, const float* inputs, int warp, int lane, Begin begin, End end) {
  constexpr int TOGETHER = tiles(UNITS) * COLUMNS > WARPS ? 2 : 1;  // tiles of the same units that a warp has at once
  constexpr int PAIRS = COLUMNS / TOGETHER;
  const int row = lane / 4, column = lane % 4;
  for (int job = warp; job < tiles(UNITS) * PAIRS; job += WARPS) {
    const int unit = job / PAIRS * TILE_UNITS + row, example = job % PAIRS * TOGETHER * TILE_EXAMPLES + 2 * column;
    float2 given[TOGETHER][2];
#pragma unroll
    for (int n = 0; n < TOGETHER; n++)
#pragma unroll
      for (int half = 0; half < 2; half++)
        if (unit + 8 * half < UNITS) given[n][half] = begin(unit + 8 * half, example + n * TILE_EXAMPLES);
    TileSums sums[TOGETHER];
    const auto* four = reinterpret_cast<const float4*>(weights) + job / PAIRS * tile_steps(INPUTS) * LANES + lane;
    const float* two = inputs + column * STRIDE + example - 2 * column + row;
#pragma unroll
    for (int k = 0; k < tile_steps(INPUTS); k++) {
      const float4 numbers = four[k * LANES];
      Parts<4> left;
      left.set(0, numbers.x), left.set(1, numbers.y), left.set(2, numbers.z), left.set(3, numbers.w);
#pragma unroll
      for (int n = 0; n < TOGETHER; n++) {
        Parts<2> right;
        right.set(0, two[k * TILE_INPUTS * STRIDE + n * TILE_EXAMPLES]);
        right.set(1, two[(k * TILE_INPUTS + 4) * STRIDE + n * TILE_EXAMPLES]);
        sums[n].add(left, right);
      }
    }
#pragma unroll
    for (int n = 0; n < TOGETHER; n++)
#pragma unroll
      for (int half = 0; half < 2; half++)
        if (unit + 8 * half < UNITS) end(unit + 8 * half, example + n * TILE_EXAMPLES, given[n][half], sums[n].of(half));
  }
}
