// The views of the page, by the name that a document gives. A view has `build(stage, page, host)`, which returns how to
// draw a change and how to describe a step in words; `filters`, which of them it heeds; and, if a position can be chosen,
// `startPosition(content)`.

import { circuit } from "./circuit.js";
import { layers } from "./layers.js";
import { memory } from "./memory.js";
import { sentence } from "./sentence.js";
import { tape } from "./tape.js";
import { word } from "./word.js";

export const views = { circuit, layers, memory, sentence, tape, word };
