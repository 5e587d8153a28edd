same_ends = "a((a|b)*a)?|b((a|b)*b)?"
