-- Figures of a device that is not known: earlier versions stored them as those of a device.
UPDATE metrics SET is_voided = 1 WHERE is_voided = 0 AND record_id IN (
    SELECT record_id FROM heads WHERE instr(head, '"kind":"unknown_device"')
);
