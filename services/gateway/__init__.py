"""Takes events in, over HTTP and AMQP, and answers when the broker has them."""
