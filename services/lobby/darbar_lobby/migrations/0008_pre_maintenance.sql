-- What operators have said last about maintenance (TL-40): one row. number: grows with every change.
CREATE TABLE maintenance (
    is_only_row  boolean PRIMARY KEY DEFAULT true CHECK (is_only_row),
    number       bigint NOT NULL,
    announcement text CHECK (char_length(announcement) BETWEEN 1 AND 200),
    draining     boolean NOT NULL,
    operator     text,
    at           timestamptz
);
INSERT INTO maintenance (number, draining) VALUES (0, false);

GRANT SELECT, UPDATE ON maintenance TO :service_role;
