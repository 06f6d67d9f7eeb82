// What people see of a class, where that is not what programs call it.

let names = {};

export const useNames = (found) => (names = found ?? {});
export const nameOf = (label) => (Object.hasOwn(names, label) ? names[label] : label);
