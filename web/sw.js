// Service worker: caches the page for later visits, with and without a network, and the model of words once it is
// used. `make page` fills in the list of files and the versions. Pages in other folders of the origin have caches
// of their own.
const OWN = `ordernet ${registration.scope} `;
const VERSION = `${OWN}page-@VERSION@`, WORDS = `${OWN}words-@WORDS@`;
const FILES = [@FILES@];

addEventListener("install", (event) => {
  event.waitUntil(caches.open(VERSION).then((cache) => cache.addAll(["./", ...FILES].map((file) => new Request(file, { cache: "no-cache" })))));
});

// A new version takes over once no tab runs the old one.
addEventListener("activate", (event) => {
  const old = (name) => name.startsWith(OWN) && name !== VERSION && name !== WORDS;
  event.waitUntil(caches.keys().then((names) => Promise.all(names.filter(old).map((name) => caches.delete(name)))));
  event.waitUntil(clients.claim());
});

addEventListener("fetch", (event) => {
  const url = new URL(event.request.url);
  if (event.request.method !== "GET" || url.origin !== location.origin) return;
  event.respondWith((async () => {
    const match = (cacheName) => caches.match(event.request, { cacheName, ignoreSearch: true });
    const kept = await match(VERSION) ?? await match(WORDS);
    if (kept) return kept;
    const response = await fetch(event.request);
    // The word model is kept once somebody used it. Its copy is written while the page reads the other.
    if (response.status === 200 && url.pathname.endsWith("/models/words.safetensors")) {
      const copy = response.clone();
      event.waitUntil(caches.open(WORDS).then((cache) => cache.put(event.request, copy)).catch(() => {})); // no room: fetched again
    }
    return response;
  })());
});
