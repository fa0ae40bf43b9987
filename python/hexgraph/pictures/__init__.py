"""Pictures as SVG, made of nothing but text: schemas, degrees, small graphs."""
