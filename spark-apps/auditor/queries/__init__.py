"""How a declared watch becomes a query of Spark, and what is refused before it starts."""
