"""Networks whose algorithm is known: hidden in another basis, taught, and a collection of them with their true circuits."""
