// Columns of the document as typed arrays; the step is their last axis.

const TYPES = { int8: Int8Array, int16: Int16Array, int32: Int32Array, float32: Float32Array };

export async function unpack(column) {
  const text = atob(column.data);
  const packed = Uint8Array.from(text, (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const bytes = await new Response(stream).arrayBuffer();
  return { array: new TYPES[column.type](bytes), shape: column.shape };
}
