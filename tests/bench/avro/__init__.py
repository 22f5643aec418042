"""The auditor over events in Avro's binary encoding: what a stream that is not JSON could save.

For measuring only. Nothing of it is in the product, whose auditor is started here with another
reader of events in the place of its own.
"""
