-- Whoever ends a stake says why. NOT VALID: the rows that were written before purposes were known stay as they are.
ALTER TABLE transfer ADD CONSTRAINT ending_has_purpose CHECK (
    (purpose IS NOT NULL) = (kind IN ('settle', 'refund'))
) NOT VALID;

-- There is one row at most: that its id is unique says nothing more.
ALTER TABLE wallet_writer DROP CONSTRAINT wallet_writer_writer_id_key;
