import {
  basic,
  cookies,
  credentials,
  firstHeaders,
  get,
  hasSessions,
  remembered,
  root,
  sessionHeaders,
  takeFirst,
  userKey,
  type Credentials,
} from "./http";
import { Store } from "./store";

export type { Credentials };

// Session is who we are to the server.
export interface Session {
  credentials: Credentials;
  user: string;
  headers: Record<string, string>;
  expired?: boolean;
}

export const session = new Store<Session>({
  credentials,
  user: credentials === "none" ? "" : (remembered ?? (credentials === "name" ? "admin" : "")),
  headers: firstHeaders ?? {},
});
export const signInNeeded = new Store(firstHeaders === null);

function enter(who: Session) {
  session.set(who);
  signInNeeded.set(false);
}

function leave(expired = false) {
  session.set({ credentials, user: "", headers: {}, expired });
  signInNeeded.set(true);
}

// Other tabs also sign in and out. They forget the user's name when the sign-in expires, and empty it at a sign-out.
window.addEventListener("storage", ({ key, newValue }) => {
  if (key !== userKey || !hasSessions) return;
  if (newValue) enter({ credentials, user: newValue, headers: sessionHeaders });
  else leave(newValue === null && session.get().user !== "");
});

export class APIError extends Error {
  constructor(
    public status: number,
    message: string,
  ) {
    super(message);
  }
}

function sessionOf(credentials: Credentials, user: string, secret: string): Session {
  return {
    credentials,
    user: user || "token",
    headers: credentials === "token" && !user ? { "X-Auth-Token": secret } : basic(user, secret),
  };
}

// signIn asks the server first: pages see only what counts. Credentials that are too long for a cookie live until the
// page is left.
export async function signIn(credentials: Credentials, user: string, secret: string) {
  const who = sessionOf(credentials, user, secret);
  if (hasSessions) {
    try {
      await request("POST", "/v1/session", undefined, undefined, who);
      who.headers = sessionHeaders;
    } catch (error) {
      if ((error as APIError).status !== 400) throw error;
    }
  } else await request("GET", "/v1/metric?limit=1", undefined, undefined, who);
  if (!hasSessions || who.headers === sessionHeaders) localStorage.setItem(userKey, who.user);
  enter(who);
}

export async function signOut() {
  if (session.get().headers === sessionHeaders) await request("DELETE", "/v1/session");
  localStorage.setItem(userKey, "");
  leave();
}

// address is the URL of a path, for people: in commands to copy, and in links.
export const address = (path: string) => root + path;

export async function request(
  method: string,
  path: string,
  body?: unknown,
  signal?: AbortSignal,
  who = session.get(),
): Promise<Response> {
  if (method === "GET" && who.headers === firstHeaders) {
    const first = await takeFirst(path);
    signal?.throwIfAborted();
    if (first) return first;
  }
  const headers: Record<string, string> = { Accept: "application/json", ...who.headers };
  let content: BodyInit | undefined;
  if (body instanceof URLSearchParams) content = body;
  else if (body !== undefined) {
    headers["Content-Type"] = "application/json";
    content = JSON.stringify(body);
  }
  let answer: Response;
  try {
    answer = await (method === "GET"
      ? get(path, who.headers, signal)
      : fetch(root + path, {
          method,
          headers,
          body: content,
          signal,
          credentials: path === "/v1/session" ? "same-origin" : cookies(who.headers),
        }));
  } catch (error) {
    if ((error as Error).name === "AbortError") throw error;
    throw new APIError(0, "The server does not answer");
  }
  if (answer.ok) return answer;
  const text = await answer.text();
  if (answer.status === 401 && who === session.get() && who.credentials !== "none") {
    localStorage.removeItem(userKey);
    leave(who.user !== "");
  }
  throw new APIError(answer.status, explain(answer.status, text));
}

// explain makes a sentence of an error's body.
function explain(status: number, text: string): string {
  try {
    const body = JSON.parse(text);
    const d = body.description ?? body.error ?? body.title;
    if (typeof d === "string") return d;
    if (d?.cause)
      return [d.cause, d.reason, typeof d.detail === "string" ? d.detail : JSON.stringify(d.detail)]
        .filter(Boolean)
        .join(": ");
  } catch {
    /* no JSON */
  }
  return status === 403 ? "You may not see this" : "The server answers with status " + status;
}

// read asks for JSON. NaN and the infinities stand bare in measures: NaN is null to a chart.
export async function read<T>(path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  const text = await (await request(body === undefined ? "GET" : "POST", path, body, signal)).text();
  try {
    return JSON.parse(text) as T;
  } catch {
    return JSON.parse(
      text.replace(
        /([[,:]\s*-?)(NaN|Infinity)(?=\s*[,\]}])/g,
        (_, before, word) => before + (word === "NaN" ? "null" : "1e999"),
      ),
    ) as T;
  }
}
