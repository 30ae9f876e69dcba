"""Widgets that draw line by line, so that their cost is that of what is on screen."""
