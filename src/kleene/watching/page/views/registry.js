// The views of the page, by the name that a document gives. A view has `build(stage, page, host)`, which returns how to
// draw a change and how to describe a step in words.

import { layers } from "./layers.js";
import { tape } from "./tape.js";
import { word } from "./word.js";

export const views = { layers, tape, word };
