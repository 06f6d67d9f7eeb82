// Tabs, and a candidate that stands out while it is pointed at. Without this the page shows everything but the tabs.
document.querySelectorAll(".tabs").forEach((tabs) => {
  const panels = tabs.parentElement.querySelectorAll(".panel");
  const findings = tabs.parentElement.previousElementSibling.querySelectorAll(".findings"); // of each metric
  tabs.querySelectorAll("button").forEach((button, place) => {
    button.addEventListener("click", () => {
      tabs.querySelectorAll("button").forEach((other) => other.setAttribute("aria-selected", other === button));
      panels.forEach((panel, other) => { panel.hidden = other !== place; });
      findings.forEach((list, other) => { list.hidden = other !== place; });
    });
  });
});
const series = document.querySelectorAll(".series");
const numberOf = (element) => [...element.classList].find((name) => /^s\d+$/.test(name));
const focus = (name) => series.forEach((one) => {
  one.style.opacity = !name || one.classList.contains(name) ? 1 : 0.14;
});
series.forEach((one) => {
  one.addEventListener("pointerenter", () => focus(numberOf(one)));
  one.addEventListener("pointerleave", () => focus(null));
});
