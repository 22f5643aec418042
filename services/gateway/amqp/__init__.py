"""The AMQP on-ramp: events from RabbitMQ, acknowledged there only after Kafka has them."""
