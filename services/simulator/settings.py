"""What the simulator is told by its environment; the dials of a run come by command line."""

from services.backbone.kafka.producer import ProducerSettings
from services.backbone.settings import Port, Seconds
from services.backbone.web.keys import HeldKey
from services.contracts.web import ServerAddress


class SimulatorSettings(ProducerSettings):
    """Where the targets are, and how patient a run is."""

    http_port: Port = 18088
    """For health and metrics."""
    simulator_stream: str = "trades"
    """The stream that gets the events."""
    simulator_gateway_url: ServerAddress = "http://127.0.0.1:18081"
    """Where the gateway is."""
    simulator_api_key: HeldKey | None = None
    """The key for the gateway."""
    simulator_answer_timeout_seconds: Seconds = 60.0
    """How long a run waits at its end for answers that are missing."""
