"""Taking networks and programs apart: what they are made of, and what they do."""

from kleene.explaining.anatomy import anatomy as anatomy
