"""What is told of the work beside its results: numbers for Prometheus, traces for OpenTelemetry."""

from interlace.flows.telemetry.telemetry import Telemetry

__all__ = ["Telemetry"]
