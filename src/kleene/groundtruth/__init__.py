"""Networks whose algorithm is known and that do not show it, and the collection of them.

`recurrent` hides recurrent networks; `hidden` is what hiding returns: the new network and how the old one lies in it.
"""
