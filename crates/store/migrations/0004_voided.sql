-- Whether something in between answered for the device: such figures are in no ranking.
ALTER TABLE metrics ADD COLUMN is_voided INTEGER NOT NULL DEFAULT 0;

UPDATE metrics SET is_voided = 1 WHERE EXISTS (
    SELECT 1
    FROM heads, json_each(heads.head, '$.metrics') AS metric,
        json_each(metric.value, '$.warnings') AS warning
    WHERE heads.record_id = metrics.record_id AND metric.key = metrics.position
        AND warning.value IN ('not_reached', 'buffered')
);

DROP INDEX metrics_of_id;
CREATE INDEX metrics_of_id ON metrics (id, is_voided, record_id, quantity, value);
