// Keeps the label page and its parts, so that a reload works while the network is away. The network comes first: what
// is kept is used only where there is no answer at all, so nothing old is ever shown beside something new.

const KEPT = "askance-label";
const isPage = (url) => url.pathname.endsWith("/label");

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));
self.addEventListener("fetch", (event) => {
  const url = new URL(event.request.url);
  const wanted = event.request.method === "GET" && url.origin === location.origin;
  if (wanted && (isPage(url) || url.pathname.includes("/static/"))) event.respondWith(answer(event.request, url));
});

async function answer(request, url) {
  const cache = await caches.open(KEPT);
  let response;
  try {
    response = await fetch(request);
  } catch (error) {
    const kept = await cache.match(url.pathname);
    if (kept) return kept;
    throw error;
  }
  if (response.status === 200) await cache.put(url.pathname, response.clone());
  else if (isPage(url)) await cache.delete(url.pathname); // the session has ended: keep nothing for whoever comes next
  return response;
}
