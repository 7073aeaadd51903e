"""GPUs: their ids, their memory and their encoders."""
