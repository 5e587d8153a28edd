// Adds one to a binary number, least bit first: 1s become 0s up to the first 0.
start  carry
accept done
reject never
input  0 1

carry 1 -> carry 0 R
carry 0 -> done  1 R
carry _ -> done  1 R
