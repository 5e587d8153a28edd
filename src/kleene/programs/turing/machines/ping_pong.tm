// Runs to and fro between two x for ever: x111x. For measuring.
start  left
accept out
reject never
input  1 x

left  1 -> left  1 L
left  x -> right x R
left  _ -> out   _ R
right 1 -> right 1 R
right x -> left  x L
right _ -> out   _ R
