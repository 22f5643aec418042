"""Kafka for our programs; nothing else touches the client library.

The sync client of confluent-kafka is used, on threads of its own: its asyncio producer rejects
headers, and a poll on a thread costs no latency.
"""
