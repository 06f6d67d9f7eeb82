// Tables that may be wider or longer than their place: they scroll there, also by keys, and keep their position when the
// numbers change.

import { h } from "./dom.js";

export function scrollBox(name, ...children) {
  const box = h("div", { class: "scroll-x", role: "group", "aria-label": name }, ...children);
  box.addEventListener("scroll", () => showMore(box));
  return box;
}

// New content for a place in the page: what is scrolled stays so, and so does the focus.
export function replaceContent(place, ...content) {
  const boxes = () => [...place.querySelectorAll(".scroll-x")];
  const before = boxes().map((box) => ({ left: box.scrollLeft, top: box.scrollTop, hasFocus: box === document.activeElement }));
  place.replaceChildren(...content);
  boxes().forEach((box, n) => {
    showMore(box);
    if (before[n]) box.scrollTo(before[n].left, before[n].top);
    if (before[n]?.hasFocus) box.focus({ preventScroll: true });
  });
}

// Whether there are columns out of sight; the keyboard stops only where there is something to scroll.
function showMore(box) {
  const isWide = box.scrollWidth > box.clientWidth + 1;
  box.classList.toggle("more", Math.abs(box.scrollLeft) + box.clientWidth < box.scrollWidth - 1);
  if (isWide || box.scrollHeight > box.clientHeight + 1) box.tabIndex = 0;
  else box.removeAttribute("tabindex");
  if (box.nextElementSibling?.matches(".cue")) box.nextElementSibling.hidden = !isWide;
}
