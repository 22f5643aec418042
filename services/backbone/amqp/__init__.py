"""RabbitMQ: where it is, a way to it, and each way in which it is lost."""
