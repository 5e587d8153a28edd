even_a = "(b|ab*a)*"
