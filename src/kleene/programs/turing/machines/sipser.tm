// Decides the words 1^(2^m): crosses off every second 1 until one is left. (Sipser, and example 4.10 of the chapter)
start  q0
accept q5
reject q6
input  1
otherwise reject

q0 1 -> q1 _ R      // the first 1 becomes a blank, which marks the left end
q1 x -> q1 x R
q1 1 -> q2 x R
q1 _ -> q5 _ R      // only the first 1 was left
q2 x -> q2 x R
q2 1 -> q3 1 R
q2 _ -> q4 _ L      // an even number: go back and halve again
q3 x -> q3 x R
q3 1 -> q2 x R
q4 1 -> q4 1 L
q4 x -> q4 x L
q4 _ -> q1 _ R
