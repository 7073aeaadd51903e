"""Tests of the room that talks to services: over real sockets and TLS, to a stand-in for the stream API."""
