"""Models, pipelines and the containers that run them."""
