"""JSON Schemas of the document and of each node type, generated from the models."""
