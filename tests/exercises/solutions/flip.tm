start  flip
accept done
reject no
input  0 1

flip 0 -> flip 1 R
flip 1 -> flip 0 R
flip _ -> done _ R
