-- What a rater gave last to each response, one row for each measure.
DROP VIEW IF EXISTS ratings;
-- only sqlite
CREATE VIEW ratings AS
SELECT a.administration_id AS administration, a.trial, a.number AS attempt, r.spec AS rater, p.value AS measure,
	CASE substr(v.codes, p.key + 1, 1) WHEN X'00' THEN 0.0 WHEN X'01' THEN 1.0
		WHEN X'05' THEN json_extract(v.numbers, '$."' || p.key || '"') END AS value,
	CASE substr(v.codes, p.key + 1, 1) WHEN X'02' THEN 'undefined' WHEN X'03' THEN 'unparsed'
		WHEN X'04' THEN 'error' ELSE 'value' END AS status,
	coalesce(t.text, '') AS reason
FROM verdicts v
JOIN attempts a ON a.id = v.attempt_id
JOIN raters r ON r.id = v.rater_id
JOIN texts l ON l.id = v.measures_id
JOIN json_each(l.text) p
LEFT JOIN texts t ON t.id = json_extract(v.reasons, '$."' || p.key || '"')
WHERE v.id = (SELECT max(w.id) FROM verdicts w WHERE w.attempt_id = v.attempt_id AND w.rater_id = v.rater_id);
-- only postgresql
CREATE VIEW ratings AS
SELECT a.administration_id AS administration, a.trial, a.number AS attempt, r.spec AS rater, p.measure,
	CASE get_byte(v.codes, (p.place - 1)::integer) WHEN 0 THEN 0.0 WHEN 1 THEN 1.0
		WHEN 5 THEN (v.numbers::json ->> (p.place - 1)::text)::double precision END AS value,
	CASE get_byte(v.codes, (p.place - 1)::integer) WHEN 2 THEN 'undefined' WHEN 3 THEN 'unparsed'
		WHEN 4 THEN 'error' ELSE 'value' END AS status,
	coalesce(t.text, '') AS reason
FROM verdicts v
JOIN attempts a ON a.id = v.attempt_id
JOIN raters r ON r.id = v.rater_id
JOIN texts l ON l.id = v.measures_id
CROSS JOIN LATERAL json_array_elements_text(l.text::json) WITH ORDINALITY AS p(measure, place)
LEFT JOIN texts t ON t.id = (v.reasons::json ->> (p.place - 1)::text)::integer
WHERE v.id = (SELECT max(w.id) FROM verdicts w WHERE w.attempt_id = v.attempt_id AND w.rater_id = v.rater_id);
