// Writes w#w for the word w: carries one symbol at a time to the end, its place marked A or B.
start  next
accept done
reject never
input  a b
otherwise reject

next    a -> carry_a A R
next    b -> carry_b B R
next    # -> done    # R
next    _ -> done    # R      // the empty word
carry_a a -> carry_a a R
carry_a b -> carry_a b R
carry_a # -> put_a   # R
carry_a _ -> put_a   # R      // the first time
put_a   a -> put_a   a R
put_a   b -> put_a   b R
put_a   _ -> back    a L
carry_b a -> carry_b a R
carry_b b -> carry_b b R
carry_b # -> put_b   # R
carry_b _ -> put_b   # R
put_b   a -> put_b   a R
put_b   b -> put_b   b R
put_b   _ -> back    b L
back    a -> back    a L
back    b -> back    b L
back    # -> back    # L
back    A -> next    a R
back    B -> next    b R
