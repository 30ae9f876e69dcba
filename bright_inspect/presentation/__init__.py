"""Display rows made of domain values: texts with style names, no terminal library."""
