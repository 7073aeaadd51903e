"""What a user may write about remote workers: the transcoders and AI workers that serve an orchestrator elsewhere.

In: raw `transcoders` and `ai_workers` tables. Out: frozen `Transcoder` and `AiWorker` values.
"""

from __future__ import annotations

from pydantic import Field

from fleetc.language.fields import Flag, Integer, Text, sets
from fleetc.language.node import AiSettings, GpuIds, GpuSettings, NodeSettings
from fleetc.language.secret_fields import Secret


class Worker(NodeSettings):
    """Fields of both kinds of remote workers."""

    orchestrator: Text = Field(description="Orchestrator it serves: a name in this fleet, or host:port outside it.")
    secret: Secret | None = sets("orchSecret", None, "Secret it presents; by default the orchestrator's own.")


class Transcoder(Worker, GpuSettings):
    """A transcoder does the video work of an orchestrator on another host."""

    max_sessions: Integer | None = sets("maxSessions", None, "How many streams it handles at once.", ge=1, le=1_000_000)


class AiWorker(Worker, AiSettings):
    """An AI worker runs the models of an orchestrator on another host."""

    gpus: GpuIds | None = Field(
        None,
        description='GPU ids of the host that it uses, or "all"; by default one CPU slot.',
        examples=[[0, 1], "all"],
    )
    runner_label: Text | None = Field(
        None,
        description="Name that marks its runner containers; by default its own, so that two workers never collide.",
        examples=["worker.example.net:8935"],
    )
    serverless: Flag | None = sets("aiServerless", None, "Whether it passes work to a serverless provider.")
