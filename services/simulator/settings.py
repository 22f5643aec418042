"""What the simulator is told by its environment; the dials of a run come by command line."""

from pydantic import SecretStr

from services.backbone.kafka.producer import ProducerSettings
from services.backbone.settings import Port, Seconds


class SimulatorSettings(ProducerSettings):
    """Where the targets are, and how patient a run is."""

    http_port: Port = 18088
    simulator_stream: str = "trades"
    simulator_gateway_url: str = "http://127.0.0.1:18081"
    simulator_api_key: SecretStr | None = None
    simulator_answer_timeout_seconds: Seconds = 60.0
