// JSON with whole numbers that JavaScript's own would round: the digits are kept, as an object that shows and is written
// as they are.

const MARK = "\u0000"; // no event has it in a text: the service refuses it
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

class Whole {
  constructor(digits) {
    this.digits = digits;
  }

  toString() {
    return this.digits;
  }

  toJSON() {
    return MARK + this.digits;
  }
}

const isRounded = (token) => /^-?\d{16,}$/.test(token) && !Number.isSafeInteger(Number(token));

export function parse(text) {
  let found = false;
  const marked = text.replace(TOKEN, (token) => {
    if (!isRounded(token)) return token;
    found = true;
    return `"\\u0000${token}"`;
  });
  if (!found) return JSON.parse(text);
  return JSON.parse(marked, (name, value) => (typeof value === "string" && value.startsWith(MARK) ? new Whole(value.slice(1)) : value));
}

export function write(value, indent) {
  return JSON.stringify(value, null, indent).replace(/"\\u0000(-?\d+)"/g, "$1");
}
