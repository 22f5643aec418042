-- Age counts from the finding: an alert that comes again after its rows were removed is old at once.
ALTER TABLE deliveries ADD COLUMN alerted_at timestamptz GENERATED ALWAYS AS
  (to_timestamp((record -> 'alert' ->> 'detected_at_ms')::bigint / 1000.0)) STORED;

-- What the accountant removes goes with everything that is known of it.
ALTER TABLE acknowledgements DROP CONSTRAINT acknowledgements_alert_id_fkey,
  ADD CONSTRAINT acknowledgements_alert_id_fkey
    FOREIGN KEY (alert_id) REFERENCES alerts ON DELETE CASCADE;
ALTER TABLE escalations DROP CONSTRAINT escalations_alert_id_fkey,
  ADD CONSTRAINT escalations_alert_id_fkey
    FOREIGN KEY (alert_id) REFERENCES alerts ON DELETE CASCADE;
