"""Networks whose algorithm is known: hidden in another basis, taught to keep it, and a collection of them."""
