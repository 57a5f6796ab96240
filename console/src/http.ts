// What has to be there before anything else: who asks, and what was asked for already. It imports nothing, as start.ts
// runs before the other scripts are there.

// The console's page lies at PREFIX/ui/, the API at PREFIX.
export const root = new URL("..", location.href.split("#")[0]).href.replace(/\/$/, "");

export type Credentials = "name" | "password" | "token" | "none";

// credentials is what the server asks a person for who signs in, as the page says.
export const credentials = (document.documentElement.dataset.credentials || "none") as Credentials;

export function basic(user: string, password: string): Record<string, string> {
  const bytes = new TextEncoder().encode(user + ":" + password);
  return { Authorization: "Basic " + btoa(String.fromCharCode(...bytes)) };
}

// Where credentials are checked, a cookie that no script sees stands for them: it counts beside this header.
export const hasSessions = credentials === "password" || credentials === "token";
export const sessionHeaders = { "X-Gnocco-Session": "1" };

// The browser remembers the name of the user who has signed in, for this server.
export const userKey = "user of " + new URL(root).pathname;
export const remembered = localStorage.getItem(userKey) || null;

// firstHeaders are those of a visit that needs no form: a session goes on, the server checks no password, or a proxy
// has asked.
export const firstHeaders: Record<string, string> | null =
  credentials === "none"
    ? {}
    : credentials === "name"
      ? basic(remembered ?? "admin", "")
      : remembered === null
        ? null
        : sessionHeaders;

export const get = (path: string, headers: Record<string, string>, signal?: AbortSignal) =>
  fetch(root + path, {
    method: "GET",
    headers: { Accept: "application/json", ...headers },
    signal,
    credentials: cookies(headers),
  });

// cookies says whether the browser sends its cookie.
export const cookies = (headers: Record<string, string>): RequestCredentials =>
  headers === sessionHeaders ? "same-origin" : "omit";

const sent = new Map<string, Promise<Response>>();
const fresh = 3000; // ms

// sendFirst asks for what a page is about to ask for.
export function sendFirst(path: string) {
  if (!firstHeaders || sent.has(path)) return;
  const askAgain = () => {
    /* who asks asks again */
  };
  const answer = get(path, firstHeaders).then((response) => {
    const text = response.text(); // read now, as the browser may be drawing when the page asks for it
    text.catch(askAgain);
    response.text = () => text;
    return response;
  });
  answer.catch(askAgain);
  sent.set(path, answer);
}

// takeFirst returns the answer to what was asked for first, once, while it is fresh.
export async function takeFirst(path: string): Promise<Response | null> {
  const answer = sent.get(path);
  sent.delete(path);
  if (!answer || performance.now() > fresh) return null;
  const response = await answer.catch(() => null);
  return response?.ok ? response : null;
}
