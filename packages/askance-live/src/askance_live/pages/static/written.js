// Text with a few marks as elements: blank lines part paragraphs, lines that begin with "- " are a list, **bold**,
// *italic*, `code`, and addresses as links. Whatever else it holds, tags included, is text.

import { h } from "./dom.js";

// What is marked has an end, so that a text of nothing but marks is looked through once.
const MARK = /`([^`\n]{1,500})`|\*\*(?! )([^*\n]{1,500})(?<! )\*\*|(?<!\w)\*(?! )([^*\n]{1,500})(?<! )\*(?!\w)|(https?:\/\/[^\s<>"']*[^\s<>"'.,;:!?)\]*`])/g;

// Paragraphs and lists; `words` makes the nodes of a text without marks.
export function written(text, words = (plain) => [plain]) {
  return blocksOf(text).map(({ isList, lines }) =>
    isList
      ? h("ul", {}, lines.map((line) => h("li", { dir: "auto" }, partsOf(line, words))))
      : h("p", { dir: "auto" }, lines.flatMap((line, place) => [place > 0 && h("br"), ...partsOf(line, words)])),
  );
}

// Elements that hold such a text as text get it as elements.
export function writeAll(elements) {
  for (const element of elements) element.replaceChildren(...written(element.textContent));
}

function blocksOf(text) {
  const blocks = [];
  let last = null; // the block that goes on
  for (const given of text.split(/\r\n?|\n/)) {
    const line = given.trim();
    const isList = line.startsWith("- ");
    if (!line) last = null;
    else if (last?.isList === isList) last.lines.push(isList ? line.slice(2) : line);
    else blocks.push((last = { isList, lines: [isList ? line.slice(2) : line] }));
  }
  return blocks;
}

function partsOf(line, words) {
  const parts = [];
  let from = 0;
  for (const found of line.matchAll(MARK)) {
    const [all, code, bold, italic, address] = found;
    parts.push(words(line.slice(from, found.index)));
    if (code) parts.push(h("code", {}, words(code)));
    else if (bold) parts.push(h("strong", {}, words(bold)));
    else if (italic) parts.push(h("em", {}, words(italic)));
    else parts.push(linkTo(address, address));
    from = found.index + all.length;
  }
  return [...parts, words(line.slice(from))];
}

export function linkTo(address, child) {
  return h("a", { href: address, target: "_blank", rel: "noopener noreferrer" }, child);
}
