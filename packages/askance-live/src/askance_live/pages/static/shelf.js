// localStorage, or memory where the browser refuses it.

function usable() {
  try {
    localStorage.setItem("askance:probe", "1");
    localStorage.removeItem("askance:probe");
    return true;
  } catch {
    return false;
  }
}

const memory = new Map();
export const durable = usable();

export function put(key, value) {
  const text = JSON.stringify(value);
  try {
    localStorage.setItem(key, text);
    memory.delete(key);
  } catch {
    memory.set(key, text);
  }
}

export function take(key) {
  try {
    return JSON.parse(memory.get(key) ?? localStorage.getItem(key));
  } catch {
    return null;
  }
}

export function remove(key) {
  memory.delete(key);
  try {
    localStorage.removeItem(key);
  } catch {
    // it was in memory only
  }
}

export function keys(prefix) {
  const found = new Set([...memory.keys()].filter((key) => key.startsWith(prefix)));
  try {
    for (let place = 0; place < localStorage.length; place++) {
      const key = localStorage.key(place);
      if (key.startsWith(prefix)) found.add(key);
    }
  } catch {
    // memory only
  }
  return [...found];
}

// Whether everything put is on disk.
export const isSafe = () => memory.size === 0;
