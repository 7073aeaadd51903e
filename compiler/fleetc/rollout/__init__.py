"""Changing hosts: the sealed plan, decided in advance, and Ansible, which carries it out."""
