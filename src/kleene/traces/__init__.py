"""Traces: what a program or a network did at each step, in named channels that know how to show their entries."""

from kleene.traces.channels import Channel as Channel
from kleene.traces.trace import Trace as Trace
from kleene.traces.trace import TraceBatch as TraceBatch
