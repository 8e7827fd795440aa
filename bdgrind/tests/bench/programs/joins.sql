-- SPDX-License-Identifier: GPL-2.0-or-later
-- Joins, sorts, groups and an index over generated rows. The driver puts the number of orders into
-- the table `size` before it.
CREATE TABLE customer(id INTEGER PRIMARY KEY, name TEXT, region INTEGER);
CREATE TABLE orders(id INTEGER PRIMARY KEY, customer INTEGER, day INTEGER, note TEXT);
CREATE TABLE item(order_id INTEGER, part INTEGER, amount INTEGER);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n, size WHERE i < size.orders / 10)
  INSERT INTO customer SELECT i, 'customer ' || (i * 7919 % 10007), i % 23 FROM n;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n, size WHERE i < size.orders)
  INSERT INTO orders SELECT i, 1 + i * 31337 % (size.orders / 10), i * 17 % 365,
    substr('a note that is longer for some orders than it is for others', 1, i % 60) FROM n, size;
INSERT INTO item SELECT id, id * 13 % 997, id % 7 + 1 FROM orders;
INSERT INTO item SELECT id, id * 29 % 991, id % 11 + 1 FROM orders WHERE id % 3 > 0;
CREATE INDEX item_by_order ON item(order_id);
CREATE INDEX orders_by_day ON orders(day, customer);
SELECT region, count(*), sum(amount) FROM customer
  JOIN orders ON orders.customer = customer.id JOIN item ON item.order_id = orders.id
  GROUP BY region ORDER BY sum(amount) DESC LIMIT 5;
SELECT name, count(DISTINCT part) FROM customer
  JOIN orders ON orders.customer = customer.id JOIN item ON item.order_id = orders.id
  WHERE day BETWEEN 50 AND 150 GROUP BY name ORDER BY 2 DESC, 1 LIMIT 5;
SELECT length(note), max(id) FROM orders WHERE note LIKE '%some%' GROUP BY 1 ORDER BY 1 LIMIT 5;
SELECT id, note FROM orders ORDER BY note DESC, day, id LIMIT 5;
UPDATE item SET amount = amount + 1 WHERE part IN (SELECT part FROM item GROUP BY part HAVING count(*) % 2);
DELETE FROM orders WHERE id IN (SELECT order_id FROM item WHERE part < 100);
SELECT count(*), sum(amount) FROM item LEFT JOIN orders ON orders.id = item.order_id
  WHERE orders.id IS NULL;
