// Decides the words over a and b that read the same backwards: compares and erases the first and the last symbol.
start  first
accept yes
reject no
input  a b
otherwise reject

first  a -> have_a _ R
first  b -> have_b _ R
first  _ -> yes    _ R
have_a a -> have_a a R
have_a b -> have_a b R
have_a _ -> last_a _ L
have_b a -> have_b a R
have_b b -> have_b b R
have_b _ -> last_b _ L
last_a a -> back   _ L
last_a _ -> yes    _ R      // the symbol in the middle has no partner
last_b b -> back   _ L
last_b _ -> yes    _ R
back   a -> back   a L
back   b -> back   b L
back   _ -> first  _ R
