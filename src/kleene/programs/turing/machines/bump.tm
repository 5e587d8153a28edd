// Decides whether the number of 1s is even. Erases from the right, and knows the left end only because a move left
// from there stays: the cell read next is the one just erased.
start  walk
accept even
reject odd
input  1

walk  1 -> walk  1 R
walk  _ -> pairs _ L
pairs 1 -> half  _ L
pairs _ -> even  _ R
half  1 -> pairs _ L
half  _ -> odd   _ R
