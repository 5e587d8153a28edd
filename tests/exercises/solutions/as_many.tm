start  first
accept yes
reject no
input  a b
otherwise reject

first  a -> find_b ^ R
first  b -> find_a ^ R
first  _ -> yes    _ R
next   x -> next   x R
next   a -> find_b x R
next   b -> find_a x R
next   _ -> yes    _ R
find_b a -> find_b a R
find_b x -> find_b x R
find_b b -> back   x L
find_a b -> find_a b R
find_a x -> find_a x R
find_a a -> back   x L
back   a -> back   a L
back   b -> back   b L
back   x -> back   x L
back   ^ -> next   ^ R
