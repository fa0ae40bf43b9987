"""Edges and matrices as arrays: `db.edges("follows")`, `db.matrix("follows")`."""
