start  first
accept yes
reject no
input  a b c
otherwise reject

first  a -> have_a _ R
first  b -> have_b _ R
first  c -> have_c _ R
first  _ -> yes    _ R
have_a a -> have_a a R
have_a b -> have_a b R
have_a c -> have_a c R
have_a _ -> last_a _ L
have_b a -> have_b a R
have_b b -> have_b b R
have_b c -> have_b c R
have_b _ -> last_b _ L
have_c a -> have_c a R
have_c b -> have_c b R
have_c c -> have_c c R
have_c _ -> last_c _ L
last_a a -> back   _ L
last_b b -> back   _ L
last_c c -> back   _ L
last_a _ -> yes    _ R
last_b _ -> yes    _ R
last_c _ -> yes    _ R
back   a -> back   a L
back   b -> back   b L
back   c -> back   c L
back   _ -> first  _ R
