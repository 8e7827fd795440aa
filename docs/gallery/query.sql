-- SPDX-License-Identifier: GPL-2.0-or-later
--   sqlite3 :memory: <query.sql
CREATE TABLE word(id INTEGER PRIMARY KEY, text TEXT, length INT);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30000)
INSERT INTO word SELECT i, hex(i * 2654435761 % 1000003), i % 17 FROM n;
CREATE INDEX by_text ON word(text);
SELECT length, count(*), max(text) FROM word GROUP BY length ORDER BY 2 DESC;
SELECT count(*) FROM word a JOIN word b ON a.text = b.text;
