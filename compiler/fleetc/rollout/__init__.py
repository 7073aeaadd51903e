"""Changing hosts: the sealed plan, made in advance, and Ansible, which carries it out."""
