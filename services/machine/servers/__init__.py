"""The servers that others wrote, as programs of ours: Kafka's brokers, PostgreSQL, RabbitMQ."""
