// A run as the page reads it: every channel knows the text of its entries and when two of them are the same.

import { unpack } from "./columns.js";

const UNDEFINED = "·";

export async function recorded(run) {
  const channels = await Promise.all(run.channels.map(readChannel));
  const byName = new Map(channels.map((channel) => [channel.name, channel]));
  return { source: run.source, output: run.output, halted: run.halted, channels, byName, run };
}

async function readChannel(channel) {
  const { array, shape } = await unpack(channel.column);
  const steps = shape[shape.length - 1];
  const isVector = channel.kind === "vector" || channel.kind === "distribution";
  const read = isVector ? vectorEntries(array, channel, steps) : codedEntries(array, channel, steps);
  return { ...channel, steps, count: channel.positions ? shape[0] : 1, ...read };
}

function codedEntries(array, channel, steps) {
  const texts = [UNDEFINED, ...namesOf(channel, array)];
  const code = (step, position) => array[(channel.positions ? position : 0) * steps + step];
  return {
    code,
    longest: Math.max(1, ...texts.map((text) => text.length)),
    text: (step, position) => texts[code(step, position) + 1],
    same: (a, b, position) => code(a, position) === code(b, position),
    isQuiet: (step, position) => code(step, position) < 0 || texts[code(step, position) + 1] === "0",
  };
}

function namesOf(channel, codes) {
  if (channel.kind === "number") return channel.values.map(shortNumber);
  if (channel.kind === "set") return channel.values.map((members) => `{${members.join(",")}}`);
  if (channel.labels) return channel.labels;
  let most = channel.size || 0;
  for (const code of codes) if (code >= most) most = code + 1;
  return Array.from({ length: most }, (_, code) => String(code));
}

function vectorEntries(array, channel, steps) {
  const size = channel.size;
  const at = (step, position, index) => array[((channel.positions ? position : 0) * size + index) * steps + step];
  const row = (step, position) => Array.from({ length: size }, (_, index) => at(step, position, index));
  return {
    row,
    longest: 12,
    text: (step, position) =>
      `[${row(step, position)
        .slice(0, 4)
        .map((x) => x.toFixed(2))
        .join(" ")}${size > 4 ? "…" : ""}]`,
    same: (a, b, position) => row(a, position).every((x, index) => Object.is(x, at(b, position, index))),
    isQuiet: () => false,
  };
}

export function shortNumber(value) {
  return Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(4)));
}

// How many of the kept channels' entries change in each step at each position: counts[step * width + position].
export function countChanges(recording, steps, width) {
  const counts = new Uint16Array(steps * width);
  for (const channel of recording.channels) {
    if (channel.perStep) continue;
    for (let position = 0; position < (channel.positions ? width : 1); position++)
      for (let step = 1; step < channel.steps; step++)
        if (!channel.same(step, step - 1, position)) counts[step * width + position]++;
  }
  return counts;
}
