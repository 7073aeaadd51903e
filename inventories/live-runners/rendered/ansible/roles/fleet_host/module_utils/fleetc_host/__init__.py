"""Brings one host from one release to another, and back: the only program of fleetc that runs on a host.

In: a request. Out: an answer, and a host that is wholly of one release.

It needs Python 3.9 or newer and nothing else. Ansible carries it here with each request (`requests.answer`); a copy
stays in /opt/fleetc/host for the timer and for the unit that runs at boot (`main`).
"""
