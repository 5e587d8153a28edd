// Decides the words a^n b^n c^n: crosses off one a, one b and one c in every round.
start  next
accept yes
reject no
input  a b c
otherwise reject

next   a -> find_b x R
next   y -> check  y R      // no a is left: nothing else may be
next   _ -> yes    _ R
find_b a -> find_b a R
find_b y -> find_b y R
find_b b -> find_c y R
find_c b -> find_c b R
find_c z -> find_c z R
find_c c -> back   z L
back   a -> back   a L
back   b -> back   b L
back   y -> back   y L
back   z -> back   z L
back   x -> next   x R
check  y -> check  y R
check  z -> check  z R
check  _ -> yes    _ R
