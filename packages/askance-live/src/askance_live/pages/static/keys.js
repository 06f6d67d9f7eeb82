// What a key means. Digits, then the letters that mean nothing else, stand for classes.

export const LETTERS = "abcdefghimopqstuvwy";
const ACTIONS = {
  " ": "unsure", x: "bad_data", l: "later", z: "undo", backspace: "undo", enter: "accept", j: "older", k: "newer",
  n: "comment", r: "raw", "?": "help", "/": "find", escape: "escape",
};

export function keyOf(place) {
  return place < 9 ? String(place + 1) : (LETTERS[place - 9] ?? "").toUpperCase();
}

export function isTyping(element) {
  return Boolean(element?.closest?.("input:not([type=checkbox]), textarea, select, [contenteditable]"));
}

// {place} of a class, {action}, or null. A key that is held, or pressed with Ctrl, Alt or Meta, means nothing.
export function meaning(event, classes) {
  if (event.repeat || event.isComposing || event.ctrlKey || event.altKey || event.metaKey) return null;
  const key = event.key.toLowerCase();
  const code = /^(Digit|Numpad)([1-9])$/.exec(event.code ?? "");
  const digit = /^[1-9]$/.test(key) ? Number(key) : code && !event.shiftKey ? Number(code[2]) : 0; // a French keyboard's digits
  if (digit) return digit <= classes ? { place: digit - 1 } : null;
  if (ACTIONS[key]) return { action: ACTIONS[key] };
  const letter = key.length === 1 ? LETTERS.indexOf(key) : -1;
  if (letter >= 0 && letter + 9 < classes) return { place: letter + 9 };
  return key === "i" ? { action: "instructions" } : null; // unless there are so many classes that it is the key of one
}
