// SPDX-License-Identifier: GPL-2.0-or-later
//
// The search: sections that have all words, as beginnings of words; those that have them in a heading come first.
(function () {
    "use strict";
    var root = document.body.dataset.root;
    var input = document.getElementById("search");
    var list = document.getElementById("found");
    var pages = document.getElementById("pages");
    var MOST = 20;

    // Options such as --why are looked for as they are written.
    function words(text) {
        return text.toLowerCase().split(/[\s,;()]+/).filter(Boolean);
    }

    function begins(text, word) {
        var at = text.indexOf(word);
        while (at > 0 && /[a-z0-9]/.test(text[at - 1]) && /[a-z0-9]/.test(word[0])) at = text.indexOf(word, at + 1);
        return at;
    }

    var sections = INDEX.map(function (row) {
        return { row: row, heading: (row[1] + " " + row[2]).toLowerCase(), text: row[3].toLowerCase() };
    });

    function find(wanted) {
        var hits = [];
        sections.forEach(function (section, order) {
            var score = 0;
            var all = wanted.every(function (word) {
                if (begins(section.heading, word) >= 0) score += 10;
                else if (begins(section.text, word) < 0) return false;
                return true;
            });
            if (all) hits.push({ section: section, score: score, order: order });
        });
        hits.sort(function (a, b) { return b.score - a.score || a.order - b.order; });
        return hits;
    }

    function piece(section, word) {
        var at = Math.max(0, begins(section.text, word) - 40);
        return (at > 0 ? "… " : "") + section.row[3].slice(at, at + 120) + " …";
    }

    function show() {
        var wanted = words(input.value);
        list.textContent = "";
        pages.hidden = wanted.length > 0;
        if (wanted.length === 0) return;
        var hits = find(wanted);
        hits.slice(0, MOST).forEach(function (hit) {
            var row = hit.section.row;
            var item = document.createElement("li");
            var link = document.createElement("a");
            link.href = root + "/" + row[0];
            link.textContent = row[1] === row[2] ? row[1] : row[1] + ": " + row[2];
            var text = document.createElement("p");
            text.textContent = piece(hit.section, wanted[0]);
            item.append(link, text);
            list.append(item);
        });
        if (hits.length === 0 || hits.length > MOST) {
            var rest = document.createElement("li");
            rest.textContent = hits.length === 0 ? "Nothing has all of these words." : hits.length - MOST + " more";
            list.append(rest);
        }
    }

    input.addEventListener("input", show);
    document.addEventListener("keydown", function (event) {
        if (event.key === "/" && document.activeElement !== input) {
            event.preventDefault();
            input.focus();
        }
        if (event.key === "Escape" && document.activeElement === input) {
            input.value = "";
            show();
        }
    });
})();
