import { useState } from "preact/hooks";
import { session, signIn } from "./api";

// SignIn asks for what the server's mode needs.
export function SignIn() {
  const who = session.use()!;
  const [user, setUser] = useState(""),
    [secret, setSecret] = useState(""),
    [wrong, setWrong] = useState("");
  const [byToken, setByToken] = useState(who.credentials === "token");
  const submit = async (e: Event) => {
    e.preventDefault();
    try {
      await signIn(who.credentials, byToken ? "" : user, secret);
    } catch (error) {
      const wrong = who.credentials === "token" ? "Wrong token or secret" : "Wrong user or password";
      setWrong((error as { status?: number }).status === 401 ? wrong : (error as Error).message);
    }
  };
  return (
    <form class="sign-in panel" onSubmit={submit}>
      <h1>Sign in</h1>
      {who.expired && !wrong && (
        <p class="notice" role="status">
          Your sign-in has expired. Please sign in again; the page goes on where you were.
        </p>
      )}
      {wrong && (
        <p class="notice bad" role="alert">
          {wrong}
        </p>
      )}
      {!byToken && (
        <label>
          {who.credentials === "token" ? "Application credential" : "User"}
          <input
            name="user"
            value={user}
            onInput={(e) => setUser(e.currentTarget.value)}
            autocomplete="username"
            autofocus
            required
          />
        </label>
      )}
      {who.credentials !== "name" && (
        <label>
          {byToken ? "Keystone token" : who.credentials === "token" ? "Secret" : "Password"}
          <input
            name="secret"
            type="password"
            value={secret}
            onInput={(e) => setSecret(e.currentTarget.value)}
            autocomplete={byToken ? "off" : "current-password"}
            required
          />
        </label>
      )}
      <button type="submit" class="main">
        Sign in
      </button>
      {who.credentials === "token" && (
        <button type="button" class="plain" onClick={() => setByToken(!byToken)}>
          {byToken ? "Use an application credential" : "Use a token"}
        </button>
      )}
      {who.credentials === "name" && (
        <p class="hint">This server checks no passwords (mode basic): a name is enough.</p>
      )}
    </form>
  );
}
