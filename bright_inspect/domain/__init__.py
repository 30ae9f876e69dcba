"""Values and pure functions of the field; standard library only."""
